//! Some candidates of a day: all rows of the jobs between two keys.

use arrow_array::RecordBatch;

use super::keys::RecordKey;
use super::losers::LoserRuns;
use super::reduced::ReducedJobs;

/// Some candidates of a day.
#[derive(Default)]
pub struct FreshSlice {
    /// The last key that may be in it; `None` for the last slice of the day.
    pub last: Option<RecordKey>,
    /// The rows, sorted, as a gathered batch.
    pub rows: Option<RecordBatch>,
    /// Rows that lost against rows of this slice.
    pub losers: LoserRuns,
    /// Jobs whose best rows of this slice have less than others of them.
    pub reduced: ReducedJobs,
}
