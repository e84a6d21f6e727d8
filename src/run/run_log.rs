//! The record of a run: who changed the lake when, and to which manifest. Committed with what the run publishes.

use bytes::Bytes;

use super::options::RunOptions;
use super::run_report::RunReport;
use crate::config::Plan;
use crate::error::Result;
use crate::numbers::count_u64;
use crate::runtime::clock::Stopwatch;
use crate::schema;
use crate::schema::batch::{counts, dates, texts, times};
use crate::store::lake::run_path;
use crate::store::{Seal, TableOptions, TableWriter};
use crate::time::Month;

/// The page of a run that commits the content of `seal`: its path, and its one row.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it is not what the schema declares.
pub(crate) fn page(
    plan: &Plan,
    options: &RunOptions,
    report: &RunReport,
    stopwatch: &Stopwatch,
    seal: &Seal,
) -> Result<(String, Bytes)> {
    let run_id = &report.identity.run_id;
    let text = |value: &str| texts([Some(value)]);
    let time = |ms: i64| times([Some(ms)]);
    let month = |month: Option<Month>| dates([month.map(Month::first_day)]);
    let count = |n: u64| counts([n]);
    let len = |list: &[String]| counts([count_u64(list.len())]);
    let dataset = schema::dataset("runs")?;
    let batch = dataset.batch(vec![
        text(run_id),
        time(stopwatch.started_ms()),
        time(stopwatch.now_ms()),
        text(&report.gridtally_version),
        text(&plan.name),
        text(&plan.fingerprint),
        month(options.from),
        month(options.to),
        count(report.files_n),
        count(report.files_read_n),
        count(report.rows_read_n),
        len(&report.written),
        len(&report.removed),
        count(report.unchanged_n),
        text(&seal.manifest_blake3),
    ])?;
    let path = run_path(run_id);
    let table_options = TableOptions {
        footer: seal.footer(&path),
        ..TableOptions::default()
    };
    let mut table = TableWriter::create(Vec::new(), dataset.arrow(), &table_options)?;
    table.write(&batch)?;
    let (_, bytes) = table.finish()?;
    Ok((path, bytes.into()))
}
