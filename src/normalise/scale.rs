//! What normalising one job came to.

use crate::reference::benchmark::{Benchmark, Each, Factors, Score};

/// The reference that some times of a job arrive scaled to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScaleReference {
    /// The reference's values: of one kind.
    pub per_core: Each<Score>,
    /// In which benchmark.
    pub kind: Benchmark,
    /// Value of the job's nodes in the same kind, in ten-thousandths, where raw time is to be got back by it.
    pub node_e4: Option<i64>,
}

impl ScaleReference {
    /// Raw time of a scaled one, halves of a millisecond rounded up.
    #[must_use]
    pub fn raw_ms(&self, scaled_ms: i64) -> Option<i64> {
        let node_e4 = i128::from(self.node_e4?);
        let place = Benchmark::ALL.iter().position(|kind| *kind == self.kind)?;
        let value_e4 = self.per_core.scaled().get(place).copied().flatten()?;
        let doubled = 2 * i128::from(scaled_ms).checked_mul(value_e4)? + node_e4;
        i64::try_from(doubled.div_euclid(2 * node_e4)).ok()
    }
}

/// What normalising one job came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scale {
    /// The record or the table knows it.
    Known(Factors),
    /// The pipeline's fallback was used.
    Fallback(Factors),
    /// Nothing is known; work stays unknown.
    Missing,
    /// No benchmark is known, and the pipeline is configured to reject the job.
    Rejected,
}

impl Scale {
    /// The values, as far as there are any.
    #[must_use]
    pub fn factors(&self) -> Factors {
        match self {
            Self::Known(factors) | Self::Fallback(factors) => *factors,
            Self::Missing | Self::Rejected => Factors::default(),
        }
    }
}
