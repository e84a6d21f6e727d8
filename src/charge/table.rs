//! Lookup tables and device catalogues.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use ahash::RandomState;
use arrow_array::builder::Decimal128Builder;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Decimal128Type, Int64Type};
use arrow_array::{Array, ArrayRef, Decimal128Array, ListArray, PrimitiveArray, StringArray, StructArray};

use super::amount::whole;
use crate::error::{Error, Kind, Result};
use crate::expr::decimal::nearest;
use crate::expr::{Type, Value};
use crate::schema::batch::{ColumnWords, coded_texts, number, texts, words_of};
use crate::schema::combinations::combinations;

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
    /// Values of a model no row names, and of GPUs whose model is not named; `None` leaves the sums unknown.
    pub missing: Option<Vec<i128>>,
}

/// A key of a row: of a table, or of a job.
enum TableCell<'a> {
    Number(i128),
    Text(&'a str),
}

impl TableCell<'_> {
    /// Adds it to the keys of a row, which are one text.
    fn add_to(self, keys: &mut String) {
        match self {
            // Writing to a string cannot fail.
            Self::Number(number) => _ = write!(keys, "{number}"),
            Self::Text(text) => keys.push_str(text),
        }
        keys.push('\u{1f}');
    }
}

impl<'a> From<&'a Value> for TableCell<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Number(number) => Self::Number(*number),
            Value::Text(text) => Self::Text(text),
        }
    }
}

impl WeightTable {
    /// The rows by their keys; a key that two rows have is reported by the position of the later row.
    pub(super) fn index(&self) -> std::result::Result<HashMap<String, usize>, usize> {
        let mut index = HashMap::new();
        for (at, row) in self.rows.iter().enumerate() {
            let mut keys = String::new();
            for value in row.iter().take(self.by.len()) {
                TableCell::from(value).add_to(&mut keys);
            }
            if index.insert(keys, at).is_some() {
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
        let rows = by.first().map_or(0, Array::len);
        let keys = by.iter().zip(&self.by);
        let keys = keys.map(|(array, (_, kind))| TableKey::of(array, *kind));
        let places = self.places(&keys.collect::<Result<Vec<_>>>()?, rows)?;
        (0..self.gives.len()).map(|nth| self.given(nth, &places)).collect()
    }

    /// The place of the row that each combination of keys has: after the last one what is missing has, `None` where that is
    /// unknown.
    fn places(&self, keys: &[TableKey<'_>], rows: usize) -> Result<Vec<Option<u32>>> {
        let index = self.index().map_err(|_| Error::internal("a table with a key twice"))?;
        let missing = self.missing.as_ref().map(|_| self.rows.len());
        let mut text = String::new();
        let mut find = |row: usize| {
            text.clear();
            let mut cells = keys.iter().map(|key| key.cell(row));
            let is_known = cells.all(|cell| cell.map(|cell| cell.add_to(&mut text)).is_some());
            let place = index.get(&text).copied().filter(|_| is_known).or(missing)?;
            u32::try_from(place).ok()
        };
        let words: Option<Vec<ColumnWords<'_>>> = keys.iter().map(TableKey::words).collect();
        let Some(alike) = words.and_then(|words| combinations(words, rows)) else {
            return Ok((0..rows).map(find).collect());
        };
        let mut known: HashMap<u64, Option<u32>, RandomState> = HashMap::default();
        let mut last = None;
        let places = alike.into_iter().enumerate().map(|(row, combination)| match last {
            Some((same, place)) if same == combination => place,
            _ => {
                let place = *known.entry(combination).or_insert_with(|| find(row));
                last = Some((combination, place));
                place
            }
        });
        Ok(places.collect())
    }

    /// The `nth` column it gives, of rows by their places.
    fn given(&self, nth: usize, places: &[Option<u32>]) -> Result<ArrayRef> {
        let cells = self.rows.iter().map(|row| row.get(self.by.len() + nth));
        let cells = cells.chain(self.missing.iter().map(|values| values.get(nth)));
        let is_text = self.gives.get(nth).is_some_and(|(_, kind)| *kind == Type::Text);
        if is_text {
            return coded_texts(cells.map(|cell| cell.and_then(Value::text)), places.iter().copied());
        }
        let numbers: Vec<Option<i128>> = cells.map(|cell| cell.and_then(Value::number)).collect();
        let of = |place: u32| numbers.get(usize::try_from(place).ok()?).copied().flatten();
        Ok(decimals(places.iter().map(|place| place.and_then(of))))
    }
}

/// A column that a table is looked up by.
enum TableKey<'a> {
    Words(ColumnWords<'a>),
    Numbers(&'a Decimal128Array),
}

impl<'a> TableKey<'a> {
    fn of(array: &'a ArrayRef, kind: Type) -> Result<Self> {
        Ok(match kind {
            Type::Text => Self::Words(words_of(array)?),
            _ => Self::Numbers(numbers(array)?),
        })
    }

    fn words(&self) -> Option<ColumnWords<'a>> {
        match self {
            Self::Words(words) => Some(*words),
            Self::Numbers(_) => None,
        }
    }

    /// The key of a row; `None` where it is unknown.
    fn cell(&self, row: usize) -> Option<TableCell<'a>> {
        match self {
            Self::Words(words) => words.get(row).map(TableCell::Text),
            Self::Numbers(numbers) => number(numbers, row).map(TableCell::Number),
        }
    }
}

/// One value, or none, for every row.
pub(super) fn constant(kind: Type, value: Option<&Value>, rows: usize) -> Result<ArrayRef> {
    if kind == Type::Text {
        let code = value.map(|_| 0);
        return coded_texts([value.and_then(Value::text)], std::iter::repeat_n(code, rows));
    }
    Ok(column(kind, std::iter::repeat_n(value, rows)))
}

/// An array of values, unknown where there is none.
pub(super) fn column<'a>(kind: Type, values: impl Iterator<Item = Option<&'a Value>>) -> ArrayRef {
    match kind {
        Type::Text => texts(values.map(|value| value.and_then(Value::text))),
        _ => decimals(values.map(|value| value.and_then(Value::number))),
    }
}

/// An array of decimals as formulas take them.
pub(super) fn decimals(values: impl Iterator<Item = Option<i128>>) -> ArrayRef {
    let array: Decimal128Array = values.collect();
    Arc::new(array.with_data_type(Type::Number.arrow()))
}

/// What `convert` makes of each known number, as formulas take it.
pub(super) fn converted<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    convert: impl Fn(T::Native) -> i128,
) -> ArrayRef {
    let array: Decimal128Array = array.unary(convert);
    Arc::new(array.with_data_type(Type::Number.arrow()))
}

