//! What jobs that still ran when they were listed will use at most: to their time limits, at their rate so far.

use std::collections::HashMap;

use arrow_array::Array;

use super::award_use::UsedAmounts;
use super::lake::Lake;
use crate::award::unit::CountedUse;
use crate::charge::charged_tariff::BalanceTariff;
use crate::charge::span::times_over;
use crate::error::{Error, Kind, Result};
use crate::schema::batch::{decimal, id, identity, int, number, text, time, word};
use crate::store::has_nulls;
use crate::store::lake::month_path;
use crate::time::{DAY_MS, Day};

/// Jobs that count: others are views of the same hours.
const VIEW: &str = "batch";

/// What one job that runs or waits will still use under one policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobUse {
    /// Site.
    pub site: String,
    /// Cluster.
    pub cluster: Option<String>,
    /// Account.
    pub account: String,
    /// Who submitted.
    pub submitter: Option<String>,
    /// Under what it is charged.
    pub tariff: BalanceTariff,
    /// When it was listed, Unix milliseconds: what is to come begins then at the earliest.
    pub from_ms: i64,
    /// Seconds from then to its time limit.
    pub left_s: i64,
    /// What is still to come until its time limit, at most.
    pub to_come: UsedAmounts,
}

/// What all running jobs of a lake will still use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunningJobs {
    /// By job and policy.
    pub uses: Vec<JobUse>,
    /// The last UTC day of which they are known; `None` where no dump states a running job.
    pub known_on: Option<Day>,
    /// Running jobs without a time limit, an account or a charge: what they will use is unknown.
    pub unknown_n: u64,
}

/// A job that still runs.
struct RunningJob {
    account: String,
    submitter: Option<String>,
    cluster: Option<String>,
    listed_ms: i64,
    wall_s: i64,
    left_s: i64,
}

impl JobUse {
    /// What is to come of one measure before an instant, at an even rate; `None` when it does not fit.
    #[must_use]
    pub fn before(&self, until_ms: i64, counted: CountedUse) -> Option<i128> {
        let to_come = self.to_come.counted(counted);
        let within_s = until_ms.checked_sub(self.from_ms)?.max(0) / 1000;
        if self.left_s <= within_s {
            return Some(to_come);
        }
        times_over(to_come, i128::from(within_s), i128::from(self.left_s))
    }
}

impl RunningJobs {
    /// Reads the records without an end, and what they were charged so far, as far as they matter on a day: where a dump of a
    /// later day states running jobs, those of the day are not known any more, and the rest is not read.
    ///
    /// # Errors
    /// [`Kind::Io`] when the lake cannot be read; [`Kind::Data`] when an amount does not fit.
    pub fn read(lake: &Lake, on: Day) -> Result<Self> {
        let mut running = Self::default();
        // The newest first: running jobs are in the month of their start.
        for (site, month, path) in lake.months("records")?.into_iter().rev() {
            if !has_nulls(&lake.store.reader(&path)?, "end_utc")? {
                continue;
            }
            let jobs = running.jobs_of(lake, &path)?;
            if running.known_on.is_some_and(|known_on| on < known_on) {
                return Ok(Self {
                    known_on: running.known_on,
                    ..Self::default()
                });
            }
            let charges = month_path("job_charges", &site, month);
            if !jobs.is_empty() && lake.manifest.file(&charges).is_some() {
                running.add_charged(lake, &site, &charges, &jobs)?;
            }
        }
        Ok(running)
    }

