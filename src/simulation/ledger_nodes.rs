//! The nodes that free canonical units of a simulation are of: those of the inventory, set aside while a reservation has them as
//! a whole.

use std::collections::BTreeSet;

use super::lake_reservations::ListedReservation;
use crate::occupancy::{CapacitySegment, CapacityState, History};
use crate::overhead::node_inventory::InventoryNode;
use crate::simulate::reserved_pool::ReservedPool;
use crate::time::SecondSpan;

/// A time in which a reservation has a node as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReservedTime {
    /// Which: its place among the reservations of the machine.
    pub(crate) pool: u32,
    /// When.
    pub(crate) span: SecondSpan,
}

/// Nodes with the times in which reservations have them.
#[derive(Clone, Debug, Default)]
pub(crate) struct LedgerNodes {
    /// The nodes; reserved while a reservation has them, up at all times where no outage is simulated.
    pub(crate) nodes: Vec<InventoryNode>,
    /// By node, when which reservation has it.
    pub(crate) reserved: Vec<Vec<ReservedTime>>,
}

impl LedgerNodes {
    /// The nodes of an inventory with their outages, and the listed times of reservations that have whole nodes of it. `pools` are
    /// the reservations of the machine.
    pub(crate) fn reserved(nodes: &[InventoryNode], whole: &[ListedReservation], pools: &[ReservedPool]) -> Self {
        let mut made = Self::default();
        for node in nodes {
            let own = whole.iter().filter(|listed| listed.nodes.contains(&node.name));
            let own = own.filter_map(|listed| {
                let pool = pools.iter().position(|pool| pool.name == listed.name)?;
                Some(ReservedTime {
                    pool: u32::try_from(pool).ok()?,
                    span: listed.span(),
                })
            });
            let own: Vec<ReservedTime> = own.collect();
            made.nodes.push(InventoryNode {
                history: reserved(&node.history, &own),
                ..node.clone()
            });
            made.reserved.push(own);
        }
        made
    }

    /// The nodes of an inventory, which take jobs for as long as they are there.
    pub(crate) fn always_up(nodes: &[InventoryNode]) -> Self {
        let mut nodes = nodes.to_vec();
        for node in &mut nodes {
            for segment in &mut node.history.segments {
                segment.state = CapacityState::Up;
            }
        }
        Self {
            reserved: vec![Vec::new(); nodes.len()],
            nodes,
        }
    }
}

/// A node that is set aside in these times, unless it is down.
fn reserved(history: &History, times: &[ReservedTime]) -> History {
    if times.is_empty() {
        return history.clone();
    }
    let mut cuts: BTreeSet<i64> = history.segments.iter().map(|segment| segment.from_s).collect();
    cuts.extend(times.iter().flat_map(|time| [time.span.start_s, time.span.end_s]));
    let mut segments: Vec<CapacitySegment> = Vec::with_capacity(cuts.len());
    for from_s in cuts {
        let begun_n = history.segments.partition_point(|segment| segment.from_s <= from_s);
        // Before its first segment there is no node.
        let Some(segment) = history.segments.get(..begun_n).and_then(<[_]>::last) else {
            continue;
        };
        let is_reserved = times.iter().any(|time| time.span.has(from_s));
        let state = match segment.state {
            CapacityState::Up if is_reserved => CapacityState::Reserved,
            state => state,
        };
        segments.push(CapacitySegment {
            from_s,
            state,
            ..segment.clone()
        });
    }
    History {
        segments,
        known: history.known.clone(),
    }
}
