//! The kernel: one node's events in the order of time.

use super::allocation_shapes::AllocationShapes;
use super::events::{Event, events};
use super::grid::{Grid, GridCell};
use super::history::{CapacitySegment, CapacityState, History};
use super::resource::LEDGER_N;
use super::slice::Interval;
use crate::numbers::{Extent, index};

/// A time in which nothing changes on a node.
#[derive(Clone, Copy, Debug)]
pub struct TimeRange<'a> {
    /// First second.
    pub from_s: i64,
    /// The second after the last.
    pub until_s: i64,
    /// How often the node has changed: while it does not, only what jobs hold does.
    pub segment_n: usize,
    /// Its local hour.
    pub cell: GridCell,
    /// Whether the node takes jobs.
    pub state: CapacityState,
    /// What the node has.
    pub capacity: &'a [i64],
    /// How much of that is set aside.
    pub set_aside: &'a [i64],
    /// What jobs hold.
    pub used: &'a [i64],
    /// Whether one of them has the node to itself.
    pub is_exclusive: bool,
}

/// Receives the constant intervals of a node.
pub trait Visit {
    /// Whether it wants to know which intervals begin and end, too.
    const WANTS_INTERVALS: bool;

    /// Nothing changes in this time.
    fn stretch(&mut self, stretch: &TimeRange<'_>);
    /// The nth interval begins.
    fn starts(&mut self, _nth: usize, _interval: &Interval) {}
    /// The nth interval ends.
    fn ends(&mut self, _nth: usize, _interval: &Interval) {}
}

/// Goes through the time of `grid` on one node. `intervals` are those of a slice that begins with the grid. Ends come before
/// beginnings of the same second. Where there is no node nothing is passed on, unless jobs claim to run there.
pub fn sweep<V: Visit>(
    history: &History,
    intervals: &[Interval],
    shapes: &AllocationShapes,
    grid: &Grid,
    visit: &mut V,
) {
    /// What nearly all are: cores, memory, GPUs, and whether the node is a job's own.
    const USUAL_N: usize = LEDGER_N + 1;
    match shapes.width() {
        USUAL_N => run(history, intervals, shapes, grid, visit, [0; USUAL_N]),
        width => run(history, intervals, shapes, grid, visit, vec![0; width]),
    }
}

/// What jobs hold on a node at a time: amounts, and how many of them have it to themselves.
trait SweepHeld: AsRef<[i64]> {
    /// Adds a shape `sign` times.
    fn add(&mut self, shapes: &AllocationShapes, shape: u32, sign: i64);
}

impl SweepHeld for Vec<i64> {
    fn add(&mut self, shapes: &AllocationShapes, shape: u32, sign: i64) {
        add(self, shapes.amounts(shape), sign);
    }
}

impl<const N: usize> SweepHeld for [i64; N] {
    fn add(&mut self, shapes: &AllocationShapes, shape: u32, sign: i64) {
        if let Some(amounts) = shapes.array::<N>(shape) {
            add(self, amounts, sign);
        }
    }
}

fn add(held: &mut [i64], amounts: &[i64], sign: i64) {
    for (held, amount) in held.iter_mut().zip(amounts) {
        *held = held.wrapping_add(amount.wrapping_mul(sign));
    }
}

fn run<V: Visit>(
    history: &History,
    intervals: &[Interval],
    shapes: &AllocationShapes,
    grid: &Grid,
    visit: &mut V,
    mut held: impl SweepHeld,
) {
    // Fallback: never taken, intervals are numbered by 32 bits where they are spilled.
    let number = |nth: usize| u32::try_from(nth).unwrap_or(u32::MAX);
    let nth_of = |event: Event| index(event.word());
    let events = events(intervals, |nth, interval| {
        if V::WANTS_INTERVALS {
            number(nth)
        } else {
            interval.shape
        }
    });
    let mut breakpoints = Breakpoints::new(history, grid, shapes.width());
    let base_s = grid.from_s();
    let mut rest = events.iter().copied();
    let mut next = rest.next();
    let second = |event: Option<Event>| event.map_or(i64::MAX, |event| base_s + event.second());
    let mut at_s = base_s;
    while at_s < grid.until_s() {
        while let Some(event) = next
            && second(next) <= at_s
        {
            // The branch is unpredictable: a product costs less than a misprediction.
            if !V::WANTS_INTERVALS {
                held.add(shapes, event.word(), event.sign());
            } else if let Some(interval) = intervals.get(nth_of(event)) {
                held.add(shapes, interval.shape, event.sign());
                if event.sign() > 0 {
                    visit.starts(nth_of(event), interval);
                } else {
                    visit.ends(nth_of(event), interval);
                }
            }
            next = rest.next();
        }
        if breakpoints.next_s <= at_s {
            breakpoints.pass(at_s);
        }
        let until_s = breakpoints.next_s.min(second(next));
        let (used, exclusive_n) = match held.as_ref() {
            [used @ .., exclusive_n] => (used, *exclusive_n),
            [] => (&[][..], 0),
        };
        let segment = breakpoints.segment;
        if segment.is_some() || used.iter().any(|amount| *amount != 0) {
            visit.stretch(&TimeRange {
                from_s: at_s,
                until_s,
                segment_n: breakpoints.segment_n,
                cell: breakpoints.cell,
                state: segment.map_or(CapacityState::Up, |segment| segment.state),
                capacity: segment.map_or(&breakpoints.nothing, |segment| &segment.capacity),
                set_aside: segment.map_or(&breakpoints.nothing, |segment| &segment.set_aside),
                used,
                is_exclusive: exclusive_n > 0,
            });
        }
        at_s = until_s;
    }
    if V::WANTS_INTERVALS {
        for event in next.into_iter().chain(rest).filter(|event| event.sign() < 0) {
            if let Some(interval) = intervals.get(nth_of(event)) {
                visit.ends(nth_of(event), interval);
            }
        }
    }
}

/// Where a node or the hour changes, whatever the jobs do.
struct Breakpoints<'a> {
    segments: std::iter::Peekable<std::slice::Iter<'a, CapacitySegment>>,
    cells: std::iter::Peekable<std::slice::Iter<'a, GridCell>>,
    segment: Option<&'a CapacitySegment>,
    cell: GridCell,
    /// Changes of the node so far.
    segment_n: usize,
    /// The next change.
    next_s: i64,
    until_s: i64,
    nothing: Vec<i64>,
}

impl<'a> Breakpoints<'a> {
    fn new(history: &'a History, grid: &'a Grid, width: usize) -> Self {
        Self {
            segments: history.segments.iter().peekable(),
            cells: grid.cells().iter().peekable(),
            segment: None,
            cell: GridCell {
                from_s: grid.from_s(),
                day: 0,
                hour_of_week: 0,
            },
            segment_n: 0,
            next_s: i64::MIN,
            until_s: grid.until_s(),
            nothing: vec![0; width.less(1)],
        }
    }

    /// Takes what has begun by `at_s`.
    #[cold]
    fn pass(&mut self, at_s: i64) {
        while let Some(segment) = self.segments.next_if(|segment| segment.from_s <= at_s) {
            self.segment = Some(segment);
            self.segment_n += 1;
        }
        while let Some(cell) = self.cells.next_if(|cell| cell.from_s <= at_s) {
            self.cell = *cell;
        }
        let segment_s = self.segments.peek().map_or(i64::MAX, |segment| segment.from_s);
        let cell_s = self.cells.peek().map_or(i64::MAX, |cell| cell.from_s);
        self.next_s = segment_s.min(cell_s).min(self.until_s);
    }
}
