//! Known files that have to be read again.

use std::collections::BTreeSet;
use std::sync::Arc;

use tracing::{info, warn};

use super::identity_sources::{LateCompletion, LateLogs};
use crate::lake::found::FoundFile;
use crate::lake::state::State;
use crate::ledger::path_contents::PathContents;

/// Known files that are read again.
pub(crate) struct ReadAgain {
    /// Inventories whose files are read again.
    pub(crate) inventories: BTreeSet<String>,
    /// Ids of files of records.
    pub(crate) files: BTreeSet<Arc<str>>,
}

/// Reports lines of CEs that came late, files that were refused, and files whose former content is there again; the files to
/// read again for them.
pub(crate) fn read_again(completion: LateCompletion, state: &State, found: &[FoundFile]) -> BTreeSet<Arc<str>> {
    let mut again = completed_late(completion);
    again.append(&mut refused_before(state, found));
    again.append(&mut restored(state, found));
    again
}

/// Known files that are found where another content was in between: they have the last word again.
fn restored(state: &State, found: &[FoundFile]) -> BTreeSet<Arc<str>> {
    let contents = PathContents::replaced(&state.book);
    let restored = found.iter().filter_map(|found| {
        let of = found.source_path();
        // Of nearly all files this is where it ends: no id of a file need be worked out.
        let last_n = contents.last(of)?;
        let file_id = found.file_id()?;
        let own_n = state.book.inputs().get(&file_id)?.paths.content_n(of.path)?;
        (own_n < last_n).then_some((found, file_id))
    });
    let mut files = BTreeSet::new();
    for (found, file_id) in restored {
        info!(
            source = found.source.name,
            file = found.file.path,
            "a former content of the file is there again, and is read again"
        );
        files.insert(file_id);
    }
    files
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

/// Files that readers refused which knew less than those of this version, as far as they are there: of what is gone, or was
/// replaced, the lake keeps what it has.
fn refused_before(state: &State, found: &[FoundFile]) -> BTreeSet<Arc<str>> {
    let refused = state.refused_by_former_readers();
    if refused.is_empty() {
        return refused;
    }
    let there = found.iter().filter_map(FoundFile::file_id);
    let again: BTreeSet<_> = there.filter(|file_id| refused.contains(file_id)).collect();
    if !again.is_empty() {
        let n = again.len();
        info!(file_n = n, "files that an earlier version refused are read again: {n}");
    }
    again
}
