//! Windows: the first waiting jobs, of which a set is chosen and started together.

pub mod decide;
pub mod depth_first;
pub mod front;
pub mod genetic;
pub mod method;
pub mod problem;
pub mod solve;
pub mod subset_sums;

use decide::{ChoiceRule, Tradeoff};
use genetic::GeneticSettings;
use problem::{WINDOW_MAX, WindowJob, WindowProblem};
use solve::{Solver, SolverChoice};

use super::cluster::Cluster;
use super::machine::Machine;
use super::observer::Observer;
use super::schedule::{SolverCounts, StartReason};
use crate::error::{Error, Result};

/// How long a job may be in the window without being chosen, before it must be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StarvationBound {
    /// For ever.
    None,
    /// For so many passes.
    Passes(u32),
    /// For so many seconds.
    Seconds(i64),
}

/// A window and the choice from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowSettings {
    /// How a set is chosen.
    pub rule: ChoiceRule,
    /// Most jobs of the window, 1 to [`WINDOW_MAX`].
    pub size: usize,
    /// How long a job may be in it without being chosen.
    pub bound: StarvationBound,
    /// By which means it is solved.
    pub solver: SolverChoice,
    /// The parameters of the genetic algorithm.
    pub genetic: GeneticSettings,
    /// The name of the kind of resource that is the second objective.
    pub second: Option<String>,
}

impl Default for WindowSettings {
    /// As in the paper: the tradeoff, a window of 20, a bound of 50 passes; solved exactly.
    fn default() -> Self {
        Self {
            rule: ChoiceRule::Tradeoff(Tradeoff::Paper),
            size: 20,
            bound: StarvationBound::Passes(50),
            solver: SolverChoice::Exact,
            genetic: GeneticSettings::default(),
            second: None,
        }
    }
}

/// The window of a simulation.
pub(super) struct WindowScheduler {
    size: usize,
    bound: StarvationBound,
    solver: Solver,
    second_kind: Option<usize>,
    /// The jobs of the window of this pass.
    members: Vec<u32>,
    counts: SolverCounts,
}

impl WindowScheduler {
    pub(super) fn new(settings: &WindowSettings, machine: &Machine) -> Result<Self> {
        if !(1..=WINDOW_MAX).contains(&settings.size) {
            return Err(Error::config(format!(
                "a window of {} jobs is not possible: it has 1 to {WINDOW_MAX}",
                settings.size
            )));
        }
        let second_kind = match &settings.second {
            None => None,
            Some(name) => match machine.kind(name) {
                Some(0) | None => {
                    let why = format!("the second objective {name} is not another kind of resource of the machine");
                    return Err(Error::config(why));
                }
                kind => kind,
            },
        };
        Ok(Self {
            size: settings.size,
            bound: settings.bound,
            solver: Solver {
                rule: settings.rule,
                choice: settings.solver,
                genetic: settings.genetic,
            },
            second_kind,
            members: Vec::new(),
            counts: SolverCounts::default(),
        })
    }

    pub(super) fn solved(&self) -> SolverCounts {
        self.counts
    }

    /// Starts what the bound forces, and a chosen set. A job that must start and does not fit is given back: it gets a
    /// reservation, nothing is chosen in this pass, and others may only start if they do not delay it.
    pub(super) fn pass<O: Observer>(&mut self, cluster: &mut Cluster<'_, O>, waiting: &mut Vec<u32>) -> Option<u32> {
        self.members.clear();
        let open = waiting.iter().copied().filter(|job| !cluster.is_limited(*job));
        self.members.extend(open.take(self.size));
        let head = waiting.first().copied();
        let ahead_of = |job: u32| head.filter(|head| *head != job);
        let mut forced = None;
        let mut candidates = Vec::with_capacity(self.members.len());
        for job in &self.members {
            let now_s = cluster.now_s;
            let Some(active) = cluster.active.get_mut(*job) else {
                continue;
            };
            let since_s = active.since_s.get_or_insert(now_s);
            let is_due = match self.bound {
                StarvationBound::None => false,
                StarvationBound::Passes(n) => active.passed_n >= n,
                StarvationBound::Seconds(n) => now_s - *since_s >= n,
            };
            if !is_due || cluster.is_limited(*job) {
                candidates.push(*job);
            } else if cluster.fits(*job) {
                cluster.start(*job, StartReason::Forced, ahead_of(*job));
            } else {
                forced = Some(*job);
                break;
            }
        }
        if forced.is_none() {
            candidates.retain(|job| cluster.fits(*job));
            for job in self.choose(cluster, &candidates) {
                // Each was within its limit when the pass began, and left what will be reserved; together they may not.
                if !cluster.is_limited(job) && cluster.leaves_reserved(job) {
                    cluster.start(job, StartReason::Chosen, ahead_of(job));
                }
            }
        }
        let last = self.members.last().copied();
        let mut is_past = last.is_none();
        waiting.retain(|job| {
            let is_kept = is_past || !cluster.has_started(*job);
            is_past |= last == Some(*job);
            is_kept
        });
        forced
    }

    fn choose<O: Observer>(&mut self, cluster: &Cluster<'_, O>, candidates: &[u32]) -> Vec<u32> {
        if candidates.is_empty() {
            self.counts.trivial_n += 1;
            return Vec::new();
        }
        let jobs = candidates.iter().map(|job| WindowJob {
            need: *cluster.need(*job),
            ssd_gb: cluster.active.get(*job).map_or(0, |active| active.job.ssd_gb),
        });
        let problem = WindowProblem {
            jobs: jobs.collect(),
            free: cluster.free.at_least_nothing(),
            capacity: *cluster.machine.capacity(),
            second_kind: self.second_kind,
            ssd: cluster.machine.ssd(),
        };
        let chosen = self.solver.choose(&problem, u64::from(cluster.pass), &mut self.counts);
        let slots = candidates.iter().enumerate();
        slots
            .filter(|(slot, _)| chosen.set.has(*slot))
            .map(|(_, job)| *job)
            .collect()
    }

    /// Counts the pass for those of the window that still wait after it.
    pub(super) fn count_waiting<O: Observer>(&self, cluster: &mut Cluster<'_, O>) {
        for job in &self.members {
            if let Some(active) = cluster.active.get_mut(*job).filter(|active| !active.is_started) {
                active.passed_n += 1;
            }
        }
    }
}
