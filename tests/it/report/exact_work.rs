//! Work in the reports of federations: by the benchmarks of the pipeline, and rounded where it is printed.

use std::fmt::Write as _;

use gridtally::report::apel::MessageKind;
use gridtally::report::apel::publish::{ApelRequest, publish};
use gridtally::report::federation::{FederationUsage, gather, sums_by};
use gridtally::report::lake::{Lake, Selection};
use gridtally::report::portal;
use gridtally::report::work_scale::WorkScale;

use super::scene::Scene;

const HEAD: &str = "APEL-individual-job-message: v0.3\n";

fn job(site: &str, host: &str, wall_s: i64, core_n: i64, level: &str) -> String {
    format!(
        "Site: {site}\nSubmitHost: {host}\nLocalJobId: {host}\nVO: atlas\nWallDuration: {wall_s}\nCpuDuration: {wall_s}\n\
         Processors: {core_n}\nNodeCount: 1\nStartTime: 1710000000\nEndTime: 1710032400\nInfrastructureType: grid\n\
         ServiceLevelType: HEPSPEC\nServiceLevel: {level}\n%%\n"
    )
}

fn lake(scene: &Scene, text: &str, rest: &str) -> Lake {
    scene.write("in/1.msg", text);
    scene.lake("lake", "format = \"apel\"\npaths = [\"in\"]\n", rest)
}

/// A column of the rows of EGI's table.
fn egi(usage: &FederationUsage, column: &str) -> Vec<String> {
    let table = portal::egi(&usage.groups, WorkScale::Hs23).unwrap();
    let at = table.columns.iter().position(|each| each.name == column).unwrap();
    table.rows.iter().map(|row| row[at].to_string()).collect()
}

/// Each group of the server's key would be rounded to a whole second, and that times its cores.
#[test]
fn work_of_many_groups_is_rounded_once() {
    let scene = Scene::new();
    let mut text = HEAD.to_owned();
    for ce in 0..200 {
        let _ = write!(text, "{}", job("S", &format!("ce{ce}"), 3, 128, "10.5"));
    }
    let lake = lake(&scene, &text, "");
    let usage = gather(&lake, &Selection::default()).unwrap();
    assert_eq!(egi(&usage, "normalized_sum_elapsed_processors"), ["224.00"]);
    let sums = sums_by(&usage.groups, WorkScale::Hs23, |_| ()).unwrap();
    assert_eq!(sums[&()].wall_work_e9, 200 * 31_500_000_000);
    assert_eq!(sums[&()].cpu_work_e9, 200 * 31_500_000_000);
}

/// SI00 counts as 1/250 of HEPSPEC06, not rounded to its thousandths.
#[test]
fn work_in_si00_is_exact() {
    let scene = Scene::new();
    let text = HEAD.to_owned() + &job("S", "ce", 1, 1, "2001").replace("HEPSPEC", "Si2k");
    let lake = lake(&scene, &text, "");
    let usage = gather(&lake, &Selection::default()).unwrap();
    let sums = sums_by(&usage.groups, WorkScale::Hs23, |_| ()).unwrap();
    assert_eq!(sums[&()].core_wall_work_e9, 8_004_000_000);
}

/// Seconds that documents of GRACC state in part are counted, as in usage; messages have whole ones.
#[test]
fn parts_of_wall_seconds_are_counted() {
    let scene = Scene::new();
    let mut text = String::new();
    for id in 0..10 {
        let _ = writeln!(
            text,
            "{{\"type\": \"JobUsageRecord\", \"RecordId\": \"h:{id}.1\", \"ProbeName\": \"p:a\", \"SiteName\": \"S\", \
             \"LocalJobId\": \"{id}\", \"VOName\": \"cms\", \"ResourceType\": \"Batch\", \"StartTime\": \"2022-05-03T00:00:00Z\", \
             \"EndTime\": \"2022-05-03T02:00:00Z\", \"WallDuration\": 7200.6, \"CpuDuration\": 7000.6, \"Processors\": 4, \
             \"Grid\": \"OSG\", \"Njobs\": 1}}"
        );
    }
    scene.write("in/1.json", &text);
    scene.write(
        "bench.csv",
        "site,benchmark,value_per_core,valid_from,valid_to,recorded_at,source\nS,hs23,10,2022-01-01,,2022-01-01,x\n",
    );
    let lake = scene.lake(
        "lake",
        "format = \"gracc\"\npaths = [\"in\"]\n",
        "[normalise]\nbenchmarks = \"bench.csv\"\nmissing = \"null\"\n",
    );
    let usage = gather(&lake, &Selection::default()).unwrap();
    let sums = sums_by(&usage.groups, WorkScale::Hs23, |_| ()).unwrap();
    assert_eq!((sums[&()].wall_ms, sums[&()].core_wall_ms), (72_006_000, 288_024_000));
    assert_eq!(sums[&()].core_wall_work_e9, 2_880_240_000_000_000);
}

