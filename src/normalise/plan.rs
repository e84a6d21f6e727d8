//! What a normaliser works by.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::reference::benchmark::scaled_to::ScaledTo;

/// What to do with a job no benchmark is known for.
#[derive(Clone, Debug, PartialEq)]
pub enum MissingBenchmark {
    /// Work stays unknown; counted.
    Null,
    /// The job is rejected with `benchmark_missing`.
    Reject,
    /// This value is used; counted.
    Fallback {
        /// Which benchmark.
        benchmark: crate::reference::benchmark::Benchmark,
        /// Value per core in ten-thousandths.
        value_e4_per_core: i64,
    },
}

/// `[normalise]`, resolved.
#[derive(Clone, Debug)]
pub struct NormalisePlan {
    /// The dated table.
    pub table: Arc<crate::reference::benchmark::BenchmarkTable>,
    /// Where a job's benchmark is looked for, the first step first.
    pub order: Vec<crate::reference::benchmark::BenchmarkLevel>,
    /// By source: the reference its times arrive scaled to.
    pub scaled: BTreeMap<String, ScaledTo>,
    /// For jobs the table does not cover.
    pub missing: MissingBenchmark,
}

impl NormalisePlan {
    /// Without a `[normalise]`: work that is stated counts, and what states none is counted.
    #[must_use]
    pub fn stated() -> Self {
        Self {
            table: Arc::default(),
            order: vec![crate::reference::benchmark::BenchmarkLevel::Record],
            scaled: BTreeMap::new(),
            missing: MissingBenchmark::Null,
        }
    }

    /// Whether no table is ever looked into: only what records state counts.
    #[must_use]
    pub fn is_of_records_alone(&self) -> bool {
        matches!(
            self.order.as_slice(),
            [crate::reference::benchmark::BenchmarkLevel::Record]
        )
    }
}
