//! Which of the possible sets is started.

use super::depth_first::every_set;
use super::front::most_of_first;
use super::problem::{JobSet, Objectives, Solution, WindowProblem};

/// What is maximised alone, under the limits of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// Nodes (or whatever the first kind is).
    First,
    /// Burst buffer (or whatever the second objective is).
    Second,
    /// Local storage.
    Ssd,
}

/// How a set is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChoiceRule {
    /// The largest weighted sum of the shares of the capacity, in percent.
    Weighted {
        /// Weight of the first kind.
        first: u8,
        /// Weight of the second.
        second: u8,
    },
    /// The largest sum of all shares, where local storage that is wasted counts against it.
    WeightedEqually,
    /// The most of one kind.
    Constrained(Objective),
    /// The job that fits best, again and again: the largest dot product of what is free and what it requests.
    BinPacking,
    /// A point of the Pareto front that gives up some of the first kind for much more of the others.
    Tradeoff(Tradeoff),
}

/// When one point of a Pareto front replaces another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tradeoff {
    /// The paper's: the gain is more than twice the loss of nodes (four times with local storage).
    #[default]
    Paper,
    /// That of the authors' code: the second kind rises by more than 30 % of itself, and less than 10 % of the nodes are lost.
    Cqsim,
}

/// The set chosen from a front of the first two objectives.
#[must_use]
pub fn of_front(problem: &WindowProblem, front: &[Solution], rule: ChoiceRule) -> Solution {
    match rule {
        ChoiceRule::Tradeoff(tradeoff) => trade(problem, front, tradeoff),
        _ => best(front, |worth| key(problem, rule, worth)),
    }
}

/// The set chosen among all that are feasible, with the objectives of local storage. None is kept but the best.
#[must_use]
pub fn of_all(problem: &WindowProblem, rule: ChoiceRule) -> Solution {
    of_visited(problem, rule, |visit| every_set(problem, visit))
}

/// The set chosen among those found, with the objectives of local storage.
#[must_use]
pub fn of_found(problem: &WindowProblem, found: &[Solution], rule: ChoiceRule) -> Solution {
    of_visited(problem, rule, |visit| found.iter().for_each(visit))
}

fn of_visited(problem: &WindowProblem, rule: ChoiceRule, visit_all: impl Fn(&mut dyn FnMut(&Solution))) -> Solution {
    if !matches!(rule, ChoiceRule::Tradeoff(_)) {
        let mut best = Best::default();
        visit_all(&mut |solution| best.look_at(solution, Some(key(problem, rule, &solution.worth))));
        return best.solution;
    }
    let mut most: Vec<Solution> = Vec::new();
    visit_all(&mut |solution| {
        let first = most.first().map_or(0, |one| one.worth.first);
        if solution.worth.first > first || most.is_empty() {
            most.clear();
        }
        let is_as_good = most.first().is_none_or(|one| one.worth.first == solution.worth.first);
        if is_as_good && most.iter().all(|one| !one.worth.dominates(&solution.worth)) {
            most.retain(|one| !solution.worth.dominates(&one.worth));
            // Of sets of equal worth the first one visited is the nearest to the front.
            if most.iter().all(|one| one.worth != solution.worth) {
                most.push(*solution);
            }
        }
    });
    let start = most_of_first(&most);
    let mut best = Best::default();
    best.look_at(&start, None);
    visit_all(&mut |solution| {
        if let Some(gain) = ssd_gain(problem, &start.worth, &solution.worth) {
            best.look_at(solution, Some([gain, i128::from(solution.worth.first), 0, 0]));
        }
    });
    best.solution
}

/// What orders sets: compared from the front.
type Key = [i128; 4];

/// The best set looked at; of equally good ones the one nearest the front of the window.
#[derive(Default)]
struct Best {
    solution: Solution,
    key: Option<Key>,
    is_any: bool,
}

impl Best {
    fn look_at(&mut self, solution: &Solution, key: Option<Key>) {
        let is_nearer = || key == self.key && solution.set.is_before(self.solution.set);
        if !self.is_any || key > self.key || is_nearer() {
            (self.solution, self.key, self.is_any) = (*solution, key, true);
        }
    }
}

fn best(solutions: &[Solution], key: impl Fn(&Objectives) -> Key) -> Solution {
    let mut best = Best::default();
    for solution in solutions {
        best.look_at(solution, Some(key(&solution.worth)));
    }
    best.solution
}

