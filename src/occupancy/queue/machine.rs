//! The nodes that jobs wait for.

use crate::occupancy::history::History;
use crate::occupancy::unit::Thresholds;

/// A node of a slice: its capacity over time, and the units that apply to it.
#[derive(Clone, Copy, Debug)]
pub struct QueueMachine<'a> {
    /// Its capacity over time.
    pub history: &'a History,
    /// Units that apply to it, by their number.
    pub units: &'a [usize],
    /// Their thresholds, in the same order.
    pub thresholds: &'a [Thresholds],
}
