//! The charges of a site and month by group, added up row by row.

use std::cmp::Ordering;

use ahash::RandomState;
use arrow_array::{ArrayRef, RecordBatch};
use hashbrown::HashTable;

use super::row::ChargeFigures;
use super::year_lengths::YearLengths;
use crate::amounts::{add, add_known};
use crate::charge::Tariff;
use crate::charge::amount::CHARGE_PLACES;
use crate::error::{Error, Result};
use crate::numbers::index;
use crate::schema;
use crate::schema::batch::{ColumnWords, dates, decimals, ints, texts, words};
use crate::schema::combinations::combinations;
use crate::summarise::dimension_groups::KnownGroups;
use crate::time::calendar::Period;
use crate::time::{Calendar, Day};

/// The keys of `charge_part` that records state, in the order of its schema: the first comes before the period and the policy, the
/// others behind them.
const STATED: [&str; 7] = ["vo", "source", "cluster", "account", "view", "partition", "qos"];

/// What the rows of a group come to.
#[derive(Clone, Copy, Debug, Default)]
struct ChargeSums {
    job_n: i64,
    unpriced_job_n: i64,
    alloc_core_s: i64,
    alloc_core_fraction_ms: i64,
    alloc_gpu_s: i64,
    /// `None` while no charge is known.
    charge: Option<i128>,
}

impl ChargeSums {
    #[inline]
    fn add(&mut self, row: &ChargeFigures) -> Result<()> {
        add(&mut self.job_n, row.job_n, "job_n")?;
        add(&mut self.unpriced_job_n, row.unpriced_job_n, "unpriced_job_n")?;
        add(&mut self.alloc_core_s, row.alloc_core_s, "alloc_core_s")?;
        add(
            &mut self.alloc_core_fraction_ms,
            row.alloc_core_fraction_ms,
            "alloc_core_fraction_ms",
        )?;
        add(&mut self.alloc_gpu_s, row.alloc_gpu_s, "alloc_gpu_s")?;
        add_known(&mut self.charge, row.charge, "charge")
    }
}

/// What distinguishes the groups of a policy. The calendar and the policy have the other keys of `charge_part`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ChargeKeyRef<'a> {
    /// In the order of [`STATED`].
    stated: [Option<&'a str>; STATED.len()],
    allocation_year: i64,
    month: Day,
    day: Option<Day>,
    correction_id: Option<&'a str>,
}

/// A [`ChargeKeyRef`] that owns its texts.
#[derive(Debug)]
struct ChargeKey {
    stated: [Option<Box<str>>; STATED.len()],
    allocation_year: i64,
    month: Day,
    day: Option<Day>,
    correction_id: Option<Box<str>>,
}

impl ChargeKey {
    fn borrow(&self) -> ChargeKeyRef<'_> {
        ChargeKeyRef {
            stated: self.stated.each_ref().map(Option::as_deref),
            allocation_year: self.allocation_year,
            month: self.month,
            day: self.day,
            correction_id: self.correction_id.as_deref(),
        }
    }
}

impl ChargeKeyRef<'_> {
    fn own(&self) -> ChargeKey {
        ChargeKey {
            stated: self.stated.map(|text| text.map(Box::from)),
            allocation_year: self.allocation_year,
            month: self.month,
            day: self.day,
            correction_id: self.correction_id.map(Box::from),
        }
    }
}

/// A group of a policy and what it comes to.
#[derive(Debug)]
struct ChargeGroup {
    /// Place of its key.
    key: usize,
    /// Place of the policy among those of [`ChargeGroups`].
    tariff: usize,
    /// Whether it is of what has no charge: a sum of charges that leaves some of them out would seem complete.
    is_unpriced: bool,
    sums: ChargeSums,
}