/// A column of decimals.
pub(super) fn numbers(array: &ArrayRef) -> Result<&Decimal128Array> {
    let found = array.as_primitive_opt::<Decimal128Type>();
    found.ok_or_else(|| Error::internal("a column of numbers is of another type"))
}

impl Devices {
    /// The sums over each job's devices. A job of no GPU has none of anything; GPUs whose models are not named have what is missing.
    /// `gpu_n` is how many GPUs jobs have, where that is known.
    ///
    /// # Errors
    /// [`Kind::Data`] when a sum does not fit.
    pub fn add_up(&self, gpus: &ListArray, gpu_n: Option<&Decimal128Array>) -> Result<Vec<ArrayRef>> {
        let is_none = |gpu_n: &&Decimal128Array| gpu_n.null_count() == 0 && gpu_n.values().iter().all(|n| *n == 0);
        if let Some(none) = gpu_n.filter(is_none) {
            // A number of zero is zero of anything.
            return Ok(vec![Arc::new(none.clone()) as ArrayRef; self.gives.len()]);
        }
        let index: HashMap<&str, &[i128]> = self.rows.iter().map(|(model, values)| (&**model, &**values)).collect();
        let (models, counts) = device_counts(gpus.values().as_struct_opt())?;
        let new = || Decimal128Builder::with_capacity(gpus.len()).with_data_type(Type::Number.arrow());
        let mut sums: Vec<Decimal128Builder> = self.gives.iter().map(|_| new()).collect();
        let misfit = || Error::new(Kind::Data, "a sum over devices does not fit");
        for row in 0..gpus.len() {
            let gpu_n = gpu_n.and_then(|gpu_n| number(gpu_n, row));
            // Most jobs have no GPU.
            if gpu_n == Some(0) {
                for sums in &mut sums {
                    sums.append_value(0);
                }
                continue;
            }
            let range = elements_of(gpus, row);
            let unnamed = Unnamed::of(counts, range.clone(), gpu_n);
            for (nth, sums) in sums.iter_mut().enumerate() {
                let missing = self.missing.as_ref().and_then(|values| values.get(nth)).copied();
                let mut sum = match (unnamed, missing) {
                    (Unnamed::None, _) => Some(0),
                    (Unnamed::Some(gpu_n), Some(value)) => {
                        let product = value.checked_mul(gpu_n).ok_or_else(misfit)?;
                        Some(nearest(product, whole(1)))
                    }
                    (Unnamed::Some(_), None) | (Unnamed::Unknown, _) => None,
                };
                for at in range.clone() {
                    let values = index.get(models.value(at)).and_then(|values| values.get(nth));
                    sum = match (sum, values.copied().or(missing)) {
                        (Some(sum), Some(value)) => {
                            let more = value.checked_mul(i128::from(counts.value(at)));
                            let sum = more.and_then(|more| sum.checked_add(more));
                            Some(sum.ok_or_else(misfit)?)
                        }
                        _ => None,
                    };
                }
                sums.append_option(sum);
            }
        }
        let sums = sums.into_iter().map(|mut sums| Arc::new(sums.finish()) as ArrayRef);
        Ok(sums.collect())
    }
}

