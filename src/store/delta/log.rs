//! The log of one table, as it is stored.

use bytes::Bytes;
use serde_json::Value;

use super::table::{DeltaFile, DeltaFiles, root};
use crate::error::{Error, Kind, Result};
use crate::numbers::Extent;
use crate::schema::Dataset;
use crate::store::location::Store;

/// The folder of a log, in the root of its table.
const LOG: &str = "_delta_log";

/// The log of a dataset.
pub(in crate::store) struct DeltaLog<'a> {
    pub(super) store: &'a Store,
    pub(super) dataset: &'a Dataset,
}

/// Whether an object below the kept files is part of a log.
pub(in crate::store) fn is_of_log(path: &str) -> bool {
    path.split('/').any(|part| part == LOG)
}

impl<'a> DeltaLog<'a> {
    pub(in crate::store) fn new(store: &'a Store, dataset: &'a Dataset) -> Self {
        Self { store, dataset }
    }

    /// The number of the next version. A listing may be out of date, an object that is requested by name is not.
    pub(in crate::store) fn next_version(&self) -> Result<u64> {
        let mut next = 0;
        for name in self.store.names(&format!("{}/{LOG}", root(self.dataset)))? {
            // Fallback: other files of a log, those of a checkpoint that a reader made, are no version.
            let version: Option<u64> = name.strip_suffix(".json").and_then(|number| number.parse().ok());
            next = version.map_or(next, |version| next.max(version.further(1)));
        }
        while self.store.exists(&self.path(next))? {
            next = next.further(1);
        }
        Ok(next)
    }

    /// Where a version is.
    pub(in crate::store) fn path(&self, version: u64) -> String {
        format!("{}/{LOG}/{version:020}.json", root(self.dataset))
    }

    /// The files that the log names after all of its versions.
    pub(in crate::store) fn replay(&self) -> Result<DeltaFiles> {
        let mut files = DeltaFiles::new();
        for version in 0..self.next_version()? {
            self.apply(version, &mut files)?;
        }
        Ok(files)
    }

    /// Adds and removes the files of a version, and gives the number of the snapshot that it was made with.
    pub(super) fn apply(&self, version: u64, files: &mut DeltaFiles) -> Result<u64> {
        let mut snapshot = None;
        for line in self.text(version)?.split(|byte| *byte == b'\n') {
            if line.is_empty() {
                continue;
            }
            let action: Value =
                serde_json::from_slice(line).map_err(|why| self.damaged(version, "a line is not JSON").because(why))?;
            if let Some(add) = action.get("add") {
                let missing = || self.damaged(version, "a file is added without its path, size or partition");
                let path = add.get("path").and_then(Value::as_str).ok_or_else(missing)?;
                let file = DeltaFile {
                    bytes: add.get("size").and_then(Value::as_u64).ok_or_else(missing)?,
                    partition: add.get("partitionValues").cloned().ok_or_else(missing)?,
                };
                files.insert(path.to_owned(), file);
            } else if let Some(path) = action.pointer("/remove/path").and_then(Value::as_str) {
                files.remove(path);
            } else if let Some(number) = action.pointer("/commitInfo/snapshot") {
                snapshot = number.as_u64();
            }
        }
        snapshot.ok_or_else(|| self.damaged(version, "it names no snapshot, another program wrote it"))
    }

    fn text(&self, version: u64) -> Result<Bytes> {
        let text = self.store.get(&self.path(version))?;
        text.ok_or_else(|| self.damaged(version, "the version is missing"))
    }

    fn damaged(&self, version: u64, why: &str) -> Error {
        let message = format!(
            "the Delta log of {} is damaged: {why}. Remove its folder {LOG}, and the next run that changes {} begins a new one",
            self.dataset.name, self.dataset.name
        );
        Error::new(Kind::Data, message).at("path", self.path(version))
    }
}
