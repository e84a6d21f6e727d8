//! How much of a lake a run rebuilds.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::run::outdated::Outdated;

/// How much is rebuilt independent of new inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunExtent {
    /// Nothing: only the parts with new records.
    NewRecords,
    /// All sums, from the records that are published.
    Sums,
    /// All records, from all input files, and so all sums.
    Records,
}

impl RunExtent {
    /// Whether all records are rebuilt from all input files.
    pub(crate) fn is_rebuild(self) -> bool {
        self == Self::Records
    }

    /// Whether all sums are rebuilt.
    pub(crate) fn is_of_all_sums(self) -> bool {
        self != Self::NewRecords
    }

    /// Whether all sums are rebuilt from the records that are published.
    pub(crate) fn is_of_published_records(self) -> bool {
        self == Self::Sums
    }
}

/// What a run rebuilds in addition to the parts with new records.
pub(crate) struct RunSelection {
    pub(crate) extent: RunExtent,
    /// Known files that are read again: their published rows are replaced.
    pub(crate) read_again: BTreeSet<Arc<str>>,
    /// Places that were scaled by other benchmarks than those of now.
    pub(crate) outdated: Outdated,
}
