//! The requests that wait for the nodes of a pool, next to each other.
//!
//! What a node has free is held against all requests at once, and a new request against all nodes: both are comparisons of one
//! number with many that stand next to each other.

use fearless_simd::{Level, Simd, dispatch};

use super::ask::Ask;
use super::state::{QueueCounts, QueueNode};

/// Places are added by so many.
const STEP: usize = 32;

/// A request that fits a node otherwise than before.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoardChange {
    /// The request.
    pub(super) ask: usize,
    /// What it is measured by: the unit, or everything requested.
    pub(super) unit: Option<usize>,
    /// 0 where it did not fit, or 1 + the cause.
    pub(super) was: u8,
    /// The same now.
    pub(super) is: u8,
}

/// What nodes have free under one measure, by node; or what requests take, by place.
type Amounts = Vec<i64>;

/// The nodes of a pool, by their position in it.
#[derive(Default)]
struct BoardNodes {
    /// By resource.
    free: Vec<Amounts>,
    /// By unit of the board; the least number where the unit does not apply to the node.
    unit_n: Vec<Amounts>,
    /// 0 where nothing fits, or 1 + the cause.
    level: Vec<u8>,
    is_idle: Vec<bool>,
    /// Second from which it is reserved next.
    reserved_s: Vec<i64>,
}

/// The requests, by their place.
#[derive(Default)]
struct BoardAsks {
    /// `None` at a vacant place.
    asks: Vec<Option<usize>>,
    vacant: Vec<usize>,
    /// By resource.
    needs: Vec<Amounts>,
    /// By unit of the board; the largest number where the request is not measured in it.
    unit_needs: Vec<Amounts>,
    /// The least number where there is none.
    limit_s: Vec<i64>,
    is_exclusive: Vec<bool>,
}

/// The nodes of a pool, and the requests that wait for them.
pub(super) struct Board {
    /// Units that requests of the pool are measured in.
    units: Vec<usize>,
    nodes: BoardNodes,
    asks: BoardAsks,
    /// 0 where a request does not fit a node, or 1 + the cause: by node, measure and place.
    levels: Vec<u8>,
    /// Of the node that is looked at: the level at which each request would fit if the node had room.
    open: Vec<u8>,
    /// Of the same node: the level of each request by one measure.
    row: Vec<u8>,
}

