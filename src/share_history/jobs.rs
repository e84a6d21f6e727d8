//! Records of jobs as segments of usage, each with the association it counts for.

use std::collections::HashMap;

use arrow_array::{Array, FixedSizeBinaryArray, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};

use super::basis::{ClusterBasis, FileReach, Reaches};
use super::files::JobFile;
use super::resource_columns::{JobResources, ResourceColumns};
use super::settings::{FairshareSettings, READ_ROWS};
use super::uncounted::{UncountedJob, UncountedJobs};
use crate::charge::facts::Facts;
use crate::charge::{Tariff, price};
use crate::config::fairshare_plan::UsageBasis;
use crate::config::fairshare_spec::seconds_of_unit;
use crate::error::{Error, Kind, Result};
use crate::fairshare::UsageSegment;
use crate::runtime::pool;
use crate::schema::batch::{decimal, id, identity, int, number, text, time, word};
use crate::store::{Store, read_table};
use crate::time::SecondSpan;

/// Jobs that count: others are views of the same hours.
const VIEW: &str = "batch";
/// Whole units of billing as rates, 10^-9.
const E9: i128 = 1_000_000_000;

/// One job that counts.
pub(super) struct CountedJob<'a> {
    pub(super) record_id: u128,
    pub(super) account: &'a str,
    pub(super) user: Option<&'a str>,
    pub(super) partition: Option<&'a str>,
    pub(super) segment: UsageSegment,
    /// Whether its record states no end: it ran when it was listed.
    pub(super) is_open: bool,
    /// What it has, where it was requested.
    pub(super) resources: Option<JobResources>,
}

/// What is read of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobDetail {
    /// What usage follows from.
    Usage,
    /// The resources of each job as well, which one rate is enough for.
    Resources,
    /// The same as one segment, counted by what holds when it started.
    Whole,
}

/// What each file of records spans of the cluster's jobs. A file is only read for that when no run before has.
pub(super) fn reaches(
    store: &Store,
    files: &[JobFile],
    cluster: &str,
    former: Option<&ClusterBasis>,
    threads: usize,
) -> Result<Reaches> {
    let found = pool::each(files, threads, |file| {
        let (path, hash) = (file.records.path.clone(), file.hash());
        if let Some(known) = former.and_then(|former| former.reach(&path, &hash)) {
            return Ok((path, known.clone()));
        }
        let mut span: Option<SecondSpan> = None;
        for batch in read_table(store.reader(&file.records.place)?, Some(RunTimes::COLUMNS), READ_ROWS)? {
            let of_batch = RunTimes::new(&batch?)?.span_of(cluster);
            span = match (span, of_batch) {
                (Some(one), Some(other)) => Some(one.joined(other)),
                (one, other) => one.or(other),
            };
        }
        Ok((path, FileReach { hash, span }))
    })?;
    Ok(found.into_iter().collect())
}

