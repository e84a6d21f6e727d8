//! Each mode on a handful of jobs, worked by hand. Every case is one in which the modes disagree.

use std::fmt::Write as _;
use std::process::Command;

use gridtally::compat::{PeerMode, WorkReport};
use gridtally::diagnostics::Problems;
use gridtally::error::Kind;
use gridtally::reference::benchmark::BenchmarkTable;
use gridtally::reference::site_rename::SiteRenames;

use super::{Lake, columns};
use crate::support::sample::run;

/// A job of an APEL message, of the VO reef, one core, ended in March 2026; `more` lines win.
pub(super) fn job(id: u32, wall_s: i64, cpu_s: i64, level: &str, more: &str) -> String {
    format!(
        "Site: S\nLocalJobId: {id}\nMachineName: lrms\nSubmitHost: ce\nVO: reef\nGlobalUserName: /CN=a\nWallDuration: {wall_s}\n\
         CpuDuration: {cpu_s}\nProcessors: 1\nNodeCount: 1\nStartTime: 1772500000\nEndTime: 1772600000\n\
         InfrastructureType: grid\n{level}{more}%%\n"
    )
}

pub(super) fn level(kind: &str, value: &str) -> String {
    format!("ServiceLevelType: {kind}\nServiceLevel: {value}\n")
}

pub(super) const V03: &str = "APEL-individual-job-message: v0.3\n";
const V04: &str = "APEL-individual-job-message: v0.4\n";
pub(super) const SOURCE: &str = "[[source]]\nname = \"apel\"\nformat = \"apel\"\npaths = [\"in\"]\n";

fn apel(header: &str, jobs: &[String]) -> Lake {
    Lake::new(&[("in/1.msg", &format!("{header}{}", jobs.concat()))], SOURCE)
}

/// One column of the report's cells.
fn column(report: &WorkReport, name: &str) -> Vec<String> {
    report
        .cells
        .iter()
        .map(|cell| columns(report, cell)[name].clone())
        .collect()
}

/// What a mode publishes as (wall work, CPU work) of a lake with one cell.
fn work(lake: &Lake, mode: PeerMode) -> (String, String) {
    let report = lake.work(mode, "vo,benchmark");
    assert_eq!(report.cells.len(), 1);
    (
        column(&report, "normalised_wall_s").remove(0),
        column(&report, "normalised_cpu_s").remove(0),
    )
}

fn pair(wall: &str, cpu: &str) -> (String, String) {
    (wall.to_owned(), cpu.to_owned())
}

#[test]
fn hs_02_a_level_of_ten_or_2500_si00_is_36000() {
    let hepspec = apel(V03, &[job(1, 3600, 3600, &level("HEPSPEC", "10"), "")]);
    let si00 = apel(V03, &[job(1, 3600, 3600, &level("Si2k", "2500"), "")]);
    for mode in [PeerMode::Native, PeerMode::Apel, PeerMode::ApelPre23, PeerMode::Auditor] {
        assert_eq!(work(&hepspec, mode), pair("36000", "36000"), "{mode:?}");
        assert_eq!(work(&si00, mode), pair("36000", "36000"), "{mode:?}");
    }
}

#[test]
fn hs_02_of_several_benchmarks_the_newest_counts() {
    let several = "ServiceLevel: {si2k: 9000, hepspec: 11, HEPscore23: 10}\n";
    let lake = apel(V04, &[job(1, 3600, 1800, several, "")]);
    assert_eq!(work(&lake, PeerMode::Apel), pair("36000", "18000"));
    assert_eq!(column(&lake.work(PeerMode::Apel, "benchmark"), "benchmark"), ["hs23"]);
    // An old server took everything but HEPSPEC for SI00.
    assert_eq!(work(&lake, PeerMode::ApelPre23), pair("144", "72"));
}

