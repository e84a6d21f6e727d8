//! The order of Slurm's multifactor priority.
//!
//! Priorities are those of [`crate::fairshare::priority`], computed when a job is submitted and again at every calculation of
//! the simulated scheduler. Between two of them neither the age of a job nor its fairshare changes, as in Slurm.

use std::cmp::Reverse;

use super::active::BegunJob;
use super::jobs::JobList;
use super::shares::{ShareState, SimulatedShares};
use crate::error::{Error, Result};
use crate::fairshare::CalculationTimes;
use crate::fairshare::priority::{PriorityFacts, PriorityRule, PriorityTerms};
use crate::numbers::index;

/// What priorities of jobs follow from.
#[derive(Clone, Debug)]
pub struct Multifactor {
    /// The weights, and what factors are parts of.
    pub rule: PriorityRule,
    /// When priorities are computed again.
    pub times: CalculationTimes,
    /// What is known of each job of the list; its wait and its fairshare are those of the simulation.
    pub facts: Vec<PriorityFacts>,
    /// Shares and usage; `None` where fairshare has no weight.
    pub shares: Option<SimulatedShares>,
}

impl Multifactor {
    /// Whether it is of these jobs.
    ///
    /// # Errors
    /// As [`SimulatedShares::check`]; [`crate::error::Kind::Internal`] when it is of other jobs.
    pub(super) fn check(&self, jobs: JobList<'_>) -> Result<()> {
        let is_of_them = self.facts.len() == jobs.len();
        let shares = self.shares.as_ref();
        if !is_of_them || shares.is_some_and(|shares| shares.jobs.len() != jobs.len()) {
            return Err(Error::internal(
                "priorities of other jobs than those that are simulated",
            ));
        }
        shares.map_or(Ok(()), SimulatedShares::check)
    }
}

/// Priorities while a simulation runs.
pub(super) struct PriorityOrder<'a> {
    of: &'a Multifactor,
    /// The terms of each job; those of age and fairshare are not used.
    terms: Vec<PriorityTerms>,
    shares: Option<ShareState<'a>>,
    /// When each job may start: from then on it ages.
    eligible_s: Vec<i64>,
    /// The last computed priority of each job.
    priorities: Vec<u32>,
    /// The last calculation.
    at_s: Option<i64>,
    /// How many of the waiting jobs are in order; those after them have come since.
    sorted_n: usize,
    /// Starts that the shares do not know of yet.
    begun: Vec<BegunJob>,
}

impl<'a> PriorityOrder<'a> {
    pub(super) fn new(of: &'a Multifactor, jobs: JobList<'_>) -> Self {
        let mut eligible_s = Vec::with_capacity(jobs.len());
        jobs.each(|_, job| eligible_s.push(job.submit_s));
        Self {
            of,
            terms: of.facts.iter().map(|facts| of.rule.terms(facts)).collect(),
            shares: of.shares.as_ref().map(ShareState::new),
            eligible_s,
            priorities: vec![0; jobs.len()],
            at_s: None,
            sorted_n: 0,
            begun: Vec::new(),
        }
    }

    /// A job waits from now on.
    pub(super) fn submitted(&mut self, job: u32, now_s: i64) {
        if let Some(eligible_s) = self.eligible_s.get_mut(index(job)) {
            *eligible_s = now_s;
        }
    }

    /// The last computed priorities, by place of the job.
    pub(super) fn priorities(&self) -> &[u32] {
        &self.priorities
    }

    /// Sorts the waiting jobs: the first of them are in order since the last pass, others have come since. A job that waits
    /// alone gets no priority.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when usage does not fit.
    pub(super) fn sort(&mut self, waiting: &mut [u32], now_s: i64) -> Result<()> {
        if waiting.len() < 2 {
            // There is no order to decide: what is calculated next time is the same without this calculation.
            self.at_s = None;
            return Ok(());
        }
        let at_s = self.of.times.last_at(now_s);
        if self.at_s != Some(at_s) {
            self.at_s = Some(at_s);
            self.calculate(at_s)?;
            self.sorted_n = 0;
        }
        for job in waiting.iter().skip(self.sorted_n) {
            let priority = self.priority(*job, at_s);
            if let Some(known) = self.priorities.get_mut(index(*job)) {
                *known = priority;
            }
        }
        let key = |job: u32| self.key(job);
        if self.sorted_n == 0 {
            waiting.sort_unstable_by_key(|job| key(*job));
            return Ok(());
        }
        // Few jobs come between two passes, and many wait: each is put where it belongs.
        for at in self.sorted_n..waiting.len() {
            let Some((of_job, before)) = waiting.get(at).copied().zip(waiting.get(..at)) else {
                continue;
            };
            let place = before.partition_point(|other| key(*other) < key(of_job));
            if let Some(later) = waiting.get_mut(place..=at) {
                later.rotate_right(1);
            }
        }
        Ok(())
    }

    /// By what jobs are sorted: the highest priority first, then by submission.
    pub(super) fn key(&self, job: u32) -> (Reverse<u32>, u32) {
        (Reverse(self.priorities[index(job)]), job)
    }

    /// So many jobs still wait after a pass, in order, and these have started in it.
    pub(super) fn passed(&mut self, waiting_n: usize, begun: &[BegunJob]) {
        self.sorted_n = waiting_n;
        if self.shares.is_some() {
            self.begun.extend_from_slice(begun);
        }
    }

    fn calculate(&mut self, at_s: i64) -> Result<()> {
        let Some(shares) = &mut self.shares else {
            return Ok(());
        };
        for begun in self.begun.drain(..) {
            shares.started(&begun);
        }
        shares.calculate(at_s)
    }

    fn priority(&self, job: u32, at_s: i64) -> u32 {
        let eligible_s = self.eligible_s[index(job)];
        let factor = self.shares.as_ref().map_or(0.0, |shares| shares.factor(job));
        // A job that was submitted after the calculation has no age yet.
        let waiting_s = (at_s - eligible_s).max(0);
        self.of.rule.priority_again(&self.terms[index(job)], waiting_s, factor)
    }
}
