//! What few jobs have: all others pass with one comparison.

/// Whom a job shares its nodes with, as it was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclusivity {
    /// Nobody: the nodes are its own.
    Node,
    /// Jobs of the same user.
    User,
    /// Jobs of the same MCS label.
    Mcs,
    /// Nobody: the whole part of the network is its own.
    Topology,
    /// Anybody, where the partition allows it.
    Shared,
}

impl Exclusivity {
    /// The word stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::User => "user",
            Self::Mcs => "mcs",
            Self::Topology => "topo",
            Self::Shared => "shared",
        }
    }
}

/// What a source states of few jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobDetails<'a> {
    /// What it waits for, as [`super::dependency::Dependencies`] writes it.
    pub dependency: Option<&'a str>,
    /// Whom it shares its nodes with, as it was requested.
    pub exclusive: Option<Exclusivity>,
    /// Burst buffer by name, bytes: what it was allocated, or requested where no allocation is stated. Sorted by name.
    pub burst_buffers: &'a [(&'a str, i64)],
    /// Licences by name: what it was allocated, or requested where no allocation is stated. Sorted by name.
    pub licenses: &'a [(&'a str, i64)],
}

impl JobDetails<'_> {
    /// These, unless nothing is known.
    #[must_use]
    pub fn known(&self) -> Option<&Self> {
        (*self != Self::default()).then_some(self)
    }
}
