//! Publishing many files at once, so that a run killed at any instant leaves the last good state, and the next run
//! finishes or forgets what it was doing.
//!
//! Files are written below `.gridtally/staging/`, where no reader looks. The commit is one atomic write of
//! `.gridtally/journal.json`: before it nothing has happened, after it everything will, by this run or by the next one
//! that begins. Only renames (atomic on a local disk) and whole-object writes ever touch a published path, so a reader
//! sees every single file in its old or its new state. Between the first move and the last a reader of several files
//! can see some old and some new; the manifest is replaced after all of them, and then the seal.
//!
//! Where the lake states which snapshots are kept, every file gets its second name ([`super::snapshots`]) before the commit, and
//! the document of the new state is one of the files that the commit moves.
//!
//! One writer at a time: on a local disk a lock that the system releases even when its owner is killed sees to that, on
//! object stores one made of conditional writes. Stores that have none (`WebDAV`, or S3 with
//! `AWS_CONDITIONAL_PUT=disabled`) have no lock: there **seeing to it is the operator's duty**. Uploads that a kill cuts
//! off are invisible but may be billed: give the bucket a rule that aborts incomplete uploads after a day.

mod published_files;
mod snapshot;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;

use self::published_files::IntactFiles;
use super::folders::DurableFolders;
use super::journal::{Journal, JournalMove};
use super::lake_facts::{Fact, LakeFacts};
use super::lake_lock::LakeLock;
use super::location::{Store, parse};
use super::lock::Lock;
use super::machinery::{COMMIT, JOURNAL, MACHINERY, STAGING};
use super::manifest::{MANIFEST, Manifest};
use super::seal::{SEAL, Seal};
use super::staged::{Staged, StagedWriter};
use crate::error::{Error, Result, STATE_KEY};
use crate::numbers::count_u64;
use crate::runtime::interruption::committing;

/// A transaction over many files. Dropped without [`Publication::commit`], it changes nothing.
pub struct Publication {
    store: Store,
    published: Option<Manifest>,
    seal: Seal,
    changes: Mutex<Changes>,
    staged_n: AtomicU64,
    /// From the moment the journal may be there, what is staged belongs to it.
    committing: bool,
    lock: Arc<LakeLock>,
    intact: IntactFiles,
}

#[derive(Default)]
struct Changes {
    /// By published path: the file, and where it is staged unless it is published already.
    added: BTreeMap<String, (Staged, bool)>,
    removed: BTreeSet<String>,
}

/// A file as it will be published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Current {
    /// Where it will be.
    pub path: String,
    /// BLAKE3 of its contents, hexadecimal.
    pub blake3: String,
    /// Where its bytes are now.
    pub place: String,
}

impl Current {
    /// The files of a dataset as they are published.
    pub fn published(manifest: &Manifest, dataset: &str) -> Vec<Self> {
        let files = manifest.dataset(dataset).map(|file| Self {
            path: file.path.clone(),
            blake3: file.blake3.clone(),
            place: file.path.clone(),
        });
        files.collect()
    }
}

/// What a commit did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// Paths written, sorted.
    pub written: Vec<String>,
    /// Paths removed, sorted.
    pub removed: Vec<String>,
    /// Files that were added and found to be published already, byte for byte.
    pub unchanged: usize,
}

impl Publication {
    /// The lake that is published to.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Takes the lock, and begins as [`Publication::under`] it.
    ///
    /// # Errors
    /// `Busy` when another writer holds the output, `Data` when manifest or journal are damaged.
    pub fn begin(store: &Store) -> Result<Self> {
        Self::under(Arc::new(LakeLock::take(store, Duration::ZERO)?))
    }

    /// Reads the manifest under a lock that is held.
    ///
    /// # Errors
    /// `Data` when the manifest or its seal is damaged, or one is not of the other.
    pub fn under(lock: Arc<LakeLock>) -> Result<Self> {
        let store = lock.store();
        Ok(Self {
            store: store.clone(),
            published: Manifest::load(store)?,
            seal: Seal::held(store)?,
            changes: Mutex::default(),
            staged_n: AtomicU64::new(0),
            committing: false,
            lock,
            intact: IntactFiles::default(),
        })
    }

    /// The lock that keeps other writers out.
    pub(super) fn lake_lock(&self) -> &LakeLock {
        &self.lock
    }

    /// What is published, before this publication; `None` when nothing is.
    pub fn published(&self) -> Option<&Manifest> {
        self.published.as_ref()
    }

    /// Starts a file that is to be published at `path`. Several threads may do this at once.
    pub fn stage(&self, path: &str, dataset: &str, schema_version: u32) -> Result<StagedWriter> {
        let location = parse(path)?;
        let reserved = location.parts().next().is_none_or(|part| part.as_ref() == MACHINERY);
        if reserved || location.as_ref() != path || [MANIFEST, SEAL].contains(&path) {
            return Err(Error::internal("nothing can be published at this path").at("path", path));
        }
        let n = self.staged_n.fetch_add(1, Ordering::Relaxed);
        let staging = format!("{STAGING}/{}{n:08}", self.lock.lock().staging_prefix());
        Ok(StagedWriter {
            writer: self.store.writer(&staging)?,
            staging,
            path: path.to_owned(),
            dataset: dataset.to_owned(),
            schema_version,
        })
    }

