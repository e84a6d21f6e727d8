//! Exact search by sums of subsets: which pairs of (first, second) can be reached, as bits. Its time grows with the amounts
//! that are free, not with the number of sets.

use std::sync::{Mutex, PoisonError};

use super::front::ParetoFront;
use super::problem::{JobSet, Objectives, Solution, WindowProblem};
use crate::numbers::{Extent, count_u64, index_u64};

/// Most bytes of all layers together.
const BYTES_MAX: usize = 128 << 20;

/// A table of at most so many words is no large one: a megabyte.
const SMALL_WORDS: usize = 1 << 17;

/// The requests of a window in their largest common units.
struct Grid {
    /// Rows: units of the first resource, from none.
    row_n: usize,
    /// Words of a row: one bit for each number of units of the second resource, from none.
    word_n: usize,
    /// Units of the first resource of each job.
    firsts: Vec<usize>,
    /// Units of the second resource of each job.
    seconds: Vec<usize>,
    first_unit: i64,
    second_unit: i64,
    second_most: usize,
}

/// A table of sums of several methods that are simulated at a time: layer by layer, one of the jobs from each slot on.
static LARGE_TABLE: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// The Pareto front, where only the two resources of the objectives limit the set and the layers fit into memory. There is one large
/// table at a time: who needs it waits, and what it comes to does not depend on that.
#[must_use]
pub fn front(problem: &WindowProblem) -> Option<Vec<Solution>> {
    let grid = Grid::of(problem)?;
    if grid.table_word_n() <= SMALL_WORDS {
        return grid.front(&mut Vec::new());
    }
    // A thread that died has left numbers that are computed again.
    let mut table = LARGE_TABLE.lock().unwrap_or_else(PoisonError::into_inner);
    grid.front(&mut table)
}

/// How many steps the table of sums takes: words of it that are computed. `None` where it is no way to the front.
#[must_use]
pub fn step_n(problem: &WindowProblem) -> Option<u64> {
    let grid = Grid::of(problem)?;
    let words = grid.row_n.times(grid.word_n).times(problem.jobs.len());
    Some(count_u64(words))
}

impl Grid {
    fn of(problem: &WindowProblem) -> Option<Self> {
        let all = problem.suffixes().first().copied()?;
        let is_objective = |kind: usize| kind == 0 || Some(kind) == problem.second_kind;
        let mut kinds = all.amounts().zip(problem.free.amounts()).enumerate();
        if kinds.any(|(kind, (sum, free))| !is_objective(kind) && sum > free) {
            return None;
        }
        let first_unit = unit(problem.jobs.iter().map(|job| job.need.first()));
        let second_unit = unit(problem.jobs.iter().map(|job| problem.second(&job.need)));
        let units = |amount: i64, unit: i64| usize::try_from(amount / unit).ok();
        let first_most = units(all.first().min(problem.free.first()), first_unit)?;
        let second_most = units(problem.second(&all).min(problem.second(&problem.free)), second_unit)?;
        let (row_n, word_n) = (first_most.further(1), second_most / 64 + 1);
        let bytes = row_n.times(word_n).times(8).times(problem.jobs.len() + 1);
        if bytes > BYTES_MAX {
            return None;
        }
        let firsts = problem.jobs.iter().map(|job| units(job.need.first(), first_unit));
        let seconds = (problem.jobs.iter()).map(|job| units(problem.second(&job.need), second_unit));
        Some(Self {
            row_n,
            word_n,
            firsts: firsts.collect::<Option<_>>()?,
            seconds: seconds.collect::<Option<_>>()?,
            first_unit,
            second_unit,
            second_most,
        })
    }

    /// Words of a layer: which sums can be reached with some of the jobs.
    fn layer_word_n(&self) -> usize {
        self.row_n * self.word_n
    }

    /// Words of all layers: those of the jobs from each slot on, and one of no job.
    fn table_word_n(&self) -> usize {
        self.layer_word_n() * (self.firsts.len() + 1)
    }

