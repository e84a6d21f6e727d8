//! What normalising one job came to.

use crate::reference::benchmark::Factors;

/// What normalising one job came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scale {
    /// The pipeline does not normalise.
    Off,
    /// The record or the table knows it.
    Known(Factors),
    /// The pipeline's fallback was used.
    Fallback(Factors),
    /// Nothing is known; work stays unknown.
    Missing,
    /// Nothing is known, and the pipeline says to reject.
    Rejected,
}

impl Scale {
    /// The values, as far as there are any.
    #[must_use]
    pub fn factors(&self) -> Factors {
        match self {
            Self::Known(factors) | Self::Fallback(factors) => *factors,
            Self::Off | Self::Missing | Self::Rejected => Factors::default(),
        }
    }
}
