//! Keeping files: each gets a second name made of its content, before it is published.

use crate::error::Result;
use crate::store::folders::DurableFolders;
use crate::store::location::Store;

/// A file to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) struct KeptFile {
    /// Where its bytes are now: where it is staged, or published.
    pub(in crate::store) from: String,
    /// Under which name they are kept.
    pub(in crate::store) kept: String,
    pub(in crate::store) bytes: u64,
}

/// Keeps files whose contents are durable: by a hard link on a local disk, by a copy on the side of the store elsewhere. Durable
/// when this returns.
/// What is kept already is kept once. Every step can be repeated: what a killed run kept, and did not publish, waits for
/// [`super::collect`].
///
/// `durable` are the folders that hold what the snapshot before this one needs: their own names are durable.
pub(in crate::store) fn keep(store: &Store, files: &[KeptFile], durable: &DurableFolders) -> Result<()> {
    store.for_each(files, |file| store.link(&file.from, &file.kept, file.bytes))?;
    store.sync_new_folders(files.iter().map(|file| file.kept.as_str()), durable)
}
