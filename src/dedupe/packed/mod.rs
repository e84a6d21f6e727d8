//! Records while they wait for the end of the input: packed to a third of their size, so that millions of them wait in
//! memory and the fewest possible bytes are touched.
//!
//! A *waiting batch* is a batch of `records` in which integers have the width their values need ([`number`]), texts
//! are codes of a dictionary where they repeat ([`word`]), the anomalies are one column of bits, and columns without
//! any value are left out. A *gathered batch* ([`gather`]) holds the rows of one bucket unpacked, texts still as
//! codes; [`to_records`] makes the rows that were picked from it what the schema declares.

pub mod gather;
pub mod integer;
mod key_order;
mod kind;
mod recent_texts;
mod route;
pub mod text;
mod text_gathering;
mod waiting;
mod zeros;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Int64Array, RecordBatch, UInt32Array, new_null_array,
};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use arrow_select::take::take;

use self::kind::{PackedKind, fields};
use crate::error::{Error, Result};
use crate::record::anomaly::Anomaly;
use crate::schema;
use crate::schema::batch::{decoded, plain};
use crate::schema::dataset::Encoding;

pub use gather::{GatherPart, gather, gather_sorted, keys};
pub use key_order::places;
pub use kind::{ANOMALIES, batch};
pub use route::{GatherRun, Route};
pub use waiting::WaitingBatch;

/// Packs a gathered batch again, for the disk.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it is not one.
pub fn pack(gathered: &RecordBatch) -> Result<RecordBatch> {
    let mut columns = Vec::with_capacity(gathered.num_columns());
    for (field, kind) in fields()? {
        let Some(column) = gathered.column_by_name(field.name()) else {
            continue;
        };
        match kind {
            PackedKind::Number => columns.extend(integer::pack(
                field.name(),
                gather::numbers(column)?,
                column.nulls().cloned(),
            )),
            PackedKind::Word => columns.extend(text::pack(field.name(), column)?),
            PackedKind::Whole => columns.push((
                gathered.schema().field_with_name(field.name())?.clone(),
                Arc::clone(column),
            )),
        }
    }
    batch(columns)
}

/// All rows of a waiting batch as rows of `records`.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it is not one.
pub fn unpacked(waiting: &RecordBatch) -> Result<RecordBatch> {
    let part = GatherPart::whole(WaitingBatch::of(waiting.clone())?);
    decoded(&to_records(&gather(&[part])?, None)?)
}

/// The rows `picked` of a gathered batch (all, in their order, without `picked`) as rows of `records`. Texts that
/// `records` keeps in a dictionary stay coded.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the result is not what the schema declares.
pub fn to_records(gathered: &RecordBatch, picked: Option<&UInt32Array>) -> Result<RecordBatch> {
    let rows = picked.map_or(gathered.num_rows(), Array::len);
    let pick = |column: &ArrayRef| -> Result<ArrayRef> {
        Ok(match picked {
            Some(picked) => take(column, picked, None)?,
            None => Arc::clone(column),
        })
    };
    let anomalies = gathered
        .column_by_name(ANOMALIES)
        .ok_or_else(|| Error::internal("a batch lacks its anomalies"))?;
    let anomalies = pick(anomalies)?;
    let anomalies = anomalies
        .as_primitive_opt::<Int64Type>()
        .ok_or_else(|| Error::internal("anomalies are bits"))?
        .values();
    let seen = anomalies.iter().fold(0, |seen, bits| seen | bits);
    let mut flags = Anomaly::ALL.iter().map(|anomaly| {
        let bit = i64::from(anomaly.bit());
        let flags = if seen & bit == 0 {
            BooleanBuffer::new_unset(rows)
        } else {
            anomalies.iter().map(|bits| bits & bit != 0).collect()
        };
        Arc::new(BooleanArray::new(flags, None)) as ArrayRef
    });
    let records = schema::dataset("records")?;
    let schema = records.arrow();
    let mut columns = Vec::with_capacity(schema.fields().len());
    // Columns without a value share one array of their type.
    let mut empty = HashMap::new();
    for (field, declared) in schema.fields().iter().zip(&records.columns) {
        let column = match (field.data_type(), gathered.column_by_name(field.name())) {
            (DataType::Boolean, _) => flags
                .next()
                .ok_or_else(|| Error::internal("a flag that is not an anomaly"))?,
            (data_type, None) => ArrayRef::clone(
                empty
                    .entry(data_type)
                    .or_insert_with(|| new_null_array(data_type, rows)),
            ),
            (DataType::Utf8, Some(column)) if declared.encoding == Encoding::Dictionary => pick(column)?,
            (DataType::Utf8, Some(column)) => plain(&pick(column)?)?,
            (DataType::Decimal128(precision, scale), Some(column)) => milli(&pick(column)?, *precision, *scale)?,
            (_, Some(column)) => pick(column)?,
        };
        columns.push(column);
    }
    records.batch(columns)
}

/// Thousandths as decimals.
fn milli(column: &ArrayRef, precision: u8, scale: i8) -> Result<ArrayRef> {
    let milli: &Int64Array = column
        .as_primitive_opt()
        .ok_or_else(|| Error::internal("decimals wait as integers"))?;
    let decimals: Decimal128Array = milli.unary(i128::from);
    Ok(Arc::new(decimals.with_precision_and_scale(precision, scale)?))
}
