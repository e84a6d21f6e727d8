//! Files that are in two sources: their jobs count in both.

use std::collections::BTreeMap;
use std::sync::Arc;

use tracing::warn;

use crate::ledger::Book;
use crate::ledger::book::InputEntry;

/// Warns of the files among `with_jobs`, which were read now, whose bytes the ledger also knows of another source.
pub(crate) fn warn_of_shared_bytes(book: &Book, with_jobs: &[Arc<str>]) {
    let inputs = book.inputs();
    let read_now = with_jobs.iter().filter_map(|file_id| inputs.get(file_id));
    let by_bytes: BTreeMap<&str, &InputEntry> = read_now.map(|input| (&*input.blake3, input)).collect();
    if by_bytes.is_empty() {
        return;
    }
    let shared = inputs.values().filter_map(|other| {
        let own = by_bytes.get(&*other.blake3)?;
        (own.source != other.source).then_some((*own, other))
    });
    let shared: Vec<_> = shared.collect();
    let Some((own, other)) = shared.first() else {
        return;
    };
    // Fallback: never taken, a file was found under some path.
    let path = |of: &InputEntry| of.paths.first().map_or_else(String::new, ToString::to_string);
    warn!(
        file_n = shared.len(),
        "files that are in two sources: {}; their jobs count in both (the first: {} of {}, {} of {})",
        shared.len(),
        path(own),
        own.source,
        path(other),
        other.source
    );
}
