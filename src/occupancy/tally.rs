//! What is asked of a node's stretches: the ledger and the units by day, their distribution, what cannot be.

use std::collections::HashMap;

use super::Scheme;
use super::grid::Grid;
use super::history::{History, State};
use super::resource::LEDGER_N;
use super::slice::{Interval, Shapes};
use super::sweep::{Stretch, Visit, sweep};
use super::unit::Thresholds;
use crate::time::Day;

/// Resource-seconds by resource of the ledger.
pub type Sums = [i128; LEDGER_N];

/// What does not depend on a unit, of one node and day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DaySums {
    /// Local day.
    pub day: Day,
    /// Seconds in which there was a node.
    pub node_s: i64,
    /// Seconds of these in which it took jobs.
    pub up_s: i64,
    /// What it has.
    pub capacity: Sums,
    /// What jobs were given, as much of it as there is.
    pub allocated: Sums,
    /// Not allocated while it was down or drained.
    pub down: Sums,
    /// Not allocated while it was reserved, or set aside for the system.
    pub reserved: Sums,
    /// What jobs held beyond what there is.
    pub over: Sums,
    /// By unit asked for.
    pub units: Vec<UnitSums>,
}

/// What depends on the unit, of one node and day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitSums {
    /// Time integral of the units, seconds.
    pub unit_s: i128,
    /// Units times threshold.
    pub overhead: Sums,
    /// Free and of no use to this unit.
    pub stranded: Sums,
    /// What the jobs on the node share, where there are any that hold the resource.
    pub billed: Sums,
}

/// Seconds by unit asked for, hour of the week and number of units; times in which a node does not take jobs are left out.
pub type Histogram = HashMap<(usize, u8, i64), i64, ahash::RandomState>;

/// A time in which jobs held more of a resource than there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Place of the resource in the ledger.
    pub resource: usize,
    /// First second.
    pub from_s: i64,
    /// The second after the last.
    pub until_s: i64,
    /// The most that was held.
    pub used: i64,
    /// What there was then.
    pub capacity: i64,
    /// Resource-seconds beyond what there was.
    pub over: i128,
}

/// Everything asked of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeTally {
    /// Days in their order.
    pub days: Vec<DaySums>,
    /// How many units for how long.
    pub histogram: Histogram,
    /// Free amounts of the ledger's resources while the node took jobs, seconds: memory in whole GiB.
    pub shapes: HashMap<[i64; LEDGER_N], i64, ahash::RandomState>,
    /// What cannot be.
    pub findings: Vec<Finding>,
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The units that are for the node. The capacity of every resource they name is known.
    pub units: &'a [Thresholds],
    /// Who bears what is not used.
    pub scheme: Scheme,
}

/// Sweeps one node and adds it up.
pub fn tally(
    history: &History,
    intervals: &mut [Interval],
    shapes: &Shapes,
    grid: &Grid,
    question: Question<'_>,
) -> NodeTally {
    let mut adder = Adder {
        question,
        known: &history.known,
        tally: NodeTally::default(),
        free: Vec::new(),
        open: Default::default(),
    };
    sweep(history, intervals, shapes, grid, &mut adder);
    let open = std::mem::take(&mut adder.open);
    adder.tally.findings.extend(open.into_iter().flatten());
    adder
        .tally
        .findings
        .sort_by_key(|finding| (finding.from_s, finding.resource));
    adder.tally
}

struct Adder<'a> {
    question: Question<'a>,
    known: &'a [bool],
    tally: NodeTally,
    /// What is free, in the order of the resources followed.
    free: Vec<i64>,
    /// Over-allocations that may go on.
    open: [Option<Finding>; LEDGER_N],
}

