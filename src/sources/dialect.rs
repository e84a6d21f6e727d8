//! A dialect: what one kind of file is called, how it is recognised and read, and what its records mean.
//!
//! Everything the program has to know of a dialect is one [`DialectRow`], which is in the folder of its reader. The list
//! of rows is in [`super`]; the pipeline file, `inspect`, `check`, `replay`, the help and the reference derive from it.

use std::fmt;
use std::io::Read;
use std::sync::Arc;

use super::format::Format;
use super::head::FileHead;
use super::hints::Hints;
use super::inventory::InventoryKind;
use super::options::ReaderOptions;
use super::sink::Pieces;
pub use super::source_option::SourceOption;
use crate::error::Result;
use crate::ledger::Reason;

/// Version of what the readers accept: raised whenever one of them reads what readers refused before. Files that were
/// refused under a lower version are read again.
///
/// 3: an object is read to its end, or the run fails; before, what a store did not send was lost as damage of the file.
///
/// 4: archives are read behind the first end in their file.
pub const READERS: u32 = 4;

/// What the rows of a file are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Jobs, or sums over jobs.
    Jobs,
    /// Grid identities of jobs whose usage another file holds.
    GridIdentities,
    /// Files of any dialect.
    Members,
    /// The machine behind the jobs.
    Inventory(InventoryKind),
}

/// How certain a recognition is. The most certain dialect wins; among equals the first of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// The first rows have the shape of this dialect, which has no mark of its own.
    Shape,
    /// The first row follows a grammar strict enough to exclude other dialects.
    Grammar,
    /// Names of fields that only this dialect is known to have.
    Names,
    /// A mark of the dialect itself.
    Mark,
}

/// Where the site of a job is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteNaming {
    /// Each record names it.
    Record,
    /// The source must name it: records do not.
    Source,
    /// Depends on the dialect of each member.
    Members,
}

/// Where the VO of a job is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoNaming {
    /// Records may name it.
    Record,
    /// The log of the CE may name it.
    CeLog,
    /// The source must give a rule: records do not name it.
    Source,
}

/// The part of the grid identity of a job that records contain without a CE log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatedIdentity {
    /// Nothing.
    Nothing,
    /// The host it was submitted from.
    SubmitHost,
    /// All of it.
    Everything,
}

/// The instant that places a record: part of its identity, equal in all versions of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacingInstant {
    /// Start, or submission of a job that never started: records of jobs that still run are possible.
    StartOrSubmit,
    /// End: only ended jobs have records.
    End,
}

/// Which of several versions of a record counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionRule {
    /// An ended job before a running one, then the longest, then the one with most fields.
    Fullest,
    /// The one received last.
    LastReceived,
    /// The one read last.
    LastRead,
}

/// What becomes of the row of a job that has no usage yet, or never will.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfinishedJob {
    /// A record: of zero wall time if the job did not start, without an end if it still runs.
    Record,
    /// The row is counted as out of scope for this reason.
    OutOfScope(Reason),
    /// A record, but out of scope where the row shows too little.
    RecordOrOutOfScope {
        /// The reason.
        reason: Reason,
        /// Which rows are out of scope, in words.
        rows: &'static str,
    },
    /// The row is refused for this reason.
    Refused(Reason),
    /// Files of this dialect have no such rows.
    Absent,
}

impl UnfinishedJob {
    /// In words.
    #[must_use]
    pub fn sentence(self) -> String {
        match self {
            Self::Record => "a record".to_owned(),
            Self::OutOfScope(reason) => format!("out of scope ({})", reason.code()),
            Self::RecordOrOutOfScope { reason, rows } => {
                format!("a record without wall time; out of scope ({}) {rows}", reason.code())
            }
            Self::Refused(reason) => format!("rejected ({})", reason.code()),
            Self::Absent => "no such rows".to_owned(),
        }
    }
}

/// What becomes of the rows of jobs without an end, or without a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnfinishedJobs {
    /// Jobs that ended without a start.
    pub never_ran: UnfinishedJob,
    /// Jobs that wait.
    pub pending: UnfinishedJob,
    /// Jobs that run.
    pub running: UnfinishedJob,
}

impl UnfinishedJobs {
    /// For files in which only jobs that ran and ended have rows.
    pub const ABSENT: Self = Self {
        never_ran: UnfinishedJob::Absent,
        pending: UnfinishedJob::Absent,
        running: UnfinishedJob::Absent,
    };
}

/// Lines without which a row cannot be read alone.
#[derive(Clone, Copy)]
pub enum RawHeader {
    /// None are needed.
    None,
    /// The last line before the row for which this holds.
    Last(fn(&[u8]) -> bool),
    /// All lines before the row for which this holds.
    All(fn(&[u8]) -> bool),
}

/// How rows are written out so that they can be repaired and read again.
#[derive(Clone, Copy)]
pub struct RawLayout {
    /// What is written before each row.
    pub header: RawHeader,
    /// The line that ends a row of several lines.
    pub row_end: Option<&'static str>,
}

