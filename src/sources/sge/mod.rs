//! Accounting files of Sun, Son of and Univa Grid Engine (`accounting(5)`): 43 or more fields with colons between them, and, in the
//! one that repeats what was requested, within.
//!
//! Times are Unix seconds, or milliseconds from UGE 8.2 on; which of them follows from their size.

mod columns;
mod job;

use std::io::Read;
use std::sync::Arc;

use self::columns::SgeRow;
use super::dialect::{
    BATCH_LOG_PROPOSAL, Certainty, Content, Dialect, DialectRow, PlacingInstant, RawLayout, SiteNaming, SourceOption,
    StatedIdentity, UnfinishedJob, UnfinishedJobs, VersionRule, VoNaming,
};
use super::hints::Hints;
use super::lines::{Grammar, LogLimits, LogRecord};
use super::refusal::Refusal;
use super::{Pieces, Position, Sink, lines};
use crate::ledger::Reason;

/// The dialect.
pub const DIALECT: Dialect = Dialect::of(&ROW);

static ROW: DialectRow = DialectRow {
    word: "sge",
    aliases: &["uge", "gridengine"],
    help: "accounting files of Grid Engine (SGE, UGE)",
    page: "The `accounting` file of Sun, Son of and Univa Grid Engine. CPU and wall time are read as written; parallel tasks on other hosts are part of their job.",
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

/// Cuts a decompressed file into pieces of whole lines. Rows and rejects do not depend on `limits.block`.
#[must_use]
pub fn pieces(input: Box<dyn Read + Send>, limits: LogLimits) -> Pieces {
    lines::pieces(input, Arc::new(Sge), limits, Position::start())
}

struct Sge;

impl Grammar for Sge {
    fn is_row(&self, line: &[u8]) -> bool {
        !line.starts_with(b"#")
    }

    fn record(&self, record: &LogRecord<'_>, sink: &mut dyn Sink) -> Result<(), Refusal> {
        let row = SgeRow::of(&record.text)?;
        record.whole(row.has_later_columns())?;
        job::take(&row, record, sink)
    }
}
