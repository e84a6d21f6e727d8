//! What commands report on stderr, and how much of it.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

const DUMP: &str = "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU\n\
    1|oak|ann|bio|COMPLETED|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-30T01:00:00|3600|1|cpu=1,node=1|00:10:00\n";

/// A folder with a dump of one job and a pipeline that names no VO, which is a warning.
fn night() -> tempfile::TempDir {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("dump.txt"), DUMP).unwrap();
    let pipeline = "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n[[source]]\nname = \"oak\"\nformat = \"sacct\"\n\
                    site = \"OAK\"\ntimezone = \"UTC\"\npaths = [\"dump.txt\"]\n";
    fs::write(here.path().join("oak.toml"), pipeline).unwrap();
    here
}

fn gridtally(here: &tempfile::TempDir, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
    command.current_dir(here).args(words).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_quiet_command_reports_warnings_and_errors_alone() {
    let here = night();
    let ran = gridtally(&here, &["run", "oak.toml", "--report", "json", "-q"]);
    assert!(ran.status.success());
    let stated = stderr(&ran);
    assert_eq!(stated.lines().count(), 1, "{stated}");
    assert!(stated.starts_with("warning: oak.toml:4: "), "{stated}");
    let missing = gridtally(&here, &["--quiet", "run", "nothing.toml"]);
    assert!(stderr(&missing).starts_with("gridtally: "), "{}", stderr(&missing));
}

#[test]
fn a_verbose_command_reports_each_file_and_stage() {
    let here = night();
    let plain = stderr(&gridtally(&here, &["run", "oak.toml", "--dry-run"]));
    assert!(!plain.contains("debug: "), "{plain}");
    let stated = stderr(&gridtally(&here, &["run", "-v", "oak.toml"]));
    let file = stated
        .lines()
        .find(|line| line.starts_with("debug: file read "))
        .unwrap();
    assert!(file.contains("file=\"dump.txt\"") && file.contains("row_n=1"), "{file}");
    assert!(stated.contains("debug: phase ended phase=\"read\""), "{stated}");
    let both = gridtally(&here, &["run", "-v", "-q", "oak.toml"]);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn events_are_objects_where_a_program_reads_them() {
    let here = night();
    let ran = gridtally(
        &here,
        &["run", "oak.toml", "--report", "json", "-v", "--log-format", "json"],
    );
    let events: Vec<Value> = stderr(&ran)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for event in &events {
        for field in ["time", "level", "message", "target"] {
            assert!(event[field].is_string(), "{event}");
        }
    }
    let file = events.iter().find(|event| event["message"] == "file read").unwrap();
    assert_eq!(file["row_n"], 1);
    assert_eq!(file["level"], "debug");
    assert_eq!(events[0]["level"], "warn");
    // The report of the run is alone on stdout.
    let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(report["files_read_n"], 1);
    let failed = gridtally(&here, &["run", "nothing.toml", "--log-format", "json"]);
    let event: Value = serde_json::from_str(stderr(&failed).lines().last().unwrap()).unwrap();
    assert_eq!(event["level"], "error");
    assert_eq!(event["exit_code"], failed.status.code().unwrap());
}
