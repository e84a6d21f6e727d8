//! Lookup tables and device catalogues.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, ListArray, StringArray, StructArray};
use arrow::datatypes::{Decimal128Type, Int64Type};

use crate::error::{Error, Kind, Result};
use crate::expr::{Type, Value, evaluate};

/// Rows that give values by the values of other columns.
#[derive(Clone, Debug)]
pub struct WeightTable {
    /// What it is, for people.
    pub title: Option<String>,
    /// Columns to look up by.
    pub by: Vec<(String, Type)>,
    /// Columns it gives.
    pub gives: Vec<(String, Type)>,
    /// Keys, then values.
    pub rows: Vec<Vec<Value>>,
    /// Values where no row has the keys; `None` leaves them unknown.
    pub missing: Option<Vec<Value>>,
}

/// Values of one device by model or MIG profile, added up over the devices of a job.
#[derive(Clone, Debug)]
pub struct Devices {
    /// What it is, for people.
    pub title: Option<String>,
    /// Columns it gives: sums over the job's devices.
    pub gives: Vec<String>,
    /// Model, then values.
    pub rows: Vec<(String, Vec<i128>)>,
    /// Values of a model no row names; `None` leaves the sums unknown.
    pub missing: Option<Vec<i128>>,
}

/// Keys of a row as one text.
fn key<'a>(cells: impl Iterator<Item = &'a Value>) -> String {
    let mut key = String::new();
    for cell in cells {
        match cell {
            Value::Number(number) => key.push_str(&number.to_string()),
            Value::Text(text) => key.push_str(text),
        }
        key.push('\u{1f}');
    }
    key
}

impl WeightTable {
    /// The rows by their keys; a key that two rows have is reported by the position of the later row.
    pub(super) fn index(&self) -> std::result::Result<HashMap<String, usize>, usize> {
        let mut index = HashMap::new();
        for (at, row) in self.rows.iter().enumerate() {
            if index.insert(key(row.iter().take(self.by.len())), at).is_some() {
                return Err(at);
            }
        }
        Ok(index)
    }

    /// The columns it gives, for the keys in `by`.
    ///
    /// # Errors
    /// [`Kind::Internal`] when a key column is of another type than declared.
    pub fn look_up(&self, by: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        let index = self.index().map_err(|_| Error::internal("a table with a key twice"))?;
        let rows = by.first().map_or(0, Array::len);
        let mut found: Vec<Option<&[Value]>> = Vec::with_capacity(rows);
        let mut text = String::new();
        for row in 0..rows {
            text.clear();
            let mut is_known = true;
            for (array, (_, kind)) in by.iter().zip(&self.by) {
                is_known &= array.is_valid(row);
                match kind {
                    Type::Text => text.push_str(words(array)?.value(row)),
                    _ => text.push_str(&numbers(array)?.value(row).to_string()),
                }
                text.push('\u{1f}');
            }
            let values = match index.get(&text).filter(|_| is_known) {
                Some(at) => self.rows.get(*at).and_then(|row| row.get(self.by.len()..)),
                None => self.missing.as_deref(),
            };
            found.push(values);
        }
        let column =
            |(nth, (_, kind)): (usize, &(String, Type))| column(*kind, found.iter().map(|row| (*row)?.get(nth)));
        Ok(self.gives.iter().enumerate().map(column).collect())
    }
}

/// An array of values, unknown where there is none.
pub(super) fn column<'a>(kind: Type, values: impl Iterator<Item = Option<&'a Value>>) -> ArrayRef {
    match kind {
        Type::Text => {
            let texts = values.map(|value| match value {
                Some(Value::Text(text)) => Some(text.as_str()),
                _ => None,
            });
            Arc::new(texts.collect::<StringArray>())
        }
        _ => decimals(values.map(|value| match value {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        })),
    }
}

/// An array of decimals as formulas take them.
pub(super) fn decimals(values: impl Iterator<Item = Option<i128>>) -> ArrayRef {
    let array: Decimal128Array = values.collect();
    Arc::new(array.with_data_type(evaluate::arrow(Type::Number)))
}

/// A column of texts.
pub(super) fn words(array: &ArrayRef) -> Result<&StringArray> {
    let found = array.as_string_opt::<i32>();
    found.ok_or_else(|| Error::internal("a column of texts is of another type"))
}

/// A column of decimals.
pub(super) fn numbers(array: &ArrayRef) -> Result<&Decimal128Array> {
    let found = array.as_primitive_opt::<Decimal128Type>();
    found.ok_or_else(|| Error::internal("a column of numbers is of another type"))
}

impl Devices {
    /// The sums over each job's devices. A job of no GPU has none of anything; one whose models are not named is unknown.
    ///
    /// # Errors
    /// [`Kind::Data`] when a sum does not fit.
    pub fn add_up(&self, gpus: &ListArray, gpu_n: &Decimal128Array) -> Result<Vec<ArrayRef>> {
        let index: HashMap<&str, &[i128]> = self.rows.iter().map(|(model, values)| (&**model, &**values)).collect();
        let (models, counts) = elements(gpus.values().as_struct_opt())?;
        let mut sums: Vec<Vec<Option<i128>>> = vec![Vec::with_capacity(gpus.len()); self.gives.len()];
        for row in 0..gpus.len() {
            let range = devices(gpus, row);
            let is_none = gpu_n.is_valid(row) && gpu_n.value(row) == 0;
            let is_named = gpus.is_valid(row) && !range.is_empty();
            for (nth, sums) in sums.iter_mut().enumerate() {
                let mut sum = (is_none || is_named).then_some(0_i128);
                for at in range.clone().filter(|_| is_named && !is_none) {
                    let values = index.get(models.value(at)).copied().or(self.missing.as_deref());
                    let value = values.and_then(|values| values.get(nth)).copied();
                    sum = match (sum, value) {
                        (Some(sum), Some(value)) => {
                            let more = value.checked_mul(i128::from(counts.value(at)));
                            let sum = more.and_then(|more| sum.checked_add(more));
                            Some(sum.ok_or_else(|| Error::new(Kind::Data, "a sum over devices does not fit"))?)
                        }
                        _ => None,
                    };
                }
                sums.push(sum);
            }
        }
        Ok(sums.into_iter().map(|sums| decimals(sums.into_iter())).collect())
    }
}

/// The columns of the devices of a job.
pub(super) fn devices(gpus: &ListArray, row: usize) -> std::ops::Range<usize> {
    let at = |nth: usize| {
        let offset = gpus.value_offsets().get(nth).copied();
        // Fallback: a row past the end of the list has no devices; Arrow's offsets are not below zero.
        offset.and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0)
    };
    at(row)..at(row + 1)
}

/// Models and counts.
pub(super) fn elements(
    devices: Option<&StructArray>,
) -> Result<(&StringArray, &arrow::array::PrimitiveArray<Int64Type>)> {
    let parts = devices.and_then(|devices| {
        let models = devices.column_by_name("model")?.as_string_opt::<i32>()?;
        let counts = devices.column_by_name("device_n")?.as_primitive_opt::<Int64Type>()?;
        Some((models, counts))
    });
    parts.ok_or_else(|| Error::internal("a list of GPUs is of another type"))
}
