//! What waits against what nodes have free.

use super::board::{Board, BoardChange};
use super::state::{QueueCounts, QueueNode, measures};
use super::sweep::QueueSweep;
use crate::numbers::index;
use crate::occupancy::history::CapacityState;

impl QueueSweep<'_> {
    /// Looks again at nodes that changed.
    pub(super) fn look(&mut self, at_s: u32) {
        let now_s = self.base_s + i64::from(at_s);
        self.renew_changed(at_s);
        let mut changed = std::mem::take(&mut self.changed);
        let mut otherwise = std::mem::take(&mut self.changes);
        for node in &changed {
            let pools = self.nodes.get(index(*node)).map(|node| node.pools.as_slice());
            for of in pools.into_iter().flatten() {
                if let Some(board) = self.boards.get_mut(of.pool) {
                    board.look(of.position, now_s, &mut otherwise);
                }
            }
            for change in otherwise.drain(..) {
                self.take(change, at_s);
            }
        }
        changed.clear();
        (self.changed, self.changes) = (changed, otherwise);
    }

    /// Works out what the nodes have free that changed since the last look.
    pub(super) fn renew_changed(&mut self, at_s: u32) {
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        changed.dedup();
        for node in &changed {
            self.renew(*node, at_s);
        }
        self.changed = changed;
    }

    /// Works out what a node has free.
    fn renew(&mut self, number: u32, at_s: u32) {
        let now_s = self.base_s + i64::from(at_s);
        let machine = self.machines.get(index(number));
        let (Some(node), Some(machine)) = (self.nodes.get_mut(index(number)), machine) else {
            return;
        };
        let history = machine.history;
        if !std::mem::take(&mut node.is_stale) {
            return;
        }
        node.free.clear();
        node.unit_n.clear();
        let current = history.segments.partition_point(|segment| segment.from_s <= now_s);
        let Some(segment) = current.checked_sub(1).and_then(|at| history.segments.get(at)) else {
            node.level = 0;
            set_on_boards(&mut self.boards, node);
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
        set_on_boards(&mut self.boards, node);
    }

    /// Takes in that a request fits a node otherwise.
    fn take(&mut self, change: BoardChange, at_s: u32) {
        let BoardChange { ask, unit, was, is } = change;
        let (Some(of), Some(class)) = (self.asks.get(ask), self.classes.get_mut(ask).and_then(Option::as_mut)) else {
            return;
        };
        let nth = match unit {
            None => Some(0),
            Some(unit) => of.units.iter().position(|(of, _)| *of == unit).map(|nth| nth + 1),
        };
        let Some((nth, counts)) = nth.and_then(|nth| Some((nth, class.counts.get_mut(nth)?))) else {
            return;
        };
        if let Some(n) = counts.get_mut(usize::from(was)).filter(|_| was > 0) {
            *n -= 1;
        }
        if let Some(n) = counts.get_mut(usize::from(is)).filter(|_| is > 0) {
            *n += 1;
        }
        if class.fits.get(nth) != Some(&fits(*counts, of.node_n)) {
            self.flush(ask, at_s);
            self.settle(ask, at_s);
        }
    }

    /// From now on a class fits otherwise.
    pub(super) fn settle(&mut self, ask: usize, at_s: u32) {
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

/// Sets what a node has free on the boards of its pools.
fn set_on_boards(boards: &mut [Board], node: &QueueNode) {
    for of in &node.pools {
        if let Some(board) = boards.get_mut(of.pool) {
            board.set_node(of.position, node);
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
