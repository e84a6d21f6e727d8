//! Jobs whose start moves while they run: a dump has them without an end, a later one with another start.

use serde_json::{Value, json};

use super::copies::{HEADER, pipeline, scene};
use super::scene::{Pipeline, Source};
use gridtally::run::run_report::RunReport;

/// 2026-04-01T00:00:00Z
const APRIL: i64 = 1_775_001_600;

/// A job that was submitted ten minutes before April; `end_s` is zero while it runs. Times after the begin of April.
fn row(id: u32, state: &str, start_s: i64, end_s: i64) -> String {
    let (submit_s, start) = (APRIL - 600, APRIL + start_s);
    let (end, elapsed_s) = match end_s {
        0 => ("Unknown".to_owned(), 100),
        _ => ((APRIL + end_s).to_string(), end_s - start_s),
    };
    format!("{id}|{id}|zoo|u1|bio|{submit_s}|{start}|{end}|{elapsed_s}|{state}|4|00:01.000\n")
}

fn moved(report: &RunReport) -> Value {
    let mut moved = serde_json::to_value(&report.moved_starts).unwrap();
    for site in moved.as_array_mut().unwrap() {
        for job in site["first"].as_array_mut().unwrap() {
            let id = job.as_object_mut().unwrap().remove("record_id").unwrap();
            assert_eq!(id.as_str().unwrap().len(), 32);
        }
    }
    moved
}

#[test]
fn a_start_that_moved_after_a_dump_is_a_warning() {
    // Nodes were powered up: over midnight into another month, and within a day.
    let scene = scene(&[
        (
            "1.txt",
            HEADER.to_owned() + &row(1, "RUNNING", -590, 0) + &row(2, "RUNNING", 1000, 0) + &row(3, "RUNNING", 5, 0),
        ),
        (
            "2.txt",
            HEADER.to_owned()
                + &row(1, "COMPLETED", 120, 14_520)
                + &row(2, "RUNNING", 1180, 0)
                + &row(3, "COMPLETED", 5, 70),
        ),
        ("3.txt", HEADER.to_owned() + &row(2, "COMPLETED", 1180, 2000)),
    ]);
    let both = json!([{
        "site": "ZOO",
        "job_n": 2,
        "first": [
            {"job_id": "1", "start": "2026-03-31T23:50:10Z", "later_start": "2026-04-01T00:02:00Z"},
            {"job_id": "2", "start": "2026-04-01T00:16:40Z", "later_start": "2026-04-01T00:19:40Z"},
        ],
    }]);
    let first = scene.run(&pipeline(&["1.txt"]), "nightly");
    assert_eq!(moved(&first), json!([]));
    let second = scene.run(&pipeline(&["1.txt", "2.txt"]), "nightly");
    let in_one_go = scene.run(&pipeline(&["1.txt", "2.txt"]), "lake");
    scene.run(&pipeline(&["2.txt"]), "backwards");
    let backwards = scene.run(&pipeline(&["1.txt", "2.txt"]), "backwards");
    for report in [second, in_one_go, backwards] {
        assert_eq!(moved(&report), both);
        let text = report.text();
        assert!(
            text.contains("ZOO: 2 jobs may count twice")
                && text.contains("1 from 2026-03-31T23:50:10Z without an end and from 2026-04-01T00:02:00Z"),
            "{text}"
        );
    }
    // What an earlier run reported is not repeated, but where a row of the job is new.
    let third = scene.run(&pipeline(&["1.txt", "2.txt", "3.txt"]), "nightly");
    let only = json!([{
        "site": "ZOO",
        "job_n": 1,
        "first": [{"job_id": "2", "start": "2026-04-01T00:16:40Z", "later_start": "2026-04-01T00:19:40Z"}],
    }]);
    assert_eq!(moved(&third), only);
}

#[test]
fn runs_of_a_requeued_job_are_no_moved_start() {
    let night = |name, rows: &[String]| (name, HEADER.to_owned() + &rows.concat());
    let (earlier, later) = (row(1, "REQUEUED", -590, 300), row(1, "RUNNING", 900, 0));
    let scene = scene(&[
        night("1.txt", &[row(1, "RUNNING", -590, 0)]),
        night("2.txt", &[earlier.clone(), later]),
        night("3.txt", &[earlier, row(1, "COMPLETED", 900, 1000)]),
    ]);
    for files in [&["1.txt"][..], &["1.txt", "2.txt"], &["1.txt", "2.txt", "3.txt"]] {
        for lake in ["nightly", *files.last().unwrap()] {
            let report = scene.run(&pipeline(files), lake);
            assert_eq!(moved(&report), json!([]), "{files:?}");
        }
    }
}

#[test]
fn a_start_in_the_repeated_hour_that_the_length_decides_later_is_a_warning() {
    let row = |state: &str, end: &str, elapsed_s: u32| {
        format!(
            "{HEADER}1|1|zoo|u1|bio|2026-10-25T02:10:00|2026-10-25T02:30:00|{end}|{elapsed_s}|{state}|4|00:01.000\n"
        )
    };
    let scene = scene(&[
        ("1.txt", row("RUNNING", "Unknown", 600)),
        ("2.txt", row("COMPLETED", "2026-10-25T03:30:00", 3600)),
    ]);
    let pipeline = |files: &[&str]| {
        Pipeline::of(Source {
            name: "zoo",
            paths: files.iter().map(|file| format!("data/{file}")).collect(),
            keys: "format = \"sacct\"\nsite = \"ZOO\"\ntimezone = \"Europe/Zurich\"\n".to_owned(),
        })
    };
    let first = scene.run(&pipeline(&["1.txt"]), "lake");
    assert_eq!(moved(&first), json!([]));
    let second = scene.run(&pipeline(&["1.txt", "2.txt"]), "lake");
    assert_eq!(
        moved(&second),
        json!([{
            "site": "ZOO",
            "job_n": 1,
            "first": [{"job_id": "1", "start": "2026-10-25T00:30:00Z", "later_start": "2026-10-25T01:30:00Z"}],
        }])
    );
}
