//! The one form of a gathered batch: equal rows in an equal order give equal bytes, however they were gathered.

use std::collections::HashMap;
use std::sync::Arc;

use ahash::RandomState;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, TimestampMillisecondType, UInt32Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray, UInt32Array,
};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::{DataType, Field};
use arrow_select::take::take_record_batch;

use super::packed::{batch, gather};
use crate::error::{Error, Result};
use crate::schema::batch::{codes, id, identity, int, time, words};

/// A gathered batch, sorted by instant and identity, in which versions of one job are in the order of their places, too:
/// by file, line and byte offset. `file_place` orders the words of files.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it is not a gathered batch.
pub(super) fn with_versions_in_order(
    gathered: &RecordBatch,
    file_place: impl Fn(&str) -> usize,
) -> Result<RecordBatch> {
    let (instants, ids) = (time(gathered, "record_utc")?.values(), id(gathered, "record_id")?);
    let mut order: Vec<u32> = Vec::new();
    let mut row = 0;
    while row < gathered.num_rows() {
        let key = |row: usize| Ok::<_, Error>((instants.get(row).copied(), identity(ids, row)?));
        let first = key(row)?;
        let mut end = row + 1;
        while end < gathered.num_rows() && key(end)? == first {
            end += 1;
        }
        if end > row + 1 {
            if order.is_empty() {
                order = (0..number(gathered.num_rows())?).collect();
            }
            let (files, lines) = (words(gathered, "file_id")?, int(gathered, "line")?.values());
            let offsets = int(gathered, "byte_offset")?.values();
            if let Some(versions) = order.get_mut(row..end) {
                versions.sort_by_key(|row| {
                    let row = row.as_usize();
                    (file_place(files.value(row)), lines.get(row), offsets.get(row))
                });
            }
        }
        row = end;
    }
    if order.is_empty() {
        return Ok(gathered.clone());
    }
    Ok(take_record_batch(gathered, &UInt32Array::from(order))?)
}

/// A gathered batch whose bytes depend on its values alone: texts are coded in the order in which they first occur, nulls
/// have the number of the row before, and lists that no row has are left out.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it is not a gathered batch.
pub(super) fn canonical(gathered: &RecordBatch) -> Result<RecordBatch> {
    let mut columns = Vec::with_capacity(gathered.num_columns());
    for (field, column) in gathered.schema().fields().iter().zip(gathered.columns()) {
        let column = match column.data_type() {
            DataType::Dictionary(..) => recoded(column)?,
            DataType::Int64 | DataType::Timestamp(..) => filled(column)?,
            DataType::List(_) if column.null_count() == column.len() => continue,
            _ => Arc::clone(column),
        };
        columns.push((Field::new(field.name(), column.data_type().clone(), true), column));
    }
    batch(columns)
}

/// Texts coded in the order of their first rows.
fn recoded(column: &ArrayRef) -> Result<ArrayRef> {
    let (keys, entries) = codes(column)?;
    let mut of_text: HashMap<&str, u32, RandomState> = HashMap::default();
    let mut of_code: Vec<Option<u32>> = vec![None; entries.len()];
    let mut texts: Vec<&str> = Vec::new();
    let mut new = Vec::with_capacity(keys.len());
    let mut last = 0;
    for row in 0..keys.len() {
        if keys.is_valid(row) {
            let code = keys.value(row).as_usize();
            let slot = of_code.get_mut(code);
            let slot = slot.ok_or_else(|| Error::internal("a code of no entry"))?;
            last = if let Some(code) = *slot {
                code
            } else {
                let text = entries.value(code);
                let next = number(texts.len())?;
                let code = *of_text.entry(text).or_insert(next);
                if code == next {
                    texts.push(text);
                }
                *slot.insert(code)
            };
        }
        new.push(last);
    }
    if texts.is_empty() {
        texts.push("");
    }
    let keys = UInt32Array::new(new.into(), nulls_of(column));
    let entries = Arc::new(StringArray::from_iter_values(texts));
    Ok(Arc::new(DictionaryArray::<UInt32Type>::try_new(keys, entries)?))
}

/// Numbers in which nulls have the value of the row before, or else of the first row with one.
fn filled(column: &ArrayRef) -> Result<ArrayRef> {
    let Some(nulls) = nulls_of(column) else {
        return Ok(Arc::clone(column));
    };
    let values = gather::numbers(column)?;
    let first = nulls.valid_indices().next().and_then(|row| values.get(row));
    // Fallback: a column of nulls alone has no number, and is left out when it is packed.
    let mut last = first.copied().unwrap_or_default();
    let filled: Vec<i64> = (values.iter().enumerate())
        .map(|(row, value)| {
            if nulls.is_valid(row) {
                last = *value;
            }
            last
        })
        .collect();
    Ok(if column.as_primitive_opt::<TimestampMillisecondType>().is_some() {
        Arc::new(TimestampMillisecondArray::new(filled.into(), Some(nulls)))
    } else {
        debug_assert!(column.as_primitive_opt::<Int64Type>().is_some());
        Arc::new(Int64Array::new(filled.into(), Some(nulls)))
    })
}

/// Which rows have a value, from the first bit on; `None` when all have.
fn nulls_of(column: &ArrayRef) -> Option<NullBuffer> {
    let nulls = column.nulls().filter(|nulls| nulls.null_count() > 0)?;
    Some(nulls.iter().collect::<Vec<bool>>().into())
}

fn number(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|why| Error::internal("too many rows at once").because(why))
}