#[test]
fn when_it_is_rounded() {
    let jobs: Vec<String> = (1..=3).map(|id| job(id, 1, 1, &level("HEPSPEC", "10.5"), "")).collect();
    let lake = apel(V03, &jobs);
    assert_eq!(work(&lake, PeerMode::Native), pair("31.5", "31.5"));
    // Once for the group, halves up.
    assert_eq!(work(&lake, PeerMode::Apel), pair("32", "32"));
    // Every job, halves to the even neighbour.
    assert_eq!(work(&lake, PeerMode::Auditor), pair("30", "30"));
    assert_eq!(work(&lake, PeerMode::Gracc), pair("31", "31"));
    let report = lake.work(PeerMode::Apel, "vo");
    assert_eq!(column(&report, "wall_difference_s"), ["0.5"]);
    assert_eq!(
        column(&lake.work(PeerMode::Auditor, "vo"), "cpu_difference_s"),
        ["-1.5"]
    );
}

/// Jobs of two users are two groups: each is rounded, also where the report adds them up.
#[test]
fn groups_are_rounded_before_they_are_added_up() {
    let half = level("HEPSPEC", "10.5");
    let lake = apel(
        V03,
        &[job(1, 1, 1, &half, ""), job(2, 1, 1, &half, "GlobalUserName: /CN=b\n")],
    );
    assert_eq!(work(&lake, PeerMode::Apel), pair("22", "22"));
    // Letter case makes no other user at APEL's server, and another one at OSG's.
    let lake = apel(
        V03,
        &[job(1, 1, 1, &half, ""), job(2, 1, 1, &half, "GlobalUserName: /cn=A\n")],
    );
    assert_eq!(work(&lake, PeerMode::Apel), pair("21", "21"));
    assert_eq!(work(&lake, PeerMode::Gracc), pair("20", "20"));
}

#[test]
fn wall_time_is_times_cores_only_where_it_states_it() {
    let lake = apel(
        V03,
        &[
            job(1, 1000, 6000, &level("HEPSPEC", "10"), "Processors: 8\n"),
            job(2, 1000, 500, &level("HEPSPEC", "20"), "Processors: 0\n"),
        ],
    );
    let report = lake.work(PeerMode::Apel, "vo");
    let row = columns(&report, &report.cells[0]);
    for (name, expected) in [
        ("wall_s", "2000"),
        ("core_wall_s", "9000"),
        ("normalised_wall_s", "30000"),
        ("native_core_wall_s", "100000"),
        ("core_unknown_job_n", "1"),
        // EGI: 70 000 of 100 000 normalised; WLCG: 6500 of 9000 as they are.
        ("egi_cpu_efficiency_percent", "70"),
        ("wlcg_cpu_efficiency_percent", "72.22"),
    ] {
        assert_eq!(row[name], expected, "{name}");
    }
}

const SACCT: &str = "Cluster|JobIDRaw|JobID|Submit|Start|End|ElapsedRaw|State|NCPUS|AllocTRES|TotalCPU|Account|User\n";

/// A job of a cluster, of 100 s on one core.
fn sacct(cluster: &str, id: u32) -> String {
    let times = "2026-03-02T10:00:00|2026-03-02T10:00:00|2026-03-02T10:01:40";
    format!("{cluster}|{id}|{id}|{times}|100|COMPLETED|1|billing=1,cpu=1,mem=1G,node=1|00:01:40|a|u\n")
}

fn slurm(jobs: &[String], benchmarks: &str) -> Lake {
    let table = format!("site,cluster,benchmark,value_per_core,valid_from,valid_to\n{benchmarks}");
    Lake::new(
        &[
            ("in.txt", &format!("{SACCT}{}", jobs.concat())),
            ("benchmarks.csv", &table),
        ],
        "[[source]]\nname = \"s\"\nformat = \"sacct\"\npaths = [\"in.txt\"]\nsite = \"S\"\ntimezone = \"UTC\"\n\
         vo = { value = \"reef\" }\n[normalise]\nbenchmarks = \"benchmarks.csv\"\nmissing = \"null\"\n",
    )
}

