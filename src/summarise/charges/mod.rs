//! From job records to charges, job by job and period by period.

mod additions;
mod reassigned;
mod row;
mod tally;

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::RecordBatch;

use self::row::{ChargeRow, to_batch};
use super::apportion::{apportion, apportion_wide};
use super::correct::Corrector;
use super::periods::PeriodSplitter;
use super::policy_facts::PolicyFacts;
use super::settings::Settings;
use super::usage::RefusedJob;
use super::view::RecordView;
use crate::charge::facts::{Facts, PolicyInputs};
use crate::charge::policy::Subject;
use crate::charge::{JobPriced, Tariff, price};
use crate::error::{Error, Result};
use crate::expr::{GroupMeasure, How, add_up};
use crate::numbers::{Comparand, Extent, Part};
use crate::schema;
use crate::schema::batch::{addend, decoded, number, text};
use crate::summarise::apportion::share_of;
use crate::summarise::sums::time_held;
use crate::time::MsSpan;

pub use self::row::{RECORDED, job_charges};
pub use self::tally::{ChargeTally, UnpricedAddition};
pub use super::charges::reassigned::{ChargedPeriod, ReassignedEntry, Reassignments};

/// Columns of `charge_part` that distinguish rows, in their order.
pub const KEYS: [&str; 18] = [
    "vo",
    "allocation_year",
    "year_s",
    "month",
    "day",
    "pool",
    "policy",
    "policy_version",
    "options",
    "unit",
    "subject",
    "source",
    "cluster",
    "account",
    "view",
    "partition",
    "qos",
    "correction_id",
];

/// Why a job has no charge where a number is too large.
const MISFIT: &str = "a number of the formula does not fit 38 digits, or the charge is beyond 10^16 units";

/// Columns of `charge_part` that are added up.
pub const SUMMED: [&str; 6] = [
    "job_n",
    "unpriced_job_n",
    "alloc_core_s",
    "alloc_core_fraction_ms",
    "alloc_gpu_s",
    "charge",
];

/// Charges the records of one site, or what stands for records of another subject.
pub struct Charges<'a> {
    /// Those that charge the subject.
    tariffs: Vec<&'a Tariff>,
    /// What pricing by them takes of a record.
    facts: PolicyFacts<'a>,
    /// By tariff: what its charge depends on.
    inputs: Vec<PolicyInputs<'a>>,
    /// When each tariff holds.
    holds: Vec<MsSpan>,
    site: &'a str,
    cutter: PeriodSplitter,
    corrector: Corrector<'a>,
    parts: Vec<RecordBatch>,
    /// By tariff.
    tallies: Vec<ChargeTally>,
    unpriced_additions: Vec<UnpricedAddition>,
}

/// A batch of `records` with what each costs under every tariff.
struct ChargedJobs<'b> {
    view: RecordView<'b>,
    facts: Facts,
    priced: Vec<JobPriced>,
}

impl<'b> ChargedJobs<'b> {
    fn new(batch: &'b RecordBatch, facts: Facts, charges: &Charges<'_>) -> Result<Self> {
        let priced = charges
            .tariffs
            .iter()
            .map(|tariff| price(&tariff.policy, &tariff.options, &facts, false))
            .collect::<Result<_>>()?;
        Ok(Self {
            view: RecordView::new(batch)?,
            facts,
            priced,
        })
    }
}

impl<'a> Charges<'a> {
    /// Nothing yet: for the tariffs of one subject.
    #[must_use]
    pub fn new(settings: Settings<'a>, site: &'a str, subject: Subject) -> Self {
        let cutter = PeriodSplitter::new(settings);
        let own = settings.tariffs.iter().map(AsRef::as_ref);
        let tariffs: Vec<&Tariff> = own.filter(|tariff| tariff.policy.subject == subject).collect();
        let holds = tariffs.iter().map(|tariff| tariff.policy.holds(&cutter.calendar));
        let needs: BTreeSet<&str> = tariffs.iter().flat_map(|tariff| tariff.policy.needs()).collect();
        let inputs = tariffs.iter().map(|tariff| PolicyInputs::new(&tariff.policy, &[]));
        Self {
            holds: holds.collect(),
            tallies: tariffs.iter().map(|tariff| ChargeTally::new(tariff)).collect(),
            unpriced_additions: Vec::new(),
            inputs: inputs.collect(),
            facts: PolicyFacts::new(site, needs, settings.energy.filter(|_| subject == Subject::Jobs)),
            tariffs,
            site,
            cutter,
            corrector: Corrector::new(settings.corrections, site),
            parts: Vec::new(),
        }
    }