/// Reads the jobs of one file that run in `span`.
///
/// # Errors
/// [`Kind::Io`] when it cannot be read; [`Kind::Data`] when a rate does not fit; what `each` gives.
pub(super) fn read(
    store: &Store,
    file: &JobFile,
    settings: &FairshareSettings,
    span: SecondSpan,
    each: impl FnMut(CountedJob<'_>) -> Result<()>,
) -> Result<UncountedJobs> {
    read_detail(store, file, settings, span, JobDetail::Usage, each)
}

/// As [`read`], with more of each job.
///
/// # Errors
/// As [`read`].
pub(super) fn read_detail(
    store: &Store,
    file: &JobFile,
    settings: &FairshareSettings,
    span: SecondSpan,
    detail: JobDetail,
    mut each: impl FnMut(CountedJob<'_>) -> Result<()>,
) -> Result<UncountedJobs> {
    let rates = JobRates::read(store, file, settings)?;
    let mut uncounted = UncountedJobs::default();
    let mut columns = JobRows::COLUMNS.to_vec();
    if detail == JobDetail::Resources {
        columns.extend(ResourceColumns::NAMES);
    }
    for batch in read_table(store.reader(&file.records.place)?, Some(&columns), READ_ROWS)? {
        let batch = batch?;
        let rows = JobRows::new(&batch, detail)?;
        for row in 0..batch.num_rows() {
            let Some(job) = rows.job(row, settings, span, &rates, &mut uncounted)? else {
                continue;
            };
            match (detail, job.later.is_empty()) {
                (JobDetail::Usage, false) => each_part(job, &mut each)?,
                _ => each(job.whole)?,
            }
        }
    }
    Ok(uncounted)
}

/// Hands over the parts of a job; it runs in its last one.
fn each_part(job: JobSegments<'_>, each: &mut impl FnMut(CountedJob<'_>) -> Result<()>) -> Result<()> {
    let JobSegments { whole, first, later } = job;
    let last = later.len();
    for (at, segment) in std::iter::once(first).chain(later).enumerate() {
        each(CountedJob {
            segment,
            is_open: whole.is_open && at == last,
            resources: None,
            ..whole
        })?;
    }
    Ok(())
}

/// What the jobs of a file are counted by.
enum Rates {
    /// Their recorded billing.
    Recorded,
    /// What they were charged.
    Charged(Charges),
}

impl Rates {
    fn read(store: &Store, file: &JobFile, usage: &UsageBasis) -> Result<Self> {
        Ok(match (usage, &file.charges) {
            (UsageBasis::RecordedBilling, _) => Self::Recorded,
            (UsageBasis::Policy { policy, options }, Some(charges)) => {
                Self::Charged(charges_of(store, &charges.place, policy, options)?)
            }
            (UsageBasis::Policy { .. }, None) => Self::Charged(Charges::default()),
        })
    }
}

/// What the jobs of a file are counted by, at any time.
struct JobRates {
    usual: Rates,
    /// Times with something else, in order.
    dated: Vec<(SecondSpan, Rates)>,
}

impl JobRates {
    fn read(store: &Store, file: &JobFile, settings: &FairshareSettings) -> Result<Self> {
        if let Some(tariff) = &settings.tariff {
            return Ok(Self {
                usual: Rates::Charged(priced(store, file, &settings.site, tariff)?),
                dated: Vec::new(),
            });
        }
        let dated = settings.dated_usage.iter();
        Ok(Self {
            usual: Rates::read(store, file, &settings.usage)?,
            dated: dated
                .map(|dated| Ok((dated.span, Rates::read(store, file, &dated.usage)?)))
                .collect::<Result<_>>()?,
        })
    }

    /// The first part of a job that is counted by one rule alone: until when, and the rule.
    fn first_part(&self, ran: SecondSpan) -> (SecondSpan, &Rates) {
        let next = self.dated.iter().find(|(span, _)| span.end_s > ran.start_s);
        let (until_s, rates) = match next {
            Some((span, rates)) if span.start_s <= ran.start_s => (span.end_s, rates),
            Some((span, _)) => (span.start_s, &self.usual),
            None => (i64::MAX, &self.usual),
        };
        let part = SecondSpan {
            end_s: ran.end_s.min(until_s),
            ..ran
        };
        (part, rates)
    }
}

/// A job with the segments of its usage.
struct JobSegments<'a> {
    /// With one segment of all of it.
    whole: CountedJob<'a>,
    /// The first part that is counted by one rule.
    first: UsageSegment,
    /// The parts after it, in order.
    later: Vec<UsageSegment>,
}

/// What each record of a month was charged under a policy, 10^-9 units a second; `None` where that is unknown.
type Charges = HashMap<u128, Option<i128>, ahash::RandomState>;

fn charges_of(store: &Store, place: &str, policy: &str, options: &str) -> Result<Charges> {
    let mut charges = Charges::default();
    let columns = ["record_id", "policy", "options", "unit", "charge", "correction_id"];
    for batch in read_table(store.reader(place)?, Some(&columns), READ_ROWS)? {
        let batch = batch?;
        let (ids, policies) = (id(&batch, "record_id")?, text(&batch, "policy")?);
        let (units, charge) = (text(&batch, "unit")?, decimal(&batch, "charge")?);
        let (chosen, corrections) = (text(&batch, "options")?, text(&batch, "correction_id")?);
        for row in 0..batch.num_rows() {
            // Shares follow what ran, not who is charged for it after a correction.
            // Fallback: a policy without options has an empty text of them.
            let is_other = word(policies, row) != Some(policy) || word(chosen, row).unwrap_or_default() != options;
            if is_other || corrections.is_valid(row) {
                continue;
            }
            // Fallback: a charge without a unit is refused by the next line.
            let unit = word(units, row).unwrap_or_default();
            let per_s = seconds_of_unit(unit).ok_or_else(|| unit_error(policy, unit))?;
            let of_period = number(charge, row)
                .map(|charge_e9| charge_e9.checked_mul(per_s).ok_or_else(too_large))
                .transpose()?;
            let of = charges.entry(identity(ids, row)?).or_insert(Some(0));
            *of = match (*of, of_period) {
                (Some(sum), Some(of_period)) => Some(sum.checked_add(of_period).ok_or_else(too_large)?),
                _ => None,
            };
        }
    }
    Ok(charges)
}

