//! Accounting files of Sun, Son of and Univa Grid Engine (`accounting(5)`): 43 or more fields with colons between them, and, in the
//! one that repeats what was requested, within.
//!
//! Times are Unix seconds, or milliseconds from UGE 8.2 on; which of them follows from their size.

mod columns;
mod job;
mod parallel;

use std::io::Read;
use std::sync::Arc;

use self::columns::SgeRow;
use self::job::TaskUsage;
use self::parallel::ParallelJobs;
use super::byte_text::BYTES_KEPT;
use super::dialect::{
    BATCH_LOG_PROPOSAL, Certainty, Content, Dialect, DialectRow, PlacingInstant, RawLayout, SiteNaming, SourceOption,
    StatedIdentity, UnfinishedJob, UnfinishedJobs, VersionRule, VoNaming,
};
use super::hints::Hints;
use super::lines::{Grammar, LogLimits, LogRecord};
use super::refusal::Refusal;
use super::{Pieces, Sink, lines};
use crate::ledger::Reason;

/// The dialect.
pub const DIALECT: Dialect = Dialect::of(&ROW);

static ROW: DialectRow = DialectRow {
    word: "sge",
    aliases: &["uge", "gridengine"],
    help: "accounting files of Grid Engine (SGE, UGE)",
    page: "The `accounting` file of Sun, Son of and Univa Grid Engine. CPU and wall time are read as written. The tasks of a parallel job that have rows of their own, as without `accounting_summary`, are part of it: their CPU time is added, and their hosts are in `node_list`. Tasks whose job is not in the same file, or far from them in it, are refused (`step_without_job`).",
    content: Content::Jobs,
    recognise: |head| (!head.is_markup() && recognise(head.text)).then_some(Certainty::Grammar),
    reader: |input, _, sizes| Ok(pieces(input, LogLimits::of(sizes))),
    hints: |_| Hints::default(),
    site: SiteNaming::Source,
    vo: VoNaming::CeLog,
    identity: StatedIdentity::Nothing,
    placed_by: PlacingInstant::End,
    version_rule: VersionRule::LastRead,
    unfinished: UnfinishedJobs {
        never_ran: UnfinishedJob::OutOfScope(Reason::NotStarted),
        pending: UnfinishedJob::Absent,
        running: UnfinishedJob::Refused(Reason::TimeUnknown),
    },
    has_job_numbers: true,
    options: &[SourceOption::CeLogs, SourceOption::ScaledTo],
    proposal: BATCH_LOG_PROPOSAL,
    raw: Some(RawLayout::LINES),
    fingerprint: &[
        // Lakes written when jobs with colons in what they requested were passed over are read again.
        ("sge.category", "may hold colons"),
        // The same of those with the CPU time and host of the script of a parallel job alone.
        ("sge.tasks", "part of their job"),
        ("sge.text", BYTES_KEPT),
    ],
};

/// Whether one of the first lines is a row of an accounting file.
#[must_use]
pub fn recognise(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n').take(16);
    let first = lines.find(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"#"));
    first
        .and_then(|line| std::str::from_utf8(line).ok())
        .is_some_and(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            fields.len() >= columns::FIELDS_LEAST && columns::has_numbers(&fields)
        })
}

/// Cuts a decompressed file into pieces of whole lines, with rows of parallel jobs and their tasks put together. Rows and
/// rejects do not depend on `limits.block`.
#[must_use]
pub fn pieces(input: Box<dyn Read + Send>, limits: LogLimits) -> Pieces {
    held_pieces(input, limits, parallel::HELD_BYTES)
}

/// As [`pieces`], with no more than so many bytes of rows of parallel jobs that wait for others at a time.
#[must_use]
pub fn held_pieces(input: Box<dyn Read + Send>, limits: LogLimits, held_byte: usize) -> Pieces {
    lines::folded_pieces(input, Arc::new(Sge), limits, Box::new(ParallelJobs::new(held_byte)))
}

struct Sge;

impl Grammar for Sge {
    fn is_row(&self, line: &[u8]) -> bool {
        !line.starts_with(b"#")
    }

    fn record(&self, record: &LogRecord<'_>, sink: &mut dyn Sink) -> Result<(), Refusal> {
        job::take(&SgeRow::of(&record.text)?, record, &TaskUsage::default(), sink)
    }
}
