//! The dimensions of `usage`, and groups of sums by them.

use std::sync::Arc;

use ahash::RandomState;
use arrow::array::{
    ArrayRef, AsArray, Date32Builder, Decimal128Builder, Int64Builder, RecordBatch, StringBuilder,
    TimestampMillisecondBuilder,
};
use arrow::datatypes::{Date32Type, Decimal128Type, Int64Type, TimestampMillisecondType};
use hashbrown::HashTable;

use super::sums::{COUNTED, Sums, WORK_COLUMNS};
use crate::error::{Error, Result};
use crate::schema::Dataset;
use crate::time::Day;

/// Text dimensions after the period, in the order of the schema.
pub const DIMENSIONS: [&str; 9] = [
    "source",
    "cluster",
    "account",
    "view",
    "partition",
    "qos",
    "vo_group",
    "vo_role",
    "submit_host",
];

/// One combination of dimensions. Its order is the order of rows in a published file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// VO.
    pub vo: Option<String>,
    /// Allocation year.
    pub allocation_year: i64,
    /// First day of the month.
    pub month: Day,
    /// Day, at day grain.
    pub day: Option<Day>,
    /// In the order of [`DIMENSIONS`].
    pub dimensions: [Option<String>; 9],
}

/// A key that borrows, for looking up a row's group without allocating.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyRef<'a> {
    /// VO.
    pub vo: Option<&'a str>,
    /// Allocation year.
    pub allocation_year: i64,
    /// First day of the month.
    pub month: Day,
    /// Day, at day grain.
    pub day: Option<Day>,
    /// In the order of [`DIMENSIONS`].
    pub dimensions: [Option<&'a str>; 9],
}

impl Key {
    /// The same key, borrowed.
    #[must_use]
    pub fn borrow(&self) -> KeyRef<'_> {
        KeyRef {
            vo: self.vo.as_deref(),
            allocation_year: self.allocation_year,
            month: self.month,
            day: self.day,
            dimensions: self.dimensions.each_ref().map(Option::as_deref),
        }
    }
}

impl KeyRef<'_> {
    fn own(&self) -> Key {
        Key {
            vo: self.vo.map(str::to_owned),
            allocation_year: self.allocation_year,
            month: self.month,
            day: self.day,
            dimensions: self.dimensions.map(|d| d.map(str::to_owned)),
        }
    }
}

/// Sums by key.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    slots: HashTable<usize>,
    rows: Vec<(Key, Sums)>,
    hasher: RandomState,
}

impl Groups {
    /// The sums of a key, zero when it is new.
    pub fn sums(&mut self, key: KeyRef<'_>) -> &mut Sums {
        let hash = self.hasher.hash_one(key);
        let Self { slots, rows, hasher } = self;
        let is_key = |at: &usize| rows.get(*at).is_some_and(|(known, _)| known.borrow() == key);
        let at = match slots.find(hash, is_key) {
            Some(at) => *at,
            None => {
                let at = rows.len();
                rows.push((key.own(), Sums::default()));
                slots.insert_unique(hash, at, |at| {
                    rows.get(*at).map_or(0, |(key, _)| hasher.hash_one(key.borrow()))
                });
                at
            }
        };
        &mut rows[at].1
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The groups in order.
    #[must_use]
    pub fn into_sorted(mut self) -> Vec<(Key, Sums)> {
        self.rows.sort_by(|a, b| a.0.cmp(&b.0));
        self.rows
    }

    /// Adds the rows of a `usage_part` batch, one by one. What is published is added up by
    /// [`super::contributions::Contributions`]; this is the second, independent way, which verification uses.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the batch is not a `usage_part`.
    pub fn add_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let column = |name: &str| {
            batch
                .column_by_name(name)
                .ok_or_else(|| Error::internal(format!("no column {name}")))
        };
        let text = |name: &str| Ok::<_, Error>(column(name)?.as_string::<i32>());
        let int = |name: &str| Ok::<_, Error>(column(name)?.as_primitive::<Int64Type>());
        let time = |name: &str| Ok::<_, Error>(column(name)?.as_primitive::<TimestampMillisecondType>());
        let vo = text("vo")?;
        let year = int("allocation_year")?;
        let month = column("month")?.as_primitive::<Date32Type>();
        let day = column("day")?.as_primitive::<Date32Type>();
        let dimensions = DIMENSIONS.map(text);
        let counted = COUNTED.map(int);
        let cpu = int("cpu_ms")?;
        let work = WORK_COLUMNS.map(|name| Ok::<_, Error>(column(name)?.as_primitive::<Decimal128Type>()));
        let (earliest, latest) = (time("earliest_end_utc")?, time("latest_end_utc")?);
        for row in 0..batch.num_rows() {
            let mut words = [None; 9];
            for (value, column) in words.iter_mut().zip(&dimensions) {
                *value = column.as_ref().ok().and_then(|c| word(c, row));
            }
            let mut part = Sums::default();
            for (sum, column) in part.counted.iter_mut().zip(&counted) {
                *sum = column.as_ref().map_or(0, |c| c.value(row));
            }
            part.cpu_ms = at(cpu, row);
            for (sum, column) in part.work_e7.iter_mut().zip(&work) {
                *sum = column.as_ref().ok().and_then(|c| at(c, row));
            }
            part.earliest_end_ms = at(earliest, row);
            part.latest_end_ms = at(latest, row);
            let key = KeyRef {
                vo: word(vo, row),
                allocation_year: year.value(row),
                month: month.value(row),
                day: at(day, row),
                dimensions: words,
            };
            self.sums(key).add(&part);
        }
        Ok(())
    }
}

