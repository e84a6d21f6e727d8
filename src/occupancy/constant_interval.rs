//! What adds up on a node within a day, or the part of it in which the node stays what it is.

use super::billing::Scheme;
use super::history::CapacityState;
use super::node_totals::{DaySums, NodeQuery, NodeSums, UnitSums};
use super::resource::LEDGER_N;
use super::sweep::TimeRange;
use super::unit::Thresholds;
use crate::time::Day;

/// Sums of a time in which neither the day nor the node changes, only what jobs hold. What follows from them is worked out
/// when it is over.
#[derive(Debug, Default)]
pub(super) struct ConstantInterval {
    day: Day,
    segment_n: usize,
    state: CapacityState,
    /// Whether there is a node, and it takes jobs.
    pub(super) is_open: bool,
    is_there: bool,
    /// What the node has; nothing where that is not known.
    pub(super) capacity: [i64; LEDGER_N],
    /// How much of that is set aside while it takes jobs.
    pub(super) set_aside: [i64; LEDGER_N],
    /// Whether any of it is.
    pub(super) is_set_aside: bool,
    /// Seconds.
    pub(super) span_s: i64,
    /// How many there may be: no sum of what the node has over more of them is sure to fit.
    limit_s: i64,
    /// Resource-seconds.
    pub(super) allocated: [i64; LEDGER_N],
    aside: NodeSums,
    pub(super) over: NodeSums,
    /// Seconds in which nothing of a resource was allocated.
    idle_s: [i64; LEDGER_N],
    /// Of which resources nothing is allocated now.
    pub(super) is_idle: [bool; LEDGER_N],
    pub(super) units: Vec<IntervalUnit>,
}

/// What depends on a unit.
#[derive(Clone, Debug, Default)]
pub(super) struct IntervalUnit {
    /// Time integral of the units.
    pub(super) unit_s: i64,
    /// That of the time in which nothing of a resource was allocated.
    idle_unit_s: NodeSums,
}

impl IntervalUnit {
    /// Adds units of a node on which nothing of some resources is allocated.
    pub(super) fn idle(&mut self, is_idle: [bool; LEDGER_N], unit_s: i64) {
        for (sum, is_idle) in self.idle_unit_s.iter_mut().zip(is_idle) {
            *sum += if is_idle { i128::from(unit_s) } else { 0 };
        }
    }
}

impl ConstantInterval {
    /// Takes what is set aside from what is left.
    pub(super) fn put_aside(&mut self, left: &mut [i64; LEDGER_N], span_s: i64) {
        for ((left, set_aside), sum) in left.iter_mut().zip(self.set_aside).zip(&mut self.aside) {
            let aside = (*left).min(set_aside);
            *left -= aside;
            *sum += i128::from(aside) * i128::from(span_s);
        }
    }

    /// Notes a time in which nothing of some resource is allocated.
    pub(super) fn idle(&mut self, used: &[i64], span_s: i64) {
        let of = self.is_idle.iter_mut().zip(&mut self.idle_s).zip(self.capacity);
        for (((is_idle, idle_s), capacity), used) in of.zip(used) {
            *is_idle = *used <= 0 && capacity > 0;
            *idle_s += if *is_idle { span_s } else { 0 };
        }
    }

    /// Whether a stretch belongs to it, and has room.
    #[inline]
    pub(super) fn holds(&self, stretch: &TimeRange<'_>, span_s: i64) -> bool {
        self.day == stretch.cell.day
            && self.segment_n == stretch.segment_n
            // Fallback: no second is negative, so that the difference fits.
            && span_s <= self.limit_s.saturating_sub(self.span_s)
    }

    /// Seconds of a stretch that are sure to have room in an empty one.
    pub(super) fn limit_s(&self) -> i64 {
        self.limit_s
    }

    /// Whether there is anything in it.
    pub(super) fn is_empty(&self) -> bool {
        self.span_s == 0
    }

    /// Its day.
    pub(super) fn day(&self) -> Day {
        self.day
    }

