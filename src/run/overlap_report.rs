//! What a run reports of months with both jobs and summaries.

use serde::Serialize;

/// A view of a site and month with both jobs and summaries, among those this run processed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OverlapReport {
    /// Site.
    pub site: String,
    /// Month, such as `2026-10`.
    pub month: String,
    /// View.
    pub view: String,
    /// The setting of the pipeline for it: `jobs`, `summaries` or `reject`.
    pub overlap: &'static str,
}
