//! One file to read, and what reading it came to.

use std::sync::Arc;

use super::identity_index::{IdentityIndex, IdentityJoin};
use super::reject_buffer::RejectBuffer;
use crate::config::SourcePlan;
use crate::dedupe::file_order::ArrivedFile;
use crate::dedupe::spill::Spill;
use crate::dedupe::{
    ContradictoryTimes, Intake, IntakeBatch, IntakeRows, MappingCounts, Reject, ToolMessage, UnknownCores, Window,
    packed,
};
use crate::error::{Error, Result};
use crate::lake::found::ListedPlace;
use crate::ledger::file_paths::FilePaths;
use crate::ledger::path_contents::{PathContents, SourcePath};
use crate::ledger::{JobSample, Places, Reason, RowPlace};
use crate::numbers::{Extent, stored_u64};
use crate::privacy::Privacy;
use crate::record::Summary;
use crate::reference::inventory::InventoryPlaced;
use crate::sources::dialect::Dialect;
use crate::sources::file_stamp::FileStamp;
use crate::sources::input::InputFile;
use crate::sources::{Position, Sink, Work};

/// A file this run has to read.
pub(crate) struct Reading {
    /// The file.
    pub(crate) file: Arc<InputFile>,
    /// The source it belongs to.
    pub(crate) source: Arc<SourcePlan>,
    /// The index with the grid identity of its jobs, if not in the file itself.
    pub(crate) grid: Option<Arc<IdentityIndex>>,
    /// What becomes of names.
    pub(crate) privacy: Option<Arc<Privacy>>,
    /// The time from its path when it was true, Unix milliseconds; for listings of a machine.
    pub(crate) dated_ms: Option<i64>,
    /// The paths under which its bytes were found before.
    pub(crate) known_paths: FilePaths,
    /// Other paths with the same bytes that this run found.
    pub(crate) new_copies: Vec<String>,
    /// The path its rows are accounted to, if it is another: the first of all it was ever seen under.
    pub(crate) first_path: Option<Arc<str>>,
    /// Its place in the list of shards, if a shard has read it.
    pub(crate) listed: Option<ListedPlace>,
}

impl Reading {
    /// The path its rows are accounted to.
    pub(crate) fn accounted_to(&self) -> &str {
        self.first_path.as_deref().unwrap_or(&self.file.path)
    }

    /// The paths under which this run found its bytes.
    pub(crate) fn found_paths(&self) -> impl Iterator<Item = SourcePath<'_>> {
        let paths = self.new_copies.iter().map(String::as_str);
        paths.chain([self.file.path.as_str()]).map(|path| SourcePath {
            source: &self.source.name,
            path,
        })
    }

    /// All paths its bytes were found under. `contents` are those that were known of the paths before.
    pub(crate) fn paths(&self, contents: &PathContents<'_>) -> FilePaths {
        let mut paths = self.known_paths.clone();
        for of in self.found_paths() {
            if paths
                .content_n(of.path)
                .is_none_or(|own_n| contents.last(of) != Some(own_n))
            {
                paths.insert(of.path, contents.next(of));
            }
        }
        paths
    }

    /// The file as it arrived, under this id.
    pub(crate) fn arrived(&self, file_id: &Arc<str>, contents: &PathContents<'_>) -> ArrivedFile {
        ArrivedFile::latest(file_id, self.paths(contents).iter())
    }

    /// An intake for its rows. The id of a file depends on all of its bytes: until they are read, its place in the list
    /// of files, `at`, represents it.
    pub(crate) fn intake(&self, at: usize, dialect: Dialect, window: Window, rows: IntakeRows) -> Intake {
        let (options, file_id) = (Arc::clone(&self.source.intake), at.to_string().into());
        Intake::new(options, dialect, file_id, window, rows).under(self.privacy.clone())
    }

    /// Sends the rows of a piece to a sink: jobs with their grid identity, where that is in another log.
    pub(crate) fn send_to(&self, work: Work, sink: &mut dyn Sink) {
        match &self.grid {
            Some(index) => work(&mut IdentityJoin { index, inner: sink }),
            None => work(sink),
        }
    }

    /// Ends an intake: what it came to is for [`ReadFile::take`].
    ///
    /// # Errors
    /// [`Kind::Internal`] when its candidates are too large for a batch.
    pub(crate) fn harvest(&self, intake: Intake) -> Result<(IntakeBatch, IntakeRows)> {
        intake.harvest().map_err(|e| e.at("file", &self.file.path))
    }

    /// Whether rows of another file may wait in a batch with those of this one.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        let is_same_index = match (&self.grid, &other.grid) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        is_same_index && Arc::ptr_eq(&self.source, &other.source)
    }

    /// Has candidates of this file, and of those before it that are alike, wait in the spill from here on.
    ///
    /// # Errors
    /// [`Kind::Io`] when they cannot be stored.
    pub(crate) fn store(&self, rows: &mut IntakeRows, spill: &Spill) -> Result<()> {
        let rows = rows.finish(&self.source.name)?;
        if let Some(index) = &self.grid {
            // Completed just now, so none of them is late.
            index.mark(&packed::unpacked(&rows.batch)?, &self.source.name, |_, _| ())?;
        }
        spill.push(rows)
    }
}

