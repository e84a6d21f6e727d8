//! What is asked of a node's stretches: the ledger and the units by day, how its time is spread, what cannot be.

use super::Scheme;
use super::allocation_shapes::AllocationShapes;
use super::constant_interval::ConstantInterval;
use super::grid::Grid;
use super::history::History;
use super::over_allocation::{OverAllocation, OverAllocations};
use super::resource::LEDGER_N;
use super::slice::Interval;
use super::sweep::{TimeRange, Visit, sweep};
use super::time_histogram::{GIB_BITS, TimeHistogram};
use super::unit::Thresholds;
use crate::numbers::Extent;
use crate::time::Day;

/// Resource-seconds by resource of the ledger.
pub type NodeSums = [i128; LEDGER_N];

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
    pub capacity: NodeSums,
    /// What jobs were given, as much of it as there is.
    pub allocated: NodeSums,
    /// Not allocated while it was down or drained.
    pub down: NodeSums,
    /// Not allocated while it was reserved, or set aside for the system.
    pub reserved: NodeSums,
    /// What jobs held beyond what there is.
    pub over: NodeSums,
    /// By requested unit.
    pub units: Vec<UnitSums>,
}

/// What depends on the unit, of one node and day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitSums {
    /// Time integral of the units, seconds.
    pub unit_s: i128,
    /// Units times threshold.
    pub overhead: NodeSums,
    /// Free and of no use to this unit.
    pub stranded: NodeSums,
    /// What the jobs on the node share, where there are any that hold the resource.
    pub billed: NodeSums,
}

/// The totals of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeTotals {
    /// Days in their order.
    pub days: Vec<DaySums>,
    /// What cannot be.
    pub findings: Vec<OverAllocation>,
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct NodeQuery<'a> {
    /// The units that are for the node. The capacity of every resource they name is known.
    pub units: &'a [Thresholds],
    /// Who bears what is not used.
    pub scheme: Scheme,
}

/// Sweeps one node and adds it up; how its time is spread over numbers of units and free amounts is added to `spread`.
pub fn tally(
    history: &History,
    intervals: &[Interval],
    shapes: &AllocationShapes,
    grid: &Grid,
    question: NodeQuery<'_>,
    spread: &mut TimeHistogram,
) -> NodeTotals {
    spread.make_room(history, question.units);
    let mut adder = Adder {
        question,
        known: &history.known,
        spread,
        days: Vec::new(),
        free: vec![0; shapes.width().less(1)],
        spell: ConstantInterval::default(),
        overs: OverAllocations::default(),
    };
    sweep(history, intervals, shapes, grid, &mut adder);
    adder.settle();
    NodeTotals {
        days: adder.days,
        findings: adder.overs.findings(),
    }
}

struct Adder<'a> {
    question: NodeQuery<'a>,
    known: &'a [bool],
    spread: &'a mut TimeHistogram,
    days: Vec<DaySums>,
    /// What is free, in the order of the resources followed.
    free: Vec<i64>,
    spell: ConstantInterval,
    overs: OverAllocations,
}

