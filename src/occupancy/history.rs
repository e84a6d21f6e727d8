//! What a node was over time.

/// Whether a node takes jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CapacityState {
    /// It does.
    #[default]
    Up,
    /// It is down or drained.
    Down,
    /// It is reserved or in maintenance.
    Reserved,
}

/// A time in which a node did not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapacitySegment {
    /// First second; it lasts until the next segment begins.
    pub from_s: i64,
    /// Whether it takes jobs.
    pub state: CapacityState,
    /// What it has, in the order of the resources followed; all zero while there is no such node.
    pub capacity: Vec<i64>,
    /// How much of that is set aside for the system.
    pub set_aside: Vec<i64>,
}

/// A node over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// Segments in the order of time. Before the first there is no node.
    pub segments: Vec<CapacitySegment>,
    /// Of which resources the capacity is known, in the order of the resources followed.
    pub known: Vec<bool>,
}

impl History {
    /// A node that is always up and has this capacity.
    #[must_use]
    pub fn constant(capacity: &[i64]) -> Self {
        Self {
            segments: vec![CapacitySegment {
                from_s: i64::MIN,
                state: CapacityState::Up,
                capacity: capacity.to_vec(),
                set_aside: vec![0; capacity.len()],
            }],
            known: vec![true; capacity.len()],
        }
    }
}
