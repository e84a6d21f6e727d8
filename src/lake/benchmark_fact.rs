//! The fact that records by which benchmarks a place was scaled.

use crate::config::fingerprint;
use crate::config::plan::Plan;
use crate::record::SiteMonth;
use crate::reference::benchmark::AskedSpan;
use crate::store::Fact;

/// What is scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ScaledData {
    /// Job records.
    Jobs,
    /// Summaries.
    Summaries,
}

impl ScaledData {
    /// The fact of a place: what its benchmarks were.
    pub(crate) fn fact(self, SiteMonth { site, month }: &SiteMonth) -> Fact<'_> {
        match self {
            Self::Jobs => Fact::JobBenchmarks(site, *month),
            Self::Summaries => Fact::SummaryBenchmarks(site, *month),
        }
    }
}

/// The value of the fact of a place: the instants that were looked up in the table, if any, and its rows there.
pub(crate) fn of_place(plan: &Plan, place: &SiteMonth, asked: Option<AskedSpan>) -> String {
    let hash = fingerprint::of_benchmarks(&plan.normalise, &place.site, asked);
    let between = asked.map_or_else(
        || "- -".to_owned(),
        |asked| format!("{} {}", asked.first_ms, asked.last_ms),
    );
    format!("{between} {hash}")
}
