//! Awards of a lake and their use, as reports read them.

use std::collections::BTreeMap;

use arrow_array::Array;

use super::charges::refuse_mixed;
use super::lake::Lake;
use super::pending_use::PendingJobs;
use super::running_use::RunningJobs;
use super::shown::HOUR_MS;
use super::table::Cell;
use crate::amounts::add;
use crate::award::plan::AwardPlan;
use crate::award::projection::UseOfDays;
use crate::award::unit::CountedUse;
use crate::charge::charged_tariff::BalanceTariff;
use crate::error::{Error, Kind, Result};
use crate::lake::{award_tables, calendar_fact};
use crate::reference::stored::StoredTable;
use crate::schema::batch::{addend, date, decimal, int, number, text, word};
use crate::store::lake::parse_award_use_path;
use crate::time::month::date_of;
use crate::time::{Date, Day, Grain, Month, YearStart, Zone};

/// The version of `award_use` since which what has no charge is in rows of its own.
const APART_SINCE: u32 = 3;

/// One row of `award_use`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwardUseRow {
    /// Site.
    pub site: String,
    /// Year in which the allocation year begins.
    pub allocation_year: i64,
    /// Its length.
    pub year_s: Option<i64>,
    /// The day, or the first day of the month at month grain.
    pub day: Day,
    /// The award; `None` for use without one.
    pub award: Option<String>,
    /// Awards above it.
    pub level: i64,
    /// Under what it was charged.
    pub tariff: BalanceTariff,
    /// Cluster.
    pub cluster: Option<String>,
    /// Account.
    pub account: Option<String>,
    /// Who submitted.
    pub submitter: Option<String>,
    /// What was used.
    pub used: UsedAmounts,
}

/// Amounts of use, exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedAmounts {
    /// Jobs that ended.
    pub job_n: i128,
    /// Jobs whose charge is unknown.
    pub unpriced_job_n: i128,
    /// Core milliseconds without a charge, also of jobs that end in another period or under another version of the policy.
    pub unpriced_core_ms: i128,
    /// Core milliseconds.
    pub core_ms: i128,
    /// GPU seconds.
    pub gpu_s: i128,
    /// The charge, in billionths.
    pub charge_e9: i128,
}

impl UsedAmounts {
    /// Adds others; exact for those of rows that were read within their bound.
    pub fn add(&mut self, other: &Self) {
        self.job_n += other.job_n;
        self.unpriced_job_n += other.unpriced_job_n;
        self.unpriced_core_ms += other.unpriced_core_ms;
        self.core_ms += other.core_ms;
        self.gpu_s += other.gpu_s;
        self.charge_e9 += other.charge_e9;
    }

    /// Jobs without a charge, and core hours without one.
    pub(super) fn unpriced(&self, digits: u8) -> [Cell; 2] {
        let core_hours = Cell::ratio(self.unpriced_core_ms, HOUR_MS, digits);
        [Cell::Int(self.unpriced_job_n), core_hours]
    }

    /// One of them.
    #[must_use]
    pub fn counted(&self, of: CountedUse) -> i128 {
        match of {
            CountedUse::Charge => self.charge_e9,
            CountedUse::RawCore => self.core_ms,
            CountedUse::RawGpu => self.gpu_s,
            CountedUse::Stored => 0,
        }
    }
}

/// The awards of a lake with all their use.
#[derive(Debug)]
pub struct LakeAwards {
    /// The awards.
    pub plan: AwardPlan,
    /// Their use.
    pub rows: Vec<AwardUseRow>,
    /// What running jobs will still use.
    pub running: RunningJobs,
    /// What waiting jobs will use.
    pub pending: PendingJobs,
    /// What accounts have stored; `None` where no table states it.
    pub stored: Option<StoredTable>,
    /// Whether use is known by day.
    pub is_by_day: bool,
    year_start: YearStart,
    zone: Zone,
}

