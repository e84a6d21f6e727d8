//! In which order inputs arrived.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{Error, Result};

/// Ranks input files by arrival: later ones hold the later word. The order is that of (arrival in the name, path).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileOrder {
    rank: HashMap<Arc<str>, u32>,
    /// By rank.
    origins: Vec<FileOrigin>,
}

/// Where and when a file arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileOrigin {
    /// Arrival in its name, Unix milliseconds.
    pub(super) arrival_ms: Option<i64>,
    /// The path without its last part.
    pub(super) folder: String,
}

impl FileOrder {
    /// The order of `files`: (file id, arrival in the name, path).
    #[must_use]
    pub fn new(mut files: Vec<(Arc<str>, Option<i64>, String)>) -> Self {
        files.sort_by(|a, b| (a.1, &a.2, &a.0).cmp(&(b.1, &b.2, &b.0)));
        let origin = |(_, arrival_ms, path): &(Arc<str>, Option<i64>, String)| FileOrigin {
            arrival_ms: *arrival_ms,
            folder: path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned(),
        };
        let origins = files.iter().map(origin).collect();
        let rank = files.into_iter().zip(0..).map(|((id, ..), at)| (id, at)).collect();
        Self { rank, origins }
    }

    /// Whether the files stand in the same order, wherever they lie.
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
