//! Every row of every file ends somewhere, and a lake that is not what it was does not verify.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};

use super::scene::{Pipeline, Scene};
use super::tables::{all, files, forge, int, text};
use crate::support::forge::copy_lake;
use crate::support::sample::lake;

#[test]
fn the_rows_of_every_file_add_up() {
    let scene = Scene::sample();
    let pipeline = Pipeline::sample();
    let report = scene.run(&pipeline, "lake");
    let out = scene.path("lake");
    let (inputs, ledger) = (all(&out, "inputs/inputs.parquet"), all(&out, "ledger/ledger.parquet"));
    let mut ended: BTreeMap<(String, String), BTreeMap<String, i64>> = BTreeMap::new();
    for row in 0..ledger.num_rows() {
        let key = (
            text(&ledger, "path", row).unwrap(),
            text(&ledger, "file_id", row).unwrap(),
        );
        *ended
            .entry(key)
            .or_default()
            .entry(text(&ledger, "outcome", row).unwrap())
            .or_default() += int(&ledger, "row_n", row).unwrap();
    }
    assert_eq!(inputs.num_rows(), pipeline.files().len());
    for row in 0..inputs.num_rows() {
        let path = text(&inputs, "path", row).unwrap();
        let of = ended
            .remove(&(path.clone(), text(&inputs, "file_id", row).unwrap()))
            .unwrap_or_default();
        assert_eq!(Some(of.values().sum()), int(&inputs, "rows_read_n", row), "{path}");
        for outcome in ["accepted", "duplicate", "superseded", "rejected", "out_of_scope"] {
            let column = format!("{outcome}_row_n");
            let column = if inputs.column_by_name(&column).is_some() {
                column
            } else {
                format!("{outcome}_n")
            };
            assert_eq!(
                int(&inputs, &column, row),
                Some(of.get(outcome).copied().unwrap_or(0)),
                "{path} {outcome}"
            );
        }
    }
    assert!(ended.is_empty(), "lines of no file: {ended:?}");
    // The copy in the spool, in the same run.
    assert!(
        report.reasons.contains_key("duplicate/same_file"),
        "{:?}",
        report.reasons
    );
    assert_eq!(scene.findings("lake"), []);
}

