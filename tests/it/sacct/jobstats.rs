//! What Jobstats leaves in `AdminComment`, in text and in JSON.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use gridtally::record::{Anomaly, Jobstats, JobstatsOutcome};
use gridtally::schema::batch::{int, number};
use proptest::prelude::*;

use super::json::document;
use super::{only, read};
use crate::support::collect::Job;
use crate::support::forge::{copy_lake, rows};
use crate::support::sample::{repository, run};

/// A job of two GPUs on one node, one of a CPU alone on another.
const SUMMARY: &str = r#"{"nodes":{
    "g1":{"total_memory":68719476736,"used_memory":51539607552,"total_time":812.5,"cpus":8,
        "gpu_total_memory":{"0":1000,"1":1000},"gpu_used_memory":{"0":300,"1":100},"gpu_utilization":{"0":50,"1":80.5}},
    "n2":{"total_memory":1024.0,"used_memory":512,"total_time":1,"cpus":1}},
    "total_time":102.7,"gpus":2}"#;

fn gzip(json: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(json).unwrap();
    encoder.finish().unwrap()
}

fn base64(member: &[u8]) -> String {
    format!("JS1:{}", STANDARD.encode(member))
}

fn packed(json: &str) -> String {
    base64(&gzip(json.as_bytes()))
}

/// A job of 100 s with a comment, as text.
fn job(comment: &str) -> Job {
    only(format!(
        "JobIDRaw|State|Start|End|ElapsedRaw|AdminComment|NCPUS\n7|COMPLETED|10|110|100|{comment}|4\n"
    ))
}

fn is_damaged(job: &Job) -> bool {
    let is_noted = job.row.anomalies & Anomaly::JobstatsDamaged.bit() != 0;
    let outcome = job.row.jobstats.map(|found| found.outcome);
    assert_eq!(is_noted, outcome == Some(JobstatsOutcome::Damaged));
    is_noted
}

fn measured(json: &str) -> Jobstats {
    let job = job(&packed(json));
    assert!(!is_damaged(&job), "{json}");
    job.row.jobstats.unwrap()
}

const WHOLE: Jobstats = Jobstats {
    outcome: JobstatsOutcome::Summary,
    span_s: Some(103),
    memory_used_byte: Some(51_539_607_552 + 512),
    memory_total_byte: Some(68_719_476_736 + 1024),
    gpu_stated_ms: Some(200_000),
    // 100 s at 130.5 per cent.
    gpu_busy_ms: Some(130_500),
    gpu_memory_used_byte: Some(400),
    gpu_memory_total_byte: Some(2000),
};

#[test]
fn a_summary_is_added_up_over_nodes_and_gpus() {
    assert_eq!(measured(SUMMARY), WHOLE);
}

#[test]
fn the_json_of_a_dump_has_the_same_comment() {
    let comment = packed(SUMMARY).replace('/', "\\/");
    let text = format!(
        r#"{{"job_id": 7, "state": {{"current": ["COMPLETED"]}}, "comment": {{"job": "JS1:Short", "administrator": "{comment}"}},
            "time": {{"start": 10, "end": 110, "elapsed": 100}}}}"#
    );
    assert_eq!(only(document(&[text])).row.jobstats, Some(WHOLE));
    let torn = r#"{"job_id": 7, "state": {"current": ["COMPLETED"]}, "comment": {"administrator": "JS1:H4s"},
        "time": {"start": 10, "end": 110, "elapsed": 100}}"#;
    assert!(is_damaged(&only(document(&[torn.to_owned()]))));
}

#[test]
fn suspension_is_time_that_gpus_are_held() {
    let comment = packed(SUMMARY);
    let job = only(format!(
        "JobIDRaw|State|Start|End|ElapsedRaw|Suspended|AdminComment|NCPUS\n7|COMPLETED|10|110|60|00:00:40|{comment}|4\n"
    ));
    assert_eq!(job.row.jobstats, Some(WHOLE));
}