/// Charges by group, of one subject at one site in one month.
pub(super) struct ChargeGroups {
    keys: GroupKeys,
    /// Where `groups` has each policy under each key, first of what is priced and then of what is not; `None` before its first
    /// row.
    of_tariffs: Vec<Option<u32>>,
    groups: Vec<ChargeGroup>,
    tariff_n: usize,
    /// The keys of what the records of the batch at hand state, in each period.
    known: KnownGroups,
    /// Of the last row: rows of a job follow each other.
    last: Option<RecordPeriod>,
}

/// Keys, each once.
#[derive(Default)]
struct GroupKeys {
    slots: HashTable<usize>,
    keys: Vec<ChargeKey>,
    hasher: RandomState,
}

/// A record in a period, and the place of its key.
#[derive(Clone, Copy)]
struct RecordPeriod {
    record: usize,
    from_ms: i64,
    key: usize,
}

impl GroupKeys {
    /// The place of a key, a new one if need be.
    fn place(&mut self, key: ChargeKeyRef<'_>) -> usize {
        let Self { slots, keys, hasher } = self;
        let hash = hasher.hash_one(key);
        let is_key = |at: &usize| keys.get(*at).is_some_and(|known| known.borrow() == key);
        if let Some(at) = slots.find(hash, is_key) {
            return *at;
        }
        let at = keys.len();
        keys.push(key.own());
        slots.insert_unique(hash, at, |at| {
            keys.get(*at).map_or(0, |known| hasher.hash_one(known.borrow()))
        });
        at
    }
}

impl ChargeGroups {
    /// Without groups, for so many tariffs.
    pub(super) fn new(tariff_n: usize) -> Self {
        Self {
            keys: GroupKeys::default(),
            of_tariffs: Vec::new(),
            groups: Vec::new(),
            tariff_n,
            known: KnownGroups::default(),
            last: None,
        }
    }

    /// Begins the rows of other records: codes of another batch stand for other texts.
    pub(super) fn begin(&mut self) {
        self.known.clear();
        self.last = None;
    }

    /// Adds a row of the records at hand, which may be an entry of a correction.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when a sum does not fit.
    #[inline]
    pub(super) fn add(
        &mut self,
        row: &ChargeFigures,
        correction_id: Option<&str>,
        records: &StatedRecords<'_>,
    ) -> Result<()> {
        let key = match correction_id {
            None => self.key(row, records)?,
            Some(_) => self.keys.place(key_of(row, correction_id, records.stated(row.record)?)),
        };
        let is_unpriced = row.charge.is_none();
        let nth = self.nth(key, row.tariff, is_unpriced);
        let known = self.of_tariffs.get(nth).copied().flatten();
        let place = match known {
            Some(place) => index(place),
            None => self.begin_group(key, row.tariff, is_unpriced)?,
        };
        let group = self.groups.get_mut(place);
        group
            .ok_or_else(|| Error::internal("a group of charges that is not there"))?
            .sums
            .add(row)
    }

    /// The place of the key of a row that no correction made. Records that state the same have the same in one period.
    #[inline]
    fn key(&mut self, row: &ChargeFigures, records: &StatedRecords<'_>) -> Result<usize> {
        let (record, from_ms) = (row.record, row.period.from_ms);
        if let Some(last) = self.last
            && last.record == record
            && last.from_ms == from_ms
        {
            return Ok(last.key);
        }
        let Some(combination) = records.combination(record) else {
            return Ok(self.keys.place(key_of(row, None, records.stated(record)?)));
        };
        let keys = &mut self.keys;
        let key = self.known.group(combination, from_ms, || {
            keys.place(key_of(row, None, records.first.stated(record)))
        });
        self.last = Some(RecordPeriod { record, from_ms, key });
        Ok(key)
    }

    /// Where `of_tariffs` has the group of a policy under a key.
    #[inline]
    fn nth(&self, key: usize, tariff: usize, is_unpriced: bool) -> usize {
        (key * self.tariff_n + tariff) * 2 + usize::from(is_unpriced)
    }