/// What `verify` finds in a copy of the sample lake that was damaged.
fn findings_after(damage: impl Fn(&Path)) -> Vec<(String, String)> {
    let scene = Scene::empty();
    copy_lake(lake(), &scene.path("lake"));
    assert_eq!(scene.findings("lake"), []);
    damage(&scene.path("lake"));
    let found = scene.findings("lake");
    assert!(!found.is_empty());
    let output = Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .arg("verify")
        .arg(scene.path("lake"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(65));
    found
}

const RECORDS: &str = "records/site=ALP-T2/record_month=2026-03-01/records.parquet";

fn paths(found: &[(String, String)]) -> Vec<&str> {
    found.iter().map(|(path, _)| path.as_str()).collect()
}

#[test]
fn verify_finds_damage_to_files() {
    let flipped = findings_after(|lake| {
        let mut bytes = fs::read(lake.join(RECORDS)).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(lake.join(RECORDS), bytes).unwrap();
    });
    assert_eq!(paths(&flipped), [RECORDS]);
    let deleted = findings_after(|lake| fs::remove_file(lake.join(RECORDS)).unwrap());
    assert_eq!(paths(&deleted), [RECORDS]);
    let stray = findings_after(|lake| {
        fs::copy(lake.join(RECORDS), lake.join("records/site=ALP-T2/copy.parquet")).unwrap();
    });
    assert_eq!(paths(&stray), ["records/site=ALP-T2/copy.parquet"]);
}

/// A run that was killed before its commit leaves a lake as it was, and files that the next run removes.
#[test]
fn what_a_killed_run_left_behind_is_no_damage() {
    let scene = Scene::empty();
    copy_lake(lake(), &scene.path("lake"));
    let verify = || {
        let output = Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .arg("verify")
            .arg(scene.path("lake"))
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (_, before) = verify();
    for number in 0..7 {
        scene.write(&format!("lake/.gridtally/staging/0-{number}"), b"half of a file");
    }
    let (code, text) = verify();
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains(".gridtally/staging/0-0: left over from an interrupted run"),
        "{text}"
    );
    assert!(text.contains("further files left over: 2"), "{text}");
    assert_eq!(text.lines().last(), before.lines().last());
    assert!(text.contains(": sound; ") && !text.contains(" 0 records"), "{text}");
    // Nothing is counted of files that prove nothing.
    fs::remove_file(scene.path("lake").join(RECORDS)).unwrap();
    let (code, text) = verify();
    assert_eq!(code, Some(65));
    let last = text.lines().last().unwrap();
    assert!(
        last.ends_with("NOT sound; what the files hold was not verified"),
        "{last}"
    );
}

fn with_column(batch: &RecordBatch, name: &str, change: impl Fn(&mut Vec<Option<i64>>)) -> RecordBatch {
    let mut values: Vec<_> = (0..batch.num_rows()).map(|row| int(batch, name, row)).collect();
    change(&mut values);
    let mut columns = batch.columns().to_vec();
    let at = batch.schema().index_of(name).unwrap();
    columns[at] = Arc::new(Int64Array::from(values)) as ArrayRef;
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}

/// The manifest is forged with the file, so that only conservation can show it.
#[test]
fn verify_finds_what_is_not_conserved() {
    let add_one = |values: &mut Vec<Option<i64>>| values[0] = values[0].map(|n| n + 1);
    let ledger = "ledger/ledger.parquet";
    let found = findings_after(|lake| forge(lake, ledger, |batch| with_column(&batch, "row_n", add_one)));
    assert!(paths(&found).contains(&ledger), "{found:?}");

    // Two lines changed so that the file still adds up.
    let found = findings_after(|lake| {
        forge(lake, ledger, |batch| {
            let file = |row| text(&batch, "file_id", row);
            let reason = |row| text(&batch, "reason", row);
            let fits = |row: &usize| reason(*row).as_deref() == Some("job");
            let (a, b) = (0..batch.num_rows())
                .filter(fits)
                .find_map(|a| {
                    let other = |b: &usize| *b != a && file(*b) == file(a);
                    (0..batch.num_rows()).filter(fits).find(other).map(|b| (a, b))
                })
                .unwrap();
            with_column(&batch, "row_n", |values| {
                values[a] = values[a].map(|n| n - 1);
                values[b] = values[b].map(|n| n + 1);
            })
        });
    });
    assert!(paths(&found).contains(&ledger), "{found:?}");

    let found = findings_after(|lake| forge(lake, RECORDS, |batch| batch.slice(0, batch.num_rows() - 1)));
    assert!(paths(&found).contains(&ledger), "{found:?}");

    for (dataset, column) in [
        ("usage", "wall_s"),
        ("usage", "alloc_core_s"),
        ("usage", "cpu_ms"),
        ("usage_part", "job_n"),
        ("records", "cpu_ms"),
        ("rejects", "row_n"),
    ] {
        let found = findings_after(|lake| {
            let file = files(lake, dataset).remove(0);
            let path = file.strip_prefix(lake).unwrap().to_str().unwrap();
            forge(lake, path, |batch| {
                with_column(&batch, column, |values| {
                    let known = values.iter_mut().flatten().next().unwrap();
                    *known += 1;
                })
            });
        });
        assert!(!found.is_empty(), "{dataset} {column}");
    }
    let found = findings_after(|lake| {
        let file = files(lake, "history").remove(0);
        let path = file.strip_prefix(lake).unwrap().to_str().unwrap();
        forge(lake, path, |batch| batch.slice(1, batch.num_rows() - 1));
    });
    assert!(paths(&found).contains(&ledger), "{found:?}");
}
