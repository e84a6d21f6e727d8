//! Files that are in two sources, of which both have jobs that count.

use std::collections::BTreeMap;
use std::sync::Arc;

use tracing::warn;

use super::shared_jobs::SharedJobs;
use crate::ledger::book::InputEntry;
use crate::ledger::{Book, Places, Reason};

/// Warns of the files among `read_now` whose bytes the ledger also knows of another source, where jobs of both count: as jobs
/// of two sites or clusters. Copies of the same jobs are duplicates, and count once. Those that are `reported` by their jobs are not
/// reported once more.
pub(crate) fn warn_of_shared_bytes(book: &Book, read_now: &[Arc<str>], reported: &[SharedJobs]) {
    let inputs = book.inputs();
    let counts = |file_id: &str| {
        let mut places = book.places(file_id).into_iter().flat_map(Places::keys);
        places.any(|place| place.reason == Reason::Job)
    };
    let read_now = read_now.iter().filter_map(|file_id| inputs.get_key_value(file_id));
    let read_now = read_now.filter(|(file_id, _)| counts(file_id));
    let by_bytes: BTreeMap<&str, (&str, &InputEntry)> = read_now
        .map(|(file_id, input)| (&*input.blake3, (&**file_id, input)))
        .collect();
    if by_bytes.is_empty() {
        return;
    }
    let shared = inputs.iter().filter_map(|(file_id, other)| {
        let (own_id, own) = *by_bytes.get(&*other.blake3)?;
        let is_reported = || reported.iter().any(|shared| shared.is_of(own_id, file_id));
        (own.source != other.source && counts(file_id) && !is_reported()).then_some((own, other))
    });
    let shared: Vec<_> = shared.collect();
    let Some((own, other)) = shared.first() else {
        return;
    };
    // Fallback: never taken, a file was found under some path.
    let path = |of: &InputEntry| of.paths.first().map_or_else(String::new, ToString::to_string);
    warn!(
        file_n = shared.len(),
        "files that are in two sources and have jobs that count in both, of two sites or clusters: {} (the first: {} of {}, {} of {})",
        shared.len(),
        path(own),
        own.source,
        path(other),
        other.source
    );
}