/// What reading one file came to.
pub(crate) struct ReadFile {
    /// The dialect it was read as; `None` for an empty or unreadable file.
    pub(crate) dialect: Option<Dialect>,
    /// Rows framed.
    pub(crate) rows_read: u64,
    /// Rows that wait in the spill.
    pub(crate) rows_candidate: u64,
    /// Rows that went elsewhere.
    pub(crate) tally: Places,
    /// Rules that gave VO and site, and names they do not know.
    pub(crate) mapping: MappingCounts,
    /// Jobs whose times contradict one another.
    pub(crate) times: ContradictoryTimes,
    /// Jobs whose cores nothing states.
    pub(crate) cores: UnknownCores,
    /// A sample of its jobs.
    pub(crate) sample: JobSample,
    /// Summaries; those of a piece in order, the pieces in any order.
    pub(crate) summaries: Vec<Summary>,
    /// Refusals.
    pub(crate) rejects: RejectBuffer,
    /// The rows about the machine.
    pub(crate) inventory: Vec<InventoryPlaced>,
    /// Hash of the bytes as they were read; empty for a file that could not be opened.
    pub(crate) blake3: String,
    /// The stamp of these bytes; `None` where it does not vouch for them.
    pub(crate) stamp: Option<FileStamp>,
    /// Whether it is a repair file, which is read after all others.
    pub(crate) is_repair: bool,
    /// The first message of the tool among its rows.
    pub(crate) tool_message: Option<ToolMessage>,
    /// How many summaries of it are held.
    summary_limit: usize,
}

impl ReadFile {
    /// Nothing read yet; so many summaries are held.
    pub(crate) fn new(summary_limit: usize) -> Self {
        Self {
            summary_limit,
            blake3: String::new(),
            stamp: None,
            is_repair: false,
            tool_message: None,
            dialect: None,
            rows_read: 0,
            rows_candidate: 0,
            tally: Places::default(),
            mapping: MappingCounts::default(),
            times: ContradictoryTimes::default(),
            cores: UnknownCores::default(),
            sample: JobSample::default(),
            summaries: Vec::new(),
            rejects: RejectBuffer::default(),
            inventory: Vec::new(),
        }
    }

    /// Takes the rows of an intake.
    ///
    /// # Errors
    /// [`Kind::Io`] when refusals cannot be stored.
    pub(crate) fn take(&mut self, mut harvest: IntakeBatch) -> Result<()> {
        self.summaries.append(&mut harvest.summaries);
        self.mapping.merge(&harvest.mapping);
        self.times.merge(harvest.times);
        self.cores.merge(harvest.cores);
        self.sample.merge(harvest.sample);
        self.tool_message = ToolMessage::first(self.tool_message.take(), harvest.tool_message.take());
        self.inventory.append(&mut harvest.inventory);
        self.rows_read += harvest.rows_read;
        self.rows_candidate += harvest.rows_candidate;
        for (place, rows) in harvest.tally {
            self.tally.add(place, rows);
        }
        self.rejects.push(harvest.rejects)?;
        // Pieces come in any order: only when all are there it is known which summaries are the first. A quarter more is
        // held until then.
        if self.summaries.len() > self.summary_limit.further(self.summary_limit / 4) {
            self.hold_summaries(self.summary_limit)?;
        }
        Ok(())
    }

    /// Refuses all summaries but the first `limit` of the file.
    ///
    /// # Errors
    /// [`Kind::Io`] when refusals cannot be stored.
    pub(crate) fn hold_summaries(&mut self, limit: usize) -> Result<()> {
        if self.summaries.len() <= limit {
            return Ok(());
        }
        let detail = format!("the file has {limit} summaries before it, and no more are held: cut it into parts");
        let mut held_n = 0;
        self.keep_summaries(&detail, |_| {
            held_n += 1;
            held_n <= limit
        })
    }

    /// Refuses the summaries that are not kept, with this sentence; they must be requested in the order of the file.
    ///
    /// # Errors
    /// [`Kind::Io`] when refusals cannot be stored.
    pub(crate) fn keep_summaries(&mut self, detail: &str, mut is_kept: impl FnMut(&Summary) -> bool) -> Result<()> {
        self.summaries.sort_by_key(|row| (row.line, row.byte_offset));
        let all = std::mem::take(&mut self.summaries);
        let (kept, refused): (Vec<Summary>, Vec<Summary>) = all.into_iter().partition(|row| is_kept(row));
        self.summaries = kept;
        let reason = Reason::LimitExceeded;
        let mut rejects = Vec::with_capacity(refused.len());
        for row in refused {
            let at = Position {
                line: stored_u64(row.line, "line")?,
                byte_offset: stored_u64(row.byte_offset, "byte_offset")?,
            };
            rejects.push(Reject::new(reason, at, 1, detail, b"", false));
            self.rows_candidate -= 1;
            let (site, month) = (Some(row.site), Some(row.month));
            self.tally.add(RowPlace { site, month, reason }, 1);
        }
        self.rejects.push(rejects)
    }

    /// Refuses the rest of the file: it cannot be read in the format of its source.
    ///
    /// # Errors
    /// [`Kind::Io`] when the refusal cannot be stored.
    pub(crate) fn refuse_file(&mut self, why: &Error, is_private: bool) -> Result<()> {
        let (at, detail) = (Position::default(), why.to_string());
        let reject = Reject::new(Reason::UnreadableFile, at, 1, &detail, b"", is_private);
        self.rows_read += 1;
        self.tally.add(RowPlace::nowhere(reject.reason), 1);
        self.rejects.push(vec![reject])
    }

    /// Takes the place of what was framed before; the hash stays.
    pub(crate) fn fill(&mut self, read: Self) {
        let blake3 = std::mem::take(&mut self.blake3);
        let stamp = self.stamp.take();
        *self = Self {
            blake3,
            stamp,
            is_repair: true,
            ..read
        };
    }
}

/// Files that were read, with the ids by which the ledger knows them, in the same order.
#[derive(Clone, Copy)]
pub(crate) struct LedgerFiles<'a> {
    pub(crate) readings: &'a [Reading],
    pub(crate) ids: &'a [Arc<str>],
}
