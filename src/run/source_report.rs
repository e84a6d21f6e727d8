//! What a run did with one of its sources.

use serde::Serialize;

use super::coreless_files::CorelessFiles;
use crate::dedupe::{ContradictoryTimes, MappingCounts};

/// One source in this run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceReport {
    /// Files read.
    pub files_read_n: u64,
    /// Bytes read, as stored.
    pub bytes_read_n: u64,
    /// Rows read.
    pub rows_read_n: u64,
    /// Rows its reader refused.
    pub rejected_n: u64,
    /// Rules that gave records their VO and site, and names they do not know.
    #[serde(skip_serializing_if = "MappingCounts::is_empty")]
    pub mapping: MappingCounts,
    /// Jobs whose times contradict one another, of a source with a `timezone`.
    #[serde(skip_serializing_if = "ContradictoryTimes::is_empty")]
    pub times: ContradictoryTimes,
    /// Files of which no job states its cores.
    #[serde(skip_serializing_if = "CorelessFiles::is_empty")]
    pub coreless: CorelessFiles,
}