/// The GPUs of a job whose model is not named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unnamed {
    /// There are none.
    None,
    /// So many, in units of the last decimal place.
    Some(i128),
    /// How many GPUs the job has is not known and none is named, or there are fewer than are named.
    Unknown,
}

impl Unnamed {
    /// Those of a job whose named GPUs are counted in `range`.
    pub(super) fn of(counts: &PrimitiveArray<Int64Type>, range: std::ops::Range<usize>, gpu_n: Option<i128>) -> Self {
        let is_any_named = !range.is_empty();
        let named: i128 = range.map(|at| whole(counts.value(at))).sum();
        match gpu_n.map(|gpu_n| gpu_n - named) {
            None if is_any_named => Self::None,
            Some(0) => Self::None,
            Some(rest) if rest > 0 => Self::Some(rest),
            _ => Self::Unknown,
        }
    }
}

/// The elements of a list that are of a job: its devices, or its licences.
pub(super) fn elements_of(list: &ListArray, row: usize) -> std::ops::Range<usize> {
    if list.is_null(row) {
        return 0..0;
    }
    let at = |nth: usize| {
        let offset = list.value_offsets().get(nth).copied();
        // Fallback: a row past the end of the list has no elements; Arrow's offsets are not below zero.
        offset.and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0)
    };
    at(row)..at(row + 1)
}

/// Models and counts of devices.
pub(super) fn device_counts(devices: Option<&StructArray>) -> Result<(&StringArray, &PrimitiveArray<Int64Type>)> {
    counted(devices, "model", "device_n")
}

/// Names and amounts of licences.
pub(super) fn license_counts(licenses: Option<&StructArray>) -> Result<(&StringArray, &PrimitiveArray<Int64Type>)> {
    counted(licenses, "name", "amount")
}

/// A column of names and one of counts.
fn counted<'a>(
    elements: Option<&'a StructArray>,
    name: &str,
    count: &str,
) -> Result<(&'a StringArray, &'a PrimitiveArray<Int64Type>)> {
    let parts = elements.and_then(|elements| {
        let names = elements.column_by_name(name)?.as_string_opt::<i32>()?;
        let counts = elements.column_by_name(count)?.as_primitive_opt::<Int64Type>()?;
        Some((names, counts))
    });
    parts.ok_or_else(|| Error::internal(format!("a list of {name} and {count} is of another type")))
}
