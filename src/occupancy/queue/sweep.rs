//! Who waits, from second to second, and what it adds up to.

use std::collections::{BTreeMap, BTreeSet};

use super::ask::{Ask, Wait};
use super::board::{Board, BoardChange};
use super::machine::QueueMachine;
use super::requests::Requests;
use super::state::{Class, PoolPlace, QueueChange, QueueInstant, QueueNode, measures, relative};
use super::sums::{QueueKey, QueueSums};
use crate::numbers::{index, tally};
use crate::occupancy::allocation_shapes::AllocationShapes;
use crate::occupancy::grid::Grid;
use crate::occupancy::history::CapacityState;
use crate::time::Day;

/// The sweep.
pub(super) struct QueueSweep<'a> {
    pub(super) machines: &'a [QueueMachine<'a>],
    pub(super) shapes: &'a AllocationShapes,
    /// Nodes by number that will do.
    pub(super) pools: &'a [Vec<u32>],
    pub(super) asks: &'a [Ask],
    pub(super) waits: &'a [Wait],
    pub(super) base_s: i64,
    pub(super) nodes: Vec<QueueNode>,
    /// Seconds at which something about a node changes by itself.
    pub(super) breakpoints: Vec<(u32, u32)>,
    pub(super) next_fence: usize,
    /// First seconds of days.
    pub(super) days: Vec<(u32, Day)>,
    pub(super) next_day: usize,
    pub(super) day: Day,
    pub(super) starts: Vec<u32>,
    pub(super) next_start: usize,
    pub(super) ends: Vec<u32>,
    pub(super) next_end: usize,
    /// By wait: what its class had fitted when it began, or when the day did.
    pub(super) fitted_s: Vec<i64>,
    /// Jobs that wait now.
    pub(super) waiting: BTreeSet<u32>,
    pub(super) classes: Vec<Option<Class>>,
    /// By pool: its nodes and the classes that wait for them.
    pub(super) boards: Vec<Board>,
    /// Nodes that changed since the last look.
    pub(super) changed: Vec<u32>,
    /// Changes of one node, as its boards give them.
    pub(super) changes: Vec<BoardChange>,
    pub(super) moments: BTreeMap<(usize, Option<usize>), [QueueInstant; 2]>,
    pub(super) sums: BTreeMap<QueueKey, QueueSums>,
}

