//! What of a job's record decides its energy.

use crate::reference::energy::node_rows::NodePlace;

/// When a job ran, Unix milliseconds: `until_ms` is not included; both are equal where only one instant is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSpan {
    /// First instant.
    pub from_ms: i64,
    /// The instant after the last.
    pub until_ms: i64,
}

/// What a job held, and what was measured of it. What is unknown is `None`.
#[derive(Clone, Copy, Debug)]
pub struct JobLoad<'a> {
    /// Where it ran, and when its nodes are looked up.
    pub place: NodePlace<'a>,
    /// Cores given.
    pub core_n: Option<i64>,
    /// Nodes given.
    pub node_n: Option<i64>,
    /// GPUs given.
    pub gpu_n: Option<i64>,
    /// Memory given, byte.
    pub memory_byte: Option<i64>,
    /// How long it ran, milliseconds.
    pub wall_ms: i64,
    /// How long it held its nodes, milliseconds: with suspension.
    pub held_ms: i64,
    /// CPU time, milliseconds.
    pub cpu_ms: Option<i64>,
    /// Time its GPUs were busy, milliseconds.
    pub gpu_busy_ms: Option<i64>,
    /// Time of GPUs that `gpu_busy_ms` is of, milliseconds.
    pub gpu_stated_ms: Option<i64>,
    /// Whether it is known to have requested nodes of its own.
    pub has_requested_own_nodes: bool,
    /// Energy of its nodes while it held them, as its source states it, joules.
    pub stated_j: Option<i64>,
    /// Energy that the meters of its nodes counted while it ran, microjoules; `None` unless they did for all of it.
    pub metered_uj: Option<i128>,
}
