//! Files so large that they are made durable before the commit: what the disk reports of that fails the run.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use super::{run_of, words};
use crate::support::injection::can_inject;

const PIPELINE: &str = "[pipeline]\nname = \"p\"\noutput = \"lake\"\ncalendar_timezone = \"UTC\"\n\n[[source]]\nname = \"s\"\n\
                        format = \"sacct\"\npaths = [\"a.txt\"]\nsite = \"S\"\ntimezone = \"UTC\"\nvo = { column = \"account\" }\n";

const JOBS: u32 = 40_000;

/// Jobs of one month that have little in common: their records are more than 1 MiB.
fn dump() -> String {
    let mut dump = "JobIDRaw|Cluster|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|TotalCPU\n".to_owned();
    for nth in 0..JOBS {
        let (day, minute, second) = (1 + nth % 28, nth / 28 % 60, nth.wrapping_mul(2_654_435_761) >> 8 & 31);
        let at = |hour: u32| format!("2026-03-{day:02}T{hour:02}:{minute:02}:{second:02}");
        let (start, end) = (at(3), at(4));
        writeln!(
            dump,
            "{nth}|c|a|COMPLETED|{start}|{start}|{end}|3600|1|00:{minute:02}:{second:02}"
        )
        .unwrap();
    }
    dump
}

#[test]
fn an_error_of_the_disk_before_the_commit_fails_the_run() {
    if !can_inject() {
        eprintln!("SKIPPED an_error_of_the_disk_before_the_commit_fails_the_run: strace cannot inject here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("p.toml"), PIPELINE).unwrap();
    fs::write(here.join("a.txt"), dump()).unwrap();
    let traced = here.join("calls");
    let faulty = Command::new("strace")
        .args([
            "-f",
            "-qq",
            "-e",
            "trace=fdatasync",
            "-e",
            "inject=fdatasync:error=EIO",
            "-o",
        ])
        .arg(&traced)
        .args([env!("CARGO_BIN_EXE_gridtally"), "run", "p.toml"])
        .current_dir(here)
        .output()
        .unwrap();
    assert!(
        fs::read_to_string(traced).unwrap().contains("INJECTED"),
        "no early sync"
    );
    assert_eq!(faulty.status.code(), Some(74), "{}", words(&faulty));
    assert!(words(&faulty).contains("Input/output error"), "{}", words(&faulty));
    assert!(
        !here.join("lake/manifest.json").exists(),
        "a commit of what may be lost"
    );
    let next = run_of(here, &["run", "p.toml"]).output().unwrap();
    assert_eq!(next.status.code(), Some(0), "{}", words(&next));
    let reported = String::from_utf8_lossy(&next.stdout).into_owned();
    assert!(reported.contains(&format!("{JOBS} accepted")), "{reported}");
    let verified = run_of(here, &["verify", "lake"]).output().unwrap();
    assert_eq!(verified.status.code(), Some(0), "{}", words(&verified));
}
