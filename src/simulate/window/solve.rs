//! One window: by which means it is solved, and the set that is started.

use super::decide::{self, ChoiceRule};
use super::depth_first::BoundedFront;
use super::front::ParetoFront;
use super::genetic::{self, GeneticSettings};
use super::problem::{JobSet, Solution, WindowProblem};
use super::{depth_first, subset_sums};
use crate::simulate::schedule::SolverCounts;

/// Windows up to this size are searched depth first.
const DEPTH_FIRST_MAX: usize = 16;
/// The largest window that is searched depth first where sums of subsets do not fit.
const DEPTH_FIRST_LAST_MAX: usize = 24;
/// The largest window of which all sets are looked at, with the objectives of local storage.
const EVERY_SET_MAX: usize = 22;

/// By which means a window is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SolverChoice {
    /// Exactly: depth first or by sums of subsets, by size. What is too large for both is left to the genetic algorithm, and
    /// counted.
    #[default]
    Exact,
    /// By the genetic algorithm.
    Genetic,
    /// Exactly where that takes at most so many steps, of whatever size the window is. Else the sets that the search had
    /// found and those of the genetic algorithm are chosen from, and it is counted. Steps are work, not time: branches of the
    /// search depth first, or words of the table of sums. So a schedule does not depend on the machine it is computed on.
    Auto(StepBudget),
}

/// Most steps that the exact solution of one window may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepBudget(pub u64);

impl Default for StepBudget {
    /// A million: some milliseconds.
    fn default() -> Self {
        Self(1_000_000)
    }
}

/// The exact Pareto front of the first two objectives; nothing where the window is too large.
#[must_use]
pub fn exact_front(problem: &WindowProblem, counts: &mut SolverCounts) -> Option<Vec<Solution>> {
    let job_n = problem.jobs.len();
    if job_n > DEPTH_FIRST_MAX
        && let Some(front) = subset_sums::front(problem)
    {
        counts.subset_sums_n += 1;
        return Some(front);
    }
    if job_n > DEPTH_FIRST_LAST_MAX {
        return None;
    }
    counts.depth_first_n += 1;
    Some(depth_first::front(problem))
}

/// The front of the first two objectives within a budget: by sums of subsets where the window is large and their table is
/// within it, else depth first.
fn front_within(problem: &WindowProblem, StepBudget(step_max): StepBudget, counts: &mut SolverCounts) -> BoundedFront {
    let is_large = problem.jobs.len() > DEPTH_FIRST_MAX;
    let is_within = || subset_sums::step_n(problem).is_some_and(|step_n| step_n <= step_max);
    if is_large
        && is_within()
        && let Some(solutions) = subset_sums::front(problem)
    {
        counts.subset_sums_n += 1;
        let mut front = ParetoFront::default();
        for solution in solutions {
            front.insert(solution);
        }
        return BoundedFront {
            front,
            is_complete: true,
            ..BoundedFront::default()
        };
    }
    let found = depth_first::front_within(problem, step_max);
    counts.depth_first_n += u64::from(found.is_complete);
    found
}

/// Whether all sets of so many jobs, each looked at twice, are within a budget.
fn every_set_fits(job_n: usize, StepBudget(step_max): StepBudget) -> bool {
    let doubled = u32::try_from(job_n + 1).ok();
    let step_n = doubled.and_then(|shift| 1_u64.checked_shl(shift));
    job_n < 63 && step_n.is_some_and(|step_n| step_n <= step_max)
}

/// How windows are solved.
#[derive(Clone, Copy, Debug)]
pub struct Solver {
    /// How a set is chosen.
    pub rule: ChoiceRule,
    /// By which means.
    pub choice: SolverChoice,
    /// The parameters of the genetic algorithm.
    pub genetic: GeneticSettings,
}

impl Solver {
    /// The set of jobs to start. `stream` distinguishes the random numbers of one window from those of others.
    #[must_use]
    pub fn choose(&self, problem: &WindowProblem, stream: u64, counts: &mut SolverCounts) -> Solution {
        let job_n = problem.jobs.len();
        let all = JobSet::first(job_n);
        if job_n <= 1 || problem.is_feasible(all) && (problem.ssd.is_none() || !self.weighs_waste()) {
            counts.trivial_n += 1;
            return Solution {
                set: all,
                worth: problem.worth(all),
            };
        }
        if self.rule == ChoiceRule::BinPacking {
            counts.greedy_n += 1;
            return decide::bin_packing(problem);
        }
        if self.choice == SolverChoice::Exact {
            if problem.ssd.is_some() {
                if job_n <= EVERY_SET_MAX {
                    counts.depth_first_n += 1;
                    return decide::of_all(problem, self.rule);
                }
            } else if let Some(front) = exact_front(problem, counts) {
                return decide::of_front(problem, &front, self.rule);
            }
        }
        let mut front = ParetoFront::default();
        if let SolverChoice::Auto(budget) = self.choice {
            if problem.ssd.is_some() {
                if every_set_fits(job_n, budget) {
                    counts.depth_first_n += 1;
                    return decide::of_all(problem, self.rule);
                }
            } else {
                let found = front_within(problem, budget, counts);
                if found.is_complete {
                    return decide::of_front(problem, &found.front.sorted(), self.rule);
                }
                front = found.front;
            }
            counts.over_budget_n += 1;
        }
        counts.genetic_n += 1;
        let found = genetic::solve(problem, &self.genetic, stream);
        if problem.ssd.is_some() {
            return decide::of_found(problem, &found, self.rule);
        }
        for solution in found {
            front.insert(solution);
        }
        decide::of_front(problem, &front.sorted(), self.rule)
    }

    /// Whether more jobs can be worse, because they waste local storage.
    fn weighs_waste(&self) -> bool {
        matches!(self.rule, ChoiceRule::WeightedEqually | ChoiceRule::Tradeoff(_))
    }
}
