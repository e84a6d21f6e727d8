//! `gridtally simulate` as a user sees it.

use std::process::{Command, Output};

use crate::support::sample::repository;

const MACHINE: [&str; 4] = ["--machine", "nodes=64", "--machine", "burst_buffer_gb=200000"];

fn gridtally(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .arg("simulate")
        .args(args)
        .current_dir(repository(""))
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The rows of a CSV below its header.
fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

#[test]
fn the_machine_of_the_header_is_simulated_and_every_line_has_an_outcome() {
    let output = gridtally(&["sample-data/trace.swf", "--format", "csv"]);
    let text = stdout(&output);
    let rows = rows(&text);
    assert_eq!(
        rows.iter().map(|row| row[0]).collect::<Vec<_>>(),
        ["recorded", "baseline"]
    );
    assert!(rows.iter().all(|row| row[1] == "238"), "{text}");
    let notes = stderr(&output);
    for note in [
        "the machine has the 64 processors of the header",
        "left out, cancelled_waiting: 1 of 240 lines",
        "left out, never_fits: 1 of 240 lines",
        "simulated other than written, no_limit: 1 jobs",
        "the recorded starts fit on the machine: at most 64 of 64 processors were in use",
    ] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    let lines = stdout(&gridtally(&[
        "sample-data/trace.swf",
        "--table",
        "lines",
        "--format",
        "csv",
    ]));
    assert_eq!(
        lines,
        "outcome,line_n,of_simulated_n\nsimulated,238,\ncancelled_waiting,1,\nnever_fits,1,\nno_limit,,1\n"
    );
}

#[test]
fn bb_18_all_methods_are_compared_in_the_order_of_the_paper() {
    let args = [
        &["sample-data/trace.swf", "--methods", "all", "--format", "csv"],
        &MACHINE[..],
    ]
    .concat();
    let text = stdout(&gridtally(&args));
    let words: Vec<&str> = rows(&text).iter().map(|row| row[0]).collect();
    assert_eq!(words.len(), 9);
    assert_eq!((words[1], words[8]), ("baseline", "bbsched"));
    assert_eq!(text, stdout(&gridtally(&args)));
    // With local storage there are seven.
    let args = [&args[..], &["--workload", "s6"]].concat();
    let text = stdout(&gridtally(&args));
    let words: Vec<&str> = rows(&text).iter().map(|row| row[0]).collect();
    assert_eq!(words.len(), 8);
    assert!(words.contains(&"constrained_ssd"), "{text}");
    assert!(
        text.starts_with("method,job_n") && text.contains("ssd_wasted_percent"),
        "{text}"
    );
}

#[test]
fn a_schedule_has_every_job_once_for_each_method() {
    let args = [
        &[
            "sample-data/trace.swf",
            "--methods",
            "baseline,bbsched",
            "--table",
            "schedule",
            "--format",
            "csv",
        ],
        &MACHINE[..],
    ]
    .concat();
    let text = stdout(&gridtally(&args));
    let header = "method,job,submit_s,start_s,end_s,limit_s,nodes,burst_buffer_gb,reason,pass,first_waiting_job";
    assert_eq!(text.lines().next(), Some(header));
    let rows = rows(&text);
    for word in ["recorded", "baseline", "bbsched"] {
        assert_eq!(rows.iter().filter(|row| row[0] == word).count(), 238);
    }
    assert!(rows.iter().any(|row| row[8] == "chosen"));
    let parquet = gridtally(&["sample-data/trace.swf", "--table", "schedule", "--format", "parquet"]);
    assert!(parquet.status.success() && parquet.stdout.starts_with(b"PAR1"));
}

#[test]
fn a_job_is_explained_and_one_that_is_not_simulated_is_an_error() {
    let args = [
        &[
            "sample-data/trace.swf",
            "--methods",
            "baseline,bbsched",
            "--explain",
            "120",
        ],
        &MACHINE[..],
    ]
    .concat();
    let text = stdout(&gridtally(&args));
    for words in [
        "job 120: 24 nodes",
        "recorded: it started at 100717 s",
        "baseline: it starts at",
        "bbsched: it starts at",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.contains("there were not enough nodes"), "{text}");
    let output = gridtally(&["sample-data/trace.swf", "--explain", "97"]);
    assert_eq!(output.status.code(), Some(66));
    assert!(
        stderr(&output).contains("it requests 80 of 64 processors"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn wrong_questions_are_refused_with_what_to_do() {
    let refused = |args: &[&str]| {
        let output = gridtally(args);
        assert!(!output.status.success());
        stderr(&output)
    };
    let log = "sample-data/trace.swf";
    assert!(refused(&[log, "--machine", "nodes"]).contains("nodes=4392"));
    assert!(refused(&[log, "--methods", "best"]).contains("one of baseline"));
    assert!(refused(&[log, "--workload", "s1"]).contains("burst_buffer_gb=N"));
    assert!(refused(&[log, "--bound", "soon"]).contains("3600s"));
    assert!(refused(&[log, "--backfill", "conservative", "--methods", "bbsched"]).contains("conservative backfilling"));
    assert!(refused(&[log, "--machine", "nodes=64", "--machine", "gpus=4"]).contains("gpus"));
    assert!(refused(&["sample-data/vo.csv"]).contains("neither MaxProcs nor MaxNodes"));
    assert!(refused(&["sample-data/vo.csv", "--machine", "nodes=4"]).contains("line 1: it has fewer than 18 fields"));
}

#[test]
fn options_without_effect_are_refused() {
    let log = "sample-data/trace.swf";
    let windowed = [log, "--methods", "baseline,bin_packing"];
    let refused = |args: &[&str], why: &str| {
        let output = gridtally(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(why), "{args:?}: {}", stderr(&output));
    };
    for option in [
        ["--window", "10"],
        ["--bound", "3600s"],
        ["--solver", "ga"],
        ["--budget", "5"],
        ["--decision", "cqsim"],
        ["--seed", "7"],
    ] {
        refused(&[&[log][..], &option].concat(), option[0]);
    }
    refused(&[&windowed[..], &["--budget", "5"]].concat(), "--solver auto");
    refused(&[&windowed[..], &["--decision", "cqsim"]].concat(), "bbsched");
    refused(&[log, "--outages", "none"], "a log states no outages");
    let seeded = gridtally(&[&windowed[..], &["--seed", "7", "--window", "10"]].concat());
    assert!(seeded.status.success(), "{}", stderr(&seeded));
}

#[test]
fn notes_are_not_printed_where_only_warnings_are() {
    let output = gridtally(&["sample-data/trace.swf", "--quiet"]);
    assert!(output.status.success());
    assert_eq!(stderr(&output), "");
}

#[test]
fn a_log_of_which_nothing_fits_is_an_error() {
    let output = gridtally(&["sample-data/trace.swf", "--add", "processors=-63"]);
    assert_eq!(output.status.code(), Some(0), "jobs of one processor fit");
    let log = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(log.path(), "1 0 0 10 4 -1 -1 4 -1 -1 1 -1 -1 -1 1 -1 -1 -1\n").unwrap();
    let output = gridtally(&[log.path().to_str().unwrap(), "--machine", "processors=3"]);
    assert_eq!(output.status.code(), Some(65));
    assert!(
        stderr(&output).contains("none of 1 lines can be simulated: never_fits 1"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn bb_20_drawn_requests_are_noted_as_such() {
    let args = [
        "sample-data/trace.swf",
        "--machine",
        "nodes=64",
        "--machine",
        "burst_buffer_gb=200000",
    ];
    // The log has requests of more than 5 TB, and they are drawn from.
    let output = gridtally(&[&args[..], &["--workload", "s2"]].concat());
    assert!(
        output.status.success() && !stderr(&output).contains("log-uniformly"),
        "{}",
        stderr(&output)
    );
    let log = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(log.path(), "1 0 0 10 4 -1 -1 4 20 -1 1 -1 -1 -1 1 -1 -1 -1\n").unwrap();
    let path = log.path().to_str().unwrap();
    let output = gridtally(&[&[path], &args[1..], &["--workload", "s2"]].concat());
    assert!(
        stderr(&output).contains("drawn log-uniformly, from 5001 to 200000 GB"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn burst_buffer_that_is_not_read_and_kinds_that_no_job_requests_are_noted() {
    let unread = "column 19 of 1 lines is not read: where it is the requested burst buffer in GB, the header states it by `; BurstBuffer: GB`";
    let unrequested = "no job requests burst_buffer_gb: it is no limit of any of them";
    let log = tempfile::NamedTempFile::new().unwrap();
    let line = "1 0 0 10 4 -1 -1 4 20 -1 1 -1 -1 -1 1 -1 -1 -1 7000\n";
    for (header, is_read) in [("", false), ("; BurstBuffer: 9000\n", true)] {
        std::fs::write(log.path(), format!("{header}{line}")).unwrap();
        let output = gridtally(&[&[log.path().to_str().unwrap()], &MACHINE[..]].concat());
        let notes = stderr(&output);
        assert!(output.status.success(), "{notes}");
        for note in [unread, unrequested] {
            assert_eq!(notes.contains(note), !is_read, "{note}: {notes}");
        }
    }
    // What the machine of the header has is not stated by anyone.
    let output = gridtally(&["sample-data/trace.swf"]);
    assert!(!stderr(&output).contains("no job requests"), "{}", stderr(&output));
}
