//! Adding up: groups by keys and exact measures of them.

use std::sync::Arc;

use ahash::RandomState;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Decimal128Type, Int64Type, TimestampMillisecondType, UInt32Type};
use arrow_array::{Array, ArrayRef, Decimal128Array, DictionaryArray, Int64Array, RecordBatch};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{DataType, Field, SchemaRef, TimeUnit};
use hashbrown::HashTable;

use super::decimal::fits;
use crate::error::{Error, Kind, Result};

/// How a measure of many rows becomes one. Nulls never count; of nothing but nulls it is null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Exact sum of an `Int64` or decimal.
    Sum,
    /// The smallest `Int64` or instant.
    Min,
    /// The largest `Int64` or instant.
    Max,
}

/// A column to measure and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupMeasure<'a> {
    /// Its name.
    pub column: &'a str,
    /// How.
    pub how: How,
}

/// One row per combination of `keys`, with the measures of its rows, in the columns of `schema`, which names keys and
/// measures alone. Null is a key like any other.
///
/// Rows are sorted by the keys in the order given: nulls first, text by its bytes. Without measures these are the
/// distinct keys.
///
/// # Errors
/// [`Kind::Data`] naming the column when a sum does not fit it; [`Kind::Internal`] when a column is missing or of another
/// type than `schema` declares.
pub fn add_up(
    batches: &[RecordBatch],
    keys: &[&str],
    measures: &[GroupMeasure<'_>],
    schema: &SchemaRef,
) -> Result<RecordBatch> {
    if keys.is_empty() {
        return Err(Error::internal("adding up needs keys"));
    }
    let key_fields = keys.iter().map(|key| field(schema, key)).collect::<Result<Vec<_>>>()?;
    let sorted_by = key_fields.iter().map(|field| SortField::new(field.data_type().clone()));
    let converter = RowConverter::new(sorted_by.collect())?;
    let mut groups = KeyGroups::default();
    let mut sums = measures
        .iter()
        .map(|measure| Measured::new(*measure, field(schema, measure.column)?))
        .collect::<Result<Vec<_>>>()?;
    let mut rows = converter.empty_rows(0, 0);
    for batch in batches {
        let columns = keys.iter().zip(&key_fields);
        let columns = columns.map(|(key, declared)| column(batch, key, declared));
        rows.clear();
        converter.append(&mut rows, &columns.collect::<Result<Vec<_>>>()?)?;
        let places = groups.places(&rows);
        for sum in &mut sums {
            let array = column(batch, sum.measure.column, field(schema, sum.measure.column)?)?;
            sum.add(&array, &places, groups.keys.len())?;
        }
    }
    let order = groups.order();
    let parser = converter.parser();
    let sorted = order.iter().filter_map(|place| groups.keys.get(*place));
    let key_arrays = converter.convert_rows(sorted.map(|key| parser.parse(key)))?;
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
    for declared in schema.fields() {
        let name = declared.name();
        let key = keys.iter().zip(&key_arrays).find(|(key, _)| *key == name);
        let sum = sums.iter().find(|sum| sum.measure.column == name);
        arrays.push(match (key, sum) {
            (Some((_, array)), _) if array.data_type() == declared.data_type() => ArrayRef::clone(array),
            // Codes come back as the texts they stand for.
            (Some((_, array)), _) => recoded(array, declared)?,
            (None, Some(sum)) => sum
                .finish(&order, declared.data_type())
                .map_err(|why| why.at("column", name))?,
            (None, None) => return Err(Error::internal(format!("column {name} is neither key nor measure"))),
        });
    }
    Ok(RecordBatch::try_new(SchemaRef::clone(schema), arrays)?)
}

/// Texts as the codes that a field declares.
fn recoded(array: &ArrayRef, declared: &Field) -> Result<ArrayRef> {
    let coded = array
        .as_string_opt::<i32>()
        .map(|texts| -> ArrayRef { Arc::new(texts.iter().collect::<DictionaryArray<UInt32Type>>()) });
    coded
        .filter(|coded| coded.data_type() == declared.data_type())
        .ok_or_else(|| Error::internal(format!("the key {} is of another type than declared", declared.name())))
}

/// The groups, in the order in which their first rows came.
#[derive(Default)]
struct KeyGroups {
    /// The keys of a group as bytes that sort as the keys do.
    keys: Vec<Box<[u8]>>,
    /// Places of `keys`.
    by_key: HashTable<usize>,
    hasher: RandomState,
}

impl KeyGroups {
    /// The group of each row.
    fn places(&mut self, rows: &Rows) -> Vec<usize> {
        let (keys, hasher) = (&mut self.keys, &self.hasher);
        let place = |row: arrow_row::Row<'_>| {
            let row = row.data();
            let hash = hasher.hash_one(row);
            let is_same = |place: &usize| keys.get(*place).is_some_and(|key| **key == *row);
            if let Some(place) = self.by_key.find(hash, is_same) {
                return *place;
            }
            let place = keys.len();
            keys.push(Box::from(row));
            let hash_of = |place: &usize| hasher.hash_one(keys.get(*place).map_or(&[][..], |key| key));
            self.by_key.insert_unique(hash, place, hash_of);
            place
        };
        rows.iter().map(place).collect()
    }

    /// The groups by their keys.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.keys.len()).collect();
        order.sort_unstable_by_key(|place| self.keys.get(*place));
        order
    }
}

/// A measure of every group.
struct Measured<'a> {
    measure: GroupMeasure<'a>,
    values: Vec<WideSum>,
    /// Whether anything is known of each group.
    is_known: Vec<bool>,
}

