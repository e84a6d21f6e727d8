//! Jobs whose times contradict one another, as they do where the source was given another zone than the one that printed them.

use serde::{Deserialize, Serialize};

use crate::numbers::Comparand;
use crate::record::anomaly::Anomaly;
use crate::record::row::JobRow;
use crate::schema::batch::addend;

/// By how much most zones change their clocks.
const CLOCK_CHANGE_MS: u64 = 3_600_000;

/// Times are printed in seconds.
const ROUNDED_MS: u64 = 1000;

/// Counts of one source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContradictoryTimes {
    /// Jobs that end before they start, by no more than clocks change. A row of nonsense differs by more.
    pub end_before_start_n: u64,
    /// Jobs whose wall time is an hour more or less than the time from their start to their end: clocks changed in between,
    /// and not in the zone of the source, or the other way round.
    pub hour_unlike_span_n: u64,
}

impl ContradictoryTimes {
    /// Looks at a job whose anomalies are known.
    pub fn look(&mut self, row: &JobRow<'_>, wall_ms: i64, anomalies: u32) {
        let is_reversed = anomalies & Anomaly::EndBeforeStart.bit() != 0;
        let is_unlike_span = anomalies & Anomaly::WallUnlikeSpan.bit() != 0;
        if !is_reversed && !is_unlike_span {
            return;
        }
        let (Some(start), Some(end)) = (row.start_ms, row.end_ms) else {
            return;
        };
        self.end_before_start_n += u64::from(is_reversed && start.abs_diff(end) <= CLOCK_CHANGE_MS);
        if !is_unlike_span {
            return;
        }
        let held_ms = wall_ms.sum_to_compare(addend(row.suspended_s).product_to_compare(1000));
        let difference_ms = end.difference_to_compare(start).abs_diff(held_ms);
        self.hour_unlike_span_n += u64::from(difference_ms.abs_diff(CLOCK_CHANGE_MS) <= ROUNDED_MS);
    }

    /// Adds the counts of another piece.
    pub fn merge(&mut self, other: Self) {
        self.end_before_start_n += other.end_before_start_n;
        self.hour_unlike_span_n += other.hour_unlike_span_n;
    }

    /// Whether there is nothing to report.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What a person must know of a source with a zone.
    #[must_use]
    pub fn warning(&self, source: &str) -> String {
        let Self {
            end_before_start_n,
            hour_unlike_span_n,
        } = self;
        format!(
            "the timezone of the source {source} may be wrong: jobs that end up to an hour before they \
             start: {end_before_start_n}, jobs whose wall time is an hour more or less than from start to end: \
             {hour_unlike_span_n}; gridtally inspect shows when the clocks of a file changed"
        )
    }
}
