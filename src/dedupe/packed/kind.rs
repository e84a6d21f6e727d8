//! What waits of a record, and how it is packed.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

use crate::error::Result;
use crate::schema;

/// The column of all anomalies of a record, a bit each: it stands for the Boolean columns of `records`.
pub const ANOMALIES: &str = "anomalies";

/// What a column is packed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PackedKind {
    /// Integers, instants, decimals of three digits.
    Number,
    /// Texts.
    Word,
    /// Identities, hashes and lists, which do not get smaller.
    Whole,
}

impl PackedKind {
    /// The kind of a column of `records`; `None` for the anomalies, which wait together.
    pub(super) fn of(data_type: &DataType) -> Option<Self> {
        match data_type {
            DataType::Boolean => None,
            DataType::Int64 | DataType::Timestamp(..) | DataType::Decimal128(..) => Some(Self::Number),
            DataType::Utf8 => Some(Self::Word),
            _ => Some(Self::Whole),
        }
    }
}

/// The fields that wait, in the order of `records`, with their kinds; the anomalies come last.
pub(super) fn fields() -> Result<Vec<(Arc<Field>, PackedKind)>> {
    let records = schema::dataset("records")?.arrow();
    let mut fields: Vec<_> = records
        .fields()
        .iter()
        .filter_map(|field| Some((Arc::clone(field), PackedKind::of(field.data_type())?)))
        .collect();
    let anomalies = Field::new(ANOMALIES, DataType::Int64, false);
    fields.push((Arc::new(anomalies), PackedKind::Number));
    Ok(fields)
}

/// A batch of these columns.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when they differ in length.
pub fn batch(columns: Vec<(Field, ArrayRef)>) -> Result<RecordBatch> {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}
