//! In which order inputs arrived.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{Error, Result};

/// Ranks input files by arrival: later ones hold the later word. The order is that of (arrival in the name, path).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileOrder {
    rank: HashMap<Arc<str>, u32>,
}

impl FileOrder {
    /// The order of `files`: (file id, arrival in the name, path).
    #[must_use]
    pub fn new(mut files: Vec<(Arc<str>, Option<i64>, String)>) -> Self {
        files.sort_by(|a, b| (a.1, &a.2, &a.0).cmp(&(b.1, &b.2, &b.0)));
        let rank = files.into_iter().zip(0..).map(|((id, ..), at)| (id, at)).collect();
        Self { rank }
    }

    /// Rank of a file id.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a file no ledger knows.
    pub fn rank(&self, file_id: &str) -> Result<u32> {
        let known = self.rank.get(file_id).copied();
        known.ok_or_else(|| Error::internal(format!("no ledger knows the input file {file_id}")))
    }
}
