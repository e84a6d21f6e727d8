//! Known files that have to be read again.

use std::collections::BTreeSet;
use std::sync::Arc;

use tracing::{info, warn};

use super::identity_sources::{LateCompletion, LateLogs};
use crate::lake::state::State;

/// Known files that are read again.
pub(crate) struct ReadAgain {
    /// Inventories whose files are read again.
    pub(crate) inventories: BTreeSet<String>,
    /// Ids of files of records.
    pub(crate) files: BTreeSet<Arc<str>>,
}

/// Reports lines of CEs that came late, and files that were refused; the files to read again for them.
pub(crate) fn read_again(completion: LateCompletion, state: &State) -> BTreeSet<Arc<str>> {
    let mut again = completed_late(completion);
    again.append(&mut refused_before(state));
    again
}

/// Reports late lines of CE logs; returns the files to read again for them.
fn completed_late(completion: LateCompletion) -> BTreeSet<Arc<str>> {
    let LateCompletion { late, unknown_n } = completion;
    if unknown_n > 0 {
        warn!(
            job_n = unknown_n,
            "late CE log: for {unknown_n} of its jobs it cannot be determined whether it states \
             another identity: the deciding fields are withheld, and the log they were completed from is gone"
        );
    }
    match late {
        LateLogs::Not => BTreeSet::new(),
        LateLogs::Files(files) => {
            let n = files.len();
            info!(file_n = n, "late CE log: files read again: {n}");
            files
        }
        LateLogs::LeftAsIs => {
            warn!("late CE log: jobs whose own log is gone stay as they are");
            BTreeSet::new()
        }
    }
}

/// Files that readers refused which knew less than those of this version.
fn refused_before(state: &State) -> BTreeSet<Arc<str>> {
    let refused = state.refused_by_former_readers();
    if !refused.is_empty() {
        let n = refused.len();
        info!(
            file_n = n,
            "files that an earlier version refused are read again, as far as they are there: {n}"
        );
    }
    refused
}