    /// Charges a batch of `records` but for the rows in `refused`, with what corrections take back and give; gives the
    /// rows of `job_charges`.
    ///
    /// # Errors
    /// [`Kind::Data`] naming the policy when a number does not fit.
    pub fn add(&mut self, batch: &RecordBatch, refused: &[RefusedJob]) -> Result<Option<RecordBatch>> {
        if self.tariffs.is_empty() || batch.num_rows() == 0 {
            return Ok(None);
        }
        let batch = &decoded(batch)?;
        let facts = self.facts.of(batch)?;
        let jobs = ChargedJobs::new(batch, facts, self)?;
        let job_ids = text(batch, "job_id")?;
        for ((tally, tariff), priced) in self.tallies.iter_mut().zip(&self.tariffs).zip(&jobs.priced) {
            tally.count(tariff, &priced.kept_out);
            tally.count_misfits(&priced.misfits, |job| job_ids.value(job));
        }
        let names = self.corrector.names(batch)?;
        let (mut rows, mut moves) = (Vec::new(), Vec::new());
        for job in 0..batch.num_rows() {
            let from = rows.len();
            let is_refused = refused.binary_search_by_key(&job, |refused| refused.row).is_ok();
            if is_refused || !self.charge(&jobs, job, &mut rows)? {
                continue;
            }
            self.count(&jobs, job, rows.part(from..));
            if let Some(names) = &names {
                self.moves(&jobs.view, names, job, &mut moves);
            }
        }
        let renamed = self.correct(batch, &moves, &mut rows)?;
        if rows.is_empty() {
            return Ok(None);
        }
        let records: Vec<&RecordBatch> = std::iter::once(batch).chain(&renamed).collect();
        let charged = to_batch(&rows, &records, &self.tariffs, &self.cutter.calendar)?;
        self.parts.push(part(std::slice::from_ref(&charged))?);
        Ok(Some(charged))
    }

    /// Counts a job by tariff, by the rows it was charged in.
    fn count(&mut self, jobs: &ChargedJobs<'_>, job: usize, rows: &[ChargeRow]) {
        for (nth, (tally, priced)) in self.tallies.iter_mut().zip(&jobs.priced).enumerate() {
            if priced.is_in_scope.get(job) != Some(&true) {
                continue;
            }
            match rows.iter().find(|row| row.tariff == nth) {
                None => tally.out_of_date_n += 1,
                Some(row) if row.charge.is_none() => tally.unpriced_job_n += 1,
                Some(_) => tally.job_n += 1,
            }
        }
    }

    /// What was counted on the way, by tariff, and additions whose charge is unknown.
    #[must_use]
    pub fn take_tallies(&mut self) -> (Vec<ChargeTally>, Vec<UnpricedAddition>) {
        let tallies = std::mem::take(&mut self.tallies);
        (tallies, std::mem::take(&mut self.unpriced_additions))
    }

    /// Charges one job under every tariff that is for it; false when there is nothing to attribute.
    fn charge(&mut self, jobs: &ChargedJobs<'_>, job: usize, rows: &mut Vec<ChargeRow>) -> Result<bool> {
        let end_ms = number(jobs.view.end_utc, job);
        let Some(end_piece) = self.cutter.cut(&jobs.view, job, end_ms) else {
            return Ok(false);
        };
        for (nth, priced) in jobs.priced.iter().enumerate() {
            if priced.is_in_scope.get(job) == Some(&true) {
                self.charge_by(nth, jobs, job, end_ms.map(|_| end_piece), rows)?;
            }
        }
        Ok(true)
    }