    /// Begins the group of a policy under a key, and gives its place.
    #[cold]
    fn begin_group(&mut self, key: usize, tariff: usize, is_unpriced: bool) -> Result<usize> {
        let place = self.groups.len();
        let stored = u32::try_from(place).map_err(|why| Error::internal("4 billion groups").because(why))?;
        self.of_tariffs.resize(self.nth(self.keys.keys.len(), 0, false), None);
        let nth = self.nth(key, tariff, is_unpriced);
        let of_tariff = self.of_tariffs.get_mut(nth);
        *of_tariff.ok_or_else(|| Error::internal("a charge of a policy that is not there"))? = Some(stored);
        self.groups.push(ChargeGroup {
            key,
            tariff,
            is_unpriced,
            sums: ChargeSums::default(),
        });
        Ok(place)
    }

    /// The groups as a `charge_part` batch.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the batch is not as declared.
    pub(super) fn into_part(self, tariffs: &[&Tariff], calendar: &Calendar) -> Result<RecordBatch> {
        let mut groups = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let ChargeGroup { key, tariff, .. } = group;
            let key = self.keys.keys.get(*key);
            let key = key.ok_or_else(|| Error::internal("a group of charges without its key"))?;
            let tariff = tariffs.get(*tariff);
            let tariff = tariff.ok_or_else(|| Error::internal("a charge of a policy that is not there"))?;
            groups.push(NamedGroup {
                key,
                tariff,
                is_unpriced: group.is_unpriced,
                sums: &group.sums,
            });
        }
        groups.sort_by(NamedGroup::cmp);
        let dataset = schema::dataset("charge_part")?;
        let columns = dataset
            .columns
            .iter()
            .map(|column| array(&column.name, &groups, calendar));
        dataset.batch(columns.collect::<Result<_>>()?)
    }
}

fn key_of<'a>(
    row: &ChargeFigures,
    correction_id: Option<&'a str>,
    stated: [Option<&'a str>; STATED.len()],
) -> ChargeKeyRef<'a> {
    let Period {
        allocation_year,
        month,
        day,
        ..
    } = row.period;
    ChargeKeyRef {
        stated,
        allocation_year,
        month,
        day,
        correction_id,
    }
}

/// What a batch states of the keys of its rows.
struct StatedKeys<'b> {
    columns: [ColumnWords<'b>; STATED.len()],
    row_n: usize,
}

impl<'b> StatedKeys<'b> {
    fn of(batch: &'b RecordBatch) -> Result<Self> {
        let [vo, source, cluster, account, view, partition, qos] = STATED.map(|name| words(batch, name));
        Ok(Self {
            columns: [vo?, source?, cluster?, account?, view?, partition?, qos?],
            row_n: batch.num_rows(),
        })
    }

    /// In the order of [`STATED`].
    fn stated(&self, row: usize) -> [Option<&'b str>; STATED.len()] {
        self.columns.map(|column| column.get(row))
    }
}

/// What records state of the keys of their charges: a batch, and behind it those under other names.
pub(super) struct StatedRecords<'b> {
    first: StatedKeys<'b>,
    behind: Option<StatedKeys<'b>>,
    /// Combinations of the codes of the first batch: nearly all rows are of records as they were read.
    alike: Option<Vec<u64>>,
}

impl<'b> StatedRecords<'b> {
    /// Of a batch of `records`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a column was not read.
    pub(super) fn of(batch: &'b RecordBatch) -> Result<Self> {
        let first = StatedKeys::of(batch)?;
        Ok(Self {
            alike: combinations(first.columns, first.row_n),
            first,
            behind: None,
        })
    }

