//! What a run reports of days that look incomplete.

use std::fmt::Write as _;

use serde::Serialize;

/// Days of the last months that look incomplete, as in `gridtally report completeness`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IncompleteDays {
    /// Site.
    pub site: String,
    /// CE, or cluster where jobs name none.
    pub ce: String,
    /// What: `gap`, `month_ends_early`, `silent` or `level_shift`.
    pub finding: &'static str,
    /// First day.
    pub from: String,
    /// Last day.
    pub to: String,
    /// What is usual a day: jobs, or core hours for a level.
    pub usual: i64,
    /// What there is instead.
    pub observed: i64,
}

impl IncompleteDays {
    /// What looks incomplete, and when.
    pub(crate) fn what(&self) -> String {
        let Self {
            site,
            ce,
            finding,
            from,
            to,
            ..
        } = self;
        format!("{site} {ce}: {finding} from {from} to {to}")
    }
}

/// Days named in words.
const NAMED: usize = 10;

/// What looks incomplete, in words.
pub(super) fn incomplete_text(incomplete: &[IncompleteDays]) -> String {
    let mut text = String::new();
    for days in incomplete.iter().take(NAMED) {
        let of = if days.finding == "level_shift" {
            "core hours"
        } else {
            "jobs"
        };
        let _ = writeln!(
            text,
            "  warning: {}: {} {of} a day, usual are {}",
            days.what(),
            days.observed,
            days.usual
        );
    }
    if let Some(more) = incomplete.len().checked_sub(NAMED).filter(|more| *more > 0) {
        let _ = writeln!(
            text,
            "  warning: and {more} more such days (gridtally report completeness)"
        );
    }
    text
}
