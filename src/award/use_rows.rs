//! What was charged, counted for awards.

use std::collections::BTreeMap;

use arrow_array::{Array, ArrayRef, RecordBatch};

use super::ledger::AwardUser;
use super::plan::AwardPlan;
use super::unit::CountedUse;
use crate::charge::amount::CHARGE_SCALE;
use crate::charge::charged_tariff::BalanceTariff;
use crate::charge::span::{spanned, times_over};
use crate::error::{Error, Kind, Result};
use crate::schema;
use crate::schema::batch::{date, dates, decimal, decimals, int, ints, number, text, texts, word};
use crate::time::{Calendar, Day};

/// Billionths of one.
const ONE_E9: i128 = 10_i128.pow(CHARGE_SCALE);

/// What rows of `award_use` of one site are distinguished by, in their order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UseKey {
    allocation_year: i64,
    month: Day,
    day: Option<Day>,
    /// Name and place of the award.
    award: Option<(String, usize)>,
    tariff: BalanceTariff,
    cluster: Option<String>,
    account: Option<String>,
    submitter: Option<String>,
    /// What has no charge is in rows of its own: a sum of charges that leaves some of them out would seem complete.
    is_unpriced: bool,
}

/// What is added up.
#[derive(Clone, Copy, Debug, Default)]
struct UseSums {
    year_s: Option<i64>,
    job_n: i64,
    unpriced_job_n: i64,
    core_s: i64,
    core_fraction_ms: i64,
    gpu_s: i64,
    charge_e9: Option<i128>,
}

impl UseSums {
    fn add(&mut self, other: &Self) -> Option<()> {
        self.year_s = self.year_s.or(other.year_s);
        self.job_n = self.job_n.checked_add(other.job_n)?;
        self.unpriced_job_n = self.unpriced_job_n.checked_add(other.unpriced_job_n)?;
        self.core_s = self.core_s.checked_add(other.core_s)?;
        self.core_fraction_ms = self.core_fraction_ms.checked_add(other.core_fraction_ms)?;
        self.gpu_s = self.gpu_s.checked_add(other.gpu_s)?;
        self.charge_e9 = match (self.charge_e9, other.charge_e9) {
            (Some(a), Some(b)) => Some(a.checked_add(b)?),
            (a, b) => a.or(b),
        };
        Some(())
    }

    fn core_ms(&self) -> i128 {
        i128::from(self.core_s) * 1000 + i128::from(self.core_fraction_ms)
    }

    fn counted(&self, of: CountedUse) -> Option<i128> {
        match of {
            CountedUse::Charge => self.charge_e9,
            CountedUse::RawCore => Some(self.core_ms()),
            CountedUse::RawGpu => Some(i128::from(self.gpu_s)),
            CountedUse::Stored => None,
        }
    }
}

/// The use of awards at one site, added up from what was charged.
pub struct AwardUse<'p> {
    plan: &'p AwardPlan,
    site: &'p str,
    calendar: Calendar,
    sums: BTreeMap<UseKey, UseSums>,
}

impl<'p> AwardUse<'p> {
    /// Nothing yet.
    #[must_use]
    pub fn new(plan: &'p AwardPlan, site: &'p str, calendar: Calendar) -> Self {
        Self {
            plan,
            site,
            calendar,
            sums: BTreeMap::new(),
        }
    }

    /// Counts a batch of `award_part`: each row for every award it uses, or for none.
    ///
    /// # Errors
    /// [`Kind::Data`] when a sum does not fit; [`Kind::Internal`] when it is no such batch.
    pub fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let words = |name| text(batch, name);
        let (year, year_s) = (int(batch, "allocation_year")?, int(batch, "year_s")?);
        let (month, day) = (date(batch, "month")?, date(batch, "day")?);
        let (pool, policy) = (words("pool")?, words("policy")?);
        let (options, unit) = (words("options")?, words("unit")?);
        let (cluster, account) = (words("cluster")?, words("account")?);
        let submitter = words("submitter")?;
        let (jobs, unpriced) = (int(batch, "job_n")?, int(batch, "unpriced_job_n")?);
        let (cores, fractions) = (int(batch, "alloc_core_s")?, int(batch, "alloc_core_fraction_ms")?);
        let (gpus, charge) = (int(batch, "alloc_gpu_s")?, decimal(batch, "charge")?);
        for row in 0..batch.num_rows() {
            let of = |column| word(column, row).map(str::to_owned);
            let key = UseKey {
                allocation_year: year.value(row),
                month: month.value(row),
                day: number(day, row),
                award: None,
                tariff: BalanceTariff {
                    pool: pool.value(row).to_owned(),
                    policy: policy.value(row).to_owned(),
                    options: options.value(row).to_owned(),
                    unit: unit.value(row).to_owned(),
                },
                cluster: of(cluster),
                account: of(account),
                submitter: of(submitter),
                is_unpriced: charge.is_null(row),
            };
            let sums = UseSums {
                year_s: number(year_s, row),
                job_n: jobs.value(row),
                unpriced_job_n: unpriced.value(row),
                core_s: cores.value(row),
                core_fraction_ms: fractions.value(row),
                gpu_s: gpus.value(row),
                charge_e9: number(charge, row),
            };
            self.count(&key, &sums)?;
        }
        Ok(())
    }

    fn count(&mut self, key: &UseKey, sums: &UseSums) -> Result<()> {
        let first = first_day(&mut self.calendar, key.month, key.day, key.allocation_year);
        let counting = key.account.as_deref().map_or_else(Vec::new, |account| {
            let user = AwardUser {
                site: self.site,
                cluster: key.cluster.as_deref(),
                account,
                submitter: key.submitter.as_deref(),
                day: first,
            };
            let ledger = &self.plan.ledger;
            ledger.counting(user, |award| award.tariff.as_ref() == Some(&key.tariff))
        });
        let misfit = || Error::new(Kind::Data, "the use of an award is too large to be counted").at("site", self.site);
        let awards = &self.plan.ledger.awards;
        if counting.is_empty() {
            self.sums.entry(key.clone()).or_default().add(sums).ok_or_else(misfit)?;
        }
        for at in counting {
            let Some(award) = awards.get(at) else { continue };
            let mut key = key.clone();
            key.award = Some((award.id.clone(), at));
            self.sums.entry(key).or_default().add(sums).ok_or_else(misfit)?;
        }
        Ok(())
    }

    /// The rows of `award_use`, by allocation year.
    ///
    /// # Errors
    /// [`Kind::Internal`] when the schema declares a column nothing fills.
    pub fn into_batches(self) -> Result<BTreeMap<i64, RecordBatch>> {
        let mut years: BTreeMap<i64, Vec<(UseKey, UseSums)>> = BTreeMap::new();
        for (key, sums) in self.sums {
            years.entry(key.allocation_year).or_default().push((key, sums));
        }
        let dataset = schema::dataset("award_use")?;
        let mut batches = BTreeMap::new();
        for (year, rows) in years {
            let columns = dataset
                .columns
                .iter()
                .map(|column| array(self.plan, &column.name, &rows));
            batches.insert(year, dataset.batch(columns.collect::<Result<_>>()?)?);
        }
        Ok(batches)
    }
}

