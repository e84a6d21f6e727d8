//! Jobs whose allocation changed while they ran (`scontrol update job NumNodes=`).
//!
//! `sacct` has a row for each allocation. `Start` of all of them is that of the job, and `Elapsed` counts from there; `Submit` of all
//! but the first is the instant of the change. The allocation of a row begins there: until then the one of the row before it
//! held the job, which waited for none of them. Slurm's own reports and fair share count the time before a change with both rows.

use crate::numbers::Comparand;

/// An allocation that replaced another one of its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaterAllocation {
    /// When it replaced it, Unix seconds.
    pub(super) start_s: i64,
    /// How long it lasted, less suspension.
    pub(super) wall_s: Option<i64>,
}

impl LaterAllocation {
    /// Of a row with these times, Unix seconds and seconds; `None` for the first allocation of a job, which any other job has
    /// alone.
    #[inline]
    pub(super) fn of(
        submit_s: Option<i64>,
        start_s: Option<i64>,
        end_s: Option<i64>,
        wall_s: Option<i64>,
    ) -> Option<Self> {
        let (submit_s, start_s) = submit_s.zip(start_s)?;
        if submit_s <= start_s || end_s.is_some_and(|end_s| end_s < submit_s) {
            return None;
        }
        let before_s = submit_s.difference_to_compare(start_s);
        let since = |wall_s: i64| wall_s.difference_to_compare(before_s).max(0);
        Some(Self {
            start_s: submit_s,
            wall_s: wall_s.map(since),
        })
    }
}