/// What the records of a month would be charged under a policy, whenever it holds.
fn priced(store: &Store, file: &JobFile, site: &str, tariff: &Tariff) -> Result<Charges> {
    let policy = &tariff.policy;
    let per_s = seconds_of_unit(&policy.unit).ok_or_else(|| unit_error(&policy.id, &policy.unit))?;
    let needs = policy.needs();
    let mut columns = Facts::columns(&needs);
    columns.insert("record_id");
    let columns: Vec<&str> = columns.into_iter().collect();
    let mut charges = Charges::default();
    for batch in read_table(store.reader(&file.records.place)?, Some(&columns), READ_ROWS)? {
        let batch = batch?;
        let facts = Facts::of_records(&batch, site, &needs)?;
        let priced = price(policy, &tariff.options, &facts, false)?;
        let ids = id(&batch, "record_id")?;
        for (row, charge_e9) in priced.charge.iter().enumerate() {
            let of_job = (*charge_e9)
                .map(|charge_e9| charge_e9.checked_mul(per_s).ok_or_else(too_large))
                .transpose()?;
            charges.insert(identity(ids, row)?, of_job);
        }
    }
    Ok(charges)
}

fn unit_error(policy: &str, unit: &str) -> Error {
    let message = format!(
        "usage = \"{policy}\" counts in {unit}, which is no amount for a time: fairshare needs a unit such as billing_second \
         or core_hour"
    );
    Error::config(message)
}

fn too_large() -> Error {
    Error::new(Kind::Data, "the charge of a job is too large for fairshare")
}

/// Columns of records that state when jobs of a cluster ran.
struct RunTimes<'a> {
    view: &'a StringArray,
    cluster: &'a StringArray,
    start: &'a TimestampMillisecondArray,
    end: &'a TimestampMillisecondArray,
    wall_s: &'a Int64Array,
}

impl<'a> RunTimes<'a> {
    const COLUMNS: &'static [&'static str] = &["view", "cluster", "start_utc", "end_utc", "wall_s"];

    fn new(batch: &'a RecordBatch) -> Result<Self> {
        Ok(Self {
            view: text(batch, "view")?,
            cluster: text(batch, "cluster")?,
            start: time(batch, "start_utc")?,
            end: time(batch, "end_utc")?,
            wall_s: int(batch, "wall_s")?,
        })
    }

    /// Whether a row is a job of a cluster that counts.
    fn is_of(&self, row: usize, cluster: &str) -> bool {
        word(self.view, row) == Some(VIEW) && word(self.cluster, row) == Some(cluster)
    }

    /// When a job ran. One that still ran when it was listed ran so far for its wall time.
    fn ran(&self, row: usize) -> Option<SecondSpan> {
        let start_ms = number(self.start, row)?;
        let so_far_ms = || number(self.wall_s, row).and_then(|wall_s| start_ms.checked_add(wall_s.checked_mul(1000)?));
        span(start_ms, number(self.end, row).or_else(so_far_ms)?)
    }

    /// What the jobs of a cluster span.
    fn span_of(&self, cluster: &str) -> Option<SecondSpan> {
        let own = (0..self.view.len()).filter(|row| self.is_of(*row, cluster));
        own.filter_map(|row| self.ran(row)).reduce(SecondSpan::joined)
    }
}

/// Columns of records.
struct JobRows<'a> {
    times: RunTimes<'a>,
    job_id: &'a StringArray,
    account: &'a StringArray,
    user: &'a StringArray,
    partition: &'a StringArray,
    qos: &'a StringArray,
    ids: &'a FixedSizeBinaryArray,
    billing_n: &'a Int64Array,
    resources: Option<ResourceColumns<'a>>,
}

