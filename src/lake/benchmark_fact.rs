//! The fact that records by which benchmarks a place was scaled.

use super::views::Place;
use crate::config::fingerprint;
use crate::config::plan::Plan;

/// What is scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scaled {
    /// Job records.
    Jobs,
    /// Summaries.
    Summaries,
}

impl Scaled {
    /// The name of a place's fact in the manifest: what its benchmarks were.
    pub(crate) fn fact(self, (site, month): &Place) -> String {
        match self {
            Self::Jobs => format!("benchmarks of jobs {month} {site}"),
            Self::Summaries => format!("benchmarks of summaries {month} {site}"),
        }
    }
}

/// Between which instants the table was asked for a place; `None` when it was not.
pub(crate) type Asked = Option<(i64, i64)>;

/// The fact of a place: between which instants the table was asked, and what it says there.
pub(crate) fn fact(plan: &Plan, scaled: Scaled, place: &Place, asked: Asked) -> (String, String) {
    let hash = fingerprint::of_benchmarks(&plan.normalise, &place.0, asked);
    let between = asked.map_or_else(
        || "- -".to_owned(),
        |(from_ms, until_ms)| format!("{from_ms} {until_ms}"),
    );
    (scaled.fact(place), format!("{between} {hash}"))
}
