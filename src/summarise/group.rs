//! The dimensions of `usage`, and groups of sums by them.

use ahash::RandomState;
use arrow_array::{ArrayRef, RecordBatch};
use hashbrown::HashTable;

use super::sums::{CountedSums, MeasuredSums, Sums, WORK_COLUMNS, WorkSums};
use crate::error::{Error, Result};
use crate::schema::Dataset;
use crate::schema::batch::{date, dates, decimal, decimals, int, ints, number, text, texts, time, times, word};
use crate::time::Day;

/// Text dimensions after the period, in the order of the schema.
pub const DIMENSIONS: [&str; 10] = [
    "source",
    "cluster",
    "account",
    "view",
    "partition",
    "qos",
    "wckey",
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
    pub dimensions: [Option<String>; 10],
    /// The correction it is an entry of; `None` for usage as recorded.
    pub correction_id: Option<String>,
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
    pub dimensions: [Option<&'a str>; 10],
    /// The correction it is an entry of; `None` for usage as recorded.
    pub correction_id: Option<&'a str>,
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
            correction_id: self.correction_id.as_deref(),
        }
    }
}

impl<'a> KeyRef<'a> {
    /// The dimension of a name.
    #[must_use]
    pub fn dimension(&self, name: &str) -> Option<&'a str> {
        let at = DIMENSIONS.iter().position(|dimension| *dimension == name)?;
        self.dimensions.get(at).copied().flatten()
    }

    /// The account.
    #[must_use]
    pub fn account(&self) -> Option<&'a str> {
        self.dimension("account")
    }

    /// The same usage under another account.
    pub fn set_account(&mut self, account: &'a str) {
        let at = DIMENSIONS.iter().position(|dimension| *dimension == "account");
        if let Some(place) = at.and_then(|at| self.dimensions.get_mut(at)) {
            *place = Some(account);
        }
    }

    fn own(&self) -> Key {
        Key {
            vo: self.vo.map(str::to_owned),
            allocation_year: self.allocation_year,
            month: self.month,
            day: self.day,
            dimensions: self.dimensions.map(|d| d.map(str::to_owned)),
            correction_id: self.correction_id.map(str::to_owned),
        }
    }
}

/// The sums of a key.
#[derive(Clone, Debug)]
pub struct UsageGroup {
    /// What the sums are of.
    pub key: Key,
    /// The sums.
    pub sums: Sums,
}

/// Sums by key.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    slots: HashTable<usize>,
    rows: Vec<UsageGroup>,
    hasher: RandomState,
}

impl Groups {
    /// The sums of a key, zero when it is new.
    pub fn sums(&mut self, key: KeyRef<'_>) -> &mut Sums {
        let place = self.place(key);
        &mut self.rows[place].sums
    }

    /// The sums at a place that [`Groups::place`] gave.
    pub(super) fn at(&mut self, place: usize) -> &mut Sums {
        &mut self.rows[place].sums
    }