#[test]
fn marks_and_the_comments_of_others_are_no_summaries() {
    for (comment, outcome) in [
        ("JS1:Short", Some(JobstatsOutcome::TooShort)),
        ("JS1:None", Some(JobstatsOutcome::NoData)),
        (" JS1:None ", Some(JobstatsOutcome::NoData)),
        (&packed(r#"{"nodes":{}}"#), Some(JobstatsOutcome::NoData)),
        ("", None),
        ("restarted by hand", None),
        ("JS2:Short", None),
        ("see JS1:Short", None),
    ] {
        let job = job(comment);
        assert_eq!(job.row.jobstats, outcome.map(Jobstats::of), "{comment}");
        assert!(!is_damaged(&job));
    }
}

#[test]
fn what_is_not_stated_is_unknown_and_no_zero() {
    let nothing =
        measured(r#"{"nodes":{"n1":{"cpus":1,"new_key":[{"nodes":{}}],"gpu_utilization":null}},"version":2}"#);
    assert_eq!(nothing, Jobstats::of(JobstatsOutcome::Summary));
    let one_of_two = measured(
        r#"{"nodes":{"n1":{"used_memory":1,"total_memory":2},"n2":{"total_memory":2,
            "gpu_utilization":{"0":0},"gpu_total_memory":{"0":5,"1":5},"gpu_used_memory":{"0":3}}}}"#,
    );
    assert_eq!(
        (one_of_two.memory_used_byte, one_of_two.memory_total_byte),
        (None, None)
    );
    assert_eq!(
        (one_of_two.gpu_memory_used_byte, one_of_two.gpu_memory_total_byte),
        (None, None)
    );
    // A GPU that did nothing is known to have done nothing.
    assert_eq!(
        (one_of_two.gpu_busy_ms, one_of_two.gpu_stated_ms),
        (Some(0), Some(100_000))
    );
    let none_to_use = measured(r#"{"nodes":{"n1":{"used_memory":1073741824,"total_memory":0}}}"#);
    assert_eq!(
        (none_to_use.memory_used_byte, none_to_use.memory_total_byte),
        (None, None)
    );
    let over = measured(r#"{"nodes":{"n1":{"used_memory":3,"total_memory":2}}}"#);
    assert_eq!((over.memory_used_byte, over.memory_total_byte), (Some(3), Some(2)));
}

#[test]
fn damage_is_noted_and_the_job_counts() {
    let whole = gzip(SUMMARY.as_bytes());
    let (half, _) = whole.split_at(whole.len() / 2);
    let mut other_sum = whole.clone();
    if let Some(byte) = other_sum.iter_mut().rev().nth(6) {
        *byte ^= 1;
    }
    for comment in [
        "JS1:".to_owned(),
        "JS1:short".to_owned(),
        "JS1:H4s*".to_owned(),
        base64(b"not gzip"),
        base64(half),
        base64(&other_sum),
        base64(&[whole.as_slice(), b"more"].concat()),
        packed("[]"),
        packed("{}"),
        packed(r#"{"nodes":{"n1":{}}"#),
        packed(r#"{"nodes":{"n1":{}}} {}"#),
        packed(r#"{"nodes":{"n1":7}}"#),
        packed(r#"{"nodes":{"n1":{"used_memory":-1}}}"#),
        packed(r#"{"nodes":{"n1":{"used_memory":"1"}}}"#),
        packed(r#"{"nodes":{"n1":{"used_memory":1e300}}}"#),
        packed(r#"{"nodes":{"n1":{"used_memory":1,"total_memory":9000000000000000000}}}"#),
        packed(r#"{"nodes":{"n1":{"gpu_utilization":{"0":100.5}}}}"#),
        packed(r#"{"nodes":{"n1":{"gpu_utilization":{"0":NaN}}}}"#),
        packed(r#"{"nodes":{"n1":{"gpu_utilization":[1]}}}"#),
    ] {
        let job = job(&comment);
        assert!(is_damaged(&job), "{comment}");
        assert_eq!(job.row.jobstats, Some(Jobstats::of(JobstatsOutcome::Damaged)));
        assert_eq!(job.row.wall_ms, Some(100_000));
    }
}

#[test]
fn a_small_text_that_unpacks_to_very_much_is_damaged() {
    let padded = |mib: usize| packed(&format!("{}{SUMMARY}", " ".repeat(mib << 20)));
    assert!(!is_damaged(&job(&padded(7))));
    let bomb = padded(64);
    assert!(bomb.len() < 100_000);
    assert!(is_damaged(&job(&bomb)));
}

#[test]
fn a_delimiter_in_the_comment_of_others_takes_no_row_apart() {
    // Of two free texts side by side nothing shows which one a surplus field is of.
    let comment = packed(SUMMARY);
    let dump = format!(
        "JobIDRaw|State|Start|End|ElapsedRaw|AdminComment|Comment|NCPUS\n7|COMPLETED|10|110|100|{comment}|a|b|4\n8|COMPLETED|10|110|100|x|a|b|4\n"
    );
    let found = read(dump);
    assert!(found.rejects.is_empty(), "{:#?}", found.rejects);
    let jobstats: Vec<_> = found.jobs.iter().map(|job| job.row.jobstats).collect();
    assert_eq!(jobstats, [Some(WHOLE), None]);
}

#[test]
fn a_summary_that_comes_with_a_later_dump_supersedes_the_record_without_it() {
    let here = tempfile::tempdir().unwrap();
    copy_lake(&repository("tests/golden/slurm-jobstats"), here.path());
    let path = |name: &str| here.path().join(name);
    let gridtally = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        run(command.args(arguments).current_dir(here.path()))
    };
    let pipeline = fs::read_to_string(path("pipeline.toml")).unwrap();
    fs::write(path("pipeline.toml"), pipeline.replace("sacct.txt", "sacct*.txt")).unwrap();
    let dump = fs::read_to_string(path("sacct.txt")).unwrap();
    let without: Vec<String> = dump
        .lines()
        .map(|line| {
            let mut fields: Vec<&str> = line.split('|').collect();
            fields.remove(13);
            fields.join("|")
        })
        .collect();
    fs::remove_file(path("sacct.txt")).unwrap();
    fs::write(path("sacct-1.txt"), without.join("\n") + "\n").unwrap();
    let sums = || {
        let usage = rows(&path("lake/usage/site=OAK/vo=kelp/allocation_year=2026/usage.parquet"));
        ["job_n", "gpu_busy_ms", "gpu_stated_ms", "memory_used_mib_s"].map(|name| {
            let column = int(&usage, name).unwrap();
            let known: Vec<i64> = (0..usage.num_rows()).filter_map(|row| number(column, row)).collect();
            (!known.is_empty()).then(|| known.iter().sum::<i64>())
        })
    };
    gridtally(&["run", "pipeline.toml"]);
    assert_eq!(sums(), [Some(6), None, None, None]);
    fs::write(path("sacct-2.txt"), dump).unwrap();
    gridtally(&["run", "pipeline.toml"]);
    let with = [Some(6), Some(18_792_000), Some(28_800_000), Some(737_280_000)];
    assert_eq!(sums(), with);
    assert!(gridtally(&["verify", "lake"]).contains("sound"));
    // The order in which dumps arrive does not matter.
    fs::write(path("sacct-3.txt"), without.join("\n") + "\n\n").unwrap();
    gridtally(&["run", "pipeline.toml"]);
    assert_eq!(sums(), with);
    assert!(gridtally(&["verify", "lake"]).contains("sound"));
}

proptest! {
    #[test]
    fn no_bytes_end_the_reader_or_refuse_the_job(
        noise in prop::collection::vec(any::<u8>(), 0..60),
        at in any::<prop::sample::Index>(),
        json in "[{}\\[\\]\":,a-z_0-9 .eE-]{0,80}",
    ) {
        let mut member = gzip(SUMMARY.as_bytes());
        let from = at.index(member.len());
        for (byte, noise) in member.iter_mut().skip(from).zip(&noise) {
            *byte ^= noise;
        }
        for comment in [base64(&member), base64(&noise), packed(&json)] {
            let job = job(&comment);
            prop_assert!(job.row.jobstats.is_some());
            is_damaged(&job);
        }
    }
}
