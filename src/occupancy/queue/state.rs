//! What nodes and classes are at an instant.

use super::ask::Ask;

/// A shape of a node that is taken or given back. They are sorted in the order of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueueChange {
    pub(super) at_s: u32,
    pub(super) node: u32,
    pub(super) shape: u32,
    pub(super) is_start: bool,
}

pub(super) fn relative(s: i64) -> u32 {
    // Fallback: never taken, a slice has no more than 31 bits of seconds.
    u32::try_from(s.max(0)).unwrap_or(u32::MAX)
}

/// A node now.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueNode {
    pub(super) used: Vec<i64>,
    /// Whether what follows must be worked out again.
    pub(super) is_stale: bool,
    pub(super) free: Vec<i64>,
    /// 0 where nothing fits, or 1 + the cause.
    pub(super) level: u8,
    pub(super) is_idle: bool,
    /// Second from which it is reserved next.
    pub(super) reserved_s: i64,
    pub(super) unit_n: Vec<Option<i64>>,
    /// The pools it is in.
    pub(super) pools: Vec<PoolPlace>,
}

/// Where a node is in a pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoolPlace {
    pub(super) pool: usize,
    /// Among the nodes of the pool.
    pub(super) position: usize,
}

/// How nodes fit a request: none of them, or the number of suitable ones by cause.
pub(super) type QueueCounts = [u32; 4];

/// An ask jobs are waiting with.
pub(super) struct Class {
    pub(super) waiting_n: i64,
    /// Whether any node states enough to determine if it fits: first by vector, then by unit.
    pub(super) is_reported: Vec<bool>,
    /// Its place on the board of its pool.
    pub(super) place: usize,
    /// First by vector, then by unit.
    pub(super) counts: Vec<QueueCounts>,
    /// 0, or 1 + the cause.
    pub(super) fits: Vec<usize>,
    pub(super) since_s: u32,
    /// Seconds in which it fitted by vector.
    pub(super) fitted_s: i64,
}

/// What at least one class of a group and unit fits in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QueueInstant {
    pub(super) n: i64,
    pub(super) since_s: u32,
}

/// The units an ask is measured in; none is one, too.
pub(super) fn measures(ask: &Ask) -> impl Iterator<Item = Option<usize>> {
    let none = ask.units.is_empty().then_some(None);
    none.into_iter().chain(ask.units.iter().map(|(unit, _)| Some(*unit)))
}
