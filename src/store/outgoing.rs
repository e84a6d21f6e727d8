//! What leaves for a folder that others read: staged out of their sight, then given its names, all of it or nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::local::WrittenFile;
use super::location::Store;
use super::machinery::{MACHINERY, SENDING, STAGING};
use super::process;
use crate::error::{Error, Kind, Result};
use crate::numbers::count_u64;
use crate::runtime::interruption::{Commit, Tidying, committing, tidy_with};

/// Exists next to what is staged until all of it has its final name.
const MARK: &str = "staged";

/// What a delivery without a book leaves behind that a signal comes upon.
const DELIVER: Commit = Commit {
    made: "what was to be sent is in its folder",
    cut: "only a part of what was to be sent is in its folder: check it before sending again",
};

/// A staged object and the name it is to get. It is stored as the two.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "[String; 2]", into = "[String; 2]")]
pub(super) struct OutgoingMove {
    pub(super) staged: String,
    pub(super) path: String,
}

impl From<[String; 2]> for OutgoingMove {
    fn from([staged, path]: [String; 2]) -> Self {
        Self { staged, path }
    }
}

impl From<OutgoingMove> for [String; 2] {
    fn from(step: OutgoingMove) -> Self {
        [step.staged, step.path]
    }
}

/// Objects on their way to one folder. Dropped before they are delivered, they leave nothing behind.
pub struct Outgoing {
    store: Store,
    /// The folder they are staged in.
    staging: String,
    moves: Vec<OutgoingMove>,
    /// The sizes of what is staged, in bytes.
    sizes: Vec<u64>,
    is_settled: bool,
    is_private: bool,
    /// What is staged for a book is taken away by who knows the book.
    tidying: Option<Tidying>,
}

impl Outgoing {
    /// Opens, or makes, the folder at a path or URL.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be made.
    pub fn open(place: &str) -> Result<Self> {
        Self::of(Store::open(place)?)
    }

    /// To a folder that is open.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be tidied.
    pub fn of(store: Store) -> Result<Self> {
        static OPENED: AtomicU64 = AtomicU64::new(0);
        let n = OPENED.fetch_add(1, Ordering::Relaxed);
        let staging = format!("{STAGING}/out-{}-{n}", process::tag());
        let (at, staged) = (store.clone(), staging.clone());
        let tidying = tidy_with(move || {
            // What cannot be tidied now is tidied by the next one.
            drop(at.remove_staged(&staged));
        });
        let outgoing = Self {
            store,
            staging,
            tidying: Some(tidying),
            moves: Vec::new(),
            sizes: Vec::new(),
            is_settled: false,
            is_private: false,
        };
        outgoing.store.clear_left_behind()?;
        Ok(outgoing)
    }

    /// Keeps what is put from now on to its owner, where the folder is on a local disk.
    ///
    /// # Errors
    /// [`Kind::Io`] when the folder cannot be made.
    pub fn keep_private(&mut self) -> Result<()> {
        self.is_private = true;
        self.store.make_private_folder(&self.staging)
    }

    /// The folder.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Stages an object that is to be at `path`.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be written.
    pub fn put(&mut self, path: &str, bytes: Bytes) -> Result<()> {
        let staged = format!("{}/{:08}", self.staging, self.moves.len());
        let size = count_u64(bytes.len());
        self.store.put(&staged, bytes)?;
        if self.is_private {
            self.store.make_private(&staged)?;
        }
        self.moves.push(OutgoingMove {
            staged,
            path: path.to_owned(),
        });
        self.sizes.push(size);
        Ok(())
    }

    /// Whether an object is to be at `path`, or is there.
    ///
    /// # Errors
    /// [`Kind::Io`] when the folder cannot be looked at.
    pub fn has(&self, path: &str) -> Result<bool> {
        Ok(self.moves.last().is_some_and(|last| last.path == path) || self.store.exists(path)?)
    }

    /// Gives all of it its names, in the order it was put there.
    ///
    /// # Errors
    /// [`Kind::Io`] when the folder cannot be written.
    pub fn deliver(mut self) -> Result<()> {
        self.sync()?;
        let moves = std::mem::take(&mut self.moves);
        let commit = committing(&DELIVER);
        deliver(&self.store, &moves, Pass::First)?;
        commit.made();
        Ok(())
    }

    /// Stages for a book: what is staged waits for who finishes it, however this ends.
    pub(super) fn book(&mut self, token: &str) {
        self.staging = format!("{SENDING}/{token}");
        self.tidying = None;
    }

    /// Makes what is staged durable, and marks it as whole.
    pub(super) fn seal(&mut self) -> Result<Vec<OutgoingMove>> {
        self.sync()?;
        self.store.put(&mark(&self.staging), Bytes::new())?;
        self.is_settled = true;
        Ok(std::mem::take(&mut self.moves))
    }

    fn sync(&self) -> Result<()> {
        let staged = || self.moves.iter().map(|step| step.staged.as_str());
        let written = staged().zip(&self.sizes);
        self.store
            .sync_files(written.map(|(path, bytes)| WrittenFile { path, bytes: *bytes }))?;
        self.store.sync_folders(staged())
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        if !self.is_settled {
            // What cannot be tidied now is tidied by the next one.
            drop(self.store.remove_staged(&self.staging));
        }
    }
}

/// Whether it is the first to give staged objects their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// All of them are there.
    First,
    /// Another one was cut off: those that are gone have their names.
    Again,
}

/// Whether what was staged for a publication is still in its place.
pub(super) fn is_marked(store: &Store, token: &str) -> Result<bool> {
    store.exists(&mark(&format!("{SENDING}/{token}")))
}

fn mark(staging: &str) -> String {
    format!("{staging}/{MARK}")
}

/// Gives staged objects their names, one after the other: whoever takes the first may wait for the next.
pub(super) fn deliver(store: &Store, moves: &[OutgoingMove], pass: Pass) -> Result<()> {
    for OutgoingMove { staged, path } in moves {
        if !store.rename(staged, path)? && pass == Pass::First {
            let message = "what was staged to be sent is gone: somebody tidied the folder meanwhile";
            return Err(Error::new(Kind::Io, message)
                .at("staged", staged)
                .at("folder", store.url()));
        }
    }
    store.sync_folders(moves.iter().map(|step| step.path.as_str()))
}

impl Store {
    /// Takes away what processes that are gone had staged here without a book.
    fn clear_left_behind(&self) -> Result<()> {
        for entry in self.names(STAGING)? {
            let owner = entry.strip_prefix("put-").or_else(|| entry.strip_prefix("out-"));
            let owner = owner.and_then(|rest| rest.rsplit_once('-')).map(|(owner, _)| owner);
            if owner.is_some_and(|owner| process::is_tag_alive(owner) == Some(false)) {
                self.remove_staged(&format!("{STAGING}/{entry}"))?;
            }
        }
        Ok(())
    }

    /// Removes a staged object, or a folder of them, and the folders of the machinery that this leaves empty. A folder
    /// that holds something is somebody else's.
    pub(super) fn remove_staged(&self, staged: &str) -> Result<()> {
        self.remove_all(staged)?;
        self.prune(staged);
        Ok(())
    }

    /// Takes the machinery of killed processes, and its empty folders, away from a place that is not a lake, such as a spool
    /// others read.
    ///
    /// # Errors
    /// [`Kind::Io`] when they cannot be removed.
    pub fn leave_no_machinery(&self) -> Result<()> {
        self.clear_left_behind()?;
        for folder in [STAGING, SENDING, MACHINERY] {
            self.remove_empty_folder(folder);
        }
        Ok(())
    }
}