impl LakeAwards {
    /// Reads them; what jobs will still use is known of a day.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when the lake has no awards; [`Kind::Io`] when it cannot be read; [`Kind::Data`] when an earlier version left
    /// out unknown charges.
    pub fn read(lake: &Lake, on: Day) -> Result<Self> {
        let plan = award_tables::of_lake(&lake.store, &lake.manifest)?.ok_or_else(|| {
            let message = "the lake has no awards: its pipeline needs [awards]";
            Error::new(Kind::NoInput, message).at("lake", lake.store.url())
        })?;
        refuse_mixed(lake, "award_use", APART_SINCE)?;
        let calendar = calendar_fact::rule(&lake.manifest.facts)?;
        let mut rows = Vec::new();
        // The sizes of all charges together: within them every sum of some is exact.
        let mut bound_e9 = 0_i128;
        for file in lake.manifest.dataset("award_use") {
            let Some((site, allocation_year)) = parse_award_use_path(&file.path) else {
                return Err(Error::new(Kind::Data, "the path names no site and allocation year").at("path", &file.path));
            };
            for batch in lake.batches(&file.path, None)? {
                let batch = batch?;
                let words = |name| text(&batch, name);
                let (month, day) = (date(&batch, "month")?, date(&batch, "day")?);
                let (award, level) = (words("award")?, int(&batch, "level_n")?);
                let (pool, policy) = (words("pool")?, words("policy")?);
                let (options, unit) = (words("options")?, words("unit")?);
                let (cluster, account) = (words("cluster")?, words("account")?);
                let (submitter, year_s) = (words("submitter")?, int(&batch, "year_s")?);
                let (jobs, unpriced) = (int(&batch, "job_n")?, int(&batch, "unpriced_job_n")?);
                let (cores, fractions) = (int(&batch, "alloc_core_s")?, int(&batch, "alloc_core_fraction_ms")?);
                let (gpus, charge) = (int(&batch, "alloc_gpu_s")?, decimal(&batch, "charge")?);
                for row in 0..batch.num_rows() {
                    let of = |column| word(column, row).map(str::to_owned);
                    // What has no charge is in rows of its own, and its core time is counted.
                    let charge_e9 = addend(number(charge, row));
                    let core_ms = i128::from(cores.value(row)) * 1000 + i128::from(fractions.value(row));
                    add(&mut bound_e9, charge_e9.abs(), "charge")?;
                    rows.push(AwardUseRow {
                        site: site.clone(),
                        allocation_year,
                        year_s: number(year_s, row),
                        day: number(day, row).unwrap_or(month.value(row)),
                        award: of(award),
                        level: level.value(row),
                        tariff: BalanceTariff {
                            pool: pool.value(row).to_owned(),
                            policy: policy.value(row).to_owned(),
                            options: options.value(row).to_owned(),
                            unit: unit.value(row).to_owned(),
                        },
                        cluster: of(cluster),
                        account: of(account),
                        submitter: of(submitter),
                        used: UsedAmounts {
                            job_n: jobs.value(row).into(),
                            unpriced_job_n: unpriced.value(row).into(),
                            unpriced_core_ms: if charge.is_null(row) { core_ms } else { 0 },
                            core_ms,
                            gpu_s: gpus.value(row).into(),
                            charge_e9,
                        },
                    });
                }
            }
        }
        Ok(Self {
            plan,
            rows,
            running: RunningJobs::read(lake, on)?,
            pending: PendingJobs::read(lake, on)?,
            stored: None,
            is_by_day: calendar.grain == Grain::Day,
            year_start: calendar.year_start,
            zone: calendar.zone,
        })
    }

    /// The allocation year of a day.
    #[must_use]
    pub fn year_of(&self, day: Day) -> Option<i64> {
        let date = date_of(day)?;
        let start = self.year_start;
        let is_begun = (date.month(), date.day()) >= (start.month, start.day);
        Some(i64::from(date.year()) - i64::from(!is_begun))
    }

    /// The first day of an allocation year, and the first day after it.
    #[must_use]
    pub fn year_days(&self, year: i64) -> Option<(Day, Day)> {
        let YearStart { month, day } = self.year_start;
        let first = |year: i64| {
            let date = Date::new(i16::try_from(year).ok()?, month, day)?;
            Some(crate::time::month::day_of(date))
        };
        Some((first(year)?, first(year + 1)?))
    }

    /// The first instant of a day of the lake's calendar, Unix milliseconds.
    #[must_use]
    pub fn begins_ms(&self, day: Day) -> i64 {
        self.zone.begins_ms(day)
    }

    /// Refuses a day inside a month whose days are not known.
    ///
    /// # Errors
    /// [`Kind::Usage`] when it is such a day, and over.
    pub fn hold_day(&self, on: Day, is_past: bool) -> Result<()> {
        let ends_month = Month::of_day(on).is_some_and(|month| month.last_day() == on);
        if self.is_by_day || !is_past || ends_month {
            return Ok(());
        }
        let message =
            "this lake reports charges by month: take the last day of a month, or grain = \"day\" in its pipeline";
        Err(Error::new(Kind::Usage, message))
    }
}

/// Use by day.
pub type UsedByDay = BTreeMap<Day, i128>;

/// Use by day of rows, of one measure.
pub fn by_day<'r>(rows: impl IntoIterator<Item = &'r AwardUseRow>, counted: CountedUse) -> UsedByDay {
    let mut used = UsedByDay::new();
    for row in rows {
        *used.entry(row.day).or_default() += row.used.counted(counted);
    }
    used
}

/// The days of an award or year, with its use by day.
#[must_use]
pub fn of_days(from: Day, until: Day, used: &UsedByDay, is_by_day: bool) -> UseOfDays<'_> {
    UseOfDays {
        from,
        until,
        used,
        is_by_day,
    }
}
