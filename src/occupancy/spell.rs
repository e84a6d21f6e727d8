//! What adds up on a node within a day, or the part of it in which the node stays what it is.

use super::billing::Scheme;
use super::history::State;
use super::resource::LEDGER_N;
use super::sweep::Stretch;
use super::tally::{DaySums, Question, Sums, UnitSums};
use super::unit::Thresholds;
use crate::time::Day;

/// Sums of a time in which neither the day nor the node changes, only what jobs hold. What follows from them is worked out
/// when it is over.
#[derive(Debug, Default)]
pub(super) struct Spell {
    day: Day,
    segment_n: usize,
    state: State,
    /// Whether there is a node, and it takes jobs.
    pub(super) is_open: bool,
    is_there: bool,
    /// What the node has; nothing where that is not known.
    pub(super) capacity: [i64; LEDGER_N],
    /// How much of that is set aside while it takes jobs.
    pub(super) set_aside: [i64; LEDGER_N],
    /// Seconds.
    pub(super) span_s: i64,
    pub(super) allocated: Sums,
    pub(super) aside: Sums,
    pub(super) over: Sums,
    /// Seconds in which nothing of a resource was allocated.
    pub(super) idle_s: [i64; LEDGER_N],
    pub(super) units: Vec<SpellUnit>,
}

/// What depends on a unit.
#[derive(Clone, Debug, Default)]
pub(super) struct SpellUnit {
    /// Time integral of the units.
    pub(super) unit_s: i128,
    /// That of the time in which nothing of a resource was allocated.
    pub(super) idle_unit_s: Sums,
}

impl Spell {
    /// Whether a stretch belongs to it.
    pub(super) fn holds(&self, stretch: &Stretch<'_>) -> bool {
        self.day == stretch.cell.day && self.segment_n == stretch.segment_n
    }

    /// Whether there is anything in it.
    pub(super) fn is_empty(&self) -> bool {
        self.span_s == 0
    }

    /// The day it lies in.
    pub(super) fn day(&self) -> Day {
        self.day
    }

    /// What begins with a stretch.
    pub(super) fn begin(&mut self, stretch: &Stretch<'_>, known: &[bool], unit_n: usize) {
        let mut units = std::mem::take(&mut self.units);
        units.clear();
        units.resize(unit_n, SpellUnit::default());
        let is_up = stretch.state == State::Up;
        let is_there = stretch.capacity.iter().any(|amount| *amount > 0);
        *self = Self {
            day: stretch.cell.day,
            segment_n: stretch.segment_n,
            state: stretch.state,
            is_open: is_up && is_there,
            is_there,
            units,
            ..Self::default()
        };
        let has = stretch.capacity.iter().zip(stretch.set_aside).zip(known);
        let amounts = self.capacity.iter_mut().zip(&mut self.set_aside);
        for ((capacity, aside), ((has, set_aside), known)) in amounts.zip(has) {
            *capacity = if *known { (*has).max(0) } else { 0 };
            *aside = if is_up { (*set_aside).max(0) } else { 0 };
        }
    }

    /// Adds it to its day.
    pub(super) fn settle(&self, day: &mut DaySums, question: Question<'_>) {
        let times = |amounts: [i64; LEDGER_N], span_s: [i64; LEDGER_N]| {
            let mut sums = [0; LEDGER_N];
            for ((sum, amount), span_s) in sums.iter_mut().zip(amounts).zip(span_s) {
                *sum = i128::from(amount) * i128::from(span_s);
            }
            sums
        };
        let capacity = times(self.capacity, [self.span_s; LEDGER_N]);
        let left = less(less(capacity, self.allocated), self.aside);
        day.node_s += if self.is_there { self.span_s } else { 0 };
        day.up_s += if self.is_open { self.span_s } else { 0 };
        add(&mut day.capacity, capacity);
        add(&mut day.allocated, self.allocated);
        add(&mut day.over, self.over);
        match self.state {
            State::Up => add(&mut day.reserved, self.aside),
            State::Down => add(&mut day.down, left),
            State::Reserved => add(&mut day.reserved, left),
        }
        let mut offered = self.capacity;
        for (offered, set_aside) in offered.iter_mut().zip(self.set_aside) {
            *offered -= set_aside.min(*offered);
        }
        let idle = times(offered, self.idle_s);
        let units = day.units.iter_mut().zip(&self.units).zip(question.units);
        for ((sums, unit), thresholds) in units {
            add(&mut sums.billed, self.allocated);
            if self.is_open {
                settle_unit(sums, unit, thresholds, question.scheme, (left, idle));
            }
        }
    }
}

/// Adds what depends on a unit. `free` is what was, `idle` the part of it beside which nothing was allocated.
fn settle_unit(
    sums: &mut UnitSums,
    unit: &SpellUnit,
    thresholds: &Thresholds,
    scheme: Scheme,
    (free, idle): (Sums, Sums),
) {
    sums.unit_s += unit.unit_s;
    let overhead = thresholds.times([unit.unit_s; LEDGER_N]);
    add(&mut sums.overhead, overhead);
    add(&mut sums.stranded, less(free, overhead));
    // Nobody is billed for what is free beside nothing.
    let shared = less(free, idle);
    let shared_overhead = less(overhead, thresholds.times(unit.idle_unit_s));
    let split = shared_overhead.into_iter().zip(less(shared, shared_overhead));
    for (billed, (overhead, stranded)) in sums.billed.iter_mut().zip(split) {
        // What is allocated is in it already.
        *billed += scheme.billable(0, overhead, stranded);
    }
}

fn add(sums: &mut Sums, more: Sums) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}

fn less(mut sums: Sums, others: Sums) -> Sums {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum -= other;
    }
    sums
}
