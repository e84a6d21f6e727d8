//! How the files of a source are read.

use std::collections::BTreeMap;

use super::Format;
use super::apel::acceptance::Acceptance;
use super::sacct::SacctOptions;
use super::swf::SwfOptions;
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
    /// For the reader of `sacct` alone.
    pub sacct: SacctOptions,
    /// What a whole APEL message does when one of its records is bad.
    pub acceptance: Acceptance,
    /// For the reader of workloads (SWF) alone.
    pub swf: SwfOptions,
    /// The nodes of each kind that a file of machines names, as host lists.
    pub nodes_by_kind: BTreeMap<String, String>,
}

impl ReaderOptions {
    /// Of a source that states nothing else.
    #[must_use]
    pub fn new(source: &str, format: Format) -> Self {
        Self {
            source: source.to_owned(),
            format,
            zone: None,
            sacct: SacctOptions::default(),
            acceptance: Acceptance::default(),
            swf: SwfOptions::default(),
            nodes_by_kind: BTreeMap::new(),
        }
    }

    /// Whether the source describes the machine instead of the jobs.
    #[must_use]
    pub fn is_inventory(&self) -> bool {
        self.format.is_inventory()
    }
}
