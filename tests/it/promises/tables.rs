//! Published tables, read and rewritten.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Decimal128Type, Int64Type, TimestampMillisecondType};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_select::concat::concat_batches;
use gridtally::schema;
use gridtally::store::read_table;

use super::scene::published;
pub(super) use crate::support::forge::forge_rows as forge;

/// The whole of one Parquet file.
pub(super) fn read(path: &Path) -> RecordBatch {
    let batches: Vec<_> = read_table(File::open(path).unwrap(), None, 8192)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    concat_batches(batches.first().unwrap().schema_ref(), &batches).unwrap()
}

/// The files of a dataset that have rows.
pub(super) fn files(lake: &Path, dataset: &str) -> Vec<PathBuf> {
    let mut files = published(&lake.join(dataset));
    let has_rows = |path: &Path| !path.ends_with("empty.parquet");
    files.retain(|path| path.extension().is_some_and(|extension| extension == "parquet") && has_rows(path));
    files
}

/// The rows of a dataset, without the columns that are in the paths; or of one file.
pub(super) fn all(lake: &Path, dataset: &str) -> RecordBatch {
    if dataset.contains('.') {
        return read(&lake.join(dataset));
    }
    let batches: Vec<_> = files(lake, dataset).iter().map(|path| read(path)).collect();
    let none = RecordBatch::new_empty(schema::dataset(dataset).unwrap().arrow());
    batches
        .first()
        .map_or(none, |first| concat_batches(first.schema_ref(), &batches).unwrap())
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> &'a ArrayRef {
    batch.column_by_name(name).unwrap_or_else(|| panic!("no column {name}"))
}

/// A whole number, time or date; `None` for null.
pub(super) fn int(batch: &RecordBatch, name: &str, row: usize) -> Option<i64> {
    let column = column(batch, name);
    if column.is_null(row) {
        return None;
    }
    if let Some(int) = column.as_primitive_opt::<Int64Type>() {
        Some(int.value(row))
    } else if let Some(time) = column.as_primitive_opt::<TimestampMillisecondType>() {
        Some(time.value(row))
    } else {
        Some(i64::from(column.as_primitive::<Date32Type>().value(row)))
    }
}

/// A text; `None` for null.
pub(super) fn text(batch: &RecordBatch, name: &str, row: usize) -> Option<String> {
    let column = column(batch, name).as_string::<i32>();
    column.is_valid(row).then(|| column.value(row).to_owned())
}

/// A decimal, as its digits; `None` for null.
pub(super) fn decimal(batch: &RecordBatch, name: &str, row: usize) -> Option<i128> {
    let column = column(batch, name).as_primitive::<Decimal128Type>();
    column.is_valid(row).then(|| column.value(row))
}

/// Sum of a column.
pub(super) fn sum(batch: &RecordBatch, name: &str) -> i64 {
    (0..batch.num_rows()).filter_map(|row| int(batch, name, row)).sum()
}
