//! Summaries as batches of `summary` and `summary_history`, and back.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Decimal128Array, RecordBatch};
use arrow_schema::DataType;

use crate::error::{Error, Result};
use crate::ledger::Reason;
use crate::record::summary::{Summary, SummaryKind, SummaryNumbers, SummaryWords};
use crate::schema::batch::{
    decimal, flag, id, identities, identity, int, ints, number, text, texts, time, times, uint, uints, word,
};
use crate::schema::{Dataset, dataset};
use crate::time::Month;

/// The rows, which are of one site and month, as a batch of `summary` or `summary_history`, in the order given.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the schema declares a column no row fills.
pub fn to_batch(rows: &[&Summary], dataset: &Dataset) -> Result<RecordBatch> {
    let columns = dataset.columns.iter().map(|column| array(&column.name, rows));
    dataset.batch(columns.collect::<Result<_>>()?)
}

fn array(name: &str, rows: &[&Summary]) -> Result<ArrayRef> {
    if let Some(of) = SummaryWords::column(name) {
        return Ok(texts(rows.iter().map(|row| of(&row.words).as_deref())));
    }
    if let Some(of) = SummaryNumbers::column(name) {
        let numbers = rows.iter().map(|row| *of(&row.numbers));
        return Ok(match name {
            "benchmark_per_core" => {
                let values: Decimal128Array = numbers.map(|milli| milli.map(i128::from)).collect();
                Arc::new(values.with_data_type(DataType::Decimal128(12, 3)))
            }
            "earliest_end_utc" | "latest_end_utc" => times(numbers),
            _ => ints(numbers),
        });
    }
    Ok(match name {
        "kind" => texts(rows.iter().map(|row| Some(row.kind.as_str()))),
        "source" => texts(rows.iter().map(|row| Some(&row.source))),
        "made_utc" => times(rows.iter().map(|row| row.made_ms)),
        "is_stale" => Arc::new(rows.iter().map(|row| row.is_stale).collect::<BooleanArray>()),
        "outcome" => texts(rows.iter().map(|row| Some(row.reason.outcome().as_str()))),
        "reason" => texts(rows.iter().map(|row| Some(row.reason.code()))),
        "summary_id" => identities(rows.iter().map(|row| Some(row.summary_id)))?,
        "file_id" => texts(rows.iter().map(|row| Some(&row.file_id))),
        "line" => ints(rows.iter().map(|row| Some(row.line))),
        "byte_offset" => ints(rows.iter().map(|row| Some(row.byte_offset))),
        "content_hash" => uints(rows.iter().map(|row| row.content_hash)),
        other => return Err(Error::internal(format!("no summary fills the column {other}"))),
    })
}

/// The rows of a published batch of `site` and `month`; those of `summary` are accepted.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the batch is of neither dataset.
pub fn from_batch(batch: &RecordBatch, site: &str, month: Month) -> Result<Vec<Summary>> {
    let is_history = batch.column_by_name("reason").is_some();
    dataset(if is_history { "summary_history" } else { "summary" })?.admit(batch)?;
    let (kinds, sources, files) = (text(batch, "kind")?, text(batch, "source")?, text(batch, "file_id")?);
    let (lines, offsets, stale) = (
        int(batch, "line")?,
        int(batch, "byte_offset")?,
        flag(batch, "is_stale")?,
    );
    let (ids, hashes) = (id(batch, "summary_id")?, uint(batch, "content_hash")?);
    let made = time(batch, "made_utc")?;
    let reasons = if is_history { Some(text(batch, "reason")?) } else { None };
    let mut rows = Vec::with_capacity(batch.num_rows());
    for at in 0..batch.num_rows() {
        let unknown = |what: &str| Error::internal(format!("a summary has an unknown {what}"));
        let kind = SummaryKind::parse(kinds.value(at)).ok_or_else(|| unknown("kind"))?;
        let mut words = SummaryWords::default();
        for (value, name) in words.each_mut().into_iter().zip(SummaryWords::NAMES) {
            *value = word(text(batch, name)?, at).map(str::to_owned);
        }
        let mut numbers = SummaryNumbers::default();
        for (value, name) in numbers.each_mut().into_iter().zip(SummaryNumbers::NAMES) {
            *value = match name {
                "benchmark_per_core" => number(decimal(batch, name)?, at).and_then(|milli| i64::try_from(milli).ok()),
                "earliest_end_utc" | "latest_end_utc" => number(time(batch, name)?, at),
                _ => number(int(batch, name)?, at),
            };
        }
        rows.push(Summary {
            site: site.to_owned(),
            month,
            kind,
            source: sources.value(at).to_owned(),
            words,
            numbers,
            made_ms: number(made, at),
            file_id: Arc::from(files.value(at)),
            line: lines.value(at),
            byte_offset: offsets.value(at),
            summary_id: identity(ids, at)?,
            content_hash: hashes.value(at),
            is_stale: arrow_array::Array::is_valid(stale, at).then(|| stale.value(at)),
            reason: match reasons {
                Some(reasons) => Reason::parse(reasons.value(at)).ok_or_else(|| unknown("reason"))?,
                None => kind.accepted(),
            },
        });
    }
    Ok(rows)
}