/// What the `order` of the pipeline excludes scales no job, in no report.
#[test]
fn a_benchmark_that_the_order_excludes_is_unknown() {
    let scene = Scene::new();
    scene.write(
        "bench.csv",
        "site,benchmark,value_per_core,valid_from,valid_to,recorded_at,source\nS,hs06,20,2024-01-01,,2024-01-01,x\n",
    );
    let text = HEAD.to_owned() + &job("S", "ce", 3600, 1, "1") + &job("T", "ce", 3600, 1, "1");
    let rest = "[normalise]\nbenchmarks = \"bench.csv\"\norder = [\"cluster\", \"site\"]\nmissing = \"null\"\n";
    let lake = lake(&scene, &text, rest);
    let usage = gather(&lake, &Selection::default()).unwrap();
    assert_eq!(egi(&usage, "normalized_sum_elapsed"), ["20.00", ""]);
    assert_eq!(egi(&usage, "unscaled_jobs"), ["0", "1"]);
    assert!(
        usage.notes.contains(&"1 jobs: benchmark_missing".to_owned()),
        "{:?}",
        usage.notes
    );
    let request = ApelRequest {
        kinds: vec![MessageKind::SummaryV04],
        batch_records: 10,
        ..ApelRequest::default()
    };
    let refused = publish(&lake, &request, &mut |_, _, _, _, _| Ok(())).unwrap_err();
    assert!(refused.to_string().contains("1 benchmark_missing"), "{refused}");
}

/// A summary whose level is zero has no known work, as in usage.
#[test]
fn a_summary_of_level_zero_is_unscaled() {
    let scene = Scene::new();
    let text = "APEL-summary-job-message: v0.2\nSite: S\nMonth: 3\nYear: 2024\nVO: atlas\nSubmitHost: ce1\n\
                InfrastructureType: grid\nServiceLevelType: HEPSPEC\nServiceLevel: 0\nNodeCount: 1\nProcessors: 8\n\
                WallDuration: 36000\nCpuDuration: 144000\nNumberOfJobs: 5\n%%\n";
    let lake = lake(&scene, text, "");
    let usage = gather(&lake, &Selection::default()).unwrap();
    assert_eq!(egi(&usage, "normalized_sum_elapsed"), [""]);
    assert_eq!(egi(&usage, "unscaled_jobs"), ["5"]);
    assert!(
        usage.notes.contains(&"5 jobs: benchmark_missing".to_owned()),
        "{:?}",
        usage.notes
    );
}

/// APEL's server has three decimals of a benchmark: reports that count as it does have them too, and report the jobs it changes.
#[test]
fn a_benchmark_of_four_decimals_is_rounded_and_reported() {
    let scene = Scene::new();
    scene.write(
        "bench.csv",
        "site,benchmark,value_per_core,valid_from,valid_to\nS,hs23,10.1234,,\nS,hs06,9.5,,\nT,hs23,10.5,,\n\
         T,si00,2500.0006,,\n",
    );
    let text = HEAD.to_owned() + &job("S", "ce", 3600, 1, "1") + &job("T", "ce", 3600, 1, "1");
    let rest = "[normalise]\nbenchmarks = \"bench.csv\"\norder = [\"cluster\", \"site\"]\nmissing = \"null\"\n";
    let lake = lake(&scene, &text, rest);
    let usage = gather(&lake, &Selection::default()).unwrap();
    let sums = sums_by(&usage.groups, WorkScale::Hs23, |group| group.site.clone()).unwrap();
    assert_eq!(sums["S"].wall_work_e9, 3600 * 10_123_000_000);
    let note = "benchmarks of more than three decimals are rounded to three, as APEL's server stores them: ";
    let reported = |lines: &[String]| -> Vec<String> {
        let rest = lines.iter().filter_map(|line| line.strip_prefix(note));
        rest.map(str::to_owned).collect()
    };
    assert_eq!(reported(&usage.notes), ["hs23 of 1 jobs, si00 of 1 jobs"]);
    // A message reports what it names: all in a dictionary, else the one that the server prefers.
    for (kind, expected) in [
        (MessageKind::JobV03, vec!["hs23 of 1 jobs"]),
        (MessageKind::JobV04, vec!["hs23 of 1 jobs, si00 of 1 jobs"]),
        (MessageKind::SummaryV02, vec!["hs23 of 1 jobs"]),
        (MessageKind::NormalisedV04, vec!["hs23 of 1 jobs, si00 of 1 jobs"]),
        (MessageKind::Sync, vec![]),
    ] {
        let request = ApelRequest {
            kinds: vec![kind],
            batch_records: 10,
            ..ApelRequest::default()
        };
        let published = publish(&lake, &request, &mut |_, _, _, _, _| Ok(())).unwrap();
        assert_eq!(reported(&published.lines()), expected, "{kind:?}");
    }
    // Of three decimals nothing is reported.
    let of_t = Selection {
        sites: std::iter::once("T".to_owned()).collect(),
        ..Selection::default()
    };
    let request = ApelRequest {
        kinds: vec![MessageKind::SummaryV02],
        batch_records: 10,
        selection: of_t,
        ..ApelRequest::default()
    };
    let published = publish(&lake, &request, &mut |_, _, _, _, _| Ok(())).unwrap();
    assert_eq!(published.lines(), [""; 0]);
}
