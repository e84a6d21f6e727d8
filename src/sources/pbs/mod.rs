//! Accounting logs of PBS Pro, `OpenPBS` and Torque: `date;type;id;key=value key="a value" ...`.
//!
//! Only `E` records (a job ended) hold usage. Times are Unix seconds, whatever zone the date in front is printed in.

mod job;
mod values;

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
use crate::sources::head::first_line_of;

/// The dialect.
pub const DIALECT: Dialect = Dialect::of(&ROW);

static ROW: DialectRow = DialectRow {
    word: "pbs",
    aliases: &["torque", "pbspro", "openpbs"],
    help: "accounting logs of PBS Pro, OpenPBS and Torque",
    page: "Accounting logs of PBS Pro, OpenPBS and Torque, one file per day. `E` records hold usage; other records are counted and left out, and so are `E` records of jobs that were deleted before they ran, which have no start, host, session or usage. A value in quotes, as PBS Pro and OpenPBS write accounts, may hold blanks. The GPUs of a job are those it was given (`exec_gpus` of Torque), else those it requested (`Resource_List.ngpus`, or `gpus` of each node in `Resource_List.nodes`).",
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
        pending: UnfinishedJob::OutOfScope(Reason::OtherRecordType),
        running: UnfinishedJob::OutOfScope(Reason::OtherRecordType),
    },
    has_job_numbers: true,
    options: &[SourceOption::CeLogs, SourceOption::ScaledTo],
    proposal: BATCH_LOG_PROPOSAL,
    raw: Some(RawLayout::LINES),
    fingerprint: &[
        // Lakes written when quotes were part of a value, and a blank ended it, are read again.
        ("pbs.quotes", "around a value"),
        // The same of those without the GPUs of Torque.
        ("pbs.gpus", "given or requested"),
        ("pbs.text", BYTES_KEPT),
    ],
};

/// Whether the first line is one of an accounting log.
#[must_use]
pub fn recognise(head: &[u8]) -> bool {
    let line = first_line_of(head);
    std::str::from_utf8(line).is_ok_and(|line| PbsParts::of(line).is_some())
}

/// Cuts a decompressed log into pieces of whole lines. Rows and rejects do not depend on `limits.block`.
#[must_use]
pub fn pieces(input: Box<dyn Read + Send>, limits: LogLimits) -> Pieces {
    lines::pieces(input, Arc::new(Pbs), limits, Position::start())
}

struct Pbs;

/// The four parts of a line.
struct PbsParts<'a> {
    kind: &'a str,
    id: &'a str,
    message: &'a str,
}

impl<'a> PbsParts<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let mut parts = line.trim_end_matches('\r').splitn(4, ';');
        let (date, kind, id) = (parts.next()?, parts.next()?, parts.next()?);
        let message = parts.next()?;
        let fits = |(byte, shape): (u8, &u8)| match shape {
            b'0' => byte.is_ascii_digit(),
            shape => byte == *shape,
        };
        let is_date = date.len() == 19 && date.bytes().zip(b"00/00/0000 00:00:00").all(fits);
        let is_kind = kind.len() == 1 && kind.bytes().all(|byte| byte.is_ascii_alphabetic());
        (is_date && is_kind).then_some(Self { kind, id, message })
    }
}

impl Grammar for Pbs {
    fn record(&self, record: &LogRecord<'_>, sink: &mut dyn Sink) -> Result<(), Refusal> {
        let Some(parts) = PbsParts::of(&record.text) else {
            return Err(Refusal::new(
                Reason::FieldCount,
                "the line is not date;type;id;message with a date such as 03/21/2015 12:10:19",
            ));
        };
        // Queued, started, deleted, rerun, licence counts: they contain no usage that the end does not.
        if parts.kind != "E" {
            sink.out_of_scope(Reason::OtherRecordType, 1);
            return Ok(());
        }
        record.whole(false)?;
        job::take(&parts, record, sink)
    }
}
