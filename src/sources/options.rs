//! How the files of a source are read.

use std::collections::BTreeMap;

use super::Format;
use super::apel::acceptance::Acceptance;
use super::sacct::FixedOrder;
use crate::time::Zone;

/// What a reader has to know of a source besides the bytes of its files.
#[derive(Clone, Debug)]
pub struct ReaderOptions {
    /// Name of the source, for messages.
    pub source: String,
    /// Its dialect.
    pub format: Format,
    /// Zone of printed times without an offset; `None` refuses such times.
    pub zone: Option<Zone>,
    /// Delimiter of `sacct` text; `None` finds it from the header.
    pub delimiter: Option<String>,
    /// Fixed order of the columns of `sacct` text without a header.
    pub layout: Option<FixedOrder>,
    /// What a whole APEL message does when one of its records is bad.
    pub acceptance: Acceptance,
    /// Unix second at which the times of a workload begin whose header does not state it (SWF).
    pub unix_start_time: Option<i64>,
    /// The start of a job without a wait time is its submit time (SWF).
    pub is_start_submit: bool,
    /// The nodes of each kind that a file of machines names, as host lists.
    pub nodes_by_kind: BTreeMap<String, String>,
}

impl ReaderOptions {
    /// Whether the source describes the machine instead of the jobs.
    #[must_use]
    pub fn is_inventory(&self) -> bool {
        self.format.is_inventory()
    }
}
