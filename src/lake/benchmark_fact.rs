//! The fact that records by which benchmarks a place was scaled.

use super::views::ViewPlace;
use crate::config::fingerprint;
use crate::config::plan::Plan;
use crate::reference::benchmark::AskedSpan;

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

/// The fact of a place: for which instants the table was asked, if it was, and what it says there.
pub(crate) fn fact(plan: &Plan, scaled: ScaledData, place: &ViewPlace, asked: Option<AskedSpan>) -> (String, String) {
    let hash = fingerprint::of_benchmarks(&plan.normalise, &place.0, asked);
    let between = asked.map_or_else(
        || "- -".to_owned(),
        |asked| format!("{} {}", asked.first_ms, asked.last_ms),
    );
    (scaled.fact(place), format!("{between} {hash}"))
}
