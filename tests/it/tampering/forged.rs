//! Values changed together with everything that vouches for them: only computing them again finds those.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int64Type};
use arrow_array::{Array, ArrayRef, Decimal128Array, Int64Array, RecordBatch, StringArray};
use gridtally::audit::verify;
use gridtally::store::{Manifest, Store};

use super::scene::{Scene, findings};
use crate::support::forge::{copy_lake, forge_rows, rows};

/// The batch with other values in a column.
fn with_column(batch: &RecordBatch, name: &str, made: ArrayRef) -> RecordBatch {
    let at = batch.schema().index_of(name).unwrap();
    let mut columns = batch.columns().to_vec();
    columns[at] = made;
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}

/// The first and the last row that have a value in a column, if there are two.
fn ends(batch: &RecordBatch, name: &str) -> Option<(usize, usize)> {
    let column = batch.column_by_name(name).unwrap();
    let mut valid = (0..batch.num_rows()).filter(|row| column.is_valid(*row));
    Some((valid.next()?, valid.next_back()?))
}

/// The batch with one more in the first row that has a value and one less in the last: no sum shows it.
fn moved(batch: &RecordBatch, name: &str) -> RecordBatch {
    let (first, last) = ends(batch, name).unwrap();
    let by = |row: usize| i64::from(row == first) - i64::from(row == last);
    let column = batch.column_by_name(name).unwrap();
    let made: ArrayRef = if let Some(column) = column.as_primitive_opt::<Int64Type>() {
        let values = column.iter().enumerate();
        Arc::new(
            values
                .map(|(row, value)| Some(value? + by(row)))
                .collect::<Int64Array>(),
        )
    } else {
        let column = column.as_primitive::<Decimal128Type>();
        let values = column.iter().enumerate();
        let made: Decimal128Array = values.map(|(row, value)| Some(value? + i128::from(by(row)))).collect();
        let data_type = column.data_type().clone();
        Arc::new(made.with_data_type(data_type))
    };
    with_column(batch, name, made)
}

/// The files of a dataset that have more than one value in a column.
fn movable(lake: &Path, dataset: &str, column: &str) -> Vec<String> {
    let store = Store::open_existing(lake.to_str().unwrap()).unwrap();
    let manifest = Manifest::load(&store).unwrap().unwrap();
    let paths = manifest.dataset(dataset).map(|file| file.path.clone());
    let is_movable = |path: &String| ends(&rows(&lake.join(path)), column).is_some();
    paths.filter(is_movable).collect()
}

#[test]
fn a_value_that_no_sum_describes_is_found_with_its_key_and_both_values() {
    let scene = Scene::new();
    let lake = scene.lake();
    let report = verify::verify(lake.to_str().unwrap()).unwrap();
    assert_eq!(report.findings, []);
    let recomputed: Vec<&str> = report.recomputed.iter().map(|of| of.dataset).collect();
    assert_eq!(
        recomputed,
        [
            "usage_part",
            "usage",
            "corrections",
            "job_charges",
            "charge_part",
            "charges"
        ]
    );
    assert!(report.text().contains("recomputed: usage from usage_part, "));
    for (nth, (dataset, column)) in [
        ("usage_part", "alloc_node_s"),
        ("usage_part", "cpu_ms"),
        ("usage_part", "cpu_hs23_s"),
        ("usage", "alloc_node_s"),
        ("usage", "wall_s"),
        ("usage", "wall_fraction_ms"),
        ("job_charges", "alloc_core_s"),
        ("job_charges", "charge"),
        ("charge_part", "charge"),
        ("charge_part", "alloc_core_s"),
        ("charges", "charge"),
        ("charges", "raw_core_year"),
        ("corrections", "alloc_core_s"),
        ("corrections", "job_n"),
    ]
    .into_iter()
    .enumerate()
    {
        let paths = movable(&lake, dataset, column);
        let paths = paths.into_iter().filter(|path| !path.contains("/overhead-"));
        let paths: Vec<String> = paths.collect();
        assert!(!paths.is_empty(), "{dataset} {column}");
        for path in paths {
            let forged = scene.path(&format!("forged-{nth}"));
            copy_lake(&lake, &forged);
            forge_rows(&forged, &path, |batch| moved(&batch, column));
            let found = findings(&forged);
            let reported = format!(": {column} is ");
            let is_reported = |(of, problem): &(String, String)| {
                *of == path && problem.contains(&reported) && problem.contains(", computed ")
            };
            assert!(found.iter().any(is_reported), "{path} {column}: {found:?}");
            std::fs::remove_dir_all(&forged).unwrap();
        }
    }
}

#[test]
fn charges_of_nodes_that_no_sum_describes_are_found() {
    let scene = Scene::new();
    let lake = scene.lake();
    let paths = movable(&lake, "job_charges", "alloc_core_s");
    let bills: Vec<String> = paths.into_iter().filter(|path| path.contains("/overhead-")).collect();
    assert!(!bills.is_empty());
    let forged = scene.path("forged");
    copy_lake(&lake, &forged);
    forge_rows(&forged, &bills[0], |batch| moved(&batch, "alloc_core_s"));
    let found = findings(&forged);
    assert!(
        found.iter().any(|(path, _)| path.starts_with("charge_part/")),
        "{found:?}"
    );
}

/// Who signed a correction, and why, is in no sum; the signed row is kept.
#[test]
fn a_correction_that_states_something_else_than_what_was_signed_is_found() {
    let scene = Scene::new();
    let lake = scene.lake();
    let path = "corrections/corrections.parquet";
    for (nth, column) in ["author", "reason", "status", "entry", "account"]
        .into_iter()
        .enumerate()
    {
        let forged = scene.path(&format!("signed-{nth}"));
        copy_lake(&lake, &forged);
        forge_rows(&forged, path, |batch| {
            let words = batch.column_by_name(column).unwrap();
            let words = words.as_string::<i32>().iter();
            let made: StringArray = words.map(|word| word.map(|word| format!("{word}x"))).collect();
            with_column(&batch, column, Arc::new(made))
        });
        let found = findings(&forged);
        assert!(found.iter().any(|(of, _)| of == path), "{column}: {found:?}");
    }
}