#[test]
fn apel_keeps_three_decimals_of_a_benchmark() {
    let lake = slurm(&[sacct("a", 1)], "S,,hs06,10.8765,,\n");
    assert_eq!(work(&lake, PeerMode::Native), pair("1087.65", "1087.65"));
    assert_eq!(work(&lake, PeerMode::Apel), pair("1088", "1088"));
    assert_eq!(
        column(&lake.work(PeerMode::Apel, "benchmark_per_core"), "benchmark_per_core"),
        ["10.877"]
    );
    // Of a table with several kinds one counts, and each job once.
    let lake = slurm(&[sacct("a", 1)], "S,,hs06,10,,\nS,,hs23,11,,\nS,,si00,2600,,\n");
    for mode in [PeerMode::Native, PeerMode::Apel, PeerMode::Auditor] {
        let report = lake.work(mode, "benchmark");
        assert_eq!(
            (column(&report, "job_n"), column(&report, "benchmark")),
            (vec!["1".to_owned()], vec!["hs23".to_owned()])
        );
    }
}

/// APEL publishes what the record states. What is exact is what the pipeline scales by, and it may prefer its table.
#[test]
fn the_difference_is_that_of_the_benchmarks_too() {
    let stated = format!("{V03}{}", job(1, 100, 100, &level("HEPSPEC", "10"), ""));
    let table = "site,cluster,benchmark,value_per_core,valid_from,valid_to\nS,,hs06,12.5,,\n";
    let lake = Lake::new(
        &[("in/1.msg", &stated), ("benchmarks.csv", table)],
        &format!(
            "{SOURCE}[normalise]\nbenchmarks = \"benchmarks.csv\"\norder = [\"site\", \"record\"]\nmissing = \"null\"\n"
        ),
    );
    let report = lake.work(PeerMode::Apel, "vo");
    let row = columns(&report, &report.cells[0]);
    let reported = ["normalised_wall_s", "native_wall_s", "wall_difference_s"].map(|name| row[name].as_str());
    assert_eq!(reported, ["1000", "1250", "-250"]);
}

#[test]
fn what_nobody_knows_the_benchmark_of() {
    let lake = slurm(&[sacct("a", 1), sacct("b", 2)], "S,a,hs06,10,,\n");
    let apel = lake.work(PeerMode::Apel, "vo");
    assert_eq!(
        (column(&apel, "job_n"), apel.left.benchmark_missing_job_n),
        (vec!["1".to_owned()], 1)
    );
    let native = lake.work(PeerMode::Native, "benchmark");
    assert_eq!(column(&native, "native_unknown_job_n"), ["1", "0"]);
    // OSG's exporter takes 12 for a bucket without any, and what it knows for one with some.
    assert_eq!(work(&lake, PeerMode::Gracc), pair("2000", "2000"));
    let none = slurm(&[sacct("b", 2)], "S,a,hs06,10,,\n");
    assert_eq!(work(&none, PeerMode::Gracc), pair("1200", "1200"));
}

#[test]
fn gracc_takes_the_mean_whoever_ran_where() {
    // Three jobs on one CE and one on another: usage plays no part.
    let jobs = [sacct("a", 1), sacct("a", 2), sacct("a", 3), sacct("b", 4)];
    let lake = slurm(&jobs, "S,a,hs06,10,,\nS,b,hs06,13,,\n");
    assert_eq!(work(&lake, PeerMode::Native), pair("4300", "4300"));
    assert_eq!(work(&lake, PeerMode::Gracc), pair("4600", "4600"));
}

#[test]
fn gracc_distrusts_the_value_of_a_whole_node() {
    let stated = |value: &str| apel(V03, &[job(1, 100, 100, &level("HEPSPEC", value), "")]);
    let lake = stated("200");
    assert_eq!(work(&lake, PeerMode::Gracc), pair("1200", "1200"));
    let mut problems = Problems::default();
    let table = "site,cluster,benchmark,value_per_core,valid_from,valid_to\nS,lrms,hs06,17,,\nS,,hs06,14.5,,\n";
    let values = BenchmarkTable::read(table.as_bytes(), "benchmarks.csv", None, &mut problems);
    problems.finish().unwrap();
    let report = lake.ask(PeerMode::Gracc, "vo", &SiteRenames::default(), Some(&values));
    assert_eq!(column(&report, "normalised_wall_s"), ["1450"]);
    assert_eq!(work(&stated("199.999"), PeerMode::Gracc), pair("19999", "19999"));
}

