//! What tariffs charge a job, period by period.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::RecordBatch;

use super::billing_use;
use super::charged_jobs::ChargedJobs;
use super::cut_job::{ChargedJob, CutJob};
use super::held_pieces::HeldPieces;
use super::row::{ChargeFigures, ChargeRow};
use crate::charge::Tariff;
use crate::charge::facts::PolicyInputs;
use crate::charge::policy::Subject;
use crate::error::{Error, Result};
use crate::schema::batch::{addend, number};
use crate::summarise::apportion::share_of;
use crate::summarise::periods::PeriodSplitter;
use crate::summarise::policy_facts::PolicyFacts;
use crate::summarise::settings::Settings;
use crate::time::MsSpan;

/// Why a job has no charge where a number is too large.
pub(super) const MISFIT: &str = "a number of the formula does not fit 38 digits, or the charge is beyond 10^16 units";

/// A job all of which is in one period.
pub(super) struct OnePeriodJob {
    /// When it ran.
    ran: MsSpan,
    /// Its row under a tariff that held then, but for the tariff and the charge.
    figures: ChargeFigures,
}

/// Charges jobs by the tariffs of one subject.
pub(super) struct JobCharger<'a> {
    pub(super) tariffs: Vec<&'a Tariff>,
    /// When each tariff holds.
    pub(super) holds: Vec<MsSpan>,
    /// By tariff: the instants at which versions of its policy begin or end, in their order.
    edges: Vec<Vec<i64>>,
    pub(super) cutter: PeriodSplitter,
    /// Whether each tariff is for jobs and reads their billing.
    reads_billing: Vec<bool>,
    /// By tariff: what its charge depends on.
    inputs: Vec<PolicyInputs<'a>>,
    /// What pricing by them takes of a record.
    facts: PolicyFacts<'a>,
}

impl<'a> JobCharger<'a> {
    /// For the jobs of a site.
    pub(super) fn new(settings: Settings<'a>, site: &'a str, subject: Subject) -> Self {
        let cutter = PeriodSplitter::new(settings);
        let own = settings.tariffs.iter().map(AsRef::as_ref);
        let tariffs: Vec<&Tariff> = own.filter(|tariff| tariff.policy.subject == subject).collect();
        let holds: Vec<MsSpan> = (tariffs.iter())
            .map(|tariff| tariff.policy.holds(&cutter.calendar))
            .collect();
        let needs: BTreeSet<&str> = tariffs.iter().flat_map(|tariff| tariff.policy.needs()).collect();
        let inputs = tariffs.iter().map(|tariff| PolicyInputs::new(&tariff.policy, &[]));
        Self {
            edges: tariffs.iter().map(|tariff| edges(tariff, &tariffs, &holds)).collect(),
            holds,
            inputs: inputs.collect(),
            reads_billing: tariffs.iter().map(|tariff| billing_use::is_read_by(tariff)).collect(),
            facts: PolicyFacts::new(site, needs, settings.energy.filter(|_| subject == Subject::Jobs)),
            tariffs,
            cutter,
        }
    }

    /// Whether a tariff is for jobs and reads their billing.
    #[inline]
    pub(super) fn reads_billing(&self, nth: usize) -> bool {
        self.reads_billing.get(nth) == Some(&true)
    }

