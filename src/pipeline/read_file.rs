//! One file to read, and what reading it came to.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::grid::GridIndex;
use super::shelf::RejectShelf;
use crate::error::{Error, Kind, Result};
use crate::ledger::Reason;
use crate::pipeline::SourcePlan;
use crate::privacy::Privacy;
use crate::records::{MappingCounts, Reject, Summary, Tally};
use crate::reference::inventory::Placed;
use crate::sources::Position;
use crate::sources::dialect::Dialect;
use crate::sources::input::InputFile;

/// Summaries of one file that are held in memory: a month of the largest central server has some 100 000.
const SUMMARY_LIMIT: usize = 2_000_000;

/// A file this run has to read.
pub(super) struct Reading {
    /// The file.
    pub(super) file: InputFile,
    /// The source it belongs to.
    pub(super) source: Arc<SourcePlan>,
    /// Where the grid identity of its jobs is told, if not by itself.
    pub(super) grid: Option<Arc<GridIndex>>,
    /// What becomes of names.
    pub(super) privacy: Option<Arc<Privacy>>,
    /// Other paths with the same bytes.
    pub(super) copies: Vec<String>,
    /// The path its rows are accounted to: the first of all it was ever seen under.
    pub(super) accounted_to: String,
}

/// What reading one file came to.
pub(super) struct ReadFile {
    /// The dialect it was read as; `None` for an empty or unreadable file.
    pub(super) dialect: Option<Dialect>,
    /// Rows framed.
    pub(super) rows_read: u64,
    /// Rows that wait in the spill.
    pub(super) rows_candidate: u64,
    /// Rows that went elsewhere.
    pub(super) tally: Tally,
    /// Rules that gave VO and site, and names they do not know.
    pub(super) mapping: MappingCounts,
    /// Summaries; those of a piece in order, the pieces in any order.
    pub(super) summaries: Vec<Summary>,
    /// Refusals.
    pub(super) rejects: RejectShelf,
    /// What was told about the machine.
    pub(super) inventory: Vec<Placed>,
    /// Hash of the bytes as they were read.
    pub(super) blake3: String,
    /// Whether it is a repair file, which is read after all others.
    pub(super) is_repair: bool,
}

impl ReadFile {
    /// Nothing read yet.
    pub(super) fn new(reading: &Reading) -> Self {
        Self {
            blake3: String::new(),
            is_repair: false,
            dialect: None,
            rows_read: 0,
            rows_candidate: 0,
            tally: Tally::new(),
            mapping: MappingCounts::default(),
            summaries: Vec::new(),
            rejects: RejectShelf::new(&reading.source.name, &reading.accounted_to),
            inventory: Vec::new(),
        }
    }
}

impl ReadFile {
    /// Adds what an intake took from a piece.
    ///
    /// # Errors
    /// [`Kind::Io`] when refusals cannot be put by.
    pub(super) fn take(&mut self, rows: u64, candidates: u64, tally: Tally, rejects: Vec<Reject>) -> Result<()> {
        self.rows_read += rows;
        self.rows_candidate += candidates;
        add(&mut self.tally, tally);
        self.rejects.push(rejects)
    }

    /// Takes what was told besides jobs.
    ///
    /// # Errors
    /// [`Kind::Data`] when there are more summaries than are held.
    pub(super) fn keep(
        &mut self,
        summaries: &mut Vec<Summary>,
        mapping: &MappingCounts,
        inventory: Vec<Placed>,
        path: &str,
    ) -> Result<()> {
        if self.summaries.len() + summaries.len() > SUMMARY_LIMIT {
            let message = format!("more than {SUMMARY_LIMIT} summaries: read the file in parts, with --from and --to");
            return Err(Error::new(Kind::Data, message).at("file", path));
        }
        self.summaries.append(summaries);
        self.mapping.merge(mapping);
        self.inventory.extend(inventory);
        Ok(())
    }

    /// Refuses the rest of the file: it cannot be read as what its source says.
    ///
    /// # Errors
    /// As [`ReadFile::take`].
    pub(super) fn refuse_file(&mut self, why: &Error, is_private: bool) -> Result<()> {
        let tally = Tally::from([((None, None, Reason::UnreadableFile), 1)]);
        let (at, detail) = (Position::default(), why.to_string());
        let reject = Reject::new(Reason::UnreadableFile, at, 1, &detail, b"", is_private);
        self.take(1, 0, tally, vec![reject])
    }

    /// Takes the place of what was framed before; the hash stays.
    pub(super) fn fill(&mut self, read: Self) {
        let blake3 = std::mem::take(&mut self.blake3);
        *self = Self {
            blake3,
            is_repair: true,
            ..read
        };
    }
}

fn add<K: Ord>(into: &mut BTreeMap<K, u64>, more: BTreeMap<K, u64>) {
    for (key, n) in more {
        *into.entry(key).or_default() += n;
    }
}