    /// Adds a staged file. When the same bytes are published already, the staged ones are dropped and the published
    /// ones stay untouched.
    ///
    /// # Errors
    /// `Internal` when the path was added before.
    pub fn add(&self, staged: Staged) -> Result<()> {
        let entry = staged.entry();
        let same = self
            .published
            .as_ref()
            .and_then(|manifest| manifest.file(&entry.path))
            .is_some_and(|old| old.bytes == entry.bytes && old.blake3 == entry.blake3);
        // A published file that has been lost or cut short is replaced; anything subtler is for verify to find.
        let unchanged = same && self.store.size(&entry.path)? == Some(entry.bytes);
        if unchanged {
            self.store.delete(&staged.staging)?;
        }
        match self.changes().added.entry(entry.path.clone()) {
            Entry::Occupied(twice) => Err(Error::internal("a path is published twice").at("path", twice.key())),
            Entry::Vacant(place) => {
                place.insert((staged, unchanged));
                Ok(())
            }
        }
    }

    /// Removes a published file. One that is also added stays; one that is not published is ignored.
    pub fn remove(&self, path: &str) {
        if self
            .published
            .as_ref()
            .is_some_and(|published| published.file(path).is_some())
        {
            self.changes().removed.insert(path.to_owned());
        }
    }

    /// Takes back what was added at `path` in this transaction, as if it had not been.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when what was staged cannot be deleted.
    pub fn take_back(&self, path: &str) -> Result<()> {
        let added = self.changes().added.remove(path);
        match added {
            Some((staged, false)) => self.store.delete(&staged.staging),
            _ => Ok(()),
        }
    }

    /// The files of `dataset` as they will be once this is committed, sorted by path, with the place of their bytes now.
    pub fn current(&self, dataset: &str) -> Vec<Current> {
        let changes = self.changes();
        let published = self.published.iter().flat_map(|manifest| manifest.dataset(dataset));
        let kept =
            published.filter(|file| !changes.added.contains_key(&file.path) && !changes.removed.contains(&file.path));
        let kept = kept.map(|file| (file, file.path.clone()));
        let added = changes
            .added
            .values()
            .filter(|(staged, _)| staged.entry().dataset == dataset);
        let added = added.map(|(staged, is_unchanged)| {
            let place = if *is_unchanged {
                &staged.entry.path
            } else {
                &staged.staging
            };
            (&staged.entry, place.clone())
        });
        let mut current: Vec<Current> = kept
            .chain(added)
            .map(|(file, place)| Current {
                path: file.path.clone(),
                blake3: file.blake3.clone(),
                place,
            })
            .collect();
        current.sort_by(|a, b| a.path.cmp(&b.path));
        current
    }

    /// Whether `dataset` will have a file once this is committed.
    pub fn will_hold(&self, dataset: &str) -> bool {
        let changes = self.changes();
        let is_added = changes
            .added
            .values()
            .any(|(staged, _)| staged.entry().dataset == dataset);
        let mut published = self.published.iter().flat_map(|manifest| manifest.dataset(dataset));
        is_added || published.any(|file| !changes.removed.contains(&file.path))
    }

    /// The paths `dataset` will have once this is committed, sorted.
    pub fn paths(&self, dataset: &str) -> Vec<String> {
        let changes = self.changes();
        let added = changes
            .added
            .values()
            .filter(|(staged, _)| staged.entry().dataset == dataset);
        let published = self.published.iter().flat_map(|manifest| manifest.dataset(dataset));
        let kept = published.filter(|file| !changes.removed.contains(&file.path));
        let paths: BTreeSet<String> = added
            .map(|(staged, _)| staged.entry().path.clone())
            .chain(kept.map(|file| file.path.clone()))
            .collect();
        paths.into_iter().collect()
    }

    /// Whether a folder outside the manifest contains anything: what was sent, and the locks of months, belong to no run.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be listed.
    pub fn holds_book(&self, folder: &str) -> Result<bool> {
        Ok(!self.store.list(folder)?.is_empty())
    }

    /// The seal of what is published, before this publication.
    pub fn seal(&self) -> &Seal {
        &self.seal
    }

    /// Publishes all of it, and replaces the facts of the manifest. When nothing changes, nothing is written.
    ///
    /// # Errors
    /// After an error the commit has either not happened, or the next [`Publication::begin`] completes it.
    pub fn commit(self, facts: LakeFacts) -> Result<Committed> {
        self.commit_recorded(facts, |_, _| Ok(None))
    }