/// 100 s times 1.15 is 114.99999999999999 in binary floating point, and that is cut off.
#[test]
fn gracc_calculates_in_floating_point() {
    let lake = slurm(&[sacct("a", 1)], "S,a,hs06,1.15,,\n");
    assert_eq!(work(&lake, PeerMode::Gracc), pair("114", "114"));
    assert_eq!(work(&lake, PeerMode::Native), pair("115", "115"));
}

#[test]
fn of_renamed_sites_the_smaller_factor_counts() {
    let message =
        |site: &str, id: u32, factor: &str| job(id, 100, 50, &level("HEPSPEC", factor), &format!("Site: {site}\n"));
    let lake = apel(
        V03,
        &[
            message("Crane", 1, "10"),
            message("Nebraska", 2, "12"),
            message("Tusker", 3, "11"),
        ],
    );
    let mut problems = Problems::default();
    let table = lake.path().join("renames.csv");
    std::fs::write(
        &table,
        "site,vo,to_site\nCrane,,Nebraska\nTusker,reef,Nebraska\nTusker,*,Other\n",
    )
    .unwrap();
    let renames = SiteRenames::load(&table, "renames.csv", &mut problems);
    problems.finish().unwrap();
    let report = lake.ask(PeerMode::Gracc, "vo", &renames, None);
    assert_eq!(
        (column(&report, "site"), column(&report, "normalised_wall_s")),
        (vec!["Nebraska".to_owned()], vec!["3000".to_owned()])
    );
    assert_eq!(column(&report, "native_wall_s"), ["3300"]);
    assert_eq!(lake.work(PeerMode::Gracc, "vo").cells.len(), 3);
}

/// User and system time of a whole bucket count as soon as one job has any: jobs with a total alone are lost in it.
#[test]
fn gracc_loses_totals_in_addition_to_parts_and_takes_local_payloads() {
    let record = |id: u32, kind: &str, grid: &str, cpu: &str| {
        format!(
            "{{\"_id\":\"{id}\",\"_source\":{{\"type\":\"JobUsageRecord\",\"ResourceType\":\"{kind}\",\"Grid\":\"{grid}\",\
             \"SiteName\":\"S\",\"VOName\":\"reef\",\"ReportableVOName\":\"reef\",\"ProbeName\":\"condor:ce\",\
             \"LocalJobId\":\"{id}\",\"WallDuration\":100,\"Processors\":1,\"DN\":\"/CN=a\",{cpu},\
             \"StartTime\":\"2026-03-02T10:00:00Z\",\"EndTime\":\"2026-03-02T10:01:40Z\"}}}}\n"
        )
    };
    let parts = "\"CpuDuration_user\":60,\"CpuDuration_system\":10,\"CpuDuration\":70";
    let total = "\"CpuDuration\":50";
    let lake = |records: &[String]| {
        Lake::new(
            &[("in.ndjson", &records.concat())],
            "[[source]]\nname = \"g\"\nformat = \"gracc\"\npaths = [\"in.ndjson\"]\n",
        )
    };
    let mixed = lake(&[record(1, "Batch", "OSG", parts), record(2, "Batch", "OSG", total)]);
    assert_eq!(column(&mixed.work(PeerMode::Gracc, "vo"), "cpu_s"), ["70"]);
    let totals = lake(&[
        record(2, "Batch", "OSG", total),
        record(3, "Payload", "Local", total),
        record(4, "Payload", "OSG", total),
    ]);
    let report = totals.work(PeerMode::Gracc, "vo");
    assert_eq!(
        (column(&report, "job_n"), column(&report, "cpu_s")),
        (vec!["2".to_owned()], vec!["100".to_owned()])
    );
    assert_eq!(report.left.other_view_job_n, 1);
}

#[test]
fn auditor_leaves_out_what_took_no_time() {
    let lake = apel(
        V03,
        &[
            job(1, 0, 5, &level("HEPSPEC", "10"), ""),
            job(2, 1, 5, &level("HEPSPEC", "10"), ""),
        ],
    );
    let report = lake.work(PeerMode::Auditor, "vo");
    assert_eq!(
        (column(&report, "normalised_cpu_s"), report.left.no_wall_job_n),
        (vec!["50".to_owned()], 1)
    );
    assert_eq!(work(&lake, PeerMode::Apel), pair("10", "100"));
}