impl<'a> JobRows<'a> {
    const COLUMNS: &'static [&'static str] = &[
        "record_id",
        "view",
        "cluster",
        "job_id",
        "account",
        "user",
        "partition",
        "qos",
        "start_utc",
        "end_utc",
        "wall_s",
        "alloc_billing_n",
    ];

    fn new(batch: &'a RecordBatch, detail: JobDetail) -> Result<Self> {
        let resources = match detail {
            JobDetail::Usage | JobDetail::Whole => None,
            JobDetail::Resources => Some(ResourceColumns::new(batch)?),
        };
        Ok(Self {
            resources,
            times: RunTimes::new(batch)?,
            job_id: text(batch, "job_id")?,
            account: text(batch, "account")?,
            user: text(batch, "user")?,
            partition: text(batch, "partition")?,
            qos: text(batch, "qos")?,
            ids: id(batch, "record_id")?,
            billing_n: int(batch, "alloc_billing_n")?,
        })
    }

    /// The job of a row, if it is one of the cluster and ran in a span.
    fn job(
        &self,
        row: usize,
        settings: &FairshareSettings,
        of: SecondSpan,
        rates: &JobRates,
        uncounted: &mut UncountedJobs,
    ) -> Result<Option<JobSegments<'a>>> {
        if !self.times.is_of(row, &settings.cluster) {
            return Ok(None);
        }
        let job = UncountedJob {
            job_id: word(self.job_id, row),
            account: word(self.account, row),
            user: word(self.user, row),
        };
        let Some(ran) = self.times.ran(row) else {
            // What never ran used nothing; what ran without an end is unknown.
            if number(self.times.wall_s, row).is_none_or(|wall_s| wall_s > 0) {
                uncounted.add("when they ran is unknown", job);
            }
            return Ok(None);
        };
        if !ran.overlaps(of) {
            return Ok(None);
        }
        let Some(account) = word(self.account, row) else {
            uncounted.add("they have no account", job);
            return Ok(None);
        };
        let factor_e9 = settings.factor_e9(word(self.qos, row));
        let billing_n = number(self.billing_n, row);
        let (mut first, mut later, mut is_unbilled) = (None, Vec::new(), false);
        let mut rest = ran;
        while !rest.is_empty() {
            let (span, rates) = rates.first_part(rest);
            let rate_e9 = match rates {
                Rates::Recorded => {
                    is_unbilled |= billing_n == Some(0);
                    billing_n.map(|billing| i128::from(billing) * E9)
                }
                Rates::Charged(charges) => self.rate_e9(row, charges)?,
            };
            let Some(rate_e9) = rate_e9 else {
                uncounted.add("what they are counted by is unknown", job);
                return Ok(None);
            };
            let segment = UsageSegment {
                span,
                rate_e9,
                factor_e9,
            };
            match first {
                None => first = Some(segment),
                Some(_) => later.push(segment),
            }
            rest.start_s = span.end_s;
        }
        let Some(first) = first else { return Ok(None) };
        if is_unbilled {
            // Slurm leaves out a billing of zero, so that none and zero are one case. It counts, as zero.
            uncounted.add("no billing is recorded of them", job);
        }
        let whole = CountedJob {
            record_id: identity(self.ids, row)?,
            account,
            user: word(self.user, row),
            partition: word(self.partition, row),
            segment: UsageSegment { span: ran, ..first },
            is_open: self.times.end.is_null(row),
            resources: match &self.resources {
                Some(resources) => Some(resources.of(row)?),
                None => None,
            },
        };
        Ok(Some(JobSegments { whole, first, later }))
    }

    /// What a job was charged for each second of its wall time. Suspended time is not charged, and counts like the rest.
    fn rate_e9(&self, row: usize, charges: &Charges) -> Result<Option<i128>> {
        let Some(Some(charge_e9)) = charges.get(&identity(self.ids, row)?) else {
            return Ok(None);
        };
        let wall_s = number(self.times.wall_s, row).filter(|wall_s| *wall_s > 0);
        Ok(wall_s.map(|wall_s| (charge_e9 + i128::from(wall_s) / 2).div_euclid(i128::from(wall_s))))
    }
}

/// Seconds from one instant to another; `None` where there is none.
fn span(start_ms: i64, end_ms: i64) -> Option<SecondSpan> {
    let span = SecondSpan {
        start_s: start_ms.div_euclid(1000),
        end_s: end_ms.div_euclid(1000),
    };
    (!span.is_empty()).then_some(span)
}
