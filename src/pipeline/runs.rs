//! The record of a run: who changed the lake when. Written after the commit, outside the manifest.

use std::sync::Arc;

use arrow::array::{ArrayRef, Date32Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};

use super::clock::Stopwatch;
use super::options::RunOptions;
use super::report::RunReport;
use crate::error::Result;
use crate::pipeline::Plan;
use crate::schema;
use crate::store::{Store, TableOptions, TableWriter};
use crate::time::Month;

/// Appends one row to `runs`.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be written.
pub(super) fn append(
    store: &Store,
    plan: &Plan,
    options: &RunOptions,
    report: &RunReport,
    stopwatch: &Stopwatch,
) -> Result<()> {
    let run_id = format!("{}-{}", stopwatch.started_ms(), std::process::id());
    let int = |n: u64| -> ArrayRef { Arc::new(Int64Array::from(vec![i64::try_from(n).unwrap_or(i64::MAX)])) };
    let text = |s: &str| -> ArrayRef { Arc::new(StringArray::from(vec![s])) };
    let time = |ms: i64| -> ArrayRef { Arc::new(TimestampMillisecondArray::from(vec![ms])) };
    let month = |month: Option<Month>| -> ArrayRef { Arc::new(Date32Array::from(vec![month.map(Month::first_day)])) };
    let len = |list: &[String]| int(u64::try_from(list.len()).unwrap_or(u64::MAX));
    let dataset = schema::dataset("runs")?;
    let batch = RecordBatch::try_new(
        dataset.arrow(),
        vec![
            text(&run_id),
            time(stopwatch.started_ms()),
            time(stopwatch.now_ms()),
            text(&report.gridtally_version),
            text(&plan.name),
            text(&plan.fingerprint),
            month(options.from),
            month(options.to),
            int(report.files_n),
            int(report.files_read_n),
            int(report.rows_read_n),
            len(&report.written),
            len(&report.removed),
            int(report.unchanged_n),
        ],
    )?;
    dataset.admit(&batch)?;
    let mut table = TableWriter::create(Vec::new(), dataset.arrow(), &TableOptions::default())?;
    table.write(&batch)?;
    let (_, bytes) = table.finish()?;
    store.put(&format!("runs/{run_id}.parquet"), bytes.into())
}
