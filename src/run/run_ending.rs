//! How a run ended, for those who watch over runs.

use std::collections::BTreeMap;

use serde::Serialize;

/// Published files of a run. A partition of a dataset is one file; a dataset without partitions is one as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PartitionCounts {
    /// Made or replaced.
    pub written_n: u64,
    /// Taken away.
    pub removed_n: u64,
    /// Built again and found to be as before.
    pub unchanged_n: u64,
}

/// The end of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunEnding {
    /// Exit code of the process; null while it runs.
    pub exit_code: Option<u8>,
    /// End, UTC; null while it runs.
    pub finished_utc: Option<String>,
    /// Published files.
    pub partitions: PartitionCounts,
    /// Warnings of this run.
    pub warning_n: u64,
    /// The first hundred of them.
    pub warnings: Vec<String>,
    /// The newest record of each source in the lake, UTC: of the instants that place records.
    pub newest_records: BTreeMap<String, String>,
}
