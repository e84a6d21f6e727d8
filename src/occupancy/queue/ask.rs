//! What waiting jobs request.

/// The request of the jobs of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ask {
    /// Which nodes will do; see [`Queue::pools`].
    pub pool: usize,
    /// By what their sums are kept.
    pub group: usize,
    /// Nodes.
    pub node_n: u32,
    /// On each of them at least this much, in the order of the resources followed.
    pub need: Vec<i64>,
    /// The node to itself.
    pub is_exclusive: bool,
    /// How long at most, seconds; `None` where unspecified.
    pub limit_s: Option<i64>,
    /// Units it is measured in, with how many of them it takes on a node.
    pub units: Vec<(usize, i64)>,
}

/// A job that waits, in seconds from the beginning of the slice, half-open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wait {
    /// Eligible.
    pub start_s: u32,
    /// Started, or gave up.
    pub end_s: u32,
    /// Place in [`Queue::asks`].
    pub ask: u32,
}

/// What jobs wait for.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// Distinct requests.
    pub asks: Vec<Ask>,
    /// Nodes by number that will do.
    pub pools: Vec<Vec<u32>>,
}
