//! `run --summary-json`, and the exit code of a run that changes nothing.

use std::fs;

use gridtally::schema::batch::time;
use gridtally::store::{Store, read_table};
use serde_json::{Value, json};

use super::{Scene, job, last_line, stderr};

#[test]
fn the_last_line_of_stdout_is_the_summary_of_the_run() {
    let scene = Scene::new();
    let ran = scene.gridtally(&["run", "oak.toml", "--summary-json"]);
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let text = String::from_utf8(ran.stdout.clone()).unwrap();
    assert!(text.starts_with("oak: published"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with('{')).count(), 1, "{text}");
    let summary = last_line(&ran);
    assert_eq!(summary["status"], "published");
    assert_eq!(summary["exit_code"], 0);
    assert_eq!(summary["outcomes"], json!({ "accepted": 1 }));
    assert_eq!(summary["read_outcomes"], json!({ "accepted": 1 }));
    assert_eq!(summary["newest_records"], json!({ "oak": "2026-10-30T00:00:00Z" }));
    assert!(summary["partitions"]["written_n"].as_u64().unwrap() > 3, "{summary}");
    assert!(summary["phases"]["read"].is_f64(), "{summary}");
    assert!(summary["error"].is_null());
    let uuid = summary["run_uuid"].as_str().unwrap();
    assert_eq!(uuid.len(), 36);
    assert_eq!(uuid.as_bytes()[14], b'7');
    let page = format!("lake/runs/{}.parquet", summary["run_id"].as_str().unwrap());
    assert!(scene.path().join(page).is_file(), "the id is that of the dataset runs");
}

/// A run begins before its pipeline file is read: that is when the summary, its seconds and the dataset of runs begin.
#[test]
fn a_run_has_one_clock() {
    let scene = Scene::new();
    // A file that takes a while to be read.
    let pipeline = fs::read_to_string(scene.path().join("oak.toml")).unwrap();
    fs::write(
        scene.path().join("oak.toml"),
        pipeline + &format!("# {}\n", "x".repeat(100)).repeat(5_000),
    )
    .unwrap();
    let summary = last_line(&scene.gridtally(&["run", "oak.toml", "--summary-json"]));
    let run_id = summary["run_id"].as_str().unwrap();
    let (started_ms, _) = run_id.split_once('-').unwrap();
    let store = Store::open_existing(scene.path().join("lake").to_str().unwrap()).unwrap();
    let page = store.reader(&format!("runs/{run_id}.parquet")).unwrap();
    let batch = read_table(page, None, 1).unwrap().next().unwrap().unwrap();
    let started = time(&batch, "started_utc").unwrap().value(0);
    assert_eq!(started.to_string(), started_ms);
    let phases = summary["phases"].as_object().unwrap().values();
    let phases: f64 = phases.map(|seconds| seconds.as_f64().unwrap()).sum();
    assert!(summary["seconds"].as_f64().unwrap() > phases, "{summary}");
}

#[test]
fn the_summary_is_a_part_of_the_report() {
    let keys_of = |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let (a, b) = (Scene::new(), Scene::new());
    for scene in [&a, &b] {
        scene.dump("dump2.txt", &[job(2, 31), "broken\n".to_owned()]);
        scene.pipeline("paths = [\"dump*.txt\"]\nmax_rejected = 0.9\n");
    }
    let summary = last_line(&a.gridtally(&["run", "oak.toml", "--summary-json"]));
    let report = last_line(&b.gridtally(&["run", "oak.toml", "--report", "json"]));
    for key in keys_of(&summary) {
        assert!(!report[&key].is_null(), "{key} is not in the report");
    }
    for key in [
        "outcomes",
        "newest_records",
        "warning_n",
        "partitions",
        "rows_read_n",
        "status",
        "exit_code",
    ] {
        assert_eq!(summary[key], report[key], "{key}");
    }
    // No VO is named, and a file has a refused row.
    assert_eq!(summary["warning_n"], 2, "{summary}");
    let warnings = summary["warnings"].as_array().unwrap();
    assert!(
        warnings.iter().any(|line| line.as_str().unwrap().contains("dump2.txt")),
        "{summary}"
    );
}

#[test]
fn a_run_that_fails_has_a_summary_as_well() {
    let scene = Scene::new();
    assert!(scene.gridtally(&["run", "oak.toml"]).status.success());
    scene.dump("dump2.txt", &["broken\n".to_owned()]);
    let refused = scene.gridtally(&["run", "oak.toml", "--summary-json"]);
    assert_eq!(refused.status.code(), Some(65), "{}", stderr(&refused));
    let summary = last_line(&refused);
    assert_eq!(summary["status"], "failed");
    assert_eq!(summary["exit_code"], 65);
    assert_eq!(summary["error"]["exit_code"], 65);
    assert_eq!(summary["read_outcomes"], json!({ "rejected": 1 }));
    assert_eq!(
        summary["newest_records"],
        json!({ "oak": "2026-10-30T00:00:00Z" }),
        "of the lake as it is"
    );
    let missing = scene.gridtally(&["run", "nothing.toml", "--summary-json"]);
    let summary = last_line(&missing);
    assert_eq!(
        Some(summary["exit_code"].as_i64().unwrap()),
        missing.status.code().map(i64::from)
    );
    assert_eq!(summary["pipeline"], "nothing.toml");
}

#[test]
fn a_run_that_changes_nothing_ends_with_the_code_that_was_chosen() {
    let scene = Scene::new();
    let words = ["run", "oak.toml", "--summary-json", "--exit-code-if-unchanged", "100"];
    let first = scene.gridtally(&words);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    let second = scene.gridtally(&words);
    assert_eq!(second.status.code(), Some(100));
    let summary = last_line(&second);
    assert_eq!(summary["status"], "unchanged");
    assert_eq!(summary["exit_code"], 100);
    assert_eq!(
        scene.gridtally(&["run", "oak.toml"]).status.code(),
        Some(0),
        "only where it is requested"
    );
}

#[test]
fn codes_that_mean_something_else_are_refused() {
    let scene = Scene::new();
    for code in [
        "0", "1", "2", "64", "65", "75", "78", "99", "126", "137", "255", "256", "-1", "x",
    ] {
        let option = format!("--exit-code-if-unchanged={code}");
        let refused = scene.gridtally(&["run", "oak.toml", &option]);
        assert_eq!(refused.status.code(), Some(2), "{code}");
    }
    assert!(!scene.path().join("lake").exists());
}