    /// Prices a batch of `records`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] naming the policy when its formulas contradict what they were compiled for.
    pub(super) fn jobs<'b>(&mut self, batch: &'b RecordBatch) -> Result<ChargedJobs<'b>> {
        let facts = self.facts.of(batch)?;
        ChargedJobs::new(batch, facts, &self.tariffs)
    }

    /// Cuts a job into periods; `None` when there is nothing to attribute.
    pub(super) fn cut(&mut self, jobs: &ChargedJobs<'_>, job: usize) -> Option<CutJob> {
        let end_ms = number(jobs.view.end_utc, job);
        let end_piece = self.cutter.cut(&jobs.view, job, end_ms)?;
        Some(CutJob::new(&jobs.view, &self.cutter, job, end_ms.map(|_| end_piece)))
    }

    /// The job that was cut last, where all of it is in one period. Nearly every job is such a job.
    #[inline]
    pub(super) fn in_one_period(&self, cut: &CutJob) -> Option<OnePeriodJob> {
        let ([period], [weight]) = (self.cutter.pieces.as_slice(), self.cutter.weights.as_slice()) else {
            return None;
        };
        let from_ms = self.cutter.from_ms;
        let job = ChargedJob {
            cut,
            tariff: 0,
            charge: Some(0),
            ends_here: true,
        };
        Some(OnePeriodJob {
            ran: MsSpan {
                from_ms,
                until_ms: from_ms + weight,
            },
            figures: job.figures(0, *period, &cut.share(0, cut.wall_s, cut.held_s)),
        })
    }

    /// The charge of a job under a tariff that held all the time it ran; `None` under any other.
    #[inline]
    pub(super) fn whole(&self, nth: usize, jobs: &ChargedJobs<'_>, job: &OnePeriodJob) -> Option<ChargeFigures> {
        let MsSpan { from_ms, until_ms } = *self.holds.get(nth)?;
        let ran = job.ran;
        if ran.from_ms < from_ms || until_ms <= ran.from_ms || until_ms < ran.until_ms {
            return None;
        }
        let charge = jobs.charge(nth, job.figures.record);
        Some(job.figures.under(nth, charge))
    }

    /// Adds what a tariff charges for the job that was cut last: in proportion to the time it ran in each period while
    /// the policy held. The shares of all versions of a policy add up.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a charge cannot be split.
    pub(super) fn split(
        &self,
        nth: usize,
        jobs: &ChargedJobs<'_>,
        cut: &CutJob,
        rows: &mut Vec<ChargeRow>,
    ) -> Result<()> {
        let (Some(span), Some(charged)) = (self.holds.get(nth), self.charged(nth, jobs, cut)) else {
            return Ok(());
        };
        let edges = self.edges.get(nth).map_or(&[][..], Vec::as_slice);
        let held = HeldPieces::new(&self.cutter, *span, edges);
        if !held.is_any() {
            return Ok(());
        }
        // No charge is larger than can be split.
        let too_large = || Error::internal("a charge is too large to be split");
        let amounts = held.wide_shares(addend(charged.charge)).ok_or_else(too_large)?;
        let (walls, helds) = (held.shares(cut.wall_s), held.shares(cut.held_s));
        let why_unpriced = self.why_unpriced(nth, jobs, cut.job);
        for (at, period) in self.cutter.pieces.iter().enumerate() {
            if held.has(at) {
                let share = cut.share(share_of(&amounts, at), share_of(&walls, at), share_of(&helds, at));
                rows.push(ChargeRow {
                    job: cut.job,
                    piece: at,
                    figures: charged.figures(at, *period, &share),
                    why_unpriced: why_unpriced.clone(),
                    correction_id: None,
                });
            }
        }
        Ok(())
    }

    /// What every tariff that is for a job charges it.
    ///
    /// # Errors
    /// As [`Self::split`].
    pub(super) fn rows(&mut self, jobs: &ChargedJobs<'_>, job: usize) -> Result<Vec<ChargeRow>> {
        let mut rows = Vec::new();
        let Some(cut) = self.cut(jobs, job) else {
            return Ok(rows);
        };
        for nth in (0..self.tariffs.len()).filter(|nth| jobs.is_in_scope(*nth, job)) {
            self.charge(nth, jobs, &cut, &mut rows)?;
        }
        Ok(rows)
    }

    /// Adds what a tariff charges for the job that was cut last.
    ///
    /// # Errors
    /// As [`Self::split`].
    pub(super) fn charge(
        &self,
        nth: usize,
        jobs: &ChargedJobs<'_>,
        cut: &CutJob,
        rows: &mut Vec<ChargeRow>,
    ) -> Result<()> {
        let whole = self.in_one_period(cut);
        let Some(figures) = whole.and_then(|job| self.whole(nth, jobs, &job)) else {
            return self.split(nth, jobs, cut, rows);
        };
        rows.push(ChargeRow {
            job: cut.job,
            piece: 0,
            figures,
            why_unpriced: self.why_unpriced(nth, jobs, cut.job),
            correction_id: None,
        });
        Ok(())
    }

    /// A job under a tariff.
    #[inline]
    fn charged<'c>(&self, nth: usize, jobs: &ChargedJobs<'_>, cut: &'c CutJob) -> Option<ChargedJob<'c>> {
        let MsSpan { from_ms, until_ms } = *self.holds.get(nth)?;
        Some(ChargedJob {
            cut,
            tariff: nth,
            charge: jobs.charge(nth, cut.job),
            ends_here: from_ms <= cut.counted_ms && cut.counted_ms < until_ms,
        })
    }

    /// Why a job has no charge; `None` for one that has.
    pub(super) fn why_unpriced(&self, nth: usize, jobs: &ChargedJobs<'_>, job: usize) -> Option<Arc<str>> {
        if jobs.charge(nth, job).is_some() {
            return None;
        }
        if jobs.priced.get(nth).is_some_and(|priced| priced.misfits.contains(&job)) {
            return Some(Arc::from(MISFIT));
        }
        let inputs = self.inputs.get(nth)?;
        Some(Arc::from(jobs.facts.why_unpriced(inputs, job)))
    }
}

/// The instants at which versions of the policy of a tariff begin or end, in their order; `holds` is of `tariffs`.
fn edges(of: &Tariff, tariffs: &[&Tariff], holds: &[MsSpan]) -> Vec<i64> {
    let versions = tariffs
        .iter()
        .zip(holds)
        .filter(|(tariff, _)| tariff.policy.id == of.policy.id);
    let edges = versions.flat_map(|(_, span)| [span.from_ms, span.until_ms]);
    edges.collect::<BTreeSet<i64>>().into_iter().collect()
}