impl Adder<'_> {
    /// Begins another interval with a stretch. Of a stretch too long for one it sees to all but the last piece, and gives
    /// where that begins.
    #[cold]
    fn begin(&mut self, stretch: &TimeRange<'_>) -> i64 {
        let mut piece = *stretch;
        loop {
            self.settle();
            self.spell.begin(stretch, self.known, self.question.units.len());
            if stretch.until_s - piece.from_s <= self.spell.limit_s() {
                return piece.from_s;
            }
            piece.until_s = piece.from_s + self.spell.limit_s();
            self.add(&piece);
            piece.from_s = piece.until_s;
        }
    }

    /// Adds the interval to its day.
    fn settle(&mut self) {
        let spell = &self.spell;
        if spell.is_empty() {
            return;
        }
        if self.days.last().is_none_or(|last| last.day != spell.day()) {
            self.days.push(DaySums {
                day: spell.day(),
                units: vec![UnitSums::default(); self.question.units.len()],
                ..DaySums::default()
            });
        }
        if let Some(day) = self.days.last_mut() {
            spell.settle(day, self.question);
        }
    }

    /// Adds a stretch that belongs to the interval.
    #[expect(clippy::inline_always, reason = "see where it is called for every stretch")]
    #[inline(always)]
    fn add(&mut self, stretch: &TimeRange<'_>) {
        let spell = &mut self.spell;
        let span_s = stretch.until_s - stretch.from_s;
        spell.span_s += span_s;
        let mut free = [0; LEDGER_N];
        let (mut is_idle, mut is_over) = (false, false);
        let has = spell.capacity.iter().zip(stretch.used);
        for ((capacity, used), (allocated_s, free)) in has.zip(spell.allocated.iter_mut().zip(&mut free)) {
            let allocated = (*used).clamp(0, *capacity);
            *free = capacity - allocated;
            // The interval ends before this could be too much.
            *allocated_s += allocated * span_s;
            is_idle |= allocated == 0 && *capacity > 0;
            is_over |= used > capacity;
        }
        if spell.is_set_aside {
            spell.put_aside(&mut free, span_s);
        }
        if is_idle {
            spell.idle(stretch.used, span_s);
        }
        if spell.is_open {
            let hour_of_week = stretch.cell.hour_of_week.into();
            let [core_n, memory_byte, gpu_n] = free;
            self.spread.shapes.add([core_n, memory_byte >> GIB_BITS, gpu_n], span_s);
            let free = if stretch.used.len() > LEDGER_N {
                self.free.clear();
                self.free.extend(free);
                self.free.extend(models(stretch, self.known));
                self.free.as_slice()
            } else {
                &free
            };
            let asked = spell.units.iter_mut().zip(self.question.units);
            for ((unit, thresholds), seconds) in asked.zip(&mut self.spread.units) {
                // Nothing can join a job that has the node to itself.
                let unit_n = if stretch.is_exclusive {
                    0
                } else {
                    thresholds.units(free)
                };
                seconds.add([hour_of_week, unit_n, 0], span_s);
                let unit_s = unit_n * span_s;
                unit.unit_s += unit_s;
                if is_idle {
                    unit.idle(spell.is_idle, unit_s);
                }
            }
        }
        if is_over {
            self.over(stretch);
        }
    }

    /// Notes what jobs hold beyond what there is.
    #[cold]
    fn over(&mut self, stretch: &TimeRange<'_>) {
        let span = i128::from(stretch.until_s - stretch.from_s);
        let amounts = stretch.used.iter().zip(self.spell.capacity).zip(self.known);
        for (resource, ((used, capacity), known)) in amounts.enumerate() {
            if *used <= capacity || !*known {
                continue;
            }
            let over = i128::from(*used - capacity) * span;
            if let Some(sum) = self.spell.over.get_mut(resource) {
                *sum += over;
            }
            self.overs.add(OverAllocation {
                resource,
                from_s: stretch.from_s,
                until_s: stretch.until_s,
                used: *used,
                capacity,
                over,
            });
        }
    }
}

impl Visit for Adder<'_> {
    const WANTS_INTERVALS: bool = false;

    #[expect(
        clippy::inline_always,
        reason = "most of what a sweep does: a call for each stretch costs a fifth of it"
    )]
    #[inline(always)]
    fn stretch(&mut self, stretch: &TimeRange<'_>) {
        let mut stretch = *stretch;
        if !self.spell.holds(&stretch, stretch.until_s - stretch.from_s) {
            stretch.from_s = self.begin(&stretch);
        }
        self.add(&stretch);
    }
}

/// What is free of GPUs of a model, for each model that is followed, on a node that takes jobs.
fn models<'a>(stretch: &TimeRange<'a>, known: &'a [bool]) -> impl Iterator<Item = i64> + use<'a> {
    let amounts = stretch
        .capacity
        .iter()
        .zip(stretch.set_aside)
        .zip(stretch.used)
        .zip(known);
    amounts.skip(LEDGER_N).map(|(((capacity, set_aside), used), known)| {
        let left = capacity - (*used).clamp(0, *capacity);
        if *known { left - left.min(*set_aside) } else { 0 }
    })
}
