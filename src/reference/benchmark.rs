//! Dated benchmark values per site and cluster.

/// Kinds of benchmark. They are different scales and are never added to one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Benchmark {
    /// HEPSPEC06.
    Hs06,
    /// HEPscore23.
    Hs23,
    /// SPECint2000 (SI00, Si2k).
    Si00,
}

impl Benchmark {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Hs06, Self::Hs23, Self::Si00];

    /// The word stored in `records` and used in column names.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hs06 => "hs06",
            Self::Hs23 => "hs23",
            Self::Si00 => "si00",
        }
    }
}

/// The rows of `benchmarks.csv`.
#[derive(Clone, Debug, Default)]
pub struct BenchmarkTable {}

impl BenchmarkTable {
    /// Value per core in ten-thousandths.
    #[must_use]
    pub fn value(
        &self,
        _site: Option<&str>,
        _cluster: Option<&str>,
        _benchmark: Benchmark,
        _at_ms: i64,
    ) -> Option<i64> {
        None
    }
}
