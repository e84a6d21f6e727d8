//! Job histories of `HTCondor`: APEL's own layout with bars, and what `condor_history -json` prints.
//!
//! Times are Unix seconds. `RemoteWallClockTime` adds up all attempts of a job, so it may exceed end minus start.

mod history;
mod objects;
mod piped;

use std::io::{Cursor, Read};
use std::sync::Arc;

use super::byte_text::BYTES_KEPT;
use super::dialect::{
    BATCH_LOG_PROPOSAL, Certainty, Content, Dialect, DialectRow, PlacingInstant, RawLayout, SiteNaming, SourceOption,
    StatedIdentity, UnfinishedJob, UnfinishedJobs, VersionRule, VoNaming,
};
use super::hints::Hints;
use super::lines::LogLimits;
use super::{Pieces, Position, lines};
use crate::byte_order_mark::without_mark;
use crate::error::Result;
use crate::ledger::Reason;
use crate::sources::head::first_line_of;

/// The dialect.
pub const DIALECT: Dialect = Dialect::of(&ROW);

static ROW: DialectRow = DialectRow {
    word: "htcondor",
    aliases: &["condor"],
    help: "HTCondor job histories: the layout of APEL, or condor_history -json",
    page: "Job histories of HTCondor: lines with bars as the APEL client writes them, or the JSON of `condor_history -json`. Jobs that are still in the queue are counted and left out. The cores of a job are those that were provisioned, where its record states them, else those requested; its wall time contains the time it was suspended.",
    content: Content::Jobs,
    recognise: |head| (head.first() != Some(b'<') && recognise(head.text)).then_some(Certainty::Grammar),
    reader: |input, _, sizes| pieces(input, LogLimits::of(sizes)),
    hints: |_| Hints::default(),
    site: SiteNaming::Source,
    vo: VoNaming::CeLog,
    identity: StatedIdentity::Everything,
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
        // Lakes written when the name of a slot was taken for that of its host are read again.
        ("htcondor.hosts", "without their slots"),
        ("htcondor.text", BYTES_KEPT),
    ],
};

/// The bytes of a file that are read to distinguish the two layouts.
const HEAD: u64 = 64 << 10;

/// Whether the start of a file is a history in one of the two layouts.
#[must_use]
pub fn recognise(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    if is_json(text) {
        let has = |word: &str| memchr::memmem::find(text, word.as_bytes()).is_some();
        return has("\"JobStatus\"") && (has("\"ClusterId\"") || has("\"GlobalJobId\""))
            || has("\"RemoteWallClockTime\"") && has("\"GlobalJobId\"") && has("\"EnteredCurrentStatus\"");
    }
    let line = first_line_of(text);
    std::str::from_utf8(line).is_ok_and(piped::is_row)
}

fn is_json(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'{' | b'['))
}

/// Cuts a decompressed history into pieces of whole records. An array is cut between its elements, never held whole. Rows and
/// rejects do not depend on `limits.block`.
///
/// # Errors
/// [`crate::error::Kind::Io`] when reading fails.
pub fn pieces(mut input: Box<dyn Read + Send>, limits: LogLimits) -> Result<Pieces> {
    let mut head = Vec::new();
    input.by_ref().take(HEAD).read_to_end(&mut head)?;
    let text = without_mark(&head);
    let (is_json, mark_byte) = (is_json(text.trim_ascii_start()), head.len() - text.len());
    let mut head = Cursor::new(head);
    Ok(if is_json {
        let mut from = Position::start();
        // The byte order mark is neither an object nor a bad row.
        head.set_position(mark_byte as u64);
        from.byte_offset += mark_byte as u64;
        objects::pieces(Box::new(head.chain(input)), limits, from)
    } else {
        lines::pieces(
            Box::new(head.chain(input)),
            Arc::new(piped::Piped),
            limits,
            Position::start(),
        )
    })
}
