//! The values that scale one job, and where each came from.

use super::kind::Benchmark;
use super::quantity::{Each, Score};
use super::scope::BenchmarkOrigin;

/// Values per core of one job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Factors {
    /// The values.
    pub per_core: Each<Score>,
    /// Where each came from, in the order of [`Benchmark::ALL`].
    pub origins: [Option<BenchmarkOrigin>; 3],
}

/// A value per core and where it is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownFactor {
    /// The value, in ten-thousandths.
    pub e4: i64,
    /// Where it is from.
    pub origin: BenchmarkOrigin,
}

impl Factors {
    /// One value of one kind, in ten-thousandths.
    #[must_use]
    pub fn only(kind: Benchmark, e4: i64, origin: BenchmarkOrigin) -> Self {
        Self {
            per_core: Each::only(kind, i128::from(e4)),
            origins: Benchmark::ALL.map(|each| (each == kind).then_some(origin)),
        }
    }

    /// From what is known of each kind, in the order of [`Benchmark::ALL`].
    #[must_use]
    pub fn from_known(known: [Option<KnownFactor>; 3]) -> Self {
        Self {
            per_core: Each::from_scaled(known.map(|known| known.map(|known| i128::from(known.e4)))),
            origins: known.map(|known| known.map(|known| known.origin)),
        }
    }

    /// What is known here, and of `other` what is not known here.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let mut origins = self.origins;
        for (own, of_other) in origins.iter_mut().zip(other.origins) {
            *own = own.or(of_other);
        }
        Self {
            per_core: self.per_core.or(other.per_core),
            origins,
        }
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.per_core.is_empty()
    }
}
