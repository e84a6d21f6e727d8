//! Jobs of more years than any job runs, and years without jobs: overhead lists neither month by month.

use super::{DUMPS, HEADER, Scene, pipeline, row};

const OVERHEAD: &str =
    "[overhead]\nnodes = \"from-jobs\"\n[[overhead.unit]]\nname = \"1c2g\"\ncore = 1\nmemory = \"2GiB\"\n";

fn run(rows: &str) -> gridtally::run::run_report::RunReport {
    let scene = Scene::new();
    scene.write("dumps/a.txt", HEADER.to_owned() + rows);
    let source = format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}");
    scene.run(&pipeline(&source, OVERHEAD))
}

#[test]
fn a_job_of_a_century_is_left_out_and_named() {
    let century = row(
        2,
        &[
            ("Start", "1975-01-01T00:00:00"),
            ("End", "2199-01-01T00:00:00"),
            ("ElapsedRaw", "7068816000"),
        ],
    );
    let report = run(&(row(1, &[]) + &century));
    let overhead = report.overhead.as_ref().unwrap();
    assert_eq!((overhead.month_n, overhead.too_long_job_n), (1, 1));
    assert_eq!(overhead.first_too_long_job.as_deref(), Some("2"));
    let reported = report.text();
    assert!(
        reported.contains("1 jobs left out: more than five years on their nodes (first: job 2)"),
        "{reported}"
    );
    // By month it would be some thousand.
    assert!(report.written.len() < 400, "{} files", report.written.len());
    // Also where no other job is.
    let report = run(&century);
    let overhead = report.overhead.as_ref().unwrap();
    assert_eq!((overhead.month_n, overhead.too_long_job_n), (0, 1));
    assert!(report.text().contains("first: job 2"), "{}", report.text());
}

#[test]
fn years_without_jobs_are_not_swept() {
    let old = row(2, &[("Start", "1990-05-01T00:00:00"), ("End", "1990-05-01T01:00:00")]);
    let report = run(&(row(1, &[]) + &old));
    assert_eq!(report.overhead.as_ref().map(|overhead| overhead.month_n), Some(2));
    // A pause of a year is part of what the nodes did.
    let last_year = row(2, &[("Start", "2025-10-30T00:00:00"), ("End", "2025-10-30T01:00:00")]);
    let report = run(&(row(1, &[]) + &last_year));
    assert_eq!(report.overhead.as_ref().map(|overhead| overhead.month_n), Some(13));
}
