//! The kernel: one node's events in the order of time.

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
    /// An interval begins; `nth` counts them by their beginnings.
    fn starts(&mut self, _nth: usize, _interval: &Interval) {}
    /// An interval ends.
    fn ends(&mut self, _nth: usize, _interval: &Interval) {}
}

/// Goes through the time of `grid` on one node. `intervals` are those of a slice that begins with the grid; they are
/// sorted on the way. Ends come before beginnings of the same second. Where there is no node nothing is told, unless jobs
/// claim to run there.
pub fn sweep(history: &History, intervals: &mut [Interval], shapes: &Shapes, grid: &Grid, visit: &mut impl Visit) {
    let width = shapes.width();
    intervals.sort_unstable();
    let mut ends: Vec<u64> = (0_u64..)
        .zip(intervals.iter())
        .map(|(nth, interval)| u64::from(interval.end_s) << 32 | nth)
        .collect();
    ends.sort_unstable();
    let mut used = vec![0_i64; width];
    let mut fences = Fences::new(history, grid, width);
    let base_s = grid.from_s();
    let (mut next_start, mut next_end) = (0, 0);
    let mut at_s = base_s;
    while at_s < grid.until_s() {
        while let Some((nth, interval)) = ends.get(next_end).and_then(|key| due(*key, at_s - base_s, intervals)) {
            for (used, amount) in used.iter_mut().zip(shapes.amounts(interval.shape)) {
                *used = used.wrapping_sub(*amount);
            }
            visit.ends(nth, interval);
            next_end += 1;
        }
        while let Some(interval) = intervals.get(next_start)
            && i64::from(interval.start_s) <= at_s - base_s
        {
            for (used, amount) in used.iter_mut().zip(shapes.amounts(interval.shape)) {
                *used = used.wrapping_add(*amount);
            }
            visit.starts(next_start, interval);
            next_start += 1;
        }
        fences.pass(at_s);
        let begins_s = intervals
            .get(next_start)
            .map_or(i64::MAX, |next| i64::from(next.start_s));
        let stops_s = ends.get(next_end).map_or(i64::MAX, |key| second(*key));
        let until_s = fences.next_s.min(begins_s.min(stops_s).saturating_add(base_s));
        if let Some((is_exclusive, held)) = used.split_last() {
            let segment = fences.segment;
            if segment.is_some() || held.iter().any(|amount| *amount != 0) {
                visit.stretch(&Stretch {
                    from_s: at_s,
                    until_s,
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
    for key in ends.iter().skip(next_end) {
        if let Some((nth, interval)) = due(*key, i64::MAX, intervals) {
            visit.ends(nth, interval);
        }
    }
}

/// The second of an end.
fn second(key: u64) -> i64 {
    i64::from(u32::try_from(key >> 32).unwrap_or(u32::MAX))
}

/// The interval of an end that has come.
fn due(key: u64, at_s: i64, intervals: &[Interval]) -> Option<(usize, &Interval)> {
    if second(key) > at_s {
        return None;
    }
    let nth = usize::try_from(key & u64::from(u32::MAX)).ok()?;
    intervals.get(nth).map(|interval| (nth, interval))
}

/// Where a node or the hour changes, whatever the jobs do.
struct Fences<'a> {
    segments: std::iter::Peekable<std::slice::Iter<'a, Segment>>,
    cells: std::iter::Peekable<std::slice::Iter<'a, Cell>>,
    segment: Option<&'a Segment>,
    cell: Cell,
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
        }
        while let Some(cell) = self.cells.next_if(|cell| cell.from_s <= at_s) {
            self.cell = *cell;
        }
        let segment_s = self.segments.peek().map_or(i64::MAX, |segment| segment.from_s);
        let cell_s = self.cells.peek().map_or(i64::MAX, |cell| cell.from_s);
        self.next_s = segment_s.min(cell_s).min(self.until_s);
    }
}