impl Board {
    /// A pool of so many nodes that these requests may wait for.
    pub(super) fn new<'a>(node_n: usize, asks: impl Iterator<Item = &'a Ask>) -> Self {
        let (mut units, mut resource_n) = (Vec::new(), 0);
        for ask in asks {
            units.extend(ask.units.iter().map(|(unit, _)| *unit));
            resource_n = resource_n.max(ask.need.len());
        }
        units.sort_unstable();
        units.dedup();
        Self {
            nodes: BoardNodes {
                free: vec![vec![0; node_n]; resource_n],
                unit_n: vec![vec![i64::MIN; node_n]; units.len()],
                level: vec![0; node_n],
                is_idle: vec![false; node_n],
                reserved_s: vec![i64::MAX; node_n],
            },
            asks: BoardAsks {
                needs: vec![Vec::new(); resource_n],
                unit_needs: vec![Vec::new(); units.len()],
                ..BoardAsks::default()
            },
            units,
            levels: Vec::new(),
            open: Vec::new(),
            row: Vec::new(),
        }
    }

    /// Measures: everything requested, then the units.
    fn measure_n(&self) -> usize {
        1 + self.units.len()
    }

    /// What a node has free from now on.
    pub(super) fn set_node(&mut self, position: usize, node: &QueueNode) {
        let nodes = &mut self.nodes;
        // A node that is in no segment of its history has no amounts, and no level.
        for (amounts, free) in nodes.free.iter_mut().zip(&node.free) {
            set(amounts, position, *free);
        }
        for (amounts, unit) in nodes.unit_n.iter_mut().zip(&self.units) {
            let unit_n = node.unit_n.get(*unit).copied().flatten();
            // Fallback: a unit that does not apply to a node is below every request.
            set(amounts, position, unit_n.unwrap_or(i64::MIN));
        }
        set(&mut nodes.level, position, node.level);
        set(&mut nodes.is_idle, position, node.is_idle);
        set(&mut nodes.reserved_s, position, node.reserved_s);
    }

    /// Holds a node against all requests; adds those that fit it otherwise than before.
    pub(super) fn look(&mut self, position: usize, now_s: i64, changes: &mut Vec<BoardChange>) {
        let mut open = std::mem::take(&mut self.open);
        let mut row = std::mem::take(&mut self.row);
        self.open_to(position, now_s, &mut open);
        let place_n = open.len();
        let first = position * self.measure_n() * place_n;
        row.clone_from(&open);
        for (needs, free) in self.asks.needs.iter().zip(&self.nodes.free) {
            // Fallback: never taken, a board has amounts of all its nodes.
            keep_at_most(&mut row, needs, free.get(position).copied().unwrap_or(i64::MIN));
        }
        self.store_node(first, &row, None, changes);
        for nth in 0..self.units.len() {
            row.clone_from(&open);
            if let (Some(needs), Some(unit_n)) = (self.asks.unit_needs.get(nth), self.nodes.unit_n.get(nth)) {
                // Fallback: never taken, as for the resources above.
                keep_at_most(&mut row, needs, unit_n.get(position).copied().unwrap_or(i64::MIN));
            }
            let unit = self.units.get(nth).copied();
            self.store_node(first + (nth + 1) * place_n, &row, unit, changes);
        }
        (self.open, self.row) = (open, row);
    }

    /// The level at which each request would fit a node that had room.
    fn open_to(&self, position: usize, now_s: i64, open: &mut Vec<u8>) {
        let (nodes, asks) = (&self.nodes, &self.asks);
        // Fallback: never taken, a board has all its nodes.
        let level = nodes.level.get(position).copied().unwrap_or(0);
        open.clear();
        open.resize(asks.asks.len(), level);
        let reserved_s = nodes.reserved_s.get(position).copied();
        if let Some(reserved_s) = reserved_s.filter(|reserved_s| level == OPEN && *reserved_s < i64::MAX) {
            let ahead_s = before(reserved_s, now_s);
            for (level, limit_s) in open.iter_mut().zip(&asks.limit_s) {
                *level = if *limit_s > ahead_s { RESERVED } else { *level };
            }
        }
        if nodes.is_idle.get(position) == Some(&false) {
            for (level, is_exclusive) in open.iter_mut().zip(&asks.is_exclusive) {
                *level = if *is_exclusive { 0 } else { *level };
            }
        }
    }

    /// Stores how requests fit a node by one measure, from a place of the levels on.
    fn store_node(&mut self, first: usize, row: &[u8], unit: Option<usize>, changes: &mut Vec<BoardChange>) {
        let Some(levels) = self.levels.get_mut(first..first + row.len()) else {
            return;
        };
        if levels == row {
            return;
        }
        for ((level, is), ask) in levels.iter_mut().zip(row).zip(&self.asks.asks) {
            if level == is {
                continue;
            }
            let was = std::mem::replace(level, *is);
            // What is stored at a vacant place is of a request that is gone.
            if let Some(ask) = *ask {
                let is = *is;
                changes.push(BoardChange { ask, unit, was, is });
            }
        }
    }

    /// Puts a request up; gives its place, and by its measures how many nodes it fits.
    pub(super) fn join(&mut self, number: usize, ask: &Ask, now_s: i64) -> (usize, Vec<QueueCounts>) {
        let place = self.asks.vacant.pop().unwrap_or_else(|| self.widen());
        set(&mut self.asks.asks, place, Some(number));
        // Fallback: a request without a limit ends before every reservation.
        set(&mut self.asks.limit_s, place, ask.limit_s.unwrap_or(i64::MIN));
        set(&mut self.asks.is_exclusive, place, ask.is_exclusive);
        for (nth, needs) in self.asks.needs.iter_mut().enumerate() {
            // Fallback: what a request does not name it does not need.
            set(needs, place, ask.need.get(nth).copied().unwrap_or(i64::MIN));
        }
        for (needs, unit) in self.asks.unit_needs.iter_mut().zip(&self.units) {
            let taken = ask.units.iter().find(|(of, _)| of == unit);
            set(needs, place, taken.map_or(i64::MAX, |(_, unit_n)| *unit_n));
        }
        let nodes = &self.nodes;
        let mut open = nodes.level.clone();
        if let Some(limit_s) = ask.limit_s {
            for (level, reserved_s) in open.iter_mut().zip(&nodes.reserved_s) {
                let is_ahead = *level == OPEN && *reserved_s < i64::MAX && limit_s > before(*reserved_s, now_s);
                *level = if is_ahead { RESERVED } else { *level };
            }
        }
        if ask.is_exclusive {
            for (level, is_idle) in open.iter_mut().zip(&nodes.is_idle) {
                *level = if *is_idle { *level } else { 0 };
            }
        }
        let mut row = open.clone();
        for (free, need) in nodes.free.iter().zip(&ask.need) {
            keep_at_least(&mut row, free, *need);
        }
        let mut counts = vec![self.store_ask(place, 0, &row)];
        for (unit, unit_n) in &ask.units {
            let at = self.units.iter().position(|of| of == unit);
            row.copy_from_slice(&open);
            if let Some((nth, of)) = at.and_then(|nth| Some((nth, self.nodes.unit_n.get(nth)?))) {
                keep_at_least(&mut row, of, *unit_n);
                counts.push(self.store_ask(place, nth + 1, &row));
            }
        }
        (place, counts)
    }

    /// Stores how a request fits the nodes by one measure, and counts them.
    fn store_ask(&mut self, place: usize, measure: usize, row: &[u8]) -> QueueCounts {
        let place_n = self.asks.asks.len();
        let step = (self.measure_n() * place_n).max(1);
        let first = measure * place_n + place;
        for (level, is) in self.levels.iter_mut().skip(first).step_by(step).zip(row) {
            *level = *is;
        }
        let fit_n = |of: u8| row.iter().map(|level| u32::from(*level == of)).sum();
        [0, fit_n(1), fit_n(2), fit_n(3)]
    }

    /// Takes the request at a place down.
    pub(super) fn leave(&mut self, place: usize) {
        set(&mut self.asks.asks, place, None);
        self.asks.vacant.push(place);
        for needs in self.asks.needs.iter_mut().chain(&mut self.asks.unit_needs) {
            set(needs, place, i64::MAX);
        }
    }

    /// Makes room for more requests; gives a place that is vacant.
    fn widen(&mut self) -> usize {
        let was = self.asks.asks.len();
        let place_n = was + (was / 2).max(STEP);
        let asks = &mut self.asks;
        asks.asks.resize(place_n, None);
        asks.limit_s.resize(place_n, i64::MIN);
        asks.is_exclusive.resize(place_n, false);
        for needs in asks.needs.iter_mut().chain(&mut asks.unit_needs) {
            needs.resize(place_n, i64::MAX);
        }
        asks.vacant.extend((was + 1..place_n).rev());
        let mut levels = vec![0; self.nodes.level.len() * (1 + self.units.len()) * place_n];
        if was > 0 {
            for (wide, narrow) in levels.chunks_mut(place_n).zip(self.levels.chunks(was)) {
                for (level, known) in wide.iter_mut().zip(narrow) {
                    *level = *known;
                }
            }
        }
        self.levels = levels;
        was
    }
}

