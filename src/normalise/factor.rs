//! Which benchmark values scale one job.

use std::sync::Arc;

use crate::pipeline::plan::{MissingBenchmark, NormalisePlan};
use crate::reference::benchmark::{Benchmark, BenchmarkTable};

/// Values per core of one job, in ten-thousandths, by [`Benchmark::ALL`].
pub type Factors = [Option<i64>; 3];

/// What normalising one job came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Looks factors up for the jobs of one site. Neighbouring jobs mostly share theirs, so the last answer is kept.
pub struct Normaliser<'a> {
    plan: Option<&'a NormalisePlan>,
    table: Option<Arc<BenchmarkTable>>,
    site: &'a str,
}

impl<'a> Normaliser<'a> {
    /// For one site.
    #[must_use]
    pub fn new(plan: Option<&'a NormalisePlan>, site: &'a str) -> Self {
        Self {
            table: plan.map(|p| Arc::clone(&p.table)),
            plan,
            site,
        }
    }

    /// The scale of a job of `cluster` that ended at `at_ms`. A benchmark the record states itself is taken first
    /// for its kind; the table fills the other kinds. Kinds are never converted into one another.
    #[must_use]
    pub fn scale(&self, cluster: Option<&str>, at_ms: i64, stated: Option<(&str, i64)>) -> Scale {
        let (Some(plan), Some(table)) = (self.plan, &self.table) else {
            return Scale::Off;
        };
        let mut factors = Benchmark::ALL.map(|benchmark| table.value(Some(self.site), cluster, benchmark, at_ms));
        if let Some((name, milli_per_core)) = stated {
            for (factor, benchmark) in factors.iter_mut().zip(Benchmark::ALL) {
                if benchmark.as_str() == name && milli_per_core > 0 {
                    *factor = Some(milli_per_core.saturating_mul(10));
                }
            }
        }
        if factors.iter().any(Option::is_some) {
            return Scale::Known(factors);
        }
        match &plan.missing {
            MissingBenchmark::Null => Scale::Missing,
            MissingBenchmark::Reject => Scale::Rejected,
            MissingBenchmark::Fallback {
                benchmark,
                value_e4_per_core,
            } => Scale::Fallback(Benchmark::ALL.map(|b| (b == *benchmark).then_some(*value_e4_per_core))),
        }
    }
}
