//! Losers as batches of `history`, and back.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, FixedSizeBinaryBuilder, Int64Builder, RecordBatch, StringBuilder, TimestampMillisecondBuilder,
    UInt64Builder,
};
use arrow::datatypes::{Int64Type, TimestampMillisecondType, UInt64Type};

use super::merge::Loser;
use crate::error::{Error, Result};
use crate::ledger::Outcome;
use crate::schema;

/// A batch of `history`.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the batch is not what the schema declares.
pub fn to_batch(losers: &[Loser]) -> Result<RecordBatch> {
    let mut record_id = FixedSizeBinaryBuilder::new(16);
    let mut record_utc = TimestampMillisecondBuilder::new();
    let (mut outcome, mut file_id) = (StringBuilder::new(), StringBuilder::new());
    let (mut step_n, mut line) = (Int64Builder::new(), Int64Builder::new());
    let mut content_hash = UInt64Builder::new();
    for loser in losers {
        record_id.append_value(loser.record_id.to_be_bytes())?;
        record_utc.append_value(loser.record_ms);
        outcome.append_value(loser.outcome.as_str());
        step_n.append_value(loser.step_n);
        file_id.append_value(&loser.file_id);
        line.append_value(loser.line);
        content_hash.append_value(loser.content_hash);
    }
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(record_id.finish()),
        Arc::new(record_utc.finish()),
        Arc::new(outcome.finish()),
        Arc::new(step_n.finish()),
        Arc::new(file_id.finish()),
        Arc::new(line.finish()),
        Arc::new(content_hash.finish()),
    ];
    let dataset = schema::dataset("history")?;
    let batch = RecordBatch::try_new(dataset.arrow(), arrays)?;
    dataset.admit(&batch)?;
    Ok(batch)
}

/// The losers of a batch of `history`.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the batch is not of `history`.
pub fn from_batch(batch: &RecordBatch) -> Result<Vec<Loser>> {
    let column = |name: &str| {
        batch
            .column_by_name(name)
            .ok_or_else(|| Error::internal(format!("no column {name}")))
    };
    let record_id = column("record_id")?.as_fixed_size_binary();
    let record_utc = column("record_utc")?.as_primitive::<TimestampMillisecondType>();
    let outcome = column("outcome")?.as_string::<i32>();
    let step_n = column("step_n")?.as_primitive::<Int64Type>();
    let file_id = column("file_id")?.as_string::<i32>();
    let line = column("line")?.as_primitive::<Int64Type>();
    let content_hash = column("content_hash")?.as_primitive::<UInt64Type>();
    (0..batch.num_rows())
        .map(|row| {
            let id =
                <[u8; 16]>::try_from(record_id.value(row)).map_err(|_| Error::internal("a record id of odd length"))?;
            Ok(Loser {
                record_ms: record_utc.value(row),
                record_id: u128::from_be_bytes(id),
                file_id: Arc::from(file_id.value(row)),
                line: line.value(row),
                step_n: step_n.value(row),
                content_hash: content_hash.value(row),
                outcome: Outcome::parse(outcome.value(row)).ok_or_else(|| Error::internal("an unknown outcome"))?,
            })
        })
        .collect()
}
