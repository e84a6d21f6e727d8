//! The fact that records by which benchmarks a place was scaled.

use super::views::ViewPlace;
use crate::config::fingerprint;
use crate::config::plan::Plan;

/// What is scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ScaledData {
    /// Job records.
    Jobs,
    /// Summaries.
    Summaries,
}

impl ScaledData {
    /// The name of a place's fact in the manifest: what its benchmarks were.
    pub(crate) fn fact(self, (site, month): &ViewPlace) -> String {
        match self {
            Self::Jobs => format!("benchmarks of jobs {month} {site}"),
            Self::Summaries => format!("benchmarks of summaries {month} {site}"),
        }
    }
}

/// Between which instants the table was asked for a place; `None` when it was not.
pub(crate) type AskedSpan = Option<(i64, i64)>;

/// The fact of a place: between which instants the table was asked, and what it says there.
pub(crate) fn fact(plan: &Plan, scaled: ScaledData, place: &ViewPlace, asked: AskedSpan) -> (String, String) {
    let hash = fingerprint::of_benchmarks(&plan.normalise, &place.0, asked);
    let between = asked.map_or_else(
        || "- -".to_owned(),
        |(from_ms, until_ms)| format!("{from_ms} {until_ms}"),
    );
    (scaled.fact(place), format!("{between} {hash}"))
}
