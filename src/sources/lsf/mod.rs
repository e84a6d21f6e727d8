//! LSF accounting files (`lsb.acct`): events of blank-separated fields, texts in quotes with quotes doubled.
//!
//! A text may hold line ends, so an event extends until its quotes are closed or a line begins the next one. Only
//! `JOB_FINISH` holds usage. Times are Unix seconds.

mod event;
mod job;

use std::io::Read;
use std::sync::Arc;

use super::byte_text::BYTES_KEPT;
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
    word: "lsf",
    aliases: &["lsb.acct", "openlava"],
    help: "LSF lsb.acct files",
    page: "The `lsb.acct` file of LSF. `JOB_FINISH` events hold usage; other events are counted and left out.",
    content: Content::Jobs,
    recognise: |head| (!head.is_markup() && recognise(head.text)).then_some(Certainty::Grammar),
    reader: |input, _, sizes| Ok(pieces(input, LogLimits::of(sizes))),
    hints: |_| Hints::default(),
    site: SiteNaming::Source,
    vo: VoNaming::CeLog,
    identity: StatedIdentity::SubmitHost,
    placed_by: PlacingInstant::End,
    version_rule: VersionRule::LastRead,
    unfinished: UnfinishedJobs {
        never_ran: UnfinishedJob::Record,
        pending: UnfinishedJob::OutOfScope(Reason::OtherRecordType),
        running: UnfinishedJob::OutOfScope(Reason::OtherRecordType),
    },
    has_job_numbers: true,
    options: &[SourceOption::CeLogs, SourceOption::ScaledTo],
    proposal: BATCH_LOG_PROPOSAL,
    raw: Some(RawLayout::LINES),
    fingerprint: &[
        // Lakes written when a size that was not measured was 0 are read again.
        ("lsf.memory", "0 is unknown"),
        ("lsf.text", BYTES_KEPT),
    ],
};

/// Whether the first line begins an event.
#[must_use]
pub fn recognise(head: &[u8]) -> bool {
    begins(head)
}

/// Cuts a decompressed file into pieces of whole events. Rows and rejects do not depend on `limits.block`.
#[must_use]
pub fn pieces(input: Box<dyn Read + Send>, limits: LogLimits) -> Pieces {
    lines::pieces(input, Arc::new(Lsf), limits, Position::start())
}

struct Lsf;

/// `"JOB_FINISH" "9.11" 1380043655 `: a name in capitals, a version, a time.
fn begins(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"\"") else {
        return false;
    };
    let name = rest
        .iter()
        .take_while(|b| b.is_ascii_uppercase() || matches!(b, b'_' | b'0'..=b'9'));
    let Some(rest) = rest.get(name.count()..).and_then(|rest| rest.strip_prefix(b"\" \"")) else {
        return false;
    };
    let version = rest.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    let rest = rest.get(version..).and_then(|rest| rest.strip_prefix(b"\" "));
    version > 0 && rest.is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_digit))
}

impl Grammar for Lsf {
    const IS_MULTILINE: bool = true;

    fn begins(&self, line: &[u8]) -> bool {
        begins(line)
    }

    fn continues(&self, record: &[u8]) -> bool {
        memchr::memchr_iter(b'"', record).count() % 2 == 1
    }

    fn record(&self, record: &LogRecord<'_>, sink: &mut dyn Sink) -> Result<(), Refusal> {
        if !begins(record.text.as_bytes()) {
            return Err(Refusal::new(
                Reason::FieldCount,
                "the line begins no event such as \"JOB_FINISH\" \"9.11\" 1380043655",
            ));
        }
        // Events of other kinds (resizes, reservations, migrations) contain nothing that the end of the job does not.
        if !record.text.starts_with("\"JOB_FINISH\" ") {
            sink.out_of_scope(Reason::OtherRecordType, 1);
            return Ok(());
        }
        job::take(record, sink)
    }
}
