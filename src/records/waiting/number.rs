//! Integers as `base + scale * stored`, `stored` as wide as it must be.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, NullBufferBuilder, PrimitiveArray};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::{ArrowPrimitiveType, DataType, Field, Int64Type, UInt8Type, UInt16Type, UInt32Type};

use super::gather::Run;
use crate::error::{Error, Result};

const BASE: &str = "base";
const SCALE: &str = "scale";
/// Whole seconds among milliseconds, whole MiB among bytes.
const SCALES: [u64; 2] = [1000, 1 << 20];

/// A column of integers under construction; keeps its room from batch to batch.
#[derive(Default)]
pub struct Numbers {
    values: Vec<i64>,
    valid: Option<NullBufferBuilder>,
    last: Option<i64>,
    /// Nulls before the first value: only counted, because most columns have nothing else.
    leading_null_n: usize,
}

/// What is said of `rows` values before the first null.
pub(super) fn all_valid(rows: usize) -> NullBufferBuilder {
    let mut valid = NullBufferBuilder::new(rows + 1024);
    valid.append_n_non_nulls(rows);
    valid
}

impl Numbers {
    /// Appends a value or null.
    #[inline]
    pub fn push(&mut self, value: Option<i64>) {
        match value {
            Some(value) => {
                if self.last.is_none() && self.leading_null_n > 0 {
                    // The nulls before take a value that widens nothing.
                    self.values.resize(self.leading_null_n, value);
                    let mut valid = NullBufferBuilder::new(self.leading_null_n + 1024);
                    valid.append_n_nulls(self.leading_null_n);
                    self.valid = Some(valid);
                }
                self.last = Some(value);
                self.values.push(value);
                if let Some(valid) = &mut self.valid {
                    valid.append_non_null();
                }
            }
            None if self.last.is_none() => self.leading_null_n += 1,
            None => {
                let before = self.values.len();
                self.valid.get_or_insert_with(|| all_valid(before)).append_null();
                self.values.push(self.last.unwrap_or_default());
            }
        }
    }

    /// The packed column, `None` if it holds only nulls; starts anew.
    pub fn finish(&mut self, name: &str) -> Option<(Field, ArrayRef)> {
        let nulls = self.valid.take().and_then(|mut valid| valid.finish());
        let packed = self.last.and_then(|_| pack(name, &self.values, nulls));
        self.values.clear();
        self.last = None;
        self.leading_null_n = 0;
        packed
    }
}

/// Packs `values`; those of null rows are arbitrary. `None` if all are null.
pub fn pack(name: &str, values: &[i64], nulls: Option<NullBuffer>) -> Option<(Field, ArrayRef)> {
    if nulls.as_ref().is_some_and(|nulls| nulls.null_count() == values.len()) {
        return None;
    }
    let (mut low, mut high) = (i64::MAX, i64::MIN);
    for value in values {
        low = low.min(*value);
        high = high.max(*value);
    }
    let offset = |value: &i64| value.wrapping_sub(low).cast_unsigned();
    let range = offset(&high);
    let is_multiple = |scale: &u64| values.iter().all(|value| offset(value).is_multiple_of(*scale));
    let scale = if u8::try_from(range).is_ok() {
        1
    } else {
        SCALES.into_iter().find(is_multiple).unwrap_or(1)
    };
    let is_nullable = nulls.is_some();
    let array: ArrayRef = match range / scale {
        0..=0xff => narrow::<UInt8Type>(values.iter().map(|v| offset(v) / scale), nulls),
        0x100..=0xffff => narrow::<UInt16Type>(values.iter().map(|v| offset(v) / scale), nulls),
        0x1_0000..=0xffff_ffff => narrow::<UInt32Type>(values.iter().map(|v| offset(v) / scale), nulls),
        _ => {
            let array = Int64Array::new(values.to_vec().into(), nulls);
            return Some((Field::new(name, DataType::Int64, is_nullable), Arc::new(array)));
        }
    };
    let note = HashMap::from([
        (BASE.to_owned(), low.to_string()),
        (SCALE.to_owned(), scale.to_string()),
    ]);
    let field = Field::new(name, array.data_type().clone(), is_nullable).with_metadata(note);
    Some((field, array))
}

fn narrow<T>(values: impl Iterator<Item = u64>, nulls: Option<NullBuffer>) -> ArrayRef
where
    T: ArrowPrimitiveType,
    T::Native: TryFrom<u64> + Default,
{
    // Whoever calls has seen that all values fit.
    let values: Vec<T::Native> = values.map(|v| T::Native::try_from(v).unwrap_or_default()).collect();
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(values), nulls))
}

/// Appends the values of `runs` of a packed column; those of null rows are arbitrary.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the column is not packed.
pub fn unpack(field: &Field, array: &ArrayRef, runs: &[Run], into: &mut Vec<i64>) -> Result<()> {
    let note = |key| -> Result<i64> {
        let text = field.metadata().get(key);
        let value = text.and_then(|text| text.parse().ok());
        value.ok_or_else(|| Error::internal("a packed column without its base").at("column", field.name()))
    };
    macro_rules! widen {
        ($array:expr) => {{
            let (base, scale) = (note(BASE)?, note(SCALE)?);
            for values in slices($array.values(), runs) {
                // What was taken apart without overflow comes together without.
                into.extend(
                    values
                        .iter()
                        .map(|v| base.wrapping_add(scale.wrapping_mul(i64::from(*v)))),
                );
            }
        }};
    }
    match array.data_type() {
        DataType::UInt8 => widen!(array.as_primitive::<UInt8Type>()),
        DataType::UInt16 => widen!(array.as_primitive::<UInt16Type>()),
        DataType::UInt32 => widen!(array.as_primitive::<UInt32Type>()),
        DataType::Int64 => slices(array.as_primitive::<Int64Type>().values(), runs).for_each(|v| into.extend(v)),
        other => return Err(Error::internal(format!("integers are not packed as {other}"))),
    }
    Ok(())
}

/// The values of each run.
pub(super) fn slices<'a, T>(values: &'a [T], runs: &'a [Run]) -> impl Iterator<Item = &'a [T]> {
    runs.iter()
        .map(|run| values.get(run.first..run.first + run.len).unwrap_or_default())
}