impl<'a> QueueSweep<'a> {
    pub(super) fn new(
        machines: &'a [QueueMachine<'a>],
        shapes: &'a AllocationShapes,
        grid: &Grid,
        pools: &'a [Vec<u32>],
        requests: &'a Requests<'_>,
    ) -> Self {
        let (asks, waits): (&'a [Ask], &'a [Wait]) = (&requests.asks, &requests.waits);
        let base_s = grid.from_s();
        let mut nodes: Vec<QueueNode> = machines
            .iter()
            .map(|_| QueueNode {
                used: vec![0; shapes.width()],
                is_stale: true,
                ..QueueNode::default()
            })
            .collect();
        for (pool, of) in pools.iter().enumerate() {
            for (position, node) in of.iter().enumerate() {
                if let Some(node) = nodes.get_mut(index(*node)) {
                    node.pools.push(PoolPlace { pool, position });
                }
            }
        }
        let mut limits: Vec<i64> = asks.iter().filter_map(|ask| ask.limit_s).collect();
        limits.sort_unstable();
        limits.dedup();
        let mut breakpoints = Vec::new();
        for (node, machine) in (0_u32..).zip(machines) {
            for segment in &machine.history.segments {
                let ahead = limits.iter().filter(|_| segment.state == CapacityState::Reserved);
                // A job that runs for as long as it may fits before a reservation up to the second it would end there.
                // Fallback: a limit that reaches before all time begins before the grid, and cuts nothing.
                let ahead = ahead.map(|limit_s| segment.from_s.saturating_sub(*limit_s).saturating_add(1));
                for at_s in ahead.chain([segment.from_s]) {
                    if base_s < at_s && at_s < grid.until_s() {
                        breakpoints.push((relative(at_s - base_s), node));
                    }
                }
            }
        }
        breakpoints.sort_unstable();
        let mut days: Vec<(u32, Day)> = Vec::new();
        for cell in grid.cells() {
            if days.last().is_none_or(|(_, day)| *day != cell.day) {
                days.push((relative(cell.from_s - base_s), cell.day));
            }
        }
        let by = |second: fn(&Wait) -> u32| {
            // Fallback: never taken, waits are numbered by 32 bits.
            let mut order: Vec<u32> = (0..u32::try_from(waits.len()).unwrap_or(u32::MAX)).collect();
            order.sort_by_key(|at| waits.get(index(*at)).map(|wait| (second(wait), *wait)));
            order
        };
        let boards = pools.iter().enumerate().map(|(pool, of)| {
            let asks = asks.iter().filter(|ask| ask.pool == pool);
            Board::new(of.len(), asks)
        });
        let boards = boards.collect();
        Self {
            machines,
            shapes,
            pools,
            asks,
            waits,
            base_s,
            nodes,
            breakpoints,
            next_fence: 0,
            day: days.first().map_or(0, |(_, day)| *day),
            days,
            next_day: 1,
            starts: by(|wait| wait.start_s),
            next_start: 0,
            ends: by(|wait| wait.end_s),
            next_end: 0,
            fitted_s: vec![0; waits.len()],
            waiting: BTreeSet::new(),
            classes: asks.iter().map(|_| None).collect(),
            boards,
            // What nodes have free is not known of any yet.
            changed: (0_u32..).zip(machines).map(|(node, _)| node).collect(),
            changes: Vec::new(),
            moments: BTreeMap::new(),
            sums: BTreeMap::new(),
        }
    }

    /// Goes through what changes before `until_s`.
    pub(super) fn go(&mut self, changes: &[QueueChange], until_s: u32) {
        let mut next = 0;
        loop {
            let mut at_s = changes.get(next).map_or(u32::MAX, |change| change.at_s);
            at_s = at_s.min(self.breakpoints.get(self.next_fence).map_or(u32::MAX, |fence| fence.0));
            at_s = at_s.min(self.days.get(self.next_day).map_or(u32::MAX, |day| day.0));
            for (order, place, second) in [
                (&self.starts, self.next_start, (|wait| wait.start_s) as fn(&Wait) -> u32),
                (&self.ends, self.next_end, |wait| wait.end_s),
            ] {
                let wait = order.get(place).and_then(|at| self.waits.get(index(*at)));
                at_s = at_s.min(wait.map_or(u32::MAX, second));
            }
            if at_s >= until_s {
                return;
            }
            while let Some(change) = changes.get(next).filter(|change| change.at_s == at_s) {
                if let Some(node) = self.nodes.get_mut(index(change.node)) {
                    for (used, amount) in node.used.iter_mut().zip(self.shapes.amounts(change.shape)) {
                        *used = if change.is_start {
                            used.wrapping_add(*amount)
                        } else {
                            used.wrapping_sub(*amount)
                        };
                    }
                }
                self.touch(change.node);
                next += 1;
            }
            while let Some((_, node)) = self
                .breakpoints
                .get(self.next_fence)
                .copied()
                .filter(|fence| fence.0 == at_s)
            {
                self.touch(node);
                self.next_fence += 1;
            }
            self.pass_ends(at_s);
            if let Some((_, day)) = self.days.get(self.next_day).copied().filter(|day| day.0 == at_s) {
                self.close_day(at_s);
                self.day = day;
                self.next_day += 1;
            }
            self.pass_starts(at_s);
            self.look(at_s);
        }
    }

    fn touch(&mut self, node: u32) {
        if let Some(of) = self.nodes.get_mut(index(node)) {
            of.is_stale = true;
            self.changed.push(node);
        }
    }

    /// Ends the waits of a second.
    fn pass_ends(&mut self, at_s: u32) {
        while let Some(at) = self.ends.get(self.next_end).copied() {
            let Some(wait) = self.waits.get(index(at)).filter(|wait| wait.end_s == at_s) else {
                break;
            };
            self.next_end += 1;
            self.waiting.remove(&at);
            self.count_job(at, index(wait.ask), at_s);
            self.change_waiting(index(wait.ask), -1, at_s);
        }
    }

    /// Begins the waits of a second.
    fn pass_starts(&mut self, at_s: u32) {
        while let Some(at) = self.starts.get(self.next_start).copied() {
            let Some(wait) = self.waits.get(index(at)).filter(|wait| wait.start_s == at_s) else {
                break;
            };
            self.next_start += 1;
            self.change_waiting(index(wait.ask), 1, at_s);
            self.waiting.insert(at);
            self.begin(at, index(wait.ask));
        }
    }

    /// From now on counts what the class of a wait fits.
    fn begin(&mut self, wait: u32, ask: usize) {
        let fitted_s = self.class(ask).map_or(0, |class| class.fitted_s);
        if let Some(begun) = self.fitted_s.get_mut(index(wait)) {
            *begun = fitted_s;
        }
    }

    fn class(&self, ask: usize) -> Option<&Class> {
        self.classes.get(ask)?.as_ref()
    }

    /// A job that waits more, or less.
    fn change_waiting(&mut self, ask: usize, by: i64, at_s: u32) {
        self.flush(ask, at_s);
        let Some(of) = self.asks.get(ask) else { return };
        let is_new = self.class(ask).is_none();
        if is_new {
            let width = 1 + of.units.len();
            let is_reported = (0..width).map(|measure| self.is_reported(of, measure)).collect();
            self.renew_changed(at_s);
            let now_s = self.base_s + i64::from(at_s);
            let board = self.boards.get_mut(of.pool);
            let (Some(slot), Some(board)) = (self.classes.get_mut(ask), board) else {
                return;
            };
            let (place, counts) = board.join(ask, of, now_s);
            *slot = Some(Class {
                waiting_n: 0,
                is_reported,
                place,
                counts,
                fits: vec![0; width],
                since_s: at_s,
                fitted_s: 0,
            });
            self.settle(ask, at_s);
        }
        if let Some(class) = self.classes.get_mut(ask).and_then(Option::as_mut) {
            class.waiting_n += by;
            if class.waiting_n == 0 {
                self.leave(ask, at_s);
            }
        }
    }

    /// Whether the capacity of any suitable node is known: for measure 0 of everything requested, else of the nth unit.
    fn is_reported(&self, ask: &Ask, measure: usize) -> bool {
        let mut pool = self.pools.get(ask.pool).into_iter().flatten();
        match measure.checked_sub(1) {
            None => pool.any(|node| {
                self.machines.get(index(*node)).is_some_and(|machine| {
                    let mut known = ask.need.iter().zip(&machine.history.known);
                    known.all(|(need, known)| *need == 0 || *known)
                })
            }),
            Some(nth) => pool.any(|node| {
                let units = self.machines.get(index(*node)).map(|machine| machine.units);
                let asked = ask.units.get(nth).map(|(unit, _)| unit);
                units.zip(asked).is_some_and(|(units, asked)| units.contains(asked))
            }),
        }
    }

    /// Removes a class without waiting jobs.
    fn leave(&mut self, ask: usize, at_s: u32) {
        let Some(of) = self.asks.get(ask) else { return };
        let Some(class) = self.classes.get_mut(ask).and_then(Option::take) else {
            return;
        };
        if let Some(board) = self.boards.get_mut(of.pool) {
            board.leave(class.place);
        }
        for (nth, unit) in measures(of).enumerate() {
            let by_unit = tally(class.fits.get(nth + 1).copied());
            for (measure, fits) in [(0, tally(class.fits.first().copied())), (1, by_unit)] {
                if fits > 0 {
                    self.moment(of.group, unit, measure, -1, at_s);
                }
            }
        }
    }

    /// Counts a job that ends its wait, or waits at the end of a day.
    fn count_job(&mut self, wait: u32, ask: usize, at_s: u32) {
        self.flush(ask, at_s);
        let begun_s = tally(self.fitted_s.get(index(wait)).copied());
        let Some(of) = self.asks.get(ask) else { return };
        let Some(class) = self.classes.get(ask).and_then(Option::as_ref) else {
            return;
        };
        let is_unknown = |measure: usize| !class.is_reported.get(measure).copied().unwrap_or(false);
        for (nth, unit) in measures(of).enumerate() {
            let key = QueueKey {
                group: of.group,
                unit,
                day: self.day,
            };
            let sums = self.sums.entry(key).or_default();
            sums.job_n += 1;
            sums.fitting_job_n += i64::from(class.fitted_s > begun_s);
            sums.is_vector_unknown |= is_unknown(0);
            sums.is_unit_unknown |= is_unknown(nth + 1);
        }
    }

    /// Counts what waits at the end of a day, and adds up.
    fn close_day(&mut self, at_s: u32) {
        let waiting: Vec<u32> = self.waiting.iter().copied().collect();
        for wait in waiting {
            if let Some(ask) = self.waits.get(index(wait)).map(|wait| index(wait.ask)) {
                self.count_job(wait, ask, at_s);
                self.begin(wait, ask);
            }
        }
        let keys: Vec<(usize, Option<usize>)> = self.moments.keys().copied().collect();
        for (group, unit) in keys {
            for measure in 0..2 {
                self.moment(group, unit, measure, 0, at_s);
            }
        }
    }

    /// Adds up what a class did since it was last looked at.
    pub(super) fn flush(&mut self, ask: usize, at_s: u32) {
        let Some(of) = self.asks.get(ask) else { return };
        let Some(class) = self.classes.get_mut(ask).and_then(Option::as_mut) else {
            return;
        };
        let span_s = i64::from(at_s - class.since_s);
        class.since_s = at_s;
        if span_s == 0 || class.waiting_n == 0 {
            return;
        }
        let time_s = span_s * class.waiting_n;
        let by_vector = tally(class.fits.first().copied());
        class.fitted_s += if by_vector > 0 { span_s } else { 0 };
        for (nth, unit) in measures(of).enumerate() {
            let by_unit = tally(class.fits.get(nth + 1).copied());
            let key = QueueKey {
                group: of.group,
                unit,
                day: self.day,
            };
            let sums = self.sums.entry(key).or_default();
            sums.wait_s += time_s;
            for (by_cause, fits) in [(&mut sums.vector_s, by_vector), (&mut sums.unit_s, by_unit)] {
                if let Some(sum) = fits.checked_sub(1).and_then(|cause| by_cause.get_mut(cause)) {
                    *sum += time_s;
                }
            }
            sums.both_s += if by_vector > 0 && by_unit > 0 { time_s } else { 0 };
        }
    }

    /// One more class fits, or one less.
    pub(super) fn moment(&mut self, group: usize, unit: Option<usize>, measure: usize, by: i64, at_s: u32) {
        let Some(moment) = self.moments.entry((group, unit)).or_default().get_mut(measure) else {
            return;
        };
        let span_s = i64::from(at_s - moment.since_s);
        let was = moment.n;
        moment.since_s = at_s;
        moment.n += by;
        if was > 0 && span_s > 0 {
            let day = self.day;
            let sums = self.sums.entry(QueueKey { group, unit, day }).or_default();
            match measure {
                0 => sums.vector_moment_s += span_s,
                _ => sums.unit_moment_s += span_s,
            }
        }
    }

    /// The sums when the slice is over.
    pub(super) fn end(mut self, at_s: u32) -> BTreeMap<QueueKey, QueueSums> {
        self.pass_ends(at_s);
        self.close_day(at_s);
        self.sums
    }
}
