//! Losers as batches of `history`, and back.

use std::sync::Arc;

use arrow_array::RecordBatch;

use super::merge::Loser;
use crate::error::{Error, Result};
use crate::ledger::Outcome;
use crate::schema;
use crate::schema::batch::{id, identities, identity, int, ints, text, texts, time, times, uint, uints};

/// A batch of `history`.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the batch is not what the schema declares.
pub fn to_batch(losers: &[Loser]) -> Result<RecordBatch> {
    schema::dataset("history")?.batch(vec![
        identities(losers.iter().map(|loser| Some(loser.record_id)))?,
        times(losers.iter().map(|loser| Some(loser.record_ms))),
        texts(losers.iter().map(|loser| Some(loser.outcome.as_str()))),
        ints(losers.iter().map(|loser| Some(loser.step_n))),
        texts(losers.iter().map(|loser| Some(&loser.file_id))),
        ints(losers.iter().map(|loser| Some(loser.line))),
        uints(losers.iter().map(|loser| loser.content_hash)),
    ])
}

/// The losers of a batch of `history`.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the batch is not of `history`.
pub fn from_batch(batch: &RecordBatch) -> Result<Vec<Loser>> {
    let (record_id, record_utc) = (id(batch, "record_id")?, time(batch, "record_utc")?);
    let (outcome, file_id) = (text(batch, "outcome")?, text(batch, "file_id")?);
    let (step_n, line) = (int(batch, "step_n")?, int(batch, "line")?);
    let content_hash = uint(batch, "content_hash")?;
    // Rows that lost come from few files, mostly that of the row before.
    let mut last: Option<Arc<str>> = None;
    (0..batch.num_rows())
        .map(|row| {
            let file_id = match &last {
                Some(last) if **last == *file_id.value(row) => Arc::clone(last),
                _ => Arc::clone(last.insert(Arc::from(file_id.value(row)))),
            };
            Ok(Loser {
                record_ms: record_utc.value(row),
                record_id: identity(record_id, row)?,
                file_id,
                line: line.value(row),
                step_n: step_n.value(row),
                content_hash: content_hash.value(row),
                outcome: Outcome::parse(outcome.value(row)).ok_or_else(|| Error::internal("an unknown outcome"))?,
            })
        })
        .collect()
}
