//! How many partitions are left to merge, and whether there are threads for more than one to each.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::numbers::Extent;

/// Partitions of a run that are not merged yet.
pub(crate) struct MergeQueue {
    at_once: usize,
    undone_n: AtomicUsize,
}

impl MergeQueue {
    /// Of so many partitions, `at_once` of which are merged at the same time.
    pub(crate) fn new(partition_n: usize, at_once: usize) -> Self {
        Self {
            at_once,
            undone_n: AtomicUsize::new(partition_n),
        }
    }

    /// One more is done.
    pub(crate) fn end_one(&self) {
        self.undone_n.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether each partition that is not done yet may take a second thread, and what another partition takes in memory.
    pub(crate) fn has_spare_threads(&self) -> bool {
        self.undone_n.load(Ordering::Relaxed).times(2) <= self.at_once
    }
}
