//! Jobs that ran on cores that nothing states, as where a dump lacks the columns of cores.

use serde::{Deserialize, Serialize};

use crate::record::row::JobRow;

/// Counts of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownCores {
    /// Jobs that ran.
    pub ran_n: u64,
    /// Of these, jobs without a number of cores.
    pub unknown_n: u64,
}

impl UnknownCores {
    /// Looks at a job.
    pub fn look(&mut self, row: &JobRow<'_>, wall_ms: i64) {
        let has_run = wall_ms > 0;
        self.ran_n += u64::from(has_run);
        self.unknown_n += u64::from(has_run && row.alloc_core_n.is_none());
    }

    /// Adds the counts of another piece.
    pub fn merge(&mut self, other: Self) {
        self.ran_n += other.ran_n;
        self.unknown_n += other.unknown_n;
    }

    /// Whether jobs ran and the cores of none of them are known.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.ran_n > 0 && self.unknown_n == self.ran_n
    }
}
