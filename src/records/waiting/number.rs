//! Integers as `base + scale * stored`, `stored` as wide as it must be.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, NullBufferBuilder, PrimitiveArray};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::{ArrowPrimitiveType, DataType, Field, Int64Type, UInt8Type, UInt16Type, UInt32Type};

use super::gather::Route;
use crate::error::{Error, Result};

const BASE: &str = "base";
const SCALE: &str = "scale";
/// Whole seconds among milliseconds.
const SECOND: u64 = 1000;
/// Whole MiB among bytes.
const MIB: u64 = 1 << 20;

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
    let range = offset(high, low);
    let scale = if u8::try_from(range).is_ok() {
        1
    } else if is_scaled::<SECOND>(values, low) {
        SECOND
    } else if is_scaled::<MIB>(values, low) {
        MIB
    } else {
        1
    };
    let is_nullable = nulls.is_some();
    let array = match scale {
        SECOND => scaled::<SECOND>(values, low, range, nulls.as_ref()),
        MIB => scaled::<MIB>(values, low, range, nulls.as_ref()),
        _ => scaled::<1>(values, low, range, nulls.as_ref()),
    };
    let Some(array) = array else {
        let array = Int64Array::new(values.to_vec().into(), nulls);
        return Some((Field::new(name, DataType::Int64, is_nullable), Arc::new(array)));
    };
    let note = HashMap::from([
        (BASE.to_owned(), low.to_string()),
        (SCALE.to_owned(), scale.to_string()),
    ]);
    let field = Field::new(name, array.data_type().clone(), is_nullable).with_metadata(note);
    Some((field, array))
}

fn offset(value: i64, low: i64) -> u64 {
    value.wrapping_sub(low).cast_unsigned()
}

/// Whether all values are multiples above the lowest: of a scale the compiler knows, so that nothing is divided.
fn is_scaled<const SCALE: u64>(values: &[i64], low: i64) -> bool {
    values.iter().all(|value| offset(*value, low).is_multiple_of(SCALE))
}

/// Values as multiples above the lowest, as narrow as `range` lets them be; `None` when that is not narrower.
fn scaled<const SCALE: u64>(values: &[i64], low: i64, range: u64, nulls: Option<&NullBuffer>) -> Option<ArrayRef> {
    let stored = values.iter().map(|value| offset(*value, low) / SCALE);
    Some(match range / SCALE {
        0..=0xff => narrow::<UInt8Type>(stored, nulls),
        0x100..=0xffff => narrow::<UInt16Type>(stored, nulls),
        0x1_0000..=0xffff_ffff => narrow::<UInt32Type>(stored, nulls),
        _ => return None,
    })
}

fn narrow<T>(values: impl Iterator<Item = u64>, nulls: Option<&NullBuffer>) -> ArrayRef
where
    T: ArrowPrimitiveType,
    T::Native: TryFrom<u64> + Default,
{
    // Whoever calls has seen that all values fit.
    let values: Vec<T::Native> = values.map(|v| T::Native::try_from(v).unwrap_or_default()).collect();
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(values), nulls.cloned()))
}

/// Puts values of a packed column into their places; those of null rows are arbitrary.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the column is not packed.
pub fn unpack(field: &Field, array: &ArrayRef, route: &Route, into: &mut [i64]) -> Result<()> {
    let note = |key| -> Result<i64> {
        let text = field.metadata().get(key);
        let value = text.and_then(|text| text.parse().ok());
        value.ok_or_else(|| Error::internal("a packed column without its base").at("column", field.name()))
    };
    macro_rules! widen {
        ($array:expr) => {{
            let (base, scale) = (note(BASE)?, note(SCALE)?);
            let stored = $array.values();
            for (row, place) in route.pairs() {
                if let (Some(stored), Some(slot)) = (stored.get(row), into.get_mut(place)) {
                    // What was taken apart without overflow comes together without.
                    *slot = base.wrapping_add(scale.wrapping_mul(i64::from(*stored)));
                }
            }
        }};
    }
    match array.data_type() {
        DataType::UInt8 => widen!(array.as_primitive::<UInt8Type>()),
        DataType::UInt16 => widen!(array.as_primitive::<UInt16Type>()),
        DataType::UInt32 => widen!(array.as_primitive::<UInt32Type>()),
        DataType::Int64 => {
            let stored = array.as_primitive::<Int64Type>().values();
            for (row, place) in route.pairs() {
                if let (Some(stored), Some(slot)) = (stored.get(row), into.get_mut(place)) {
                    *slot = *stored;
                }
            }
        }
        other => return Err(Error::internal(format!("integers are not packed as {other}"))),
    }
    Ok(())
}
