//! Which benchmark values scale one job.

use std::sync::Arc;

use crate::pipeline::plan::{MissingBenchmark, NormalisePlan};
use crate::reference::benchmark::{Benchmark, BenchmarkTable, Each, Score};

/// Values per core of one job.
pub type Factors = Each<Score>;

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
        let stated = stated
            .and_then(|(name, milli_per_core)| Some((Benchmark::parse(name)?, milli_per_core)))
            .filter(|(_, milli_per_core)| *milli_per_core > 0)
            .map_or_else(Factors::default, |(kind, milli_per_core)| {
                Factors::only(kind, i128::from(milli_per_core) * 10)
            });
        let factors = stated.or(table.values(Some(self.site), cluster, at_ms));
        if !factors.is_empty() {
            return Scale::Known(factors);
        }
        match &plan.missing {
            MissingBenchmark::Null => Scale::Missing,
            MissingBenchmark::Reject => Scale::Rejected,
            MissingBenchmark::Fallback {
                benchmark,
                value_e4_per_core,
            } => Scale::Fallback(Factors::only(*benchmark, i128::from(*value_e4_per_core))),
        }
    }
}
