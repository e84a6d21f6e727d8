//! From job records to charges, job by job and period by period.

mod additions;
mod batch;
mod columns;
mod cut_job;
mod groups;
mod part;
mod reassigned;
mod row;
mod tally;
mod year_lengths;

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::RecordBatch;

use self::batch::ChargeBatch;
use self::cut_job::{ChargedJob, CutJob};
use self::groups::ChargeGroups;
use self::row::ChargeRow;
use super::apportion::{apportion, apportion_wide};
use super::correct::Corrector;
use super::periods::PeriodSplitter;
use super::policy_facts::PolicyFacts;
use super::settings::Settings;
use super::usage::RefusedJob;
use super::view::RecordView;
use crate::charge::amount::MemoryUnit;
use crate::charge::facts::{Facts, PolicyInputs};
use crate::charge::policy::Subject;
use crate::charge::{JobPriced, Tariff, price};
use crate::error::{Error, Result};
use crate::numbers::{Comparand, Extent, Part};
use crate::schema::batch::{addend, number, words};
use crate::summarise::apportion::share_of;
use crate::time::MsSpan;

pub use self::columns::{RECORDED, job_charges};
pub use self::part::{KEYS, SUMMED, part};
pub use self::tally::{ChargeTally, UnpricedAddition};
pub use super::charges::reassigned::{ChargedPeriod, ReassignedEntry, Reassignments};

