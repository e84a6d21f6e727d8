//! Sets of which none is better than another in everything.

use super::problem::{JobSet, Objectives, Solution};
use crate::numbers::count_i64;

/// The Pareto front of the first two objectives: for each pair of values that no other pair covers one set, the one whose
/// jobs are nearest the front of the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParetoFront {
    points: Vec<Solution>,
}

impl ParetoFront {
    /// Whether a set with these values would add nothing: there is one that covers them.
    #[inline]
    #[must_use]
    pub fn covers(&self, worth: &Objectives) -> bool {
        self.points.iter().any(|point| point.worth.covers(worth))
    }

    /// Takes a set, if none there covers it. Of sets with the same values the one nearest the front stays.
    pub fn insert(&mut self, solution: Solution) {
        let same = self.points.iter_mut().find(|point| point.worth == solution.worth);
        if let Some(same) = same {
            if solution.set.is_before(same.set) {
                same.set = solution.set;
            }
            return;
        }
        if !self.covers(&solution.worth) {
            self.points.retain(|point| !solution.worth.covers(&point.worth));
            self.points.push(solution);
        }
    }

    /// The points, the one with the most of the first resource first.
    #[must_use]
    pub fn sorted(mut self) -> Vec<Solution> {
        self.points.sort_by_key(|point| std::cmp::Reverse(point.worth));
        self.points
    }
}

/// Generational distance of found points to the true front: the mean distance of each to the nearest of them, where a
/// distance is Euclidean in fractions of the capacities. It is 0 when all found points are on the front.
#[must_use]
pub fn generational_distance(found: &[Solution], front: &[Solution], capacity: &Objectives) -> f64 {
    let distance = |a: &Objectives, b: &Objectives| {
        let axes = [
            share(a.first - b.first, capacity.first),
            share(a.second - b.second, capacity.second),
            share(a.ssd_gb - b.ssd_gb, capacity.ssd_gb),
            share(a.less_waste_gb - b.less_waste_gb, capacity.ssd_gb),
        ];
        axes.iter().map(|axis| axis * axis).sum::<f64>().sqrt()
    };
    let nearest = |point: &Solution| {
        let all = front.iter().map(|other| distance(&point.worth, &other.worth));
        all.fold(f64::INFINITY, f64::min)
    };
    if found.is_empty() {
        return 0.0;
    }
    found.iter().map(nearest).sum::<f64>() / real(count_i64(found.len()))
}

fn share(part: i64, of: i64) -> f64 {
    if of == 0 { 0.0 } else { real(part) / real(of) }
}

#[expect(clippy::cast_precision_loss, reason = "amounts have at most 53 bits")]
fn real(number: i64) -> f64 {
    number as f64
}

/// The set nearest the front of the window of those with the most of the first resource that nothing dominates.
pub(super) fn most_of_first(candidates: &[Solution]) -> Solution {
    let is_dominated = |one: &&Solution| candidates.iter().any(|other| other.worth.dominates(&one.worth));
    let mut best = Solution {
        set: JobSet::NONE,
        worth: Objectives::default(),
    };
    for (at, one) in candidates.iter().filter(|one| !is_dominated(one)).enumerate() {
        let is_better =
            one.worth.first > best.worth.first || (one.worth.first == best.worth.first && one.set.is_before(best.set));
        if at == 0 || is_better {
            best = *one;
        }
    }
    best
}