#[test]
fn the_command_prints_every_mode() {
    let lake = apel(V03, &[job(1, 3600, 1800, &level("HEPSPEC", "10.5"), "")]);
    let gridtally = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command.arg("work").arg(lake.out()).args(options);
        command
    };
    let mut seen = String::new();
    for mode in PeerMode::ALL {
        let text = run(&mut gridtally(&["--as", mode.as_str()]));
        assert!(
            text.starts_with(&format!("{}: {}", mode.as_str(), mode.meaning())),
            "{text}"
        );
        let _ = writeln!(seen, "{text}");
    }
    let csv = run(&mut gridtally(&["--as", "apel", "--by", "all", "--format", "csv"]));
    assert_eq!(csv.lines().count(), 2);
    assert!(
        csv.contains(",37800,18900,37800,37800,18900,37800,0,0,50,50,0,0,2026-03-04T04:53:20Z,"),
        "{csv}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&run(&mut gridtally(&["--as", "native", "--format", "json"]))).unwrap();
    assert_eq!(
        (&json["cells"][0]["job_n"], &json["cells"][0]["native_cpu_s"]),
        (&1.into(), &"18900".into())
    );
    for (options, code) in [
        (&["--as", "apel", "--by", "vos"][..], Kind::Usage.exit_code()),
        (&["--as", "osg"], Kind::Usage.exit_code()),
        (&["--as", "apel", "--rename", "x.csv"], Kind::Usage.exit_code()),
        (&["--as", "auditor", "--site-values", "x.csv"], Kind::Usage.exit_code()),
        (&["--as", "gracc", "--rename", "x.csv"], Kind::Config.exit_code()),
    ] {
        let output = gridtally(options).output().unwrap();
        assert_eq!(output.status.code(), Some(i32::from(code)), "{options:?}");
    }
}

/// APEL's server takes sites in other letters for one; exact work keeps them apart, as the lake does.
#[test]
fn sites_in_other_letters_are_one_to_the_server() {
    let lower = job(2, 1000, 1000, &level("HEPSPEC", "10"), "").replace("Site: S\n", "Site: s\n");
    let lake = apel(V03, &[job(1, 100, 100, &level("HEPSPEC", "10"), ""), lower]);
    let served = lake.work(PeerMode::Apel, "vo");
    assert_eq!(column(&served, "site"), ["S"]);
    assert_eq!(column(&served, "job_n"), ["2"]);
    assert_eq!(column(&served, "normalised_wall_s"), ["11000"]);
    assert_eq!(column(&lake.work(PeerMode::Native, "vo"), "site"), ["S", "s"]);
}

/// Exact work is by the values the pipeline scales by: what its order excludes gives none.
#[test]
fn exact_work_is_by_the_order_of_the_pipeline() {
    let text = format!("{V03}{}", job(1, 3600, 1800, &level("HEPSPEC", "10"), ""));
    let table =
        "site,benchmark,value_per_core,valid_from,valid_to,recorded_at,source\nS,hs23,20,2026-01-01,,2026-01-01,x\n";
    let with = |site: &str| {
        let rule = "[normalise]\nbenchmarks = \"b.csv\"\norder = [\"site\"]\nmissing = \"null\"\n";
        let table = table.replace("\nS,", &format!("\n{site},"));
        Lake::new(&[("in/1.msg", &text), ("b.csv", &table)], &format!("{SOURCE}{rule}"))
    };
    let known = with("S").work(PeerMode::Native, "benchmark");
    assert_eq!(column(&known, "benchmark"), ["hs23"]);
    assert_eq!(column(&known, "normalised_wall_s"), ["72000"]);
    let unknown = with("T").work(PeerMode::Native, "benchmark");
    assert_eq!(column(&unknown, "native_unknown_job_n"), ["1"]);
    assert_eq!(column(&unknown, "normalised_wall_s"), ["0"]);
    let served = with("T").work(PeerMode::Apel, "benchmark");
    assert_eq!(column(&served, "normalised_wall_s"), ["36000"]);
    assert_eq!(column(&served, "native_unknown_job_n"), ["1"]);
}