/// Why a job has no charge where a number is too large.
const MISFIT: &str = "a number of the formula does not fit 38 digits, or the charge is beyond 10^16 units";

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
    groups: ChargeGroups,
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
    fn new(batch: &'b RecordBatch, mut facts: Facts, charges: &Charges<'_>) -> Result<Self> {
        let mut units = Vec::with_capacity(charges.tariffs.len());
        for tariff in &charges.tariffs {
            units.extend(tariff.policy.memory_unit(&tariff.options)?);
        }
        for unit in shared(units) {
            facts.share_memory_unit(unit);
        }
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

/// The units that more than one policy states.
fn shared(mut units: Vec<MemoryUnit>) -> Vec<MemoryUnit> {
    units.sort_unstable();
    let runs = units.chunk_by(|unit, next| unit == next);
    runs.filter_map(|run| run.first().filter(|_| run.len() > 1).copied())
        .collect()
}

/// How much of each period of a job a policy held.
struct HeldPieces {
    /// By period, then what no policy held.
    weights: Vec<i64>,
    /// Whether the policy charges the job in a period at all.
    is_held: Vec<bool>,
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
            groups: ChargeGroups::new(tariffs.len()),
            tariffs,
            site,
            cutter,
            corrector: Corrector::new(settings.corrections, site),
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
        let facts = self.facts.of(batch)?;
        let jobs = ChargedJobs::new(batch, facts, self)?;
        let job_ids = words(batch, "job_id")?;
        for ((tally, tariff), priced) in self.tallies.iter_mut().zip(&self.tariffs).zip(&jobs.priced) {
            tally.count(tariff, &priced.kept_out);
            tally.count_misfits(&priced.misfits, |job| job_ids.value(job));
        }
        let names = self.corrector.names(batch)?;
        let renamed;
        let row_n = batch.num_rows() * self.tariffs.len();
        let mut charged = ChargeBatch::begin(batch, row_n, &mut self.groups)?;
        let (mut rows, mut moves) = (Vec::new(), Vec::new());
        for job in 0..batch.num_rows() {
            let from = rows.len();
            let is_refused = refused.binary_search_by_key(&job, |refused| refused.row).is_ok();
            if is_refused || !self.charge(&jobs, job, &mut rows)? {
                continue;
            }
            self.count(&jobs, job, rows.part(from..));
            match &names {
                // What corrections make of them is known when all jobs are charged.
                Some(names) => self.moves(&jobs.view, names, job, &mut moves),
                None => charged.take(&mut rows, &mut self.groups)?,
            }
        }
        renamed = self.correct(batch, &moves, &mut rows)?;
        if let Some(renamed) = &renamed {
            charged.put_behind(renamed)?;
        }
        charged.take(&mut rows, &mut self.groups)?;
        charged.finish(&self.tariffs, &self.cutter.calendar)
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
        let cut = CutJob::new(&jobs.view, &self.cutter, job, end_ms.map(|_| end_piece));
        for (nth, priced) in jobs.priced.iter().enumerate() {
            if priced.is_in_scope.get(job) == Some(&true) {
                self.charge_by(nth, jobs, &cut, rows)?;
            }
        }
        Ok(true)
    }

    /// One job under one tariff: its charge in proportion to the time it ran in each period while the policy held.
    fn charge_by(&self, nth: usize, jobs: &ChargedJobs<'_>, cut: &CutJob, rows: &mut Vec<ChargeRow>) -> Result<()> {
        let (Some(&MsSpan { from_ms, until_ms }), Some(priced)) = (self.holds.get(nth), jobs.priced.get(nth)) else {
            return Ok(());
        };
        let (cutter, job) = (&self.cutter, cut.job);
        let charge = priced.charge.get(job).copied().flatten();
        let why = || charge.is_none().then(|| self.why_unpriced(nth, jobs, job));
        let charged = ChargedJob {
            cut,
            tariff: nth,
            charge,
            ends_here: from_ms <= cut.counted_ms && cut.counted_ms < until_ms,
        };
        let whole = addend(charge);
        // Nearly every job is in one period, and all of it while the policy held.
        if let ([period], [weight]) = (cutter.pieces.as_slice(), cutter.weights.as_slice())
            && from_ms <= cutter.from_ms
            && cutter.from_ms < until_ms
            && cutter.from_ms + weight <= until_ms
        {
            let share = cut.share(whole, cut.wall_s, cut.held_s);
            rows.push(charged.row(0, *period, &share, why()));
            return Ok(());
        }
        let held = self.held(from_ms, until_ms);
        if !held.is_held.contains(&true) {
            return Ok(());
        }
        // No charge is larger than can be split.
        let too_large = || Error::internal("a charge is too large to be split");
        let amounts = apportion_wide(whole, &held.weights).ok_or_else(too_large)?;
        let (mut walls, mut helds) = (Vec::new(), Vec::new());
        apportion(cut.wall_s, &held.weights, &mut walls);
        apportion(cut.held_s, &held.weights, &mut helds);
        let why = why();
        for (at, period) in cutter.pieces.iter().enumerate() {
            let share = cut.share(share_of(&amounts, at), share_of(&walls, at), share_of(&helds, at));
            if held.is_held.get(at) == Some(&true) || share.charge != 0 {
                rows.push(charged.row(at, *period, &share, why.clone()));
            }
        }
        Ok(())
    }

    /// What the periods of the job that was cut last have of the time from `from_ms` until `until_ms`.
    fn held(&self, from_ms: i64, until_ms: i64) -> HeldPieces {
        let cutter = &self.cutter;
        let is_instant = cutter.until_ms <= cutter.from_ms;
        let last = cutter.pieces.len().less(1);
        let mut held = HeldPieces {
            weights: Vec::with_capacity(cutter.pieces.len() + 1),
            is_held: Vec::with_capacity(cutter.pieces.len()),
        };
        for (at, (period, weight)) in cutter.pieces.iter().zip(&cutter.weights).enumerate() {
            let start = if at == 0 { cutter.from_ms } else { period.from_ms };
            let within = (start + weight)
                .min(until_ms)
                .difference_to_compare(start.max(from_ms))
                .max(0);
            // A job without length, and the empty piece after a job that ends on an edge, belong where they lie.
            let is_held =
                within > 0 || (*weight == 0 && from_ms <= start && start < until_ms && (is_instant || at == last));
            held.weights.push(within);
            held.is_held.push(is_held);
        }
        let outside = cutter.weights.iter().sum::<i64>() - held.weights.iter().sum::<i64>();
        if outside > 0 {
            held.weights.push(outside);
        }
        held
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
    /// [`Kind::Internal`] when it is not as declared.
    pub fn into_part(self) -> Result<RecordBatch> {
        self.groups.into_part(&self.tariffs, &self.cutter.calendar)
    }
}
