//! Dumps of Slurm's `sacct`: text written with `--parsable2` (`-P`) or `--parsable` (`-p`), and `--json` ([`json`]).
//!
//! Text has a header: any columns in any order, of any release; any delimiter; naive times in the zone of the source, times with an
//! offset, or Unix seconds. Job rows become jobs, step rows (`123.batch`, `123.0`) are folded into the job row before
//! them. The delimiter is never escaped and names may hold line breaks, so rows are put together by the types of their
//! columns; a row that can be read in two ways is refused, never guessed.
//!
//! Counting: a job row, a step row, a message of the tool, a repeated header and every damaged row is one row; the
//! header, blank lines and a header that changes the columns are none.

mod assemble;
mod clock;
mod column;
mod cpu;
mod delimiter_index;
pub(crate) mod diagnosis;
mod duration;
mod energy;
mod fields;
mod fixed;
mod hms;
mod job;
mod job_id;
mod jobstats;
pub mod json;
mod later_allocation;
mod layout;
mod memory;
mod open_job;
mod options;
mod piece;
mod projected_columns;
mod recent_allocs;
mod recent_layout;
mod refusal;
mod requested;
mod row;
mod scalar;
mod solve;
mod splitter;
mod start;
mod state;
mod step;
mod stretch;
mod submit_line;
mod submit_options;
mod tres;
mod zone_check;

use std::io::{Cursor, Read};
use std::sync::Arc;

use self::layout::Header;
use self::splitter::SacctSplitter;
use super::dialect::{
    Certainty, Content, Dialect, DialectRow, PlacingInstant, RawHeader, RawLayout, SiteNaming, SourceOption,
    StatedIdentity, UnfinishedJob, UnfinishedJobs, VersionRule, VoNaming,
};
use super::head::FileHead;
use super::hints::SacctHeader;
use super::options::ReaderOptions;
use super::steps::ReadSteps;
use crate::byte_order_mark::without_mark;
use crate::error::Result;
use crate::ledger::Reason;
use crate::numbers::count_u64;
use crate::sources::{Pieces, Position};

pub use self::fixed::FixedOrder;
pub use self::options::SacctOptions;
pub(super) use self::start::is_tool_message;

/// The dialect.
pub const DIALECT: Dialect = Dialect::of(&ROW);

static ROW: DialectRow = DialectRow {
    word: "sacct",
    aliases: &["slurm", "slurmdbd"],
    help: "Slurm job accounting: sacct -P text, or sacct --json",
    page: "Slurm accounting as `sacct -P` or `sacct --json` prints it. Text may have any columns, delimiter and order; without a header, the source names a `layout`. Steps are folded into their job. Of a job that was resized while it ran (`Submit` is later than `Start`), each allocation is a record from the change on.",
    content: Content::Jobs,
    recognise: recognised,
    reader: |input, options, sizes| {
        let limits = json::SacctJsonLimits::of(sizes);
        let block_byte = sizes.block_byte.unwrap_or(BLOCK_BYTE);
        let limit_byte = sizes.record_byte.unwrap_or(LIMIT_BYTE);
        either(input, options, block_byte, limit_byte, limits)
    },
    hints: diagnosis::hints,
    site: SiteNaming::Source,
    vo: VoNaming::Source,
    identity: StatedIdentity::Nothing,
    placed_by: PlacingInstant::StartOrSubmit,
    version_rule: VersionRule::Fullest,
    unfinished: UnfinishedJobs {
        // Reports of queues count what a job waited that was cancelled before it started.
        never_ran: UnfinishedJob::RecordOrOutOfScope {
            reason: Reason::NotStarted,
            rows: "where Slurm prints the end for the start, as up to 20.11",
        },
        pending: UnfinishedJob::OutOfScope(Reason::NotStarted),
        running: UnfinishedJob::Record,
    },
    has_job_numbers: true,
    options: &[SourceOption::CeLogs, SourceOption::Timezone],
    proposal: &["vo = { column = \"account\" } # or { table = \"vo.csv\" } or { value = \"atlas\" }"],
    raw: Some(RawLayout {
        header: RawHeader::Last(diagnosis::is_header),
        row_end: None,
    }),
    fingerprint: &[],
};

