//! Exact search, depth first: a job in the set before the same job out of it, so that the first set found for a pair of
//! values is the one nearest the front of the window.

use super::front::ParetoFront;
use super::problem::{JobSet, Objectives, Solution, WindowProblem};
use crate::simulate::demand::Demand;

/// The Pareto front of the first two objectives.
#[must_use]
pub fn front(problem: &WindowProblem) -> Vec<Solution> {
    front_within(problem, u64::MAX).front.sorted()
}

/// What a search came to within a budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoundedFront {
    /// The sets found of which none is better than another; the Pareto front if the search is complete.
    pub front: ParetoFront,
    /// Steps taken: a step is a branch of the search that is looked at.
    pub step_n: u64,
    /// Whether nothing was left to look at.
    pub is_complete: bool,
}

/// As [`front`], in at most so many steps.
#[must_use]
pub fn front_within(problem: &WindowProblem, step_max: u64) -> BoundedFront {
    let mut search = FrontSearch {
        problem,
        rest: problem.suffixes(),
        found: BoundedFront {
            is_complete: true,
            ..BoundedFront::default()
        },
        step_max,
    };
    search.visit(0, JobSet::NONE, Demand::NOTHING);
    search.found
}

struct FrontSearch<'a> {
    problem: &'a WindowProblem,
    /// What the jobs from each slot on request together.
    rest: Vec<Demand>,
    found: BoundedFront,
    step_max: u64,
}

impl FrontSearch<'_> {
    fn visit(&mut self, slot: usize, set: JobSet, taken: Demand) {
        if self.found.step_n >= self.step_max {
            self.found.is_complete = false;
            return;
        }
        self.found.step_n += 1;
        let problem = self.problem;
        let mut all = taken;
        all.add(&self.rest[slot]);
        if all.fits_in(&problem.free) {
            // Everything left fits: no other set of this branch is better, or nearer the front.
            let set = (slot..problem.jobs.len()).fold(set, JobSet::with);
            let worth = problem.worth_of(&all, 0);
            return self.found.front.insert(Solution { set, worth });
        }
        let most = Objectives {
            first: all.first().min(problem.free.first()),
            second: problem.second(&all).min(problem.second(&problem.free)),
            ..Objectives::default()
        };
        if self.found.front.covers(&most) {
            return;
        }
        let Some(job) = problem.jobs.get(slot) else { return };
        let mut with = taken;
        with.add(&job.need);
        if with.fits_in(&problem.free) {
            self.visit(slot + 1, set.with(slot), with);
        }
        self.visit(slot + 1, set, taken);
    }
}

/// Visits every feasible set, those nearer the front first.
pub(super) fn every_set(problem: &WindowProblem, visit: &mut dyn FnMut(&Solution)) {
    visit_sets(problem, 0, JobSet::NONE, &Demand::NOTHING, 0, visit);
}

fn visit_sets(
    problem: &WindowProblem,
    slot: usize,
    set: JobSet,
    taken: &Demand,
    used_gb: i64,
    visit: &mut dyn FnMut(&Solution),
) {
    let Some(job) = problem.jobs.get(slot) else {
        let worth = problem.worth_of(taken, used_gb);
        return visit(&Solution { set, worth });
    };
    let mut with = *taken;
    with.add(&job.need);
    if with.fits_in(&problem.free) {
        let used_gb = used_gb + job.ssd_gb * job.need.first();
        visit_sets(problem, slot + 1, set.with(slot), &with, used_gb, visit);
    }
    visit_sets(problem, slot + 1, set, taken, used_gb, visit);
}
