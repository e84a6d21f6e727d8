//! Removing what no snapshot needs that is kept.

use std::collections::BTreeSet;

use super::document::SnapshotName;
use super::history::{names, snapshots};
use super::kept_path::kept_path;
use crate::error::{Error, Result};
use crate::numbers::count_u64;
use crate::store::delta::is_of_log;
use crate::store::lake_lock::LakeLock;
use crate::store::location::Store;
use crate::store::machinery::KEPT;

/// What is removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collection {
    /// Snapshots that are removed.
    pub removed: Vec<SnapshotName>,
    /// Kept files that are removed.
    pub file_n: u64,
    /// Their sizes in bytes. On a local disk, those that are published as well free nothing.
    pub bytes: u64,
    files: Vec<String>,
}

/// What [`collect`] would remove when it kept `kept` alone.
///
/// # Errors
/// [`crate::error::Kind::Data`] when the document of a snapshot that is kept is damaged.
pub fn plan_collection(store: &Store, kept: &BTreeSet<SnapshotName>) -> Result<Collection> {
    let all = names(store)?;
    let (kept, removed): (Vec<_>, Vec<_>) = all.into_iter().partition(|name| kept.contains(name));
    let mut needed = BTreeSet::new();
    for snapshot in snapshots(store, &kept)? {
        needed.extend(
            snapshot
                .manifest
                .files()
                .map(|file| kept_path(&file.path, &file.blake3)),
        );
    }
    let mut collection = Collection {
        removed,
        ..Collection::default()
    };
    for entry in store.list(KEPT)? {
        if !needed.contains(&entry.path) && !is_of_log(&entry.path) {
            collection.bytes += entry.size;
            collection.files.push(entry.path);
        }
    }
    collection.file_n = count_u64(collection.files.len());
    Ok(collection)
}

/// Removes all snapshots but `kept`, and then the files that none of these names. The newest snapshot has to be among
/// them. Killed at any moment, it leaves no snapshot without its files.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the newest is not kept; [`crate::error::Kind::Io`] when something cannot be
/// removed.
pub fn collect(lock: &LakeLock, kept: &BTreeSet<SnapshotName>) -> Result<Collection> {
    let store = lock.store();
    if names(store)?.last().is_some_and(|newest| !kept.contains(newest)) {
        return Err(Error::internal("the newest snapshot is always kept"));
    }
    let collection = plan_collection(store, kept)?;
    lock.lock().hold()?;
    let documents: Vec<String> = collection.removed.iter().map(SnapshotName::path).collect();
    store.delete_all(documents.iter().map(String::as_str))?;
    store.sync_folders(documents.iter().map(String::as_str))?;
    lock.lock().hold()?;
    store.delete_all(collection.files.iter().map(String::as_str))?;
    for path in &collection.files {
        store.prune(path);
    }
    Ok(collection)
}