    /// The Pareto front, found in a table that may hold anything.
    fn front(&self, table: &mut Vec<u64>) -> Option<Vec<Solution>> {
        if table.len() < self.table_word_n() {
            // The old one goes first, so that there are never two.
            *table = Vec::new();
            *table = vec![0; self.table_word_n()];
        }
        let layer_n = self.layer_word_n();
        let none = table.get_mut(layer_n * self.firsts.len()..self.table_word_n())?;
        none.fill(0);
        *none.first_mut()? = 1;
        for slot in (0..self.firsts.len()).rev() {
            let (before, later) = table.split_at_mut_checked(layer_n * (slot + 1))?;
            self.add_job(before.get_mut(layer_n * slot..)?, later.get(..layer_n)?, slot);
        }
        let layers: Vec<&[u64]> = table.chunks_exact(layer_n).take(self.firsts.len() + 1).collect();
        let mut front = ParetoFront::default();
        let mut best = None;
        for row in (0..self.row_n).rev() {
            let Some(second) = self.highest(layers.first()?, row) else {
                continue;
            };
            if best.is_none_or(|best| second > best) {
                best = Some(second);
                front.insert(Solution {
                    set: self.nearest_front(&layers, row, second),
                    worth: Objectives {
                        first: self.first_unit * i64::try_from(row).ok()?,
                        second: self.second_unit * i64::try_from(second).ok()?,
                        ..Objectives::default()
                    },
                });
            }
        }
        Some(front.sorted())
    }

    /// Makes a layer of the next one and what one more job adds to its sums.
    fn add_job(&self, next: &mut [u64], layer: &[u64], slot: usize) {
        next.copy_from_slice(layer);
        let (rows, bits) = (self.firsts[slot], self.seconds[slot]);
        let (words, shift) = (bits / 64, bits % 64);
        let last_mask = u64::MAX >> (63 - self.second_most % 64);
        for (row, from) in layer.chunks_exact(self.word_n).enumerate() {
            let Some(to) = next.chunks_exact_mut(self.word_n).nth(row + rows) else {
                break;
            };
            let mut carry = 0;
            for (to, from) in to.iter_mut().skip(words).zip(from) {
                *to |= from << shift | carry;
                carry = if shift == 0 { 0 } else { from >> (64 - shift) };
            }
            if let Some(last) = to.last_mut() {
                *last &= last_mask;
            }
        }
    }

    /// The most of the second resource that can be reached with so much of the first.
    fn highest(&self, layer: &[u64], row: usize) -> Option<usize> {
        let words = layer.chunks_exact(self.word_n).nth(row)?;
        let (at, word) = words.iter().enumerate().rev().find(|(_, word)| **word != 0)?;
        Some(at * 64 + index_u64(u64::from(word.ilog2())))
    }

    fn can_reach(&self, layer: &[u64], row: usize, second: usize) -> bool {
        let word = layer.get(row * self.word_n + second / 64);
        word.is_some_and(|word| word >> (second % 64) & 1 == 1)
    }

    /// Of all sets with these sums the one nearest the front.
    fn nearest_front(&self, layers: &[&[u64]], mut row: usize, mut second: usize) -> JobSet {
        let mut set = JobSet::NONE;
        for (slot, later) in layers.iter().skip(1).enumerate() {
            let (first, more) = (self.firsts[slot], self.seconds[slot]);
            if row >= first && second >= more && self.can_reach(later, row - first, second - more) {
                set = set.with(slot);
                row -= first;
                second -= more;
            }
        }
        set
    }
}

/// The largest unit all amounts are multiples of; 1 where there are none.
fn unit(amounts: impl Iterator<Item = i64>) -> i64 {
    let mut unit = 0;
    for amount in amounts {
        let (mut a, mut b) = (unit, amount);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        unit = a;
    }
    unit.max(1)
}
