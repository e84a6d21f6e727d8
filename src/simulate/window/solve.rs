//! One window: by which means it is solved, and the set that is started.

use super::decide::{self, ChoiceRule};
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
        counts.genetic_n += 1;
        let found = genetic::solve(problem, &self.genetic, stream);
        if problem.ssd.is_some() {
            return decide::of_found(problem, &found, self.rule);
        }
        let mut front = ParetoFront::default();
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
