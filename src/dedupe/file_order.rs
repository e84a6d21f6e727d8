//! In which order inputs arrived.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::ledger::file_paths::FilePath;
use crate::sources::input::arrival_ms;

/// Ranks input files by arrival: later ones hold the later word. The order is that of (arrival in the name, path, which content of
/// the path it is).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileOrder {
    rank: HashMap<Arc<str>, u32>,
    /// By rank.
    origins: Vec<FileOrigin>,
}

/// An input file as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrivedFile {
    /// Its id.
    pub file_id: Arc<str>,
    /// Arrival in its name, Unix milliseconds.
    pub arrival_ms: Option<i64>,
    /// Its path.
    pub path: Arc<str>,
    /// Which content of the path it is.
    pub content_n: u32,
}

impl ArrivedFile {
    /// A file under the path by which it arrived last, of these; the first of them where no path contains an arrival.
    pub fn latest<'p>(file_id: &Arc<str>, paths: impl Iterator<Item = &'p FilePath> + Clone) -> Self {
        let first = paths.clone().next();
        let arrivals = paths.filter_map(|of| Some((arrival_ms(&of.path)?, &of.path, of)));
        let last = arrivals.max_by_key(|(at_ms, path, _)| (*at_ms, *path));
        let (arrival_ms, of) = last.map_or((None, first), |(at_ms, _, of)| (Some(at_ms), Some(of)));
        Self {
            file_id: Arc::clone(file_id),
            arrival_ms,
            path: of.map_or_else(|| Arc::from(""), |of| Arc::clone(&of.path)),
            content_n: of.map_or(1, |of| of.content_n),
        }
    }

    /// A file by its id, its arrival and its path, whose first content it is.
    #[must_use]
    pub fn new(file_id: &str, arrival_ms: Option<i64>, path: &str) -> Self {
        Self {
            file_id: Arc::from(file_id),
            arrival_ms,
            path: Arc::from(path),
            content_n: 1,
        }
    }

    /// By what files are ranked.
    fn key(&self) -> (Option<i64>, &str, u32, &str) {
        (self.arrival_ms, &self.path, self.content_n, &self.file_id)
    }
}

/// Where and when a file arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileOrigin {
    /// Arrival in its name, Unix milliseconds.
    pub(super) arrival_ms: Option<i64>,
    /// The path without its last part.
    pub(super) folder: Arc<str>,
}

impl FileOrder {
    /// The order of `files`.
    #[must_use]
    pub fn new(mut files: Vec<ArrivedFile>) -> Self {
        files.sort_by(|a, b| a.key().cmp(&b.key()));
        let mut folders: HashSet<Arc<str>> = HashSet::new();
        let mut origins = Vec::with_capacity(files.len());
        for file in &files {
            let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let known = folders.get(folder).cloned();
            let folder = known.unwrap_or_else(|| {
                let folder: Arc<str> = Arc::from(folder);
                folders.insert(Arc::clone(&folder));
                folder
            });
            origins.push(FileOrigin {
                arrival_ms: file.arrival_ms,
                folder,
            });
        }
        let rank = files
            .into_iter()
            .zip(0..)
            .map(|(file, at)| (file.file_id, at))
            .collect();
        Self { rank, origins }
    }

    /// Whether the files are in the same order, independent of their paths.
    #[must_use]
    pub fn has_same_ranks(&self, other: &Self) -> bool {
        self.rank == other.rank
    }

    /// Where the file of a rank came from.
    pub(super) fn origin(&self, rank: u32) -> Option<&FileOrigin> {
        self.origins.get(usize::try_from(rank).ok()?)
    }

    /// How many files there are.
    #[must_use]
    pub fn file_n(&self) -> usize {
        self.origins.len()
    }

    /// Rank of a file id.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a file no ledger knows.
    pub fn rank(&self, file_id: &str) -> Result<u32> {
        self.known(file_id).map(|(_, rank)| rank)
    }

    /// A file id as it is held here, once for all rows, with its rank.
    pub(super) fn known(&self, file_id: &str) -> Result<(&Arc<str>, u32)> {
        let known = self.rank.get_key_value(file_id).map(|(id, rank)| (id, *rank));
        known.ok_or_else(|| Error::internal(format!("no ledger knows the input file {file_id}")))
    }
}