    /// What begins with a stretch.
    pub(super) fn begin(&mut self, stretch: &TimeRange<'_>, known: &[bool], unit_n: usize) {
        let mut units = std::mem::take(&mut self.units);
        units.clear();
        units.resize(unit_n, IntervalUnit::default());
        let is_up = stretch.state == CapacityState::Up;
        let is_there = stretch.capacity.iter().any(|amount| *amount > 0);
        *self = Self {
            day: stretch.cell.day,
            segment_n: stretch.segment_n,
            state: stretch.state,
            is_open: is_up && is_there,
            is_there,
            limit_s: i64::MAX / stretch.capacity.iter().fold(1, |most, amount| most.max(*amount)),
            units,
            ..Self::default()
        };
        let has = stretch.capacity.iter().zip(stretch.set_aside).zip(known);
        let amounts = self.capacity.iter_mut().zip(&mut self.set_aside);
        for ((capacity, aside), ((has, set_aside), known)) in amounts.zip(has) {
            *capacity = if *known { (*has).max(0) } else { 0 };
            *aside = if is_up { (*set_aside).max(0) } else { 0 };
        }
        self.is_set_aside = self.set_aside != [0; LEDGER_N];
    }

    /// Adds it to its day.
    pub(super) fn settle(&self, day: &mut DaySums, question: NodeQuery<'_>) {
        let times = |amounts: [i64; LEDGER_N], span_s: [i64; LEDGER_N]| {
            let mut sums = [0; LEDGER_N];
            for ((sum, amount), span_s) in sums.iter_mut().zip(amounts).zip(span_s) {
                *sum = i128::from(amount) * i128::from(span_s);
            }
            sums
        };
        let capacity = times(self.capacity, [self.span_s; LEDGER_N]);
        let allocated = self.allocated.map(i128::from);
        let left = less(less(capacity, allocated), self.aside);
        day.node_s += if self.is_there { self.span_s } else { 0 };
        day.up_s += if self.is_open { self.span_s } else { 0 };
        add(&mut day.capacity, capacity);
        add(&mut day.allocated, allocated);
        add(&mut day.over, self.over);
        match self.state {
            CapacityState::Up => add(&mut day.reserved, self.aside),
            CapacityState::Down => add(&mut day.down, left),
            CapacityState::Reserved => add(&mut day.reserved, left),
        }
        let mut offered = self.capacity;
        for (offered, set_aside) in offered.iter_mut().zip(self.set_aside) {
            *offered -= set_aside.min(*offered);
        }
        let idle = times(offered, self.idle_s);
        let units = day.units.iter_mut().zip(&self.units).zip(question.units);
        for ((sums, unit), thresholds) in units {
            add(&mut sums.billed, allocated);
            if self.is_open {
                settle_unit(sums, unit, thresholds, question.scheme, left, idle);
            }
        }
    }
}

/// Adds what depends on a unit. `free` is the free amount, `idle` the part of it while nothing was allocated.
fn settle_unit(
    sums: &mut UnitSums,
    unit: &IntervalUnit,
    thresholds: &Thresholds,
    scheme: Scheme,
    free: NodeSums,
    idle: NodeSums,
) {
    let unit_s = i128::from(unit.unit_s);
    sums.unit_s += unit_s;
    let overhead = thresholds.times([unit_s; LEDGER_N]);
    add(&mut sums.overhead, overhead);
    add(&mut sums.stranded, less(free, overhead));
    // Free amounts are billed to no job while nothing is allocated.
    let shared = less(free, idle);
    let shared_overhead = less(overhead, thresholds.times(unit.idle_unit_s));
    let split = shared_overhead.into_iter().zip(less(shared, shared_overhead));
    for (billed, (overhead, stranded)) in sums.billed.iter_mut().zip(split) {
        // What is allocated is in it already.
        *billed += scheme.billable(0, overhead, stranded);
    }
}

fn add(sums: &mut NodeSums, more: NodeSums) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}

fn less(mut sums: NodeSums, others: NodeSums) -> NodeSums {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum -= other;
    }
    sums
}