impl RawLayout {
    /// Rows of one line each that can be read alone.
    pub const LINES: Self = Self {
        header: RawHeader::None,
        row_end: None,
    };
}

/// The keys `inspect` proposes besides the required ones for the log of a batch system.
pub(super) const BATCH_LOG_PROPOSAL: &[&str] = &[
    "# blah = [\"blahp.log-*\"]      # the CE's logs, where grid jobs come through one",
    "# vo = { column = \"user_group\" } # or { table = \"vo.csv\" }, where no CE names VOs",
];

/// Sizes of what a reader holds in memory; `None` is the reader's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadSizes {
    /// Bytes read at a time.
    pub block_byte: Option<usize>,
    /// Bytes of the longest record.
    pub record_byte: Option<usize>,
}

/// Unpacked bytes of a file.
pub type Input = Box<dyn Read + Send>;

/// Cuts the bytes of a file into pieces that can be parsed on any thread.
pub type Reader = fn(Input, Arc<ReaderOptions>, ReadSizes) -> Result<Pieces>;

/// Everything the program knows of one dialect.
pub struct DialectRow {
    /// The word of `format` in the pipeline file, of the ledger, and of the `format` column.
    pub word: &'static str,
    /// Other words people use for it; suggested, not accepted.
    pub aliases: &'static [&'static str],
    /// One line of help.
    pub help: &'static str,
    /// A paragraph of the reference: how to write such a file, and what is read of it.
    pub page: &'static str,
    /// What its rows are about.
    pub content: Content,
    /// Recognises the head of a file.
    pub recognise: fn(&FileHead<'_>) -> Option<Certainty>,
    /// Reads a file.
    pub reader: Reader,
    /// Facts from the head of a file, other than its dialect.
    pub hints: fn(&[u8]) -> Hints,
    /// Where the site is found.
    pub site: SiteNaming,
    /// Where the VO is found.
    pub vo: VoNaming,
    /// What records state of the grid identity of their job.
    pub identity: StatedIdentity,
    /// The instant that places a record.
    pub placed_by: PlacingInstant,
    /// Which of several versions of a record counts.
    pub version_rule: VersionRule,
    /// What becomes of jobs that did not run, wait or run.
    pub unfinished: UnfinishedJobs,
    /// Whether job ids are the numbers of a batch system, by which copies of a job are found.
    pub has_job_numbers: bool,
    /// The keys of a source that it uses as other dialects do; those of its reader alone name it themselves.
    pub options: &'static [SourceOption],
    /// Lines that `inspect` adds to the source it proposes.
    pub proposal: &'static [&'static str],
    /// How rows are written out for repair; `None` if rows cannot be cut out of a file.
    pub raw: Option<RawLayout>,
    /// Rules of the reader whose change means reading again, as key and text of the fingerprint.
    pub fingerprint: &'static [(&'static str, &'static str)],
}

/// A dialect: a handle of its row.
#[derive(Clone, Copy)]
pub struct Dialect(&'static DialectRow);

impl Dialect {
    /// The handle of a row.
    #[must_use]
    pub const fn of(row: &'static DialectRow) -> Self {
        Self(row)
    }

    /// Its row.
    #[must_use]
    pub const fn row(self) -> &'static DialectRow {
        self.0
    }

    /// Whether its jobs have a number of a batch system.
    #[must_use]
    pub const fn has_job_numbers(self) -> bool {
        self.0.has_job_numbers
    }

    /// The word of the pipeline file and of the ledger.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0.word
    }

    /// The format of a source that is declared to have this dialect; archives are recognised, not declared.
    #[must_use]
    pub fn format(self) -> Format {
        match self.0.content {
            Content::Members => Format::Auto,
            _ => Format::Dialect(self),
        }
    }

    /// Whether a key of a source does something.
    #[must_use]
    pub fn uses(self, option: SourceOption) -> bool {
        self.0.options.contains(&option)
    }

    /// The kind of inventory, if its rows are about the machine.
    #[must_use]
    pub fn inventory(self) -> Option<InventoryKind> {
        match self.0.content {
            Content::Inventory(kind) => Some(kind),
            _ => None,
        }
    }

    /// Cuts unpacked input into pieces.
    ///
    /// # Errors
    /// As the reader of the dialect.
    pub fn pieces(self, input: Input, options: Arc<ReaderOptions>) -> Result<Pieces> {
        self.pieces_sized(input, options, ReadSizes::default())
    }

    /// As [`Self::pieces`], with other sizes: rows and rejects do not depend on the size of a block.
    ///
    /// # Errors
    /// As the reader of the dialect.
    pub fn pieces_sized(self, input: Input, options: Arc<ReaderOptions>, sizes: ReadSizes) -> Result<Pieces> {
        (self.0.reader)(input, options, sizes)
    }
}

impl PartialEq for Dialect {
    fn eq(&self, other: &Self) -> bool {
        self.0.word == other.0.word
    }
}

impl Eq for Dialect {}

impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dialect").field(&self.0.word).finish()
    }
}