    /// The running jobs of one file of records.
    fn jobs_of(&mut self, lake: &Lake, path: &str) -> Result<HashMap<u128, RunningJob>> {
        const COLUMNS: [&str; 9] = [
            "record_id",
            "view",
            "cluster",
            "account",
            "user",
            "start_utc",
            "end_utc",
            "wall_s",
            "time_limit_s",
        ];
        let mut jobs = HashMap::new();
        for batch in lake.batches(path, Some(&COLUMNS))? {
            let batch = batch?;
            let (ids, view) = (id(&batch, "record_id")?, text(&batch, "view")?);
            let (cluster, account) = (text(&batch, "cluster")?, text(&batch, "account")?);
            let (user, start) = (text(&batch, "user")?, time(&batch, "start_utc")?);
            let (end, wall) = (time(&batch, "end_utc")?, int(&batch, "wall_s")?);
            let limit = int(&batch, "time_limit_s")?;
            for row in (0..batch.num_rows()).filter(|row| end.is_null(*row)) {
                let ran = number(start, row)
                    .zip(number(wall, row))
                    .filter(|(_, wall_s)| *wall_s > 0);
                let Some((start_ms, wall_s)) = ran.filter(|_| word(view, row) == Some(VIEW)) else {
                    continue;
                };
                let listed_ms = wall_s
                    .checked_mul(1000)
                    .and_then(|wall_ms| start_ms.checked_add(wall_ms));
                let day = listed_ms.and_then(|ms| Day::try_from(ms.div_euclid(DAY_MS)).ok());
                self.known_on = self.known_on.max(day);
                let left_s = number(limit, row).and_then(|limit_s| limit_s.checked_sub(wall_s));
                let (Some(account), Some(left_s), Some(listed_ms)) = (word(account, row), left_s, listed_ms) else {
                    self.unknown_n += 1;
                    continue;
                };
                let job = RunningJob {
                    account: account.to_owned(),
                    submitter: word(user, row).map(str::to_owned),
                    cluster: word(cluster, row).map(str::to_owned),
                    listed_ms,
                    wall_s,
                    // A job beyond its limit is about to end.
                    left_s: left_s.max(0),
                };
                jobs.insert(identity(ids, row)?, job);
            }
        }
        Ok(jobs)
    }

    /// What those jobs were charged so far, continued to their limits.
    fn add_charged(&mut self, lake: &Lake, site: &str, path: &str, jobs: &HashMap<u128, RunningJob>) -> Result<()> {
        for batch in lake.batches(path, None)? {
            let batch = batch?;
            let words = |name| text(&batch, name);
            let (ids, corrections) = (id(&batch, "record_id")?, words("correction_id")?);
            let (pool, policy) = (words("pool")?, words("policy")?);
            let (options, unit) = (words("options")?, words("unit")?);
            let (cores, fractions) = (int(&batch, "alloc_core_s")?, int(&batch, "alloc_core_fraction_ms")?);
            let (gpus, charge) = (int(&batch, "alloc_gpu_s")?, decimal(&batch, "charge")?);
            for row in (0..batch.num_rows()).filter(|row| corrections.is_null(*row)) {
                let Some(job) = jobs.get(&identity(ids, row)?) else {
                    continue;
                };
                let Some(charge_e9) = number(charge, row) else {
                    self.unknown_n += 1;
                    continue;
                };
                let to_come = |so_far: i128| {
                    let amount = times_over(so_far, i128::from(job.left_s), i128::from(job.wall_s));
                    amount.ok_or_else(|| {
                        Error::new(Kind::Data, "what a running job will use is too large").at("site", site)
                    })
                };
                self.uses.push(JobUse {
                    site: site.to_owned(),
                    cluster: job.cluster.clone(),
                    account: job.account.clone(),
                    submitter: job.submitter.clone(),
                    tariff: BalanceTariff {
                        pool: pool.value(row).to_owned(),
                        policy: policy.value(row).to_owned(),
                        options: options.value(row).to_owned(),
                        unit: unit.value(row).to_owned(),
                    },
                    from_ms: job.listed_ms,
                    left_s: job.left_s,
                    to_come: UsedAmounts {
                        job_n: 0,
                        unpriced_job_n: 0,
                        unpriced_core_ms: 0,
                        core_ms: to_come(i128::from(cores.value(row)) * 1000 + i128::from(fractions.value(row)))?,
                        gpu_s: to_come(gpus.value(row).into())?,
                        charge_e9: to_come(charge_e9)?,
                    },
                });
            }
        }
        Ok(())
    }
}
