//! `gridtally status`: text, JSON, and the plugin of Nagios.

use std::time::Duration;

use gridtally::monitor::status::{LakeStatus, StatusLevel, StatusLimits};
use gridtally::report::lake::Lake;
use gridtally::runtime::clock;
use serde_json::Value;

use super::{Scene, job, last_line, stderr};

const HOUR_S: i64 = 3600;

fn published() -> Scene {
    let scene = Scene::new();
    let ran = scene.gridtally(&["run", "oak.toml"]);
    assert!(ran.status.success(), "{}", stderr(&ran));
    scene
}

fn out(output: &std::process::Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The status some hours from now.
fn later(scene: &Scene, limits: StatusLimits, hours: i64) -> LakeStatus {
    let lake = Lake::open(scene.path().join("lake").to_str().unwrap()).unwrap();
    LakeStatus::read(&lake, limits, clock::now_ms() + hours * HOUR_S * 1000).unwrap()
}

#[test]
fn the_age_of_the_last_success_is_judged_by_the_limits() {
    let scene = published();
    let limits = StatusLimits {
        warning_s: Some(26 * HOUR_S),
        critical_s: Some(50 * HOUR_S),
        source_s: None,
    };
    for (hours, level) in [
        (0, StatusLevel::Ok),
        (27, StatusLevel::Warning),
        (51, StatusLevel::Critical),
    ] {
        let status = later(&scene, limits, hours);
        assert_eq!(status.level, level, "{hours}: {:?}", status.findings);
        let text = status.nagios();
        assert!(text.starts_with(&format!("{} - ", level.as_str())), "{text}");
        assert!(text.contains("s;93600;180000;0 last_exit_code=0;;;0 "), "{text}");
    }
    assert_eq!(
        later(&scene, StatusLimits::default(), 10_000).level,
        StatusLevel::Ok,
        "no limit, no judgement"
    );
}

#[test]
fn a_run_that_changes_nothing_is_a_success_and_one_that_fails_is_a_warning() {
    let scene = published();
    std::thread::sleep(Duration::from_millis(1100));
    assert!(scene.gridtally(&["run", "oak.toml"]).status.success());
    let status = last_line(&scene.gridtally(&["status", "lake", "--report", "json"]));
    assert_eq!(status["last_run"]["status"], "unchanged");
    assert_eq!(status["level"], "OK");
    let success = status["last_success_utc"].as_str().unwrap().to_owned();
    let at = |text: &str| chrono::DateTime::parse_from_rfc3339(text).unwrap().timestamp();
    assert_eq!(
        at(&success),
        at(status["last_run"]["finished_utc"].as_str().unwrap()),
        "not that of the dataset runs"
    );
    scene.dump("dump2.txt", &["broken\n".to_owned()]);
    assert_eq!(scene.gridtally(&["run", "oak.toml"]).status.code(), Some(65));
    let failed = scene.gridtally(&["status", "lake", "--report", "json"]);
    assert_eq!(failed.status.code(), Some(0), "a lake that can be read");
    let status = last_line(&failed);
    assert_eq!(status["level"], "WARNING");
    assert_eq!(status["last_run"]["exit_code"], 65);
    assert_eq!(status["last_success_utc"], success.as_str());
    assert_eq!(status["findings"][0]["what"], "last_run");
    let sound = scene.gridtally(&["verify", "lake"]);
    assert!(sound.status.success(), "the note belongs to the lake: {}", out(&sound));
}

#[test]
fn sources_that_fell_silent_are_named() {
    let scene = published();
    let words = ["status", "lake", "--source-age", "1d", "--report", "json"];
    let status = last_line(&scene.gridtally(&words));
    assert_eq!(status["sources"][0]["source"], "oak");
    assert_eq!(status["sources"][0]["newest_record_utc"], "2026-10-30T00:00:00Z");
    assert_eq!(status["sources"][0]["is_silent"], true);
    assert_eq!(status["findings"][0]["what"], "silent_source");
    let without: Value = last_line(&scene.gridtally(&["status", "lake", "--report", "json"]));
    assert!(without["sources"][0]["is_silent"].is_null());
    let text = out(&scene.gridtally(&["status", "lake", "--source-age", "1d"]));
    assert!(
        text.contains("  WARNING: the newest record of the source oak is "),
        "{text}"
    );
}

/// Records of the future are a warning, and hide neither the newest record of the past nor its age.
#[test]
fn records_of_the_future_are_a_warning() {
    let scene = published();
    let future = [40, 41].map(|id| job(id, 29).replace("2026-10", "2090-10"));
    scene.dump("dump2.txt", &[&future[..], &[job(42, 28)]].concat());
    let ran = scene.gridtally(&["run", "oak.toml"]);
    let reported = stderr(&ran);
    assert!(ran.status.success(), "{reported}");
    assert!(
        reported.contains("jobs that end in the future: 2, the last on 2090-10-29"),
        "{reported}"
    );
    let limits = StatusLimits {
        source_s: Some(24 * HOUR_S),
        ..StatusLimits::default()
    };
    let status = later(&scene, limits, 0);
    let noted = status.last_run.as_ref().unwrap();
    assert_eq!(noted.warning_n, 2, "the source names no VO either");
    assert!(
        noted.warnings[1].contains("jobs that end in the future: 2"),
        "{noted:?}"
    );
    let text = status.text();
    assert!(text.contains(", exit code 0, 2 warnings, ended "), "{text}");
    assert!(text.contains(&format!("\n    {}\n", noted.warnings[1])), "{text}");
    assert!(status.nagios().contains(" last_warnings=2;;;0 "));
    let [source] = status.sources.as_slice() else {
        panic!("{:?}", status.sources)
    };
    assert_eq!(source.newest_record_utc.as_deref(), Some("2026-10-30T00:00:00Z"));
    assert_eq!(source.is_silent, Some(true));
    assert_eq!(source.future_record_n, 2);
    assert_eq!(source.newest_future_record_utc.as_deref(), Some("2090-10-29T00:00:00Z"));
    let whats: Vec<&str> = status.findings.iter().map(|finding| finding.what).collect();
    assert_eq!(
        (status.level, whats),
        (StatusLevel::Warning, vec!["silent_source", "future_records"])
    );
    // A site in a zone ahead of ours, or a summary of today, is not of the future.
    let day_s = 24 * HOUR_S;
    let newest = chrono::DateTime::parse_from_rfc3339("2026-10-30T00:00:00Z")
        .unwrap()
        .timestamp();
    for (before_s, future_n) in [(day_s, 2), (day_s + 1, 3)] {
        let lake = Lake::open(scene.path().join("lake").to_str().unwrap()).unwrap();
        let status = LakeStatus::read(&lake, StatusLimits::default(), (newest - before_s) * 1000).unwrap();
        assert_eq!(status.sources[0].future_record_n, future_n, "{before_s}");
    }
}

/// A warning may have a name in it, and what is in a lake of a pipeline that withholds names must have none.
#[test]
fn warnings_are_noted_by_number_where_names_are_withheld() {
    let scene = Scene::new();
    scene.pipeline("paths = [\"dump*.txt\"]\n[privacy]\nuser = \"drop\"\n");
    scene.dump("dump1.txt", &[job(40, 29).replace("2026-10", "2090-10"), job(42, 28)]);
    let ran = scene.gridtally(&["run", "oak.toml"]);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let noted = later(&scene, StatusLimits::default(), 0).last_run.unwrap();
    assert_eq!((noted.warning_n, noted.warnings.len()), (2, 0));
}

/// Ten jobs a day on forty days, the last of them some days ago.
fn days_until(days_ago: i64) -> Vec<String> {
    let today = chrono::Utc::now().date_naive();
    let row = |(ago, n): (i64, u32)| {
        let day = today - chrono::Duration::days(days_ago + ago);
        let id = u32::try_from(ago).unwrap() * 10 + n;
        job(id, 1).replace("2026-10-01", &day.to_string())
    };
    (0..40)
        .flat_map(|ago| (0..10).map(move |n| (ago, n)))
        .map(row)
        .collect()
}

/// Dumps that stop are missed however long ago they did, for a year; a lake of old dumps misses none.
#[test]
fn silence_is_a_warning_where_the_lake_was_filled_as_jobs_ended() {
    for (days_ago, was_live) in [(1, true), (10, true), (20, false)] {
        let scene = Scene::new();
        scene.dump("dump1.txt", &days_until(days_ago));
        let ran = scene.gridtally(&["run", "oak.toml"]);
        assert!(ran.status.success(), "{}", stderr(&ran));
        for (days, is_expected) in [(3, true), (20, true), (200, true), (400, false)] {
            let status = later(&scene, StatusLimits::default(), days * 24);
            let silent = status.incomplete.iter().any(|days| days.finding == "silent");
            assert_eq!(
                silent,
                was_live && is_expected,
                "{days_ago} {days}: {:?}",
                status.incomplete
            );
            let level = if silent { StatusLevel::Warning } else { StatusLevel::Ok };
            assert_eq!(status.level, level, "{:?}", status.findings);
        }
    }
}

#[test]
fn the_plugin_ends_with_the_codes_of_nagios() {
    let scene = published();
    let ended = |words: &[&str]| {
        let output = scene.gridtally(&[&["status"], words, &["--nagios"]].concat());
        let line = out(&output).lines().next().unwrap_or_default().to_owned();
        (output.status.code().unwrap(), line)
    };
    let (code, line) = ended(&["lake", "--warning", "26h", "--critical", "50h"]);
    assert_eq!(code, 0, "{line}");
    assert!(
        line.starts_with("OK - last success ") && line.contains("|last_success_age="),
        "{line}"
    );
    assert!(line.contains(" newest_record_age_oak="), "{line}");
    let (code, line) = ended(&["lake", "--source-age", "1d"]);
    assert_eq!(code, 1, "{line}");
    std::thread::sleep(Duration::from_millis(2100));
    let (code, line) = ended(&["lake", "--critical", "1s"]);
    assert_eq!(code, 2, "{line}");
    assert!(
        line.starts_with("CRITICAL - the last run that ended well ended "),
        "{line}"
    );
    for words in [&["nowhere"][..], &["lake", "--warning", "soon"], &[]] {
        let (code, line) = ended(words);
        assert_eq!(code, 3, "{words:?}: {line}");
        assert!(line.starts_with("UNKNOWN - "), "{line}");
    }
}

/// A run whose clock was ahead must not make the lake look well for as long.
#[test]
fn a_success_of_the_future_is_a_warning_and_hides_no_later_run() {
    let scene = published();
    let limits = StatusLimits {
        warning_s: Some(26 * HOUR_S),
        ..StatusLimits::default()
    };
    let status = later(&scene, limits, -49);
    assert_eq!(status.level, StatusLevel::Warning);
    let message = &status.findings[0].message;
    assert!(message.contains("2 d"), "{message}");
    assert!(message.contains(" in the future: look at its clock"), "{message}");
    // A later run, by a clock that is right.
    let note = scene.path().join("lake/.gridtally/last_run.json");
    let text = std::fs::read_to_string(&note).unwrap();
    let mut noted: Value = serde_json::from_str(&text).unwrap();
    let right = chrono::Utc::now() - chrono::Duration::hours(50);
    noted["last_success_utc"] = right.format("%Y-%m-%dT%H:%M:%SZ").to_string().into();
    std::fs::write(&note, noted.to_string()).unwrap();
    for (hours, level) in [(-48, StatusLevel::Ok), (-23, StatusLevel::Warning)] {
        let status = later(&scene, limits, hours);
        assert_eq!(status.level, level, "{hours}: {:?}", status.findings);
        assert!(status.last_success_age_s.is_some_and(|age_s| age_s > 0));
    }
}

/// Summaries need not state when their jobs ended: their source has records, of unknown age.
#[test]
fn summaries_without_a_time_are_records_of_unknown_age() {
    let scene = Scene::new();
    let summary = |vo: &str| {
        format!(
            "Site: S\nMonth: 3\nYear: 2026\nVO: {vo}\nSubmitHost: ce\nInfrastructureType: grid\nWallDuration: 3600\n\
             CpuDuration: 1800\nNumberOfJobs: 2\nServiceLevelType: HEPSPEC\nServiceLevel: 10\nNodeCount: 1\nProcessors: 8\n%%\n"
        )
    };
    let text = format!("APEL-summary-job-message: v0.2\n{}{}", summary("reef"), summary("kelp"));
    std::fs::write(scene.path().join("1.msg"), text).unwrap();
    std::fs::write(
        scene.path().join("s.toml"),
        "[pipeline]\nname = \"s\"\noutput = \"sums\"\n[[source]]\nname = \"s\"\nformat = \"apel\"\npaths = [\"1.msg\"]\n",
    )
    .unwrap();
    let ran = scene.gridtally(&["run", "s.toml"]);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let text = out(&scene.gridtally(&["status", "sums", "--source-age", "1d"]));
    assert!(
        text.starts_with("OK: ") && text.contains("\n  source s: none of its 2 records states when its jobs ended\n"),
        "{text}"
    );
    let status = last_line(&scene.gridtally(&["status", "sums", "--report", "json"]));
    assert_eq!(status["sources"][0]["undated_record_n"], 2);
    assert!(status["sources"][0]["newest_record_utc"].is_null());
}