/// Bytes of a piece, about.
const BLOCK_BYTE: usize = 256 << 10;

/// Bytes one row may have, and all rows of one job together.
const LIMIT_BYTE: usize = 64 << 20;

fn recognised(head: &FileHead<'_>) -> Option<Certainty> {
    if head.is_markup() {
        let is_document = head.first() == Some(b'{') && json::recognise(head.text);
        return is_document.then_some(Certainty::Names);
    }
    if SacctHeader::find(head.bytes).is_some() {
        return Some(Certainty::Names);
    }
    FixedOrder::recognise(head.bytes).map(|_| Certainty::Shape)
}

/// The pieces of a dump. `input` is decompressed: text, or JSON if it begins with a brace.
///
/// # Errors
/// Items of the iterator are errors when reading fails, when the dump has no header, is fixed-width, lacks a column
/// nothing can be accounted without ([`crate::error::Kind::Data`]), or prints local times while the source has no zone
/// ([`crate::error::Kind::Config`]). The first piece is looked for at once, so such a dump fails here.
pub fn pieces(input: Box<dyn Read + Send>, options: Arc<ReaderOptions>) -> Result<Pieces> {
    either(input, options, BLOCK_BYTE, LIMIT_BYTE, json::SacctJsonLimits::default())
}

/// The same with pieces of about `block_byte`. The rows and rejects do not depend on it.
///
/// # Errors
/// As [`pieces`].
pub fn pieces_with_block(
    input: Box<dyn Read + Send>,
    options: Arc<ReaderOptions>,
    block_byte: usize,
) -> Result<Pieces> {
    let limits = json::SacctJsonLimits {
        block: block_byte,
        ..json::SacctJsonLimits::default()
    };
    either(input, options, block_byte, LIMIT_BYTE, limits)
}

/// The same with another limit for one row, or for all rows of one job together.
///
/// # Errors
/// As [`pieces`].
pub fn pieces_with_limit(
    input: Box<dyn Read + Send>,
    options: Arc<ReaderOptions>,
    block_byte: usize,
    limit_byte: usize,
) -> Result<Pieces> {
    let limits = json::SacctJsonLimits {
        block: block_byte,
        job: limit_byte,
        ..json::SacctJsonLimits::default()
    };
    either(input, options, block_byte, limit_byte, limits)
}

fn either(
    mut input: Box<dyn Read + Send>,
    options: Arc<ReaderOptions>,
    block_byte: usize,
    limit_byte: usize,
    limits: json::SacctJsonLimits,
) -> Result<Pieces> {
    let mut head = Vec::new();
    // Enough to see past a byte order mark and blanks to the first character that decides.
    input.by_ref().take(4096).read_to_end(&mut head)?;
    let text = without_mark(&head);
    let mark_byte = head.len() - text.len();
    let is_json = text.trim_ascii_start().first() == Some(&b'{');
    let mut head = Cursor::new(head);
    if is_json {
        let at = Position {
            line: 1,
            byte_offset: count_u64(mark_byte),
        };
        head.set_position(at.byte_offset);
        return Ok(json::pieces(Box::new(head.chain(input)), limits, at));
    }
    let input = Box::new(head.chain(input));
    let mut splitter = ReadSteps::new(SacctSplitter::new(input, options, block_byte, limit_byte));
    let first = splitter.next().transpose()?;
    Ok(Box::new(first.into_iter().map(Ok).chain(splitter)))
}

/// Whether `head`, the first bytes of a file, is `sacct --json`, or `sacct` text with a header. Fixed-width output
/// counts: reading it reports what is wrong with it.
#[must_use]
pub fn recognise(head: &[u8]) -> bool {
    let head = without_mark(head);
    if json::recognise(head) {
        return true;
    }
    head.split(|&b| b == b'\n')
        .find(|line| !line.iter().all(u8::is_ascii_whitespace) && !is_tool_message(line))
        .is_some_and(|line| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            match layout::header(line, None) {
                Header::No => false,
                Header::FixedWidth => true,
                Header::Names { names, .. } => names
                    .iter()
                    .any(|name| name.eq_ignore_ascii_case(b"JobID") || name.eq_ignore_ascii_case(b"JobIDRaw")),
            }
        })
}
