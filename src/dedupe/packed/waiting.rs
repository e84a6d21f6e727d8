//! A waiting batch with its columns in the order of `records`: looked up once, however many buckets have rows in it.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{AnyDictionaryArray, Array, ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::Field;
use arrow_select::take::take;

use super::integer::{IntegerPacking, only_value};
use super::kind::{PackedKind, fields};
use crate::error::Result;

/// What a column takes besides its data, its field and its array included: of small files with a row each it is nearly
/// all.
const COLUMN_BYTES: usize = 1024;

/// A column of a waiting batch.
#[derive(Clone, Copy, Debug)]
struct WaitingColumn {
    place: usize,
    packing: Option<IntegerPacking>,
}

/// A column of a waiting batch, and what its stored numbers stand for where it holds any.
#[derive(Clone, Copy)]
pub(super) struct PackedColumn<'a> {
    pub(super) array: &'a ArrayRef,
    pub(super) packing: Option<IntegerPacking>,
}

/// A waiting batch.
#[derive(Clone, Debug)]
pub struct WaitingBatch {
    batch: RecordBatch,
    /// In the order of the columns that wait.
    columns: Arc<[Option<WaitingColumn>]>,
    /// Bytes of its values that it keeps in memory for itself, about.
    data_byte_n: usize,
}

impl WaitingBatch {
    /// Of packed columns.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when integers do not state what they stand for.
    pub fn of(batch: RecordBatch) -> Result<Self> {
        let columns = fields()?.into_iter().map(|(field, kind)| {
            let Some((place, own)) = batch.schema_ref().column_with_name(field.name()) else {
                return Ok(None);
            };
            let packing = match kind {
                PackedKind::Number => Some(IntegerPacking::of(own)?),
                PackedKind::Word | PackedKind::Whole => None,
            };
            Ok(Some(WaitingColumn { place, packing }))
        });
        let columns = columns.collect::<Result<_>>()?;
        Ok(Self {
            data_byte_n: data_byte_n(&batch),
            batch,
            columns,
        })
    }

    /// The columns as they are packed.
    #[must_use]
    pub fn batch(&self) -> &RecordBatch {
        &self.batch
    }

    /// How many rows it has.
    #[must_use]
    pub fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// Bytes of its values that it keeps in memory for itself, about.
    pub(in crate::dedupe) fn data_byte_n(&self) -> usize {
        self.data_byte_n
    }

    /// Bytes that it takes in memory, about.
    pub(in crate::dedupe) fn held_byte_n(&self) -> usize {
        self.data_byte_n + self.batch.num_columns() * COLUMN_BYTES
    }

    /// The column of a place among those that wait; `None` where all of its values are null.
    pub(super) fn column(&self, nth: usize) -> Option<PackedColumn<'_>> {
        let WaitingColumn { place, packing } = (*self.columns.get(nth)?)?;
        let array = self.batch.columns().get(place)?;
        Some(PackedColumn { array, packing })
    }

    /// The same rows in another order: row `order[0]` comes first.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a row that is not there.
    pub(in crate::dedupe) fn in_order(self, order: &UInt32Array) -> Result<Self> {
        let taken = |(field, array): (&Arc<Field>, &ArrayRef)| {
            if is_constant(field, array) {
                return Ok(Arc::clone(array));
            }
            Ok(take(array, order, None)?)
        };
        let columns = self.batch.schema_ref().fields().iter().zip(self.batch.columns());
        let columns = columns.map(taken).collect::<Result<Vec<_>>>()?;
        let batch = RecordBatch::try_new(self.batch.schema(), columns)?;
        Ok(Self {
            data_byte_n: data_byte_n(&batch),
            batch,
            columns: self.columns,
        })
    }
}

/// Whether a packed column has the same in every row.
fn is_constant(field: &Field, array: &ArrayRef) -> bool {
    let is_one_text = || {
        let entries = array.as_any_dictionary_opt().map(AnyDictionaryArray::values);
        entries.is_some_and(|entries| entries.len() == 1)
    };
    array.null_count() == 0 && (only_value(field).is_some() || is_one_text())
}

/// Bytes that the values of packed columns keep in memory for themselves, about.
fn data_byte_n(batch: &RecordBatch) -> usize {
    let columns = batch.schema_ref().fields().iter().zip(batch.columns());
    columns.map(|(field, array)| own_byte_n(field, array)).sum()
}

/// Bytes that a packed column keeps in memory for itself, about: shared zeros are nobody's.
fn own_byte_n(field: &Field, array: &ArrayRef) -> usize {
    let of_nulls = || array.nulls().map_or(0, |nulls| nulls.buffer().capacity());
    if only_value(field).is_some() {
        return of_nulls();
    }
    match array.as_any_dictionary_opt().map(AnyDictionaryArray::values) {
        Some(entries) if entries.len() == 1 => of_nulls() + entries.get_buffer_memory_size(),
        _ => array.get_buffer_memory_size(),
    }
}