/// The first day of a period, by which an award is found: the day, or the first of the month, or the first of the
/// allocation year where that begins inside the month.
fn first_day(calendar: &mut Calendar, month: Day, day: Option<Day>, allocation_year: i64) -> Day {
    if let Some(day) = day {
        return day;
    }
    let year = |calendar: &mut Calendar, day: Day| {
        let from_ms = calendar.begins_ms(day);
        calendar.period(from_ms).map(|period| period.allocation_year)
    };
    // Fallback: the last day of the type is beyond the calendar; a month has at most 31 days.
    let mut days = month..month.saturating_add(31);
    days.find(|day| year(calendar, *day) == Some(allocation_year))
        .unwrap_or(month)
}

fn array(plan: &AwardPlan, name: &str, rows: &[(UseKey, UseSums)]) -> Result<ArrayRef> {
    let award = |key: &UseKey| key.award.as_ref().and_then(|(_, at)| plan.ledger.awards.get(*at));
    let word = |of: fn(&UseKey) -> Option<&str>| Ok(texts(rows.iter().map(|(key, _)| of(key))));
    let whole = |of: fn(&UseSums) -> Option<i64>| Ok(ints(rows.iter().map(|(_, sums)| of(sums))));
    let years = |of: fn(&UseKey, &UseSums) -> Option<(i128, i128)>| {
        let values = rows.iter().map(|(key, sums)| {
            let (amount, factor) = of(key, sums)?;
            times_over(amount, factor, i128::from(sums.year_s?))
        });
        decimals(values, 9)
    };
    match name {
        "month" => Ok(dates(rows.iter().map(|(key, _)| Some(key.month)))),
        "day" => Ok(dates(rows.iter().map(|(key, _)| key.day))),
        "award" => word(|key| key.award.as_ref().map(|(id, _)| id.as_str())),
        "level_n" => {
            let levels = rows.iter().map(|(key, _)| award(key).map_or(0, |award| award.level));
            // There are at most as many levels as lines of the table.
            Ok(ints(levels.map(|level| i64::try_from(level).ok())))
        }
        "pool" => word(|key| Some(&key.tariff.pool)),
        "policy" => word(|key| Some(&key.tariff.policy)),
        "options" => word(|key| Some(&key.tariff.options)),
        "unit" => word(|key| Some(&key.tariff.unit)),
        "cluster" => word(|key| key.cluster.as_deref()),
        "account" => word(|key| key.account.as_deref()),
        "submitter" => word(|key| key.submitter.as_deref()),
        "job_n" => whole(|sums| Some(sums.job_n)),
        "unpriced_job_n" => whole(|sums| Some(sums.unpriced_job_n)),
        "alloc_core_s" => whole(|sums| Some(sums.core_s)),
        "alloc_core_fraction_ms" => whole(|sums| Some(sums.core_fraction_ms)),
        "alloc_gpu_s" => whole(|sums| Some(sums.gpu_s)),
        "charge" => decimals(rows.iter().map(|(_, sums)| sums.charge_e9), 9),
        "used" => {
            let used = rows.iter().map(|(key, sums)| {
                let measure = award(key)?.measure.as_ref()?;
                measure.in_units_e9(sums.counted(measure.counted)?)
            });
            decimals(used, 9)
        }
        "award_unit" => {
            let units = rows
                .iter()
                .map(|(key, _)| Some(award(key)?.measure.as_ref()?.unit.as_str()));
            Ok(texts(units))
        }
        "year_s" => whole(|sums| sums.year_s),
        "raw_core_year" => years(|_, sums| Some((sums.core_ms(), ONE_E9 / 1000))),
        "raw_gpu_year" => years(|_, sums| Some((i128::from(sums.gpu_s), ONE_E9))),
        "equivalent_year" => years(|key, sums| Some((sums.charge_e9?, spanned(&key.tariff.unit)?.1))),
        "equivalent_year_unit" => {
            let units = rows
                .iter()
                .map(|(key, _)| Some(format!("{}_year", spanned(&key.tariff.unit)?.0)));
            Ok(texts(units))
        }
        other => Err(Error::internal(format!("no use of awards fills the column {other}"))),
    }
}
