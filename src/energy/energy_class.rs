//! What a figure of energy is worth.

/// How the energy of a job is known. What none of these is has no figure: it is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EnergyClass {
    /// Measured, on nodes that the job had to itself.
    Exclusive,
    /// Measured, on nodes that the job shared: its part of their reading.
    Apportioned,
    /// Counted by the meters of its nodes, of which it has its part.
    NodeMeter,
    /// Modelled, from the power of the type of its nodes.
    Modelled,
}

impl EnergyClass {
    /// From the best to the least.
    pub const ALL: [Self; 4] = [Self::Exclusive, Self::Apportioned, Self::NodeMeter, Self::Modelled];

    /// The word in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exclusive => "exclusive",
            Self::Apportioned => "apportioned",
            Self::NodeMeter => "node meter",
            Self::Modelled => "modelled",
        }
    }
}