fn at<T: arrow::array::ArrowPrimitiveType>(column: &arrow::array::PrimitiveArray<T>, row: usize) -> Option<T::Native> {
    arrow::array::Array::is_valid(column, row).then(|| column.value(row))
}

fn word(column: &arrow::array::StringArray, row: usize) -> Option<&str> {
    arrow::array::Array::is_valid(column, row).then(|| column.value(row))
}

/// The rows as a batch of `dataset` (`usage` or `usage_part`, which also holds VO and allocation year).
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the batch is not what the schema declares.
pub fn to_batch(rows: &[(Key, Sums)], dataset: &Dataset) -> Result<RecordBatch> {
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(dataset.columns.len());
    for column in &dataset.columns {
        arrays.push(array(&column.name, rows)?);
    }
    let batch = RecordBatch::try_new(dataset.arrow(), arrays)?;
    dataset.admit(&batch)?;
    Ok(batch)
}

fn array(name: &str, rows: &[(Key, Sums)]) -> Result<ArrayRef> {
    let text = |pick: &dyn Fn(&Key) -> Option<&str>| -> ArrayRef {
        let mut builder = StringBuilder::new();
        rows.iter().for_each(|(key, _)| builder.append_option(pick(key)));
        Arc::new(builder.finish())
    };
    let date = |pick: &dyn Fn(&Key) -> Option<Day>| -> ArrayRef {
        let mut builder = Date32Builder::new();
        rows.iter().for_each(|(key, _)| builder.append_option(pick(key)));
        Arc::new(builder.finish())
    };
    let int = |pick: &dyn Fn(&(Key, Sums)) -> Option<i64>| -> ArrayRef {
        let mut builder = Int64Builder::new();
        rows.iter().for_each(|row| builder.append_option(pick(row)));
        Arc::new(builder.finish())
    };
    let time = |pick: &dyn Fn(&Sums) -> Option<i64>| -> ArrayRef {
        let mut builder = TimestampMillisecondBuilder::new();
        rows.iter().for_each(|(_, sums)| builder.append_option(pick(sums)));
        Arc::new(builder.finish())
    };
    if let Some(at) = DIMENSIONS.iter().position(|d| *d == name) {
        return Ok(text(&|key| key.dimensions.get(at)?.as_deref()));
    }
    if let Some(at) = COUNTED.iter().position(|c| *c == name) {
        return Ok(int(&|(_, sums)| sums.counted.get(at).copied()));
    }
    if let Some(at) = WORK_COLUMNS.iter().position(|c| *c == name) {
        let mut builder = Decimal128Builder::new().with_data_type(arrow::datatypes::DataType::Decimal128(38, 7));
        rows.iter()
            .for_each(|(_, sums)| builder.append_option(sums.work_e7.get(at).copied().flatten()));
        return Ok(Arc::new(builder.finish()));
    }
    Ok(match name {
        "vo" => text(&|key| key.vo.as_deref()),
        "allocation_year" => int(&|(key, _)| Some(key.allocation_year)),
        "month" => date(&|key| Some(key.month)),
        "day" => date(&|key| key.day),
        "cpu_ms" => int(&|(_, sums)| sums.cpu_ms),
        "earliest_end_utc" => time(&|sums| sums.earliest_end_ms),
        "latest_end_utc" => time(&|sums| sums.latest_end_ms),
        other => return Err(Error::internal(format!("no measure fills the column {other}"))),
    })
}
