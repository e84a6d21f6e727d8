//! What waits against what nodes have free.

use super::state::{QueueCounts, measures};
use super::sweep::QueueSweep;
use crate::numbers::{Comparand, index};
use crate::occupancy::history::CapacityState;

impl QueueSweep<'_> {
    /// Looks again at nodes that changed.
    pub(super) fn look(&mut self, at_s: u32) {
        let mut dirty = std::mem::take(&mut self.dirty);
        dirty.sort_unstable();
        dirty.dedup();
        for node in &dirty {
            let pools = self
                .nodes
                .get_mut(index(*node))
                .map(|node| std::mem::take(&mut node.pools));
            // Fallback: never taken, what changes are nodes of the machine.
            let pools = pools.unwrap_or_default();
            for pool in &pools {
                // Whoever compares does not change who waits.
                // Fallback: a pool without waiting classes has none to compare.
                let asks = self.active.get_mut(*pool).map(std::mem::take).unwrap_or_default();
                if !asks.is_empty() {
                    self.renew(*node, at_s);
                }
                for ask in &asks {
                    self.compare(*ask, *node, at_s);
                }
                if let Some(active) = self.active.get_mut(*pool) {
                    *active = asks;
                }
            }
            if let Some(node) = self.nodes.get_mut(index(*node)) {
                node.pools = pools;
            }
        }
        dirty.clear();
        self.dirty = dirty;
    }

    /// Works out what a node has free.
    pub(super) fn renew(&mut self, number: u32, at_s: u32) {
        let now_s = self.base_s + i64::from(at_s);
        let machine = self.machines.get(index(number));
        let (Some(node), Some(machine)) = (self.nodes.get_mut(index(number)), machine) else {
            return;
        };
        let history = machine.history;
        if !node.is_stale {
            return;
        }
        node.is_stale = false;
        node.free.clear();
        node.unit_n.clear();
        let current = history.segments.partition_point(|segment| segment.from_s <= now_s);
        let Some(segment) = current.checked_sub(1).and_then(|at| history.segments.get(at)) else {
            node.level = 0;
            return;
        };
        let (is_exclusive, held) = node
            .used
            .split_last()
            .map_or((0, [].as_slice()), |(last, held)| (*last, held));
        node.is_idle = held.iter().all(|amount| *amount == 0);
        let amounts = segment
            .capacity
            .iter()
            .zip(&segment.set_aside)
            .zip(held)
            .zip(&history.known);
        for (((capacity, set_aside), used), known) in amounts {
            let left = capacity - (*used).clamp(0, *capacity);
            node.free.push(if *known { left - left.min(*set_aside) } else { 0 });
        }
        for (unit, thresholds) in machine.units.iter().zip(machine.thresholds) {
            if node.unit_n.len() <= *unit {
                node.unit_n.resize(unit + 1, None);
            }
            if let Some(slot) = node.unit_n.get_mut(*unit) {
                *slot = Some(if is_exclusive > 0 {
                    0
                } else {
                    thresholds.units(&node.free)
                });
            }
        }
        node.level = if is_exclusive > 0 {
            0
        } else {
            match segment.state {
                CapacityState::Down => 1,
                CapacityState::Reserved => 2,
                CapacityState::Up => 3,
            }
        };
        let ahead = history
            .segments
            .iter()
            .skip(current)
            .find(|segment| segment.state == CapacityState::Reserved);
        node.reserved_s = ahead.map_or(i64::MAX, |segment| segment.from_s);
    }

    /// Holds an ask against a node.
    pub(super) fn compare(&mut self, ask: usize, number: u32, at_s: u32) {
        let (Some(of), Some(node)) = (self.asks.get(ask), self.nodes.get(index(number))) else {
            return;
        };
        let Some(class) = self.classes.get_mut(ask).and_then(Option::as_mut) else {
            return;
        };
        let now_s = self.base_s + i64::from(at_s);
        // It may have to be gone before it could end.
        let is_ahead = of
            .limit_s
            .is_some_and(|limit_s| now_s.sum_to_compare(limit_s) > node.reserved_s);
        let open = if node.level == 3 && is_ahead { 2 } else { node.level };
        let is_there = open > 0 && (node.is_idle || !of.is_exclusive);
        let first = index(number) * class.counts.len();
        let places = first..first + class.counts.len();
        // Fallback: never taken, a class has a level of every node and measure.
        let levels = class.levels.get_mut(places).unwrap_or_default();
        let mut is_changed = false;
        for (nth, (slot, counts)) in levels.iter_mut().zip(&mut class.counts).enumerate() {
            let has_room = is_there
                && match nth.checked_sub(1).and_then(|nth| of.units.get(nth)) {
                    None => of.need.iter().zip(&node.free).all(|(need, free)| need <= free),
                    Some((unit, unit_n)) => {
                        let free = node.unit_n.get(*unit).copied().flatten();
                        free.is_some_and(|free| free >= *unit_n)
                    }
                };
            let level = if has_room { open } else { 0 };
            let was = usize::from(*slot);
            if was == level {
                continue;
            }
            // Fallback: never taken, there are four levels.
            *slot = u8::try_from(level).unwrap_or(0);
            if let Some(n) = counts.get_mut(was).filter(|_| was > 0) {
                *n -= 1;
            }
            if let Some(n) = counts.get_mut(level).filter(|_| level > 0) {
                *n += 1;
            }
            is_changed |= class.fits.get(nth) != Some(&fits(*counts, of.node_n));
        }
        if is_changed {
            self.flush(ask, at_s);
            self.settle(ask, at_s);
        }
    }

    /// From now on a class fits otherwise.
    fn settle(&mut self, ask: usize, at_s: u32) {
        let Some(of) = self.asks.get(ask) else { return };
        let Some(class) = self.classes.get_mut(ask).and_then(Option::as_mut) else {
            return;
        };
        let after: Vec<usize> = class.counts.iter().map(|counts| fits(*counts, of.node_n)).collect();
        let is_after: Vec<bool> = after.iter().map(|fits| *fits > 0).collect();
        let before = std::mem::replace(&mut class.fits, after);
        for (nth, unit) in measures(of).enumerate() {
            for (measure, at) in [(0, 0), (1, nth + 1)] {
                let was = before.get(at).is_some_and(|fits| *fits > 0);
                let is = is_after.get(at).copied().unwrap_or(false);
                if was != is {
                    self.moment(of.group, unit, measure, if is { 1 } else { -1 }, at_s);
                }
            }
        }
    }
}

/// 0, or 1 + the cause, of a request for so many nodes.
fn fits([_, drained, reserved, open]: QueueCounts, node_n: u32) -> usize {
    if open >= node_n {
        3
    } else if open + reserved >= node_n {
        2
    } else {
        usize::from(open + reserved + drained >= node_n)
    }
}