    /// Where the sums of a key are, new ones if need be; they stay there.
    pub(super) fn place(&mut self, key: KeyRef<'_>) -> usize {
        let hash = self.hasher.hash_one(key);
        let Self { slots, rows, hasher } = self;
        let is_key = |at: &usize| rows.get(*at).is_some_and(|known| known.key.borrow() == key);
        slots.find(hash, is_key).copied().unwrap_or_else(|| {
            let at = rows.len();
            rows.push(UsageGroup {
                key: key.own(),
                sums: Sums::default(),
            });
            slots.insert_unique(hash, at, |at| {
                rows.get(*at).map_or(0, |of| hasher.hash_one(of.key.borrow()))
            });
            at
        })
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The groups in order.
    #[must_use]
    pub fn into_sorted(mut self) -> Vec<UsageGroup> {
        self.rows.sort_by(|a, b| a.key.cmp(&b.key));
        self.rows
    }

    /// Adds the rows of a `usage_part` batch, one by one. What is published is added up by
    /// [`super::contributions::Contributions`]; this is the second, independent way, which verification uses.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the batch is not a `usage_part`.
    pub fn add_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let (vo, year) = (text(batch, "vo")?, int(batch, "allocation_year")?);
        let (month, day) = (date(batch, "month")?, date(batch, "day")?);
        let dimensions = DIMENSIONS
            .iter()
            .map(|name| text(batch, name))
            .collect::<Result<Vec<_>>>()?;
        let counted = CountedSums::NAMES
            .iter()
            .map(|name| int(batch, name))
            .collect::<Result<Vec<_>>>()?;
        let work = WORK_COLUMNS
            .iter()
            .map(|name| decimal(batch, name))
            .collect::<Result<Vec<_>>>()?;
        let cpu = int(batch, "cpu_ms")?;
        let measured = MeasuredSums::NAMES
            .iter()
            .map(|name| int(batch, name))
            .collect::<Result<Vec<_>>>()?;
        let correction = text(batch, "correction_id")?;
        let (earliest, latest) = (time(batch, "earliest_end_utc")?, time(batch, "latest_end_utc")?);
        for row in 0..batch.num_rows() {
            let mut words = [None; DIMENSIONS.len()];
            for (value, column) in words.iter_mut().zip(&dimensions) {
                *value = word(column, row);
            }
            let mut part = Sums::default();
            for (sum, column) in part.counted.each_mut().into_iter().zip(&counted) {
                *sum = column.value(row);
            }
            part.cpu_ms = number(cpu, row);
            for (sum, column) in part.measured.each_mut().into_iter().zip(&measured) {
                *sum = number(column, row);
            }
            let mut work_e7 = [None; 9];
            for (sum, column) in work_e7.iter_mut().zip(&work) {
                *sum = number(column, row);
            }
            part.work = WorkSums::from_e7(work_e7);
            part.earliest_end_ms = number(earliest, row);
            part.latest_end_ms = number(latest, row);
            let key = KeyRef {
                vo: word(vo, row),
                allocation_year: year.value(row),
                month: month.value(row),
                day: number(day, row),
                dimensions: words,
                correction_id: word(correction, row),
            };
            self.sums(key).add(&part);
        }
        Ok(())
    }
}

/// The rows as a batch of `dataset` (`usage` or `usage_part`, which also holds VO and allocation year).
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the batch is not what the schema declares.
pub fn to_batch(rows: &[UsageGroup], dataset: &Dataset) -> Result<RecordBatch> {
    let columns = dataset
        .columns
        .iter()
        .map(|column| array(&column.name, rows))
        .collect::<Result<_>>()?;
    dataset.batch(columns)
}

fn array(name: &str, rows: &[UsageGroup]) -> Result<ArrayRef> {
    let (keys, sums) = (rows.iter().map(|of| &of.key), rows.iter().map(|of| &of.sums));
    if let Some(at) = DIMENSIONS.iter().position(|dimension| *dimension == name) {
        return Ok(texts(keys.map(|key| key.dimensions.get(at)?.as_deref())));
    }
    if let Some(of) = CountedSums::column(name) {
        return Ok(ints(sums.map(|sums| Some(*of(&sums.counted)))));
    }
    if let Some(of) = MeasuredSums::column(name) {
        return Ok(ints(sums.map(|sums| *of(&sums.measured))));
    }
    if let Some(at) = WORK_COLUMNS.iter().position(|work| *work == name) {
        return decimals(sums.map(|sums| sums.work.e7().get(at).copied().flatten()), 7);
    }
    Ok(match name {
        "vo" => texts(keys.map(|key| key.vo.as_deref())),
        "allocation_year" => ints(keys.map(|key| Some(key.allocation_year))),
        "month" => dates(keys.map(|key| Some(key.month))),
        "day" => dates(keys.map(|key| key.day)),
        "correction_id" => texts(keys.map(|key| key.correction_id.as_deref())),
        "cpu_ms" => ints(sums.map(|sums| sums.cpu_ms)),
        "earliest_end_utc" => times(sums.map(|sums| sums.earliest_end_ms)),
        "latest_end_utc" => times(sums.map(|sums| sums.latest_end_ms)),
        other => return Err(Error::internal(format!("no measure fills the column {other}"))),
    })
}
