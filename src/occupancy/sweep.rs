//! The kernel: one node's events in the order of time.

use super::events::events;
use super::grid::{Cell, Grid};
use super::history::{History, Segment, State};
use super::slice::{Interval, Shapes};

/// A time in which nothing changes on a node.
#[derive(Clone, Copy, Debug)]
pub struct Stretch<'a> {
    /// First second.
    pub from_s: i64,
    /// The second after the last.
    pub until_s: i64,
    /// How often the node has changed: while it does not, only what jobs hold does.
    pub segment_n: usize,
    /// The local hour it lies in.
    pub cell: Cell,
    /// Whether the node takes jobs.
    pub state: State,
    /// What the node has.
    pub capacity: &'a [i64],
    /// How much of that is set aside.
    pub set_aside: &'a [i64],
    /// What jobs hold.
    pub used: &'a [i64],
    /// Whether one of them has the node to itself.
    pub is_exclusive: bool,
}

/// Who is told of a node's stretches.
pub trait Visit {
    /// Nothing changes in this time.
    fn stretch(&mut self, stretch: &Stretch<'_>);
    /// The nth interval begins.
    fn starts(&mut self, _nth: usize, _interval: &Interval) {}
    /// The nth interval ends.
    fn ends(&mut self, _nth: usize, _interval: &Interval) {}
}

/// Goes through the time of `grid` on one node. `intervals` are those of a slice that begins with the grid. Ends come before
/// beginnings of the same second. Where there is no node nothing is told, unless jobs claim to run there.
pub fn sweep(history: &History, intervals: &[Interval], shapes: &Shapes, grid: &Grid, visit: &mut impl Visit) {
    let width = shapes.width();
    let events = events(intervals);
    let mut rest = events.iter().copied().peekable();
    let mut used = vec![0_i64; width];
    let mut fences = Fences::new(history, grid, width);
    let base_s = grid.from_s();
    let mut at_s = base_s;
    while at_s < grid.until_s() {
        while let Some(event) = rest.next_if(|event| event.second() <= at_s - base_s) {
            let Some(interval) = intervals.get(event.nth()) else {
                continue;
            };
            // Nobody can foresee which it is: a product costs less than a wrong guess.
            let sign = if event.is_start() { 1 } else { -1_i64 };
            for (used, amount) in used.iter_mut().zip(shapes.amounts(interval.shape)) {
                *used = used.wrapping_add(amount.wrapping_mul(sign));
            }
            if event.is_start() {
                visit.starts(event.nth(), interval);
            } else {
                visit.ends(event.nth(), interval);
            }
        }
        fences.pass(at_s);
        let change_s = rest.peek().map_or(i64::MAX, |event| event.second() + base_s);
        let until_s = fences.next_s.min(change_s);
        if let Some((is_exclusive, held)) = used.split_last() {
            let segment = fences.segment;
            if segment.is_some() || held.iter().any(|amount| *amount != 0) {
                visit.stretch(&Stretch {
                    from_s: at_s,
                    until_s,
                    segment_n: fences.segment_n,
                    cell: fences.cell,
                    state: segment.map_or(State::Up, |segment| segment.state),
                    capacity: segment.map_or(&fences.nothing, |segment| &segment.capacity),
                    set_aside: segment.map_or(&fences.nothing, |segment| &segment.set_aside),
                    used: held,
                    is_exclusive: *is_exclusive > 0,
                });
            }
        }
        at_s = until_s;
    }
    for event in rest.filter(|event| !event.is_start()) {
        if let Some(interval) = intervals.get(event.nth()) {
            visit.ends(event.nth(), interval);
        }
    }
}

/// Where a node or the hour changes, whatever the jobs do.
struct Fences<'a> {
    segments: std::iter::Peekable<std::slice::Iter<'a, Segment>>,
    cells: std::iter::Peekable<std::slice::Iter<'a, Cell>>,
    segment: Option<&'a Segment>,
    cell: Cell,
    /// Changes of the node so far.
    segment_n: usize,
    /// The next change.
    next_s: i64,
    until_s: i64,
    nothing: Vec<i64>,
}

impl<'a> Fences<'a> {
    fn new(history: &'a History, grid: &'a Grid, width: usize) -> Self {
        Self {
            segments: history.segments.iter().peekable(),
            cells: grid.cells().iter().peekable(),
            segment: None,
            cell: Cell {
                from_s: grid.from_s(),
                day: 0,
                hour_of_week: 0,
            },
            segment_n: 0,
            next_s: i64::MIN,
            until_s: grid.until_s(),
            nothing: vec![0; width.saturating_sub(1)],
        }
    }

    /// Takes what has begun by `at_s`.
    fn pass(&mut self, at_s: i64) {
        if at_s < self.next_s {
            return;
        }
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
