//! The journal of a commit: written whole before anything published is touched, gone when all of it is done.
//!
//! Once it is there the commit has happened: whoever finds it carries it out, from wherever the last one stopped.

use serde::{Deserialize, Serialize};

use super::folders::DurableFolders;
use super::local::WrittenFile;
use super::location::Store;
use super::lock::Lock;
use super::machinery::JOURNAL;
use super::manifest::MANIFEST;
use super::seal::SEAL;
use crate::error::{Error, Kind, Result};

/// What remains to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Journal {
    pub(super) moves: Vec<JournalMove>,
    pub(super) deletes: Vec<String>,
    /// The text of the new manifest.
    pub(super) manifest: String,
    /// The text of the new seal.
    pub(super) seal: String,
}

/// A staged object and its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JournalMove {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) bytes: u64,
    pub(super) blake3: String,
}

impl Journal {
    pub(super) fn load(store: &Store) -> Result<Option<Self>> {
        let Some(bytes) = store.get(JOURNAL)? else {
            return Ok(None);
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|e| {
            Error::new(Kind::Data, "the journal of an interrupted run is damaged")
                .at("store", store.url())
                .at("path", JOURNAL)
                .because(e)
        })
    }

    /// Writes it down. When this returns, the commit is certain. The contents of the first `durable_n` moves are durable.
    pub(super) fn save(&self, store: &Store, durable_n: usize) -> Result<()> {
        store.sync_files(self.moves.iter().skip(durable_n).map(JournalMove::staged))?;
        store.sync_folders(self.moves.iter().map(|step| step.from.as_str()))?;
        let text =
            serde_json::to_vec_pretty(self).map_err(|e| Error::internal("the journal cannot be written").because(e))?;
        store.put(JOURNAL, text.into())
    }

    /// Does what remains. Every step can be repeated.
    pub(super) fn apply(&self, store: &Store, lock: &Lock, durable: &DurableFolders) -> Result<()> {
        store.for_each(&self.moves, |step| {
            if store.rename(&step.from, &step.to)? {
                Ok(())
            } else {
                step.check_done(store)
            }
        })?;
        store.delete_all(self.deletes.iter().map(String::as_str))?;
        for path in &self.deletes {
            // An earlier run may have been killed between the file and its folder.
            store.prune(path);
        }
        store.sync_new_folders(self.moves.iter().map(|step| step.to.as_str()), durable)?;
        // With the last file of a folder the folder goes, and perhaps those above it.
        if !self.deletes.is_empty() {
            store.sync_folders(self.deletes.iter().map(String::as_str))?;
        }
        lock.hold()?;
        store.put(MANIFEST, self.manifest.clone().into())?;
        store.put(SEAL, self.seal.clone().into())?;
        store.delete(JOURNAL)?;
        store.sync_folders(std::iter::once(JOURNAL))
    }
}

impl JournalMove {
    /// The object as it is staged.
    pub(super) fn staged(&self) -> WrittenFile<'_> {
        WrittenFile {
            path: &self.from,
            bytes: self.bytes,
        }
    }

    /// A staged object that is gone has been moved already, if what is at its target is what it was.
    pub(super) fn check_done(&self, store: &Store) -> Result<()> {
        let lost = || {
            Error::new(
                Kind::Data,
                "an interrupted run cannot be completed: a file it had staged is lost",
            )
            .at("staged", &self.from)
            .at("target", &self.to)
        };
        if store.size(&self.to)? != Some(self.bytes) || store.reader(&self.to)?.blake3()? != self.blake3 {
            return Err(lost());
        }
        Ok(())
    }
}
