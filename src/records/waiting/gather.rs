//! The rows of one bucket, unpacked from the batches they wait in.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, NullBufferBuilder, RecordBatch, TimestampMillisecondArray, new_null_array,
};
use arrow::compute::concat;
use arrow::datatypes::{DataType, Field, Int64Type, TimestampMillisecondType};

use super::word::{Gathering, parts};
use super::{Kind, batch, fields, number};
use crate::error::{Error, Result};

/// `len` rows from row `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first row.
    pub first: usize,
    /// How many.
    pub len: usize,
}

/// Runs of rows of one waiting batch.
#[derive(Clone, Debug)]
pub struct Part {
    /// The batch.
    pub batch: RecordBatch,
    /// The runs, in order.
    pub runs: Vec<Run>,
}

impl Part {
    fn rows(&self) -> usize {
        self.runs.iter().map(|run| run.len).sum()
    }
}

/// The rows of all `parts`, one after another: columns that none of them has are left out.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a batch is not a waiting one.
pub fn gather(from: &[Part]) -> Result<RecordBatch> {
    let rows = from.iter().map(Part::rows).sum();
    let mut columns = Vec::new();
    for (field, kind) in fields()? {
        let found: Vec<Option<(&Field, &ArrayRef)>> = from.iter().map(|part| column(part, field.name())).collect();
        if found.iter().all(Option::is_none) {
            continue;
        }
        let nulls = |validity: &mut NullBufferBuilder| {
            for (part, found) in from.iter().zip(&found) {
                match found.map(|(_, array)| array.nulls()) {
                    None => validity.append_n_nulls(part.rows()),
                    Some(None) => validity.append_n_non_nulls(part.rows()),
                    Some(Some(nulls)) => part
                        .runs
                        .iter()
                        .for_each(|run| validity.append_buffer(&nulls.slice(run.first, run.len))),
                }
            }
            validity.finish()
        };
        let array: ArrayRef = match kind {
            Kind::Number => {
                let mut values = Vec::with_capacity(rows);
                for (part, found) in from.iter().zip(&found) {
                    match found {
                        Some((packed, array)) => number::unpack(packed, array, &part.runs, &mut values)?,
                        None => values.resize(values.len() + part.rows(), 0),
                    }
                }
                let nulls = nulls(&mut NullBufferBuilder::new(rows));
                if matches!(field.data_type(), DataType::Timestamp(..)) {
                    Arc::new(TimestampMillisecondArray::new(values.into(), nulls))
                } else {
                    Arc::new(Int64Array::new(values.into(), nulls))
                }
            }
            Kind::Word => {
                let mut words = Gathering::default();
                for (part, found) in from.iter().zip(&found) {
                    match found {
                        Some((_, array)) => words.take(array, &part.runs)?,
                        None => words.skip(part.rows()),
                    }
                }
                words.finish(nulls(&mut NullBufferBuilder::new(rows)))?
            }
            Kind::Whole => whole(from, &found, field.data_type())?,
        };
        columns.push((Field::new(field.name(), array.data_type().clone(), true), array));
    }
    batch(columns)
}

fn column<'a>(part: &'a Part, name: &str) -> Option<(&'a Field, &'a ArrayRef)> {
    let (at, field) = part.batch.schema_ref().column_with_name(name)?;
    Some((field, part.batch.columns().get(at)?))
}

fn whole(from: &[Part], found: &[Option<(&Field, &ArrayRef)>], data_type: &DataType) -> Result<ArrayRef> {
    let mut pieces = Vec::new();
    for (part, found) in from.iter().zip(found) {
        match found {
            Some((_, array)) => pieces.extend(part.runs.iter().map(|run| array.slice(run.first, run.len))),
            None => pieces.push(new_null_array(data_type, part.rows())),
        }
    }
    let pieces: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
    Ok(concat(&pieces)?)
}

/// The values of a gathered column of integers or instants; those of null rows are arbitrary.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it is not one.
pub(super) fn numbers(gathered: &ArrayRef) -> Result<&[i64]> {
    let ints = gathered.as_primitive_opt::<Int64Type>().map(|array| &**array.values());
    let times = || {
        gathered
            .as_primitive_opt::<TimestampMillisecondType>()
            .map(|array| &**array.values())
    };
    ints.or_else(times)
        .ok_or_else(|| Error::internal("a gathered column of numbers is of another type"))
}

/// A gathered batch with every text of a column replaced.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when there is no such column.
pub fn with_words<'a>(
    gathered: &'a RecordBatch,
    name: &str,
    replace: impl Fn(&'a str) -> &'a str,
) -> Result<RecordBatch> {
    let at = gathered.schema_ref().index_of(name)?;
    let mut columns = gathered.columns().to_vec();
    if let (Some(column), Some(old)) = (columns.get_mut(at), gathered.columns().get(at)) {
        let (keys, entries) = parts(old)?;
        let mut words = Gathering::default();
        for entry in entries {
            words.push_entry(replace(entry.unwrap_or_default()));
        }
        *column = words.with_codes(keys)?;
    }
    Ok(RecordBatch::try_new(gathered.schema(), columns)?)
}
