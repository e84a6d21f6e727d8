//! Integers as `base + scale * stored`, `stored` as wide as it must be.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::NullBufferBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int64Type, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{ArrayRef, Int64Array, PrimitiveArray};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};

use super::route::Route;
use super::zeros::zeros;
use crate::error::{Error, Result};
use crate::numbers::Extent;

const BASE: &str = "base";
const SCALE: &str = "scale";
/// One value, whatever is stored.
const CONSTANT: i64 = 0;
/// Whole seconds among milliseconds.
const SECOND: u64 = 1000;
/// Whole MiB among bytes.
const MIB: u64 = 1 << 20;

/// A column of integers under construction; keeps its room from batch to batch.
///
/// Most columns have the same in row after row: that is written down when a row has something else.
#[derive(Default)]
pub struct IntegerNumbers {
    /// Of the rows before those that have what the last one has.
    values: Vec<i64>,
    valid: Option<NullBufferBuilder>,
    /// What the last row has.
    last: Option<i64>,
}

/// The validity bits of `rows` values before the first null.
pub(super) fn all_valid(rows: usize) -> NullBufferBuilder {
    let mut valid = NullBufferBuilder::new(rows + 1024);
    valid.append_n_non_nulls(rows);
    valid
}

impl IntegerNumbers {
    /// Row number `row` has this value or null. Rows come in order, and none is left out.
    #[inline]
    pub fn push(&mut self, row: usize, value: Option<i64>) {
        if value == self.last {
            return;
        }
        match self.last {
            // What changes in every row, and is never missing.
            Some(last) if self.valid.is_none() && self.values.len() + 1 == row => self.values.push(last),
            _ => self.fill(row, value),
        }
        self.last = value;
    }

    /// Writes down what the rows before number `row` have, which has the value `next`.
    fn fill(&mut self, row: usize, next: Option<i64>) {
        let before = self.values.len();
        let new = row.less(before);
        if let Some(last) = self.last {
            if new == 1 {
                self.values.push(last);
            } else {
                self.values.resize(row, last);
            }
            if let Some(valid) = &mut self.valid {
                valid.append_n_non_nulls(new);
            }
        } else if let Some(last) = self.values.last() {
            // Nulls take a value that widens nothing.
            self.values.resize(row, *last);
            let valid = self.valid.get_or_insert_with(|| all_valid(before));
            valid.append_n_nulls(new);
        } else if row > 0 {
            // Fallback: null rows before the first number take any value, none is read.
            self.values.resize(row, next.unwrap_or_default());
            self.valid.get_or_insert_with(|| all_valid(0)).append_n_nulls(row);
        }
    }

    /// The packed column of `rows` rows, `None` if it holds only nulls; starts empty.
    pub fn finish(&mut self, name: &str, rows: usize) -> Option<(Field, ArrayRef)> {
        let packed = match (self.values.is_empty(), self.last) {
            (true, None) => None,
            (true, Some(value)) => (rows > 0).then(|| constant(name, value, rows, None)),
            (false, _) => {
                self.fill(rows, None);
                let nulls = self.valid.take().and_then(|mut valid| valid.finish());
                pack(name, &self.values, nulls)
            }
        };
        self.values.clear();
        self.valid = None;
        self.last = None;
        packed
    }
}

/// A packed column that has one value only.
fn constant(name: &str, value: i64, rows: usize, nulls: Option<NullBuffer>) -> (Field, ArrayRef) {
    let is_nullable = nulls.is_some();
    let array = zeros(rows, nulls);
    let field = Field::new(name, DataType::UInt8, is_nullable).with_metadata(note(value, CONSTANT.unsigned_abs()));
    (field, Arc::new(array))
}

fn note(base: i64, scale: u64) -> HashMap<String, String> {
    HashMap::from([
        (BASE.to_owned(), base.to_string()),
        (SCALE.to_owned(), scale.to_string()),
    ])
}

/// What the stored numbers of a packed column stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerPacking {
    /// One value in every row, whatever is stored.
    Constant(i64),
    /// `base + scale * stored`.
    Scaled {
        /// The lowest value.
        base: i64,
        /// What the stored numbers count.
        scale: i64,
    },
    /// Themselves.
    Whole,
}

impl IntegerPacking {
    /// That of a packed column.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the column is not packed.
    pub fn of(field: &Field) -> Result<Self> {
        if field.data_type() == &DataType::Int64 {
            return Ok(Self::Whole);
        }
        let note = |key| -> Result<i64> {
            let value = field.metadata().get(key).and_then(|text| text.parse().ok());
            value.ok_or_else(|| Error::internal("a packed column without its base").at("column", field.name()))
        };
        let base = note(BASE)?;
        Ok(match note(SCALE)? {
            CONSTANT => Self::Constant(base),
            scale => Self::Scaled { base, scale },
        })
    }
}

/// The value of all rows of a packed column, if it has one only.
pub(super) fn only_value(field: &Field) -> Option<i64> {
    match IntegerPacking::of(field) {
        Ok(IntegerPacking::Constant(value)) => Some(value),
        _ => None,
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
    if range == 0 {
        return Some(constant(name, low, values.len(), nulls));
    }
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
    let field = Field::new(name, array.data_type().clone(), is_nullable).with_metadata(note(low, scale));
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
    // Fallback: never taken, the caller chose the width by the range of the values.
    let values: Vec<T::Native> = values.map(|v| T::Native::try_from(v).unwrap_or_default()).collect();
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(values), nulls.cloned()))
}

/// Puts values of a packed column into their places; those of null rows are arbitrary.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the column is not packed as stated.
pub fn unpack(packing: IntegerPacking, array: &ArrayRef, route: &Route, into: &mut [i64]) -> Result<()> {
    let (base, scale) = match packing {
        IntegerPacking::Constant(value) => {
            for (_, place) in route.pairs() {
                if let Some(slot) = into.get_mut(place) {
                    *slot = value;
                }
            }
            return Ok(());
        }
        IntegerPacking::Scaled { base, scale } => (base, scale),
        IntegerPacking::Whole => (0, 1),
    };
    macro_rules! widen {
        ($stored:ty) => {{
            let stored = array.as_primitive::<$stored>().values();
            for (row, place) in route.pairs() {
                if let (Some(stored), Some(slot)) = (stored.get(row), into.get_mut(place)) {
                    // What was taken apart without overflow comes together without.
                    *slot = base.wrapping_add(scale.wrapping_mul(i64::from(*stored)));
                }
            }
        }};
    }
    match array.data_type() {
        DataType::UInt8 => widen!(UInt8Type),
        DataType::UInt16 => widen!(UInt16Type),
        DataType::UInt32 => widen!(UInt32Type),
        DataType::Int64 => widen!(Int64Type),
        other => return Err(Error::internal(format!("integers are not packed as {other}"))),
    }
    Ok(())
}
