//! The snapshots of a lake.

use std::collections::BTreeMap;

use std::sync::{Mutex, PoisonError};

use super::document::{SnapshotDocument, SnapshotName};
use crate::error::{Error, Kind, Result};
use crate::store::location::Store;
use crate::store::machinery::SNAPSHOTS;
use crate::store::manifest::Manifest;

/// One state of a lake, and when it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Its name.
    pub name: SnapshotName,
    /// The run that made it.
    pub run_id: Option<String>,
    /// What was published.
    pub manifest: Manifest,
}

/// The names of the snapshots of a lake, in the order in which they were made. What is not a document is left out:
/// `verify` finds it.
///
/// # Errors
/// [`Kind::Io`] when they cannot be listed.
pub fn names(store: &Store) -> Result<Vec<SnapshotName>> {
    let mut found: Vec<SnapshotName> = Vec::new();
    for entry in store.names(SNAPSHOTS)? {
        // Fallback: a foreign file is for verify to find.
        found.extend(entry.parse::<SnapshotName>().ok());
    }
    found.sort();
    Ok(found)
}

/// The document of a snapshot.
///
/// # Errors
/// [`Kind::NoInput`] when there is none of this name; [`Kind::Data`] when it is damaged.
pub(in crate::store) fn document(store: &Store, name: &SnapshotName) -> Result<SnapshotDocument> {
    let bytes = store.get(&name.path())?.ok_or_else(|| {
        let message = format!("there is no snapshot {} any more", name.number);
        Error::new(Kind::NoInput, message).at("path", name.path())
    })?;
    SnapshotDocument::unpack(name, &bytes)
}

/// The snapshots of these names.
///
/// # Errors
/// As [`document`].
pub fn snapshots(store: &Store, names: &[SnapshotName]) -> Result<Vec<Snapshot>> {
    let read = Mutex::new(BTreeMap::new());
    store.for_each(names, |name| {
        let document = document(store, name)?;
        let snapshot = Snapshot {
            name: name.clone(),
            run_id: document.run_id,
            manifest: Manifest::parse(document.manifest.as_bytes()).map_err(|why| why.at("path", name.path()))?,
        };
        let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
        read.insert(name.clone(), snapshot);
        Ok(())
    })?;
    let read = read.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(read.into_values().collect())
}
