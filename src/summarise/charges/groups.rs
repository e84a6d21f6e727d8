//! The charges of a site and month by group, added up row by row.

use std::cmp::Ordering;

use ahash::RandomState;
use arrow::array::{ArrayRef, RecordBatch};
use hashbrown::HashTable;

use super::row::ChargeFigures;
use super::year_lengths::YearLengths;
use crate::amounts::{add, add_known};
use crate::charge::Tariff;
use crate::charge::amount::CHARGE_PLACES;
use crate::error::{Error, Result};
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

/// What distinguishes a group. The calendar and the policy have the other keys of `charge_part`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ChargeKeyRef<'a> {
    /// In the order of [`STATED`].
    stated: [Option<&'a str>; STATED.len()],
    allocation_year: i64,
    month: Day,
    day: Option<Day>,
    /// Place of the policy among those of [`ChargeGroups`].
    tariff: usize,
    correction_id: Option<&'a str>,
}

/// A [`ChargeKeyRef`] that owns its texts.
#[derive(Debug)]
struct ChargeKey {
    stated: [Option<Box<str>>; STATED.len()],
    allocation_year: i64,
    month: Day,
    day: Option<Day>,
    tariff: usize,
    correction_id: Option<Box<str>>,
}

impl ChargeKey {
    fn borrow(&self) -> ChargeKeyRef<'_> {
        ChargeKeyRef {
            stated: self.stated.each_ref().map(Option::as_deref),
            allocation_year: self.allocation_year,
            month: self.month,
            day: self.day,
            tariff: self.tariff,
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
            tariff: self.tariff,
            correction_id: self.correction_id.map(Box::from),
        }
    }
}

/// A group and what it comes to.
#[derive(Debug)]
struct ChargeGroup {
    key: ChargeKey,
    sums: ChargeSums,
}

/// Charges by group, of one subject at one site in one month.
pub(super) struct ChargeGroups {
    slots: HashTable<usize>,
    groups: Vec<ChargeGroup>,
    hasher: RandomState,
    tariff_n: usize,
    /// Where `places` has what the records of the batch at hand state, in each period.
    known: KnownGroups,
    /// Of the last row: rows of a job follow each other.
    last: Option<RecordPeriod>,
    /// Groups of what is stated in a period, one for each tariff; `None` before its first row.
    places: Vec<Option<usize>>,
}

/// A record in a period, and where `places` has its groups.
#[derive(Clone, Copy)]
struct RecordPeriod {
    record: usize,
    from_ms: i64,
    /// That of the first tariff; those of the others follow.
    first: usize,
}

impl ChargeGroups {
    /// Without groups, for so many tariffs.
    pub(super) fn new(tariff_n: usize) -> Self {
        Self {
            slots: HashTable::new(),
            groups: Vec::new(),
            hasher: RandomState::default(),
            tariff_n,
            known: KnownGroups::default(),
            last: None,
            places: Vec::new(),
        }
    }

    /// Begins the rows of other records: codes of another batch stand for other texts.
    pub(super) fn begin(&mut self) {
        self.known.clear();
        self.last = None;
        self.places.clear();
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
        let alike = self.alike(row, records).filter(|_| correction_id.is_none());
        let Self {
            slots,
            groups,
            hasher,
            places,
            ..
        } = self;
        let place = match alike.and_then(|alike| places.get_mut(alike)) {
            Some(Some(known)) => *known,
            Some(unknown) => {
                let key = key_of(row, None, records.first.stated(row.record));
                *unknown.insert(place(slots, groups, hasher, key))
            }
            None => {
                let key = key_of(row, correction_id, records.stated(row.record)?);
                place(slots, groups, hasher, key)
            }
        };
        let group = groups.get_mut(place);
        group
            .ok_or_else(|| Error::internal("a group of charges that is not there"))?
            .sums
            .add(row)
    }

    /// The place in `places` of rows whose records state the same, in the same period and under the same tariff.
    #[inline]
    fn alike(&mut self, row: &ChargeFigures, records: &StatedRecords<'_>) -> Option<usize> {
        let (record, from_ms) = (row.record, row.period.from_ms);
        if let Some(last) = self.last
            && last.record == record
            && last.from_ms == from_ms
        {
            return Some(last.first + row.tariff);
        }
        let combination = records.combination(record)?;
        let (places, tariff_n) = (&mut self.places, self.tariff_n);
        let first = self.known.group(combination, from_ms, || {
            let first = places.len();
            places.resize(first + tariff_n, None);
            first
        });
        self.last = Some(RecordPeriod { record, from_ms, first });
        Some(first + row.tariff)
    }

    /// The groups as a `charge_part` batch.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the batch is not as declared.
    pub(super) fn into_part(self, tariffs: &[&Tariff], calendar: &Calendar) -> Result<RecordBatch> {
        let mut groups = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let tariff = tariffs.get(group.key.tariff);
            let tariff = tariff.ok_or_else(|| Error::internal("a charge of a policy that is not there"))?;
            groups.push(NamedGroup { group, tariff });
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
        tariff: row.tariff,
        correction_id,
    }
}

/// The place of a group, a new one if need be.
fn place(
    slots: &mut HashTable<usize>,
    groups: &mut Vec<ChargeGroup>,
    hasher: &RandomState,
    key: ChargeKeyRef<'_>,
) -> usize {
    let hash = hasher.hash_one(key);
    let is_key = |at: &usize| groups.get(*at).is_some_and(|known| known.key.borrow() == key);
    if let Some(at) = slots.find(hash, is_key) {
        return *at;
    }
    let at = groups.len();
    groups.push(ChargeGroup {
        key: key.own(),
        sums: ChargeSums::default(),
    });
    slots.insert_unique(hash, at, |at| {
        groups.get(*at).map_or(0, |of| hasher.hash_one(of.key.borrow()))
    });
    at
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

/// A group with its policy.
struct NamedGroup<'a> {
    group: &'a ChargeGroup,
    tariff: &'a Tariff,
}

impl NamedGroup<'_> {
    /// The order of rows of `charge_part`.
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (&self.group.key, &other.group.key);
        let ([vo, rest @ ..], [other_vo, other_rest @ ..]) = (&a.stated, &b.stated);
        let period = |key: &ChargeKey| (key.allocation_year, key.month, key.day);
        vo.cmp(other_vo)
            .then_with(|| period(a).cmp(&period(b)))
            .then_with(|| policy_names(self.tariff).cmp(&policy_names(other.tariff)))
            .then_with(|| rest.cmp(other_rest))
            .then_with(|| a.correction_id.cmp(&b.correction_id))
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
    let keys = groups.iter().map(|of| &of.group.key);
    let counted = |of: fn(&ChargeSums) -> i64| ints(groups.iter().map(|group| Some(of(&group.group.sums))));
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
            groups.iter().map(|group| group.group.sums.charge),
            CHARGE_PLACES.cast_signed(),
        )?,
        other => return Err(Error::internal(format!("nothing fills the column {other}"))),
    })
}