impl<'a> Measured<'a> {
    fn new(measure: GroupMeasure<'a>, declared: &Field) -> Result<Self> {
        let is_measured = match declared.data_type() {
            DataType::Int64 => true,
            DataType::Decimal128(_, _) => measure.how == How::Sum,
            kind => kind == &DataType::Timestamp(TimeUnit::Millisecond, None) && measure.how != How::Sum,
        };
        if !is_measured {
            return Err(not_measured(declared.data_type()).at("column", measure.column));
        }
        Ok(Self {
            measure,
            values: Vec::new(),
            is_known: Vec::new(),
        })
    }

    /// Adds the rows of a batch, whose groups are at `places`, of `group_n` groups so far.
    fn add(&mut self, array: &ArrayRef, places: &[usize], group_n: usize) -> Result<()> {
        self.values.resize(group_n, WideSum::default());
        self.is_known.resize(group_n, false);
        match array.data_type() {
            DataType::Int64 => self.add_all::<Int64Type>(array, places, i128::from),
            DataType::Timestamp(TimeUnit::Millisecond, None) => {
                self.add_all::<TimestampMillisecondType>(array, places, i128::from)
            }
            _ => self.add_all::<Decimal128Type>(array, places, |value| value),
        }
        .ok_or_else(|| not_measured(array.data_type()))
    }

    fn add_all<T: ArrowPrimitiveType>(
        &mut self,
        array: &ArrayRef,
        places: &[usize],
        wide: impl Fn(T::Native) -> i128,
    ) -> Option<()> {
        let array = array.as_primitive_opt::<T>()?;
        let how = self.measure.how;
        for (value, place) in array.iter().zip(places) {
            let slots = (self.values.get_mut(*place), self.is_known.get_mut(*place));
            let (Some(value), (Some(sum), Some(is_known))) = (value, slots) else {
                continue;
            };
            let value = WideSum::from(wide(value));
            *sum = match (how, *is_known) {
                (_, false) => value,
                (How::Sum, true) => sum.plus(value),
                (How::Min, true) => (*sum).min(value),
                (How::Max, true) => (*sum).max(value),
            };
            *is_known = true;
        }
        Some(())
    }

    /// The measures of the groups in `order`.
    fn finish(&self, order: &[usize], kind: &DataType) -> Result<ArrayRef> {
        let values = order
            .iter()
            .map(|place| match (self.values.get(*place), self.is_known.get(*place)) {
                (Some(sum), Some(true)) => Some(*sum),
                _ => None,
            });
        let short = |sum: WideSum| {
            sum.value()
                .and_then(|value| i64::try_from(value).ok())
                .ok_or_else(too_large)
        };
        let decimal = |sum: WideSum| sum.value().filter(|value| fits(*value)).ok_or_else(too_large);
        match kind {
            DataType::Decimal128(precision, scale) => {
                let values = values.map(|sum| sum.map(decimal).transpose());
                let array = values.collect::<Result<Decimal128Array>>()?;
                Ok(Arc::new(array.with_precision_and_scale(*precision, *scale)?))
            }
            kind => {
                let values = values.map(|sum| sum.map(short).transpose());
                let array = values.collect::<Result<Int64Array>>()?;
                match kind {
                    DataType::Int64 => Ok(Arc::new(array)),
                    DataType::Timestamp(TimeUnit::Millisecond, None) => {
                        Ok(Arc::new(array.reinterpret_cast::<TimestampMillisecondType>()))
                    }
                    kind => Err(Error::internal(format!("a measure of type {kind}"))),
                }
            }
        }
    }
}

/// A sum in 192 bits, which 2^64 decimals of 38 digits cannot exceed, in two's complement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct WideSum {
    high: i64,
    /// The other bits, the highest first. Sums are most of the memory of very many groups, and bytes need no padding.
    low: [u8; 16],
}

impl From<i128> for WideSum {
    fn from(value: i128) -> Self {
        Self {
            high: if value < 0 { -1 } else { 0 },
            low: value.to_be_bytes(),
        }
    }
}

impl WideSum {
    fn plus(self, more: Self) -> Self {
        let (low, is_carried) = u128::from_be_bytes(self.low).overflowing_add(u128::from_be_bytes(more.low));
        Self {
            high: self.high + more.high + i64::from(is_carried),
            low: low.to_be_bytes(),
        }
    }

    /// The sum, if 128 bits hold it.
    fn value(self) -> Option<i128> {
        let value = i128::from_be_bytes(self.low);
        (Self::from(value) == self).then_some(value)
    }
}

/// A column of the type declared.
fn column(batch: &RecordBatch, name: &str, declared: &Field) -> Result<ArrayRef> {
    let array = batch
        .column_by_name(name)
        .ok_or_else(|| Error::internal(format!("no column {name} to add up")))?;
    if array.data_type() != declared.data_type() {
        return Err(Error::internal("a column to add up is not of the type declared")
            .at("column", name)
            .at("type", array.data_type()));
    }
    Ok(ArrayRef::clone(array))
}

fn field<'a>(schema: &'a SchemaRef, name: &str) -> Result<&'a Field> {
    schema
        .field_with_name(name)
        .map_err(|_| Error::internal(format!("column {name} is not declared")))
}

fn too_large() -> Error {
    Error::new(Kind::Data, "a sum does not fit its column")
}

fn not_measured(kind: &DataType) -> Error {
    Error::internal("columns of this type are not added up").at("type", kind)
}