impl Visit for Adder<'_> {
    fn stretch(&mut self, stretch: &Stretch<'_>) {
        let span_s = stretch.until_s - stretch.from_s;
        let is_up = stretch.state == State::Up;
        if self.tally.days.last().is_none_or(|last| last.day != stretch.cell.day) {
            self.tally.days.push(DaySums {
                day: stretch.cell.day,
                units: vec![UnitSums::default(); self.question.units.len()],
                ..DaySums::default()
            });
        }
        let Some(day) = self.tally.days.last_mut() else { return };
        let is_there = stretch.capacity.iter().any(|amount| *amount > 0);
        if is_there {
            day.node_s += span_s;
            day.up_s += if is_up { span_s } else { 0 };
        }
        self.free.clear();
        let mut shape = [0; LEDGER_N];
        let amounts = stretch
            .capacity
            .iter()
            .zip(stretch.set_aside)
            .zip(stretch.used)
            .zip(self.known);
        for (at, (((capacity, set_aside), used), known)) in amounts.enumerate() {
            let allocated = (*used).clamp(0, *capacity);
            let free = capacity - allocated;
            let aside = if is_up { free.min(*set_aside) } else { 0 };
            self.free.push(if is_up && *known { free - aside } else { 0 });
            let Some(open) = self.open.get_mut(at).filter(|_| *known) else {
                continue;
            };
            let times = |amount: i64| i128::from(amount) * i128::from(span_s);
            put(&mut day.capacity, at, times(*capacity));
            put(&mut day.allocated, at, times(allocated));
            match stretch.state {
                State::Up => put(&mut day.reserved, at, times(aside)),
                State::Down => put(&mut day.down, at, times(free)),
                State::Reserved => put(&mut day.reserved, at, times(free)),
            }
            if let Some(shape) = shape.get_mut(at) {
                *shape = free - aside;
            }
            let over = used - capacity;
            if over > 0 {
                put(&mut day.over, at, times(over));
            }
            follow(
                open,
                &mut self.tally.findings,
                at,
                stretch,
                (*used, *capacity),
                times(over),
            );
        }
        if !is_up || !is_there {
            for (unit, _) in day.units.iter_mut().zip(self.question.units) {
                bill(unit, stretch, self.question.scheme, self.known, |_| (0, 0), span_s);
            }
            return;
        }
        let [_, memory, _] = &mut shape;
        *memory >>= 30;
        *self.tally.shapes.entry(shape).or_default() += span_s;
        for (nth, (unit, thresholds)) in day.units.iter_mut().zip(self.question.units).enumerate() {
            // Nothing can join a job that has the node to itself.
            let unit_n = if stretch.is_exclusive {
                0
            } else {
                thresholds.units(&self.free)
            };
            unit.unit_s += i128::from(unit_n) * i128::from(span_s);
            *self
                .tally
                .histogram
                .entry((nth, stretch.cell.hour_of_week, unit_n))
                .or_default() += span_s;
            let mut split = [(0, 0); LEDGER_N];
            for ((split, free), threshold) in split.iter_mut().zip(&self.free).zip(thresholds.iter()) {
                let overhead = unit_n * threshold.unwrap_or(0);
                *split = (overhead, free - overhead);
            }
            for (at, (overhead, stranded)) in split.iter().enumerate() {
                put(&mut unit.overhead, at, i128::from(*overhead) * i128::from(span_s));
                put(&mut unit.stranded, at, i128::from(*stranded) * i128::from(span_s));
            }
            let split = |at: usize| split.get(at).copied().unwrap_or_default();
            bill(unit, stretch, self.question.scheme, self.known, split, span_s);
        }
    }
}

/// Adds what is billed: nothing where nothing of the resource is allocated. `split` tells overhead and stranded.
fn bill(
    unit: &mut UnitSums,
    stretch: &Stretch<'_>,
    scheme: Scheme,
    known: &[bool],
    split: impl Fn(usize) -> (i64, i64),
    span_s: i64,
) {
    let amounts = stretch.capacity.iter().zip(stretch.used).zip(known);
    for (at, ((capacity, used), known)) in amounts.enumerate().take(LEDGER_N) {
        let allocated = (*used).clamp(0, *capacity);
        if allocated > 0 && *known {
            let (overhead, stranded) = split(at);
            let billable = scheme.billable(allocated, overhead, stranded);
            put(&mut unit.billed, at, i128::from(billable) * i128::from(span_s));
        }
    }
}

fn put(sums: &mut Sums, at: usize, amount: i128) {
    if let Some(sum) = sums.get_mut(at) {
        *sum += amount;
    }
}

/// Goes on with an over-allocation, begins one, or ends it.
fn follow(
    open: &mut Option<Finding>,
    findings: &mut Vec<Finding>,
    resource: usize,
    stretch: &Stretch<'_>,
    (used, capacity): (i64, i64),
    over: i128,
) {
    if used <= capacity {
        findings.extend(open.take());
        return;
    }
    match open {
        Some(finding) if finding.until_s == stretch.from_s => {
            finding.until_s = stretch.until_s;
            finding.over += over;
            if used > finding.used {
                (finding.used, finding.capacity) = (used, capacity);
            }
        }
        _ => {
            let begun = Finding {
                resource,
                from_s: stretch.from_s,
                until_s: stretch.until_s,
                used,
                capacity,
                over,
            };
            findings.extend(open.replace(begun));
        }
    }
}