    /// One job under one tariff: its charge in proportion to the time it ran in each period while the policy held.
    fn charge_by(
        &self,
        nth: usize,
        jobs: &ChargedJobs<'_>,
        job: usize,
        end_piece: Option<usize>,
        rows: &mut Vec<ChargeRow>,
    ) -> Result<()> {
        let (Some(&MsSpan { from_ms, until_ms }), Some(priced)) = (self.holds.get(nth), jobs.priced.get(nth)) else {
            return Ok(());
        };
        let (cutter, view) = (&self.cutter, &jobs.view);
        let is_instant = cutter.until_ms <= cutter.from_ms;
        let last = cutter.pieces.len().less(1);
        let mut weights = Vec::with_capacity(cutter.pieces.len() + 1);
        let mut held = Vec::with_capacity(cutter.pieces.len());
        for (at, (period, weight)) in cutter.pieces.iter().zip(&cutter.weights).enumerate() {
            let start = if at == 0 { cutter.from_ms } else { period.from_ms };
            let within = (start + weight)
                .min(until_ms)
                .difference_to_compare(start.max(from_ms))
                .max(0);
            // A job without length, and the empty piece after a job that ends on an edge, belong where they lie.
            let is_held =
                within > 0 || (*weight == 0 && from_ms <= start && start < until_ms && (is_instant || at == last));
            weights.push(within);
            held.push(is_held);
        }
        if !held.contains(&true) {
            return Ok(());
        }
        let outside = cutter.weights.iter().sum::<i64>() - weights.iter().sum::<i64>();
        if outside > 0 {
            weights.push(outside);
        }
        let charge = priced.charge.get(job).copied().flatten();
        // No charge is larger than can be split.
        let too_large = || Error::internal("a charge is too large to be split");
        let shares = apportion_wide(addend(charge), &weights).ok_or_else(too_large)?;
        let mut walls = Vec::new();
        apportion(view.wall_s.value(job), &weights, &mut walls);
        let mut gpu_times = Vec::new();
        apportion(view.held_s(job), &weights, &mut gpu_times);
        let core_n = addend(number(view.alloc_core_n, job));
        let gpu_n = addend(number(view.alloc_gpu_n, job));
        // A job counts where it ends; a policy that no longer holds then charged it in part.
        let is_empty_end = cutter.weights.last().is_some_and(|weight| *weight == 0);
        let end_ms = cutter.until_ms - i64::from(!is_empty_end);
        let ends_here = from_ms <= end_ms && end_ms < until_ms;
        let why: Option<Arc<str>> = charge.is_none().then(|| self.why_unpriced(nth, jobs, job));
        for (at, period) in cutter.pieces.iter().enumerate() {
            let share = share_of(&shares, at);
            if held.get(at) != Some(&true) && share == 0 {
                continue;
            }
            let counts = i64::from(end_piece == Some(at) && ends_here);
            // The remainder of whole seconds goes to the end of the job, as in usage.
            let fraction_ms = view.wall_fraction_ms.value(job) * i64::from(at == last && ends_here);
            let of = |shares: &[i64]| share_of(shares, at);
            rows.push(ChargeRow {
                job,
                record: job,
                tariff: nth,
                piece: at,
                period: *period,
                job_n: if charge.is_some() { counts } else { 0 },
                unpriced_job_n: if charge.is_none() { counts } else { 0 },
                alloc_core_s: time_held(of(&walls), core_n),
                alloc_core_fraction_ms: time_held(fraction_ms, core_n),
                alloc_gpu_s: time_held(of(&gpu_times), gpu_n),
                charge: charge.map(|_| share),
                why_unpriced: why.clone(),
                correction_id: None,
            });
        }
        Ok(())
    }

    fn why_unpriced(&self, nth: usize, jobs: &ChargedJobs<'_>, job: usize) -> Arc<str> {
        if jobs.priced.get(nth).is_some_and(|priced| priced.misfits.contains(&job)) {
            return Arc::from(MISFIT);
        }
        let inputs = self.inputs.get(nth);
        let why = inputs.map_or_else(String::new, |inputs| jobs.facts.why_unpriced(inputs, job));
        Arc::from(why)
    }

    /// What was charged, as a `charge_part` batch.
    ///
    /// # Errors
    /// [`Kind::Data`] when a sum does not fit.
    pub fn into_part(self) -> Result<RecordBatch> {
        part(&self.parts)
    }
}

/// Charges added up: one row for each combination of [`KEYS`], as a `charge_part` batch.
///
/// # Errors
/// [`Kind::Data`] when a sum does not fit.
pub fn part(batches: &[RecordBatch]) -> Result<RecordBatch> {
    let dataset = schema::dataset("charge_part")?;
    let measures = SUMMED.map(|column| GroupMeasure { column, how: How::Sum });
    let total = add_up(batches, &KEYS, &measures, &dataset.arrow())?;
    dataset.admit(&total)?;
    Ok(total)
}