    /// Puts the records under other names behind it.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub(super) fn put_behind(&mut self, renamed: &'b RecordBatch) -> Result<()> {
        self.behind = Some(StatedKeys::of(renamed)?);
        Ok(())
    }

    /// What the keys of a record as it was read are combined of.
    #[inline]
    fn combination(&self, record: usize) -> Option<u64> {
        self.alike.as_ref()?.get(record).copied()
    }

    /// What is stated of a record.
    fn stated(&self, record: usize) -> Result<[Option<&'b str>; STATED.len()]> {
        let Some(behind) = record.checked_sub(self.first.row_n) else {
            return Ok(self.first.stated(record));
        };
        let renamed = self.behind.as_ref().filter(|renamed| behind < renamed.row_n);
        let renamed = renamed.ok_or_else(|| Error::internal("a charge of a record that is not there"))?;
        Ok(renamed.stated(behind))
    }
}

/// A group with its key and policy.
struct NamedGroup<'a> {
    key: &'a ChargeKey,
    tariff: &'a Tariff,
    is_unpriced: bool,
    sums: &'a ChargeSums,
}

impl NamedGroup<'_> {
    /// The order of rows of `charge_part`.
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (self.key, other.key);
        let ([vo, rest @ ..], [other_vo, other_rest @ ..]) = (&a.stated, &b.stated);
        let period = |key: &ChargeKey| (key.allocation_year, key.month, key.day);
        vo.cmp(other_vo)
            .then_with(|| period(a).cmp(&period(b)))
            .then_with(|| policy_names(self.tariff).cmp(&policy_names(other.tariff)))
            .then_with(|| rest.cmp(other_rest))
            .then_with(|| a.correction_id.cmp(&b.correction_id))
            .then_with(|| self.is_unpriced.cmp(&other.is_unpriced))
    }
}

/// The keys of `charge_part` that a policy has, in the order of its schema.
fn policy_names(tariff: &Tariff) -> [&str; 6] {
    let policy = &tariff.policy;
    [
        &policy.pool,
        &policy.id,
        &policy.version,
        &tariff.chosen,
        &policy.unit,
        policy.subject.as_str(),
    ]
}

fn array(name: &str, groups: &[NamedGroup<'_>], calendar: &Calendar) -> Result<ArrayRef> {
    let mut years = YearLengths::new(calendar);
    let keys = groups.iter().map(|of| of.key);
    let counted = |of: fn(&ChargeSums) -> i64| ints(groups.iter().map(|group| Some(of(group.sums))));
    let named = |of: fn(&Tariff) -> &str| texts(groups.iter().map(|group| Some(of(group.tariff))));
    if let Some(at) = STATED.iter().position(|stated| *stated == name) {
        return Ok(texts(keys.map(|key| key.stated.get(at)?.as_deref())));
    }
    Ok(match name {
        "allocation_year" => ints(keys.map(|key| Some(key.allocation_year))),
        "year_s" => ints(keys.map(|key| years.of(key.allocation_year))),
        "month" => dates(keys.map(|key| Some(key.month))),
        "day" => dates(keys.map(|key| key.day)),
        "pool" => named(|tariff| &tariff.policy.pool),
        "policy" => named(|tariff| &tariff.policy.id),
        "policy_version" => named(|tariff| &tariff.policy.version),
        "options" => named(|tariff| &tariff.chosen),
        "unit" => named(|tariff| &tariff.policy.unit),
        "subject" => named(|tariff| tariff.policy.subject.as_str()),
        "correction_id" => texts(keys.map(|key| key.correction_id.as_deref())),
        "job_n" => counted(|sums| sums.job_n),
        "unpriced_job_n" => counted(|sums| sums.unpriced_job_n),
        "alloc_core_s" => counted(|sums| sums.alloc_core_s),
        "alloc_core_fraction_ms" => counted(|sums| sums.alloc_core_fraction_ms),
        "alloc_gpu_s" => counted(|sums| sums.alloc_gpu_s),
        "charge" => decimals(
            groups.iter().map(|group| group.sums.charge),
            CHARGE_PLACES.cast_signed(),
        )?,
        other => return Err(Error::internal(format!("nothing fills the column {other}"))),
    })
}