/// What a rule orders sets by: its own objective, then the others in their order.
fn key(problem: &WindowProblem, rule: ChoiceRule, worth: &Objectives) -> Key {
    let [first, second, ssd_gb, less_waste] =
        [worth.first, worth.second, worth.ssd_gb, worth.less_waste_gb].map(i128::from);
    let capacity = capacity(problem);
    match rule {
        ChoiceRule::Weighted { first: a, second: b } => {
            let sum = i128::from(a) * first * capacity.second + i128::from(b) * second * capacity.first;
            [sum, first, second, ssd_gb]
        }
        ChoiceRule::WeightedEqually => {
            let sum = first * capacity.second * capacity.ssd_gb
                + second * capacity.first * capacity.ssd_gb
                + (ssd_gb + less_waste) * capacity.first * capacity.second;
            [sum, first, second, ssd_gb]
        }
        ChoiceRule::Constrained(Objective::Second) => [second, first, ssd_gb, less_waste],
        ChoiceRule::Constrained(Objective::Ssd) => [ssd_gb, first, second, less_waste],
        _ => [first, second, ssd_gb, less_waste],
    }
}

/// Capacities, at least 1: of what a machine does not have there is no share.
struct Capacity {
    first: i128,
    second: i128,
    ssd_gb: i128,
}

fn capacity(problem: &WindowProblem) -> Capacity {
    let of = |amount: i64| i128::from(amount.max(1));
    Capacity {
        first: of(problem.capacity.first()),
        second: of(problem.second(&problem.capacity)),
        ssd_gb: of(problem.ssd_capacity_gb()),
    }
}

/// The point with the most of the first kind, or the one that replaces it.
fn trade(problem: &WindowProblem, front: &[Solution], tradeoff: Tradeoff) -> Solution {
    let start = best(front, |worth| {
        key(problem, ChoiceRule::Constrained(Objective::First), worth)
    });
    let capacity = capacity(problem);
    let mut best = Best::default();
    best.look_at(&start, None);
    for solution in front {
        let gain = i128::from(solution.worth.second) - i128::from(start.worth.second);
        let loss = i128::from(start.worth.first) - i128::from(solution.worth.first);
        let replaces = match tradeoff {
            Tradeoff::Paper => gain * capacity.first > 2 * loss * capacity.second,
            Tradeoff::Cqsim => 10 * gain > 3 * i128::from(start.worth.second) && 10 * loss < capacity.first,
        };
        if gain > 0 && replaces {
            best.look_at(solution, Some([gain, i128::from(solution.worth.first), 0, 0]));
        }
    }
    best.solution
}

/// The gain in burst buffer, local storage and less waste of it, all as shares of the capacity, where it is more than four
/// times the loss of nodes.
fn ssd_gain(problem: &WindowProblem, start: &Objectives, other: &Objectives) -> Option<i128> {
    let capacity = capacity(problem);
    let second = i128::from(other.second) - i128::from(start.second);
    let ssd_gb = i128::from(other.ssd_gb) - i128::from(start.ssd_gb);
    let less_waste = i128::from(other.less_waste_gb) - i128::from(start.less_waste_gb);
    let loss = i128::from(start.first) - i128::from(other.first);
    let gain = second * capacity.ssd_gb + (ssd_gb + less_waste) * capacity.second;
    let is_enough = gain * capacity.first > 4 * loss * capacity.second * capacity.ssd_gb;
    (gain > 0 && is_enough).then_some(gain)
}

/// The jobs that fit best, one after the other: the largest dot product of what is free and what it requests, both as shares
/// of the capacity. Equal ones are taken from the front.
#[must_use]
pub fn bin_packing(problem: &WindowProblem) -> Solution {
    let mut set = JobSet::NONE;
    loop {
        let taken = problem.demand(set);
        let free = problem.free.without(&taken);
        let mut best = None;
        for (slot, job) in problem.jobs.iter().enumerate() {
            if set.has(slot) || !job.need.fits_in(&free) {
                continue;
            }
            let mut score =
                share(free.first(), problem.capacity.first()) * share(job.need.first(), problem.capacity.first());
            if let Some(kind) = problem.second_kind {
                let of = problem.capacity.get(kind);
                score += share(free.get(kind), of) * share(job.need.get(kind), of);
            }
            if let Some(ssd) = problem.ssd {
                let large_n = free.get(ssd.large_kind);
                let free_gb = ssd.small_gb * (free.first() - large_n).max(0) + ssd.large_gb * large_n;
                let of = problem.ssd_capacity_gb();
                score += share(free_gb, of) * share(job.ssd_gb * job.need.first(), of);
            }
            if best.is_none_or(|(_, most)| score > most) {
                best = Some((slot, score));
            }
        }
        match best {
            Some((slot, _)) => set = set.with(slot),
            None => break,
        }
    }
    Solution {
        set,
        worth: problem.worth(set),
    }
}

#[expect(clippy::cast_precision_loss, reason = "amounts have at most 53 bits")]
fn share(part: i64, of: i64) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}