/// The level of a node that takes jobs.
const OPEN: u8 = 3;
/// The level of a node that is reserved, or will be before a request would end.
const RESERVED: u8 = 2;

/// How long it is until an instant.
fn before(until_s: i64, now_s: i64) -> i64 {
    // Fallback: an instant beyond all limits of jobs is one at the end of the type.
    until_s.saturating_sub(now_s)
}

fn set<T>(values: &mut [T], place: usize, value: T) {
    if let Some(slot) = values.get_mut(place) {
        *slot = value;
    }
}

/// Clears the levels of which the amount is above a bound.
fn keep_at_most(levels: &mut [u8], amounts: &[i64], bound: i64) {
    dispatch!(Level::new(), simd => keep(simd, levels, amounts, |amount| amount <= bound));
}

/// Clears the levels of which the amount is below a bound.
fn keep_at_least(levels: &mut [u8], amounts: &[i64], bound: i64) {
    dispatch!(Level::new(), simd => keep(simd, levels, amounts, |amount| amount >= bound));
}

#[expect(clippy::inline_always, reason = "it is compiled for every kind of processor")]
#[inline(always)]
fn keep<S: Simd>(_: S, levels: &mut [u8], amounts: &[i64], is_kept: impl Fn(i64) -> bool) {
    for (level, amount) in levels.iter_mut().zip(amounts) {
        *level = if is_kept(*amount) { *level } else { 0 };
    }
}