    /// As [`Publication::commit`], with a page of a book in which `record` writes down what is committed. It is shown the
    /// seal with the manifest that will be there, whose footer the page carries.
    ///
    /// # Errors
    /// As [`Publication::commit`], and what `record` fails with.
    pub fn commit_recorded(
        mut self,
        facts: LakeFacts,
        record: impl FnOnce(&Committed, &Seal) -> Result<Option<(String, Bytes)>>,
    ) -> Result<Committed> {
        let commit = committing(&COMMIT);
        let Changes { added, removed } = std::mem::take(&mut *self.changes());
        // Fallback: the first publication of a lake begins with an empty manifest.
        let mut manifest = self.published.clone().unwrap_or_default();
        let mut committed = Committed::default();
        manifest.facts = facts;
        for path in removed {
            if !added.contains_key(&path) && manifest.remove(&path).is_some() {
                committed.removed.push(path);
            }
        }
        let mut moves = Vec::new();
        for (path, (staged, unchanged)) in added {
            if unchanged {
                committed.unchanged += 1;
            } else {
                moves.push(JournalMove {
                    from: staged.staging,
                    to: path.clone(),
                    bytes: staged.entry.bytes,
                    blake3: staged.entry.blake3.clone(),
                });
                committed.written.push(path);
            }
            manifest.insert(staged.entry);
        }
        let mut seal = self.seal.clone();
        seal.manifest_blake3 = manifest.blake3()?;
        if let Some((path, bytes)) = record(&committed, &seal)? {
            moves.push(self.stage_page(path, bytes, &mut seal)?);
        }
        let is_same = self.published.as_ref() == Some(&manifest);
        if !moves.is_empty() || !committed.removed.is_empty() || !is_same {
            let mut durable_n = 0;
            if manifest.facts.has(Fact::Keep) {
                self.store.sync_files(moves.iter().map(JournalMove::staged))?;
                durable_n = moves.len();
                let snapshot = self.snapshot(&manifest, &seal, &moves)?;
                moves.push(snapshot);
                if manifest.facts.has(Fact::DeltaLog) {
                    moves.extend(self.delta_logs(&manifest, &seal)?);
                }
            }
            let journal = Journal {
                moves,
                deletes: committed.removed.clone(),
                manifest: manifest.to_text()?,
                seal: seal.to_text()?,
            };
            self.lock.lock().hold()?;
            self.committing = true;
            journal
                .save(&self.store, durable_n)
                .map_err(|why| cut_off(&self.store, why, BEFORE))?;
            let former = self.published.iter().flat_map(Manifest::files);
            let durable = DurableFolders::above(former.map(|file| file.path.as_str()));
            let applied = journal.apply(&self.store, self.lock.lock(), &durable);
            applied.map_err(|why| cut_off(&self.store, why, AFTER))?;
        }
        commit.made();
        clear_staging(&self.store, &self.lock.lock().staging_prefix()).map_err(|why| why.at(STATE_KEY, COMMIT.made))?;
        Ok(committed)
    }

    /// Stages a page of a book, with which the seal turns to it.
    fn stage_page(&self, path: String, bytes: Bytes, seal: &mut Seal) -> Result<JournalMove> {
        let n = self.staged_n.fetch_add(1, Ordering::Relaxed);
        let from = format!("{STAGING}/{}{n:08}", self.lock.lock().staging_prefix());
        let page = JournalMove {
            blake3: seal.turn(&path, &bytes),
            bytes: count_u64(bytes.len()),
            to: path,
            from,
        };
        self.lock.put(&page.from, bytes)?;
        Ok(page)
    }

    fn changes(&self) -> MutexGuard<'_, Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Publication {
    fn drop(&mut self) {
        // Tidy at once where possible; otherwise the next run does it.
        if !self.committing {
            drop(clear_staging(&self.store, &self.lock.lock().staging_prefix()));
        }
    }
}

/// What a commit that failed while its journal was written has left where there is no journal.
pub(super) const BEFORE: Option<&str> = None;

/// What one that failed later has left where the journal is gone.
const AFTER: Option<&str> = Some(COMMIT.made);

/// Adds to an error how far the commit had come.
pub(super) fn cut_off(store: &Store, why: Error, without_journal: Option<&str>) -> Error {
    let state = match store.exists(JOURNAL) {
        Ok(true) => Some(COMMIT.cut),
        Ok(false) => without_journal,
        Err(_) => Some("it is not known whether the commit has begun: if so, the next run finishes it"),
    };
    match state {
        Some(state) => why.at(STATE_KEY, state),
        None => why,
    }
}

/// Deletes the staged objects whose names begin like this.
pub(super) fn clear_staging(store: &Store, prefix: &str) -> Result<()> {
    let ours = format!("{STAGING}/{prefix}");
    let leftovers = store.list(STAGING)?;
    let leftovers = leftovers.iter().map(|entry| entry.path.as_str());
    store.delete_all(leftovers.filter(|path| path.starts_with(&ours)))?;
    store.remove_staging_folder()
}

/// Deletes what writers before the one that holds the lock had staged.
///
/// # Errors
/// `Busy` when another writer has taken the lake over meanwhile: what is staged may be its own.
pub(super) fn clear_former_staging(store: &Store, lock: &Lock) -> Result<()> {
    // Listed before the lock is known to be held: nothing that a later owner stages is among it.
    let leftovers = store.list(STAGING)?;
    lock.hold()?;
    store.delete_all(leftovers.iter().map(|entry| entry.path.as_str()))?;
    store.remove_staging_folder()
}
