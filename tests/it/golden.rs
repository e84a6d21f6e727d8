//! Golden cases: folders under `tests/golden` with inputs, a pipeline, commands and what must come of them.
//!
//! A case is `pipeline.toml`, its inputs, `command` and `expected`. Each line of `command` holds the arguments of one call of
//! `gridtally`; the first is a run into `lake`. `expected/stdout` is what all calls but the first print;
//! `expected/<dataset>` lists the rows of a dataset, one value per line, for each file of that name in `expected`.
//! `UPDATE_GOLDEN=1` writes `expected` again: look at the difference before it is committed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use arrow_cast::display::{ArrayFormatter, FormatOptions};
use gridtally::sources::dialect::{Content, UnfinishedJob};
use gridtally::sources::registry;
use gridtally::store::Manifest;

use crate::support::forge::{copy_lake, rows};
use crate::support::order::out_of_order;
use crate::support::sample::{repository, run};
use crate::support::tar;

/// Columns that are not part of the meaning of a row.
const HASHES: [&str; 4] = ["blake3", "content_hash", "file_id", "record_id"];

fn cases() -> Vec<PathBuf> {
    let folder = fs::read_dir(repository("tests/golden")).unwrap();
    let mut cases: Vec<PathBuf> = folder
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    cases
}

/// The rows of a dataset, each a block of `column: value`, in the order of their text.
fn listed(lake: &Path, dataset: &str) -> String {
    let (_, manifest) = Manifest::open(lake.to_str().unwrap()).unwrap();
    let mut blocks = Vec::new();
    for file in manifest.dataset(dataset) {
        let batch = rows(&lake.join(&file.path));
        let options = FormatOptions::default();
        for row in 0..batch.num_rows() {
            let mut block = String::new();
            for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
                if column.is_valid(row) && !HASHES.contains(&field.name().as_str()) {
                    let value = ArrayFormatter::try_new(column, &options).unwrap();
                    writeln!(block, "{}: {}", field.name(), value.value(row)).unwrap();
                }
            }
            blocks.push(block);
        }
    }
    blocks.sort();
    blocks.join("\n")
}

/// Packs each folder called `*.tar.gz`, so that the members of an archive can be read in the case.
fn pack(here: &Path) {
    let entries = fs::read_dir(here).unwrap().map(|entry| entry.unwrap().path());
    for folder in entries.filter(|path| path.is_dir() && path.to_string_lossy().ends_with(".tar.gz")) {
        let members = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap());
        let mut members: Vec<(String, Vec<u8>)> = members
            .map(|member| {
                (
                    member.file_name().into_string().unwrap(),
                    fs::read(member.path()).unwrap(),
                )
            })
            .collect();
        members.sort();
        let members: Vec<(&str, &[u8])> = members.iter().map(|(name, bytes)| (&**name, &**bytes)).collect();
        fs::remove_dir_all(&folder).unwrap();
        fs::write(&folder, tar::gzip(&tar::tar(&members))).unwrap();
    }
}

/// Runs a case and gives its lake and what the calls after the first print.
fn play(case: &Path, here: &Path) -> String {
    copy_lake(case, here);
    pack(here);
    let mut stdout = String::new();
    for (nth, line) in fs::read_to_string(case.join("command")).unwrap().lines().enumerate() {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        let text = run(command.args(line.split_whitespace()).current_dir(here));
        if nth > 0 {
            stdout.push_str(&text);
        }
    }
    stdout
}

#[test]
fn every_golden_case_gives_what_is_expected() {
    let is_update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for case in cases() {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let here = tempfile::tempdir().unwrap();
        let stdout = play(&case, here.path());
        let lake = here.path().join("lake");
        assert_eq!(out_of_order(&lake), Vec::<String>::new(), "{name}");
        for entry in fs::read_dir(case.join("expected")).unwrap() {
            let path = entry.unwrap().path();
            let what = path.file_name().unwrap().to_string_lossy().into_owned();
            let found = match what.as_str() {
                "stdout" => stdout.clone(),
                dataset => listed(&lake, dataset),
            };
            if is_update {
                fs::write(&path, &found).unwrap();
            } else if found != fs::read_to_string(&path).unwrap() {
                wrong.push(format!("{name}, {what}:\n{found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_dialect_has_a_golden_case_whose_refused_row_is_written_out() {
    let names: BTreeSet<String> = cases()
        .iter()
        .map(|case| case.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    for dialect in registry::declarable() {
        let row = dialect.row();
        let name = format!("dialect-{}", row.word);
        assert!(names.contains(&name), "no tests/golden/{name}");
        let case = repository("tests/golden").join(&name);
        let text = |file: &str| fs::read_to_string(case.join(file)).unwrap();
        assert!(
            text("pipeline.toml").contains(&format!("format = \"{}\"", row.word)),
            "{name}"
        );
        assert!(
            row.raw.is_none() || text("expected/stdout").contains("1 refused rows in 1 files"),
            "{name}"
        );
        assert!(
            row.content != Content::Jobs || text("expected/records").contains("job_id: "),
            "{name}"
        );
        // What becomes of jobs that did not run, wait or run is in the case.
        for job in [row.unfinished.never_ran, row.unfinished.pending, row.unfinished.running] {
            let expected = match job {
                UnfinishedJob::OutOfScope(reason)
                | UnfinishedJob::RecordOrOutOfScope { reason, .. }
                | UnfinishedJob::Refused(reason) => ("expected/ledger", format!("reason: {}\n", reason.code())),
                UnfinishedJob::Record => ("expected/records", "job_name: unfinished\n".to_owned()),
                UnfinishedJob::Absent => continue,
            };
            assert!(text(expected.0).contains(&expected.1), "{name}: {}", job.sentence());
        }
    }
}
