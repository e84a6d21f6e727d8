//! What a publication adds to the logs.

use std::collections::BTreeSet;

use bytes::Bytes;
use serde_json::{Value, json};

use super::log::DeltaLog;
use super::table::{DeltaFile, DeltaFiles, DeltaTable, files_of, partition, place, tables};
use crate::error::Result;
use crate::schema::{self, Dataset};
use crate::store::lake_facts::Fact;
use crate::store::location::Store;
use crate::store::manifest::{FileEntry, Manifest};

/// A file of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) struct DeltaCommit {
    pub(in crate::store) path: String,
    pub(in crate::store) bytes: Bytes,
}

/// What a publication makes of the logs.
pub(in crate::store) struct DeltaLogs<'a> {
    pub(in crate::store) store: &'a Store,
    /// What was published before; its logs are up to date where it states that it has some.
    pub(in crate::store) before: Option<&'a Manifest>,
    pub(in crate::store) after: &'a Manifest,
    /// Number of the snapshot that is made with it.
    pub(in crate::store) snapshot: u64,
    /// When, Unix milliseconds.
    pub(in crate::store) made_ms: i64,
}

impl DeltaLogs<'_> {
    /// The next file of each log that changes.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when a log that has to be read is damaged; [`crate::error::Kind::Io`] when one cannot be
    /// looked at.
    pub(in crate::store) fn commits(&self) -> Result<Vec<DeltaCommit>> {
        let named = |manifest: &Manifest| {
            let names = manifest.files().map(|file| file.dataset.clone());
            names.collect::<BTreeSet<_>>()
        };
        let mut present = named(self.after);
        present.extend(self.before.map(named).into_iter().flatten());
        let mut commits = Vec::new();
        for dataset in schema::lake_datasets()? {
            // A log that was not continued for a while may name files of a dataset that is gone since.
            if present.contains(&dataset.name) || self.logged().is_none() {
                commits.extend(self.commit(dataset)?);
            }
        }
        Ok(commits)
    }

    /// What was published before, where the logs follow it.
    fn logged(&self) -> Option<&Manifest> {
        self.before.filter(|before| before.facts.has(Fact::DeltaLog))
    }

    /// The next file of the log of a dataset; `None` where nothing changes.
    fn commit(&self, dataset: &Dataset) -> Result<Option<DeltaCommit>> {
        let after = files_of(self.after, dataset);
        if self.logged().is_some_and(|before| files_of(before, dataset) == after) {
            return Ok(None);
        }
        let log = DeltaLog::new(self.store, dataset);
        let version = log.next_version()?;
        let before = match self.logged() {
            _ if version == 0 => DeltaFiles::new(),
            Some(before) => files_of(before, dataset),
            None => log.replay()?,
        };
        let added: Vec<&FileEntry> = tables(self.after, dataset)
            .filter(|file| !before.contains_key(&place(file)))
            .collect();
        let removed: Vec<_> = before.iter().filter(|(path, _)| !after.contains_key(*path)).collect();
        if added.is_empty() && removed.is_empty() {
            return Ok(None);
        }
        let mut actions = vec![self.info()];
        if version == 0 || schema_version(dataset, self.logged()) != schema_version(dataset, Some(self.after)) {
            actions.push(protocol());
            let table = DeltaTable {
                dataset,
                facts: &self.after.facts,
            };
            actions.push(table.metadata(self.made_ms)?);
        }
        actions.extend(removed.into_iter().map(|(path, file)| self.remove(path, file)));
        actions.extend(added.into_iter().map(|file| self.add(file)));
        let mut text = String::new();
        for action in actions {
            text.push_str(&action.to_string());
            text.push('\n');
        }
        Ok(Some(DeltaCommit {
            path: log.path(version),
            bytes: text.into(),
        }))
    }

    fn info(&self) -> Value {
        json!({ "commitInfo": {
            "timestamp": self.made_ms,
            "operation": "WRITE",
            "operationParameters": {},
            "engineInfo": concat!("gridtally/", env!("CARGO_PKG_VERSION")),
            "snapshot": self.snapshot,
        } })
    }

    fn add(&self, file: &FileEntry) -> Value {
        json!({ "add": {
            "path": place(file),
            "partitionValues": partition(file),
            "size": file.bytes,
            "modificationTime": self.made_ms,
            "dataChange": true,
            "stats": json!({ "numRecords": file.rows }).to_string(),
        } })
    }

    fn remove(&self, path: &str, file: &DeltaFile) -> Value {
        json!({ "remove": {
            "path": path,
            "deletionTimestamp": self.made_ms,
            "dataChange": true,
            "extendedFileMetadata": true,
            "partitionValues": file.partition,
            "size": file.bytes,
        } })
    }
}

/// The newest version of a dataset's schema among its files; `None` where it is not known.
fn schema_version(dataset: &Dataset, manifest: Option<&Manifest>) -> Option<u32> {
    let files = manifest.into_iter().flat_map(|manifest| tables(manifest, dataset));
    files.map(|file| file.schema_version).max()
}

/// What a reader has to understand: times without a zone.
fn protocol() -> Value {
    json!({ "protocol": {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": ["timestampNtz"],
        "writerFeatures": ["timestampNtz"],
    } })
}
