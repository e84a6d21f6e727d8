//! What all partitions of a run are merged and summarised with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::extent::RunSelection;
use crate::config::Plan;
use crate::dedupe::file_order::FileOrder;
use crate::dedupe::shifted::ShiftedCopies;
use crate::dedupe::spill::Spill;
use crate::lake::views::Views;
use crate::store::Publication;

/// What every partition needs to know of the run.
pub(crate) struct PartitionContext<'a> {
    /// The pipeline.
    pub(crate) plan: &'a Plan,
    /// Threads, at least one.
    pub(crate) threads: usize,
    /// The transaction.
    pub(crate) publication: &'a Publication,
    /// Candidates.
    pub(crate) spill: &'a Spill,
    /// Arrival order of input files.
    pub(crate) order: &'a FileOrder,
    /// Content hash of each input file, for provenance.
    pub(crate) hashes: &'a BTreeMap<Arc<str>, Arc<str>>,
    /// Paths of the input files, for refusals.
    pub(crate) paths: &'a BTreeMap<Arc<str>, Arc<str>>,
    /// Files this run read.
    pub(crate) fresh: &'a BTreeSet<Arc<str>>,
    /// What is rebuilt: published rows of files that are read again are ignored.
    pub(crate) selection: &'a RunSelection,
    /// Finds jobs that are there twice, whatever the month, while partitions are merged.
    pub(crate) shifted: Option<&'a ShiftedCopies<'a>>,
    /// Views in which summaries count, so that jobs do not.
    pub(crate) displaced: &'a Views,
}

impl PartitionContext<'_> {
    /// The same for each of `n` pieces of work, as many of which are done at once as there are threads: with its share of these.
    pub(crate) fn shared_by(&self, n: usize) -> Self {
        let at_once = n.clamp(1, self.threads.max(1));
        Self {
            threads: self.threads.div_ceil(at_once),
            ..*self
        }
    }
}
