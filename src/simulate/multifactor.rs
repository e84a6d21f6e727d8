//! The order of Slurm's multifactor priority.
//!
//! Priorities are those of [`crate::fairshare::priority`], computed when a job is submitted and again at every calculation of
//! the simulated scheduler. Between two of them neither the age of a job nor its fairshare changes, as in Slurm.

use std::cmp::Reverse;

use super::job::Job;
use super::schedule::Start;
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
    pub(super) fn check(&self, jobs: &[Job]) -> Result<()> {
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
    /// How many starts the shares know of.
    begun_n: usize,
}

impl<'a> PriorityOrder<'a> {
    pub(super) fn new(of: &'a Multifactor, jobs: &[Job]) -> Self {
        Self {
            of,
            terms: of.facts.iter().map(|facts| of.rule.terms(facts)).collect(),
            shares: of.shares.as_ref().map(ShareState::new),
            eligible_s: jobs.iter().map(|job| job.submit_s).collect(),
            priorities: vec![0; jobs.len()],
            at_s: None,
            sorted_n: 0,
            begun_n: 0,
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
    pub(super) fn sort(&mut self, waiting: &mut [u32], now_s: i64, started: &StartedSoFar<'_>) -> Result<()> {
        if waiting.len() < 2 {
            // There is no order to decide: what is calculated next time is the same without this calculation.
            self.at_s = None;
            return Ok(());
        }
        let at_s = self.of.times.last_at(now_s);
        if self.at_s != Some(at_s) {
            self.at_s = Some(at_s);
            self.calculate(at_s, started)?;
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

    /// So many jobs still wait after a pass, in order.
    pub(super) fn passed(&mut self, waiting_n: usize) {
        self.sorted_n = waiting_n;
    }

    fn calculate(&mut self, at_s: i64, started: &StartedSoFar<'_>) -> Result<()> {
        let Some(shares) = &mut self.shares else {
            return Ok(());
        };
        for place in started.begun.iter().skip(self.begun_n) {
            let start = started.starts.get(index(*place)).copied().flatten();
            if let (Some(job), Some(start)) = (started.jobs.get(index(*place)), start) {
                shares.started(*place, job, start.start_s);
            }
        }
        self.begun_n = started.begun.len();
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

/// What has started in a simulation.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartedSoFar<'a> {
    /// The jobs of the simulation.
    pub(super) jobs: &'a [Job],
    /// Those that have started, in order, by place.
    pub(super) begun: &'a [u32],
    /// The starts, by place.
    pub(super) starts: &'a [Option<Start>],
}
