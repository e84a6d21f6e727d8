//! Summaries beyond what is held or added up are refused by file and line, and the others are published.

use gridtally::ingest::summary_limits::SummaryLimits;
use gridtally::run::RunOptions;

use super::{Scene, assert_same_files, lake, pipeline, rejects, sum};

const SOURCE: &str = "format = \"apel\"\npaths = [\"dumps\"]";
const HEAD: &str = "APEL-summary-job-message: v0.2\n";

/// A summary of a VO and a month, one job, in 14 lines.
fn summary(vo: usize, month: u32, cpu_s: u64) -> String {
    format!(
        "Site: S\nMonth: {month}\nYear: 2026\nVO: v{vo}\nSubmitHost: ce\nInfrastructureType: grid\nNodeCount: 1\n\
         Processors: 8\nWallDuration: 100\nCpuDuration: {cpu_s}\nNumberOfJobs: 1\nServiceLevelType: HEPSPEC\n\
         ServiceLevel: 10\n%%\n"
    )
}

/// Some ninety summaries of 10^17 ms ended the run.
#[test]
fn summaries_that_the_sums_of_a_month_cannot_take_are_refused_by_line() {
    let scene = Scene::new();
    let most_s = 100_000_000_000_000;
    let vast: String = (0..5).map(|vo| summary(vo, 3, most_s)).collect();
    let others = summary(5, 3, 50) + &summary(6, 4, 50);
    scene.write("dumps/a", format!("{HEAD}{vast}{others}"));
    let report = scene.run(&pipeline(SOURCE, ""));
    // 2^57 ms take one of 10^17.
    assert_eq!(
        (
            report.reasons.get("rejected/summary_sum_limit"),
            report.reasons.get("accepted/summary_record"),
        ),
        (Some(&4), Some(&3)),
        "{}",
        report.text()
    );
    assert_eq!(sum(&scene, "usage", "cpu_ms"), 100_000_000_000_000_000 + 2 * 50_000);
    let refused = rejects(&scene);
    assert_eq!(refused.len(), 4);
    assert!(
        refused
            .iter()
            .all(|(path, line, reason)| path.ends_with("dumps/a") && line % 14 == 2 && reason == "summary_sum_limit"),
        "{refused:?}"
    );
}

/// Work times cores of normalised summaries ended the run once it did not fit 38 digits.
#[test]
fn more_work_than_any_month_comes_to_is_refused() {
    let scene = Scene::new();
    let record = |work_s: u64, core_n: u64| {
        format!(
            "Site: S\nMonth: 3\nYear: 2026\nVO: v{core_n}\nSubmitHost: ce\nInfrastructure: grid\nProcessors: {core_n}\n\
             NodeCount: 1\nEarliestEndTime: 1772323200\nLatestEndTime: 1772323300\nWallDuration: 100\nCpuDuration: 50\n\
             NormalisedWallDuration: {{hepspec: {work_s}}}\nNormalisedCpuDuration: {{hepspec: 50}}\nNumberOfJobs: 1\n%%\n"
        )
    };
    let text = [
        "APEL-normalised-summary-message: v0.4\n",
        &record(1000, 8),
        &record(1_000_000_000_000_000, 2000),
    ];
    scene.write("dumps/a", text.concat());
    let report = scene.run(&pipeline(SOURCE, ""));
    assert_eq!(report.reasons.get("rejected/bad_number"), Some(&1), "{}", report.text());
    assert_eq!(
        report.reasons.get("accepted/summary_record"),
        Some(&1),
        "{}",
        report.text()
    );
}

fn limited(file_n: usize, month_n: usize) -> RunOptions {
    RunOptions {
        summary_limits: SummaryLimits { file_n, month_n },
        threads: Some(2),
        ..RunOptions::default()
    }
}

/// The file ended the run.
#[test]
fn summaries_beyond_those_held_of_a_file_are_refused_by_line() {
    let scene = Scene::new();
    let rows: String = (0..40).map(|vo| summary(vo, 3, 50)).collect();
    scene.write("dumps/a", format!("{HEAD}{rows}"));
    let report = scene.run_with(&pipeline(SOURCE, ""), &limited(25, 100));
    assert_eq!(
        report.reasons.get("rejected/limit_exceeded"),
        Some(&15),
        "{}",
        report.text()
    );
    assert_eq!(sum(&scene, "usage", "job_n"), 25);
    let lines: Vec<i64> = rejects(&scene).into_iter().map(|(_, line, _)| line).collect();
    let beyond: Vec<i64> = (25..40).map(|nth| 2 + 14 * nth).collect();
    assert_eq!(lines, beyond);
    let first = report.refused[0].reasons[0].first.as_ref().unwrap();
    assert!(
        first.line == 352 && first.detail.contains("25 summaries before it"),
        "{first:?}"
    );
}

/// The month ended the run, and with it all other months.
#[test]
fn a_month_of_too_many_versions_refuses_those_that_came_last() {
    let nights = |at_once: bool| {
        let scene = Scene::new();
        for night in 1..=4_usize {
            let own: String = (0..20).map(|vo| summary(100 * night + vo, 3, 50)).collect();
            let other = summary(night, 4, 50);
            scene.write(&format!("dumps/2026-05-0{night}/a"), format!("{HEAD}{own}{other}"));
            if !at_once {
                scene.run_with(&pipeline(SOURCE, ""), &limited(1000, 50));
            }
        }
        if at_once {
            scene.run_with(&pipeline(SOURCE, ""), &limited(1000, 50));
        }
        scene
    };
    let scene = nights(true);
    assert_eq!(sum(&scene, "usage", "job_n"), 50 + 4);
    let refused = rejects(&scene);
    let of = |night: usize| {
        refused
            .iter()
            .filter(|(path, ..)| path.contains(&format!("05-0{night}")))
            .count()
    };
    assert_eq!([1, 2, 3, 4].map(of), [0, 0, 10, 20]);
    assert!(
        refused
            .iter()
            .all(|(_, line, reason)| *line > 1 && reason == "limit_exceeded")
    );
    let (whole, nightly) = (lake(&scene.path("lake")), lake(&nights(false).path("lake")));
    assert_same_files(&whole, &nightly);
}
