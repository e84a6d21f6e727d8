//! APEL messages: `APEL-individual-job-message` v0.3 and v0.4 become job rows; summaries v0.2 and v0.4, normalised
//! summaries v0.3 and v0.4 and sync records become summary rows; CAR, the XML of one job, becomes job rows; cloud
//! records and other XML and JSON are recognised, named, counted and left out.
//!
//! A file may be one message or many in a row. A message is `APEL-<kind>-message: vX.Y` on the first line, then
//! records of `Key: Value` lines separated by `%%`. The rules are those of the APEL 2.5 server and its database in
//! strict mode, including the one that a bad record refuses its whole message ([`Acceptance::StrictApel`]).
//!
//! [`Acceptance::StrictApel`]: super::apel::acceptance::Acceptance::StrictApel

pub mod acceptance;
mod car;
mod car_frames;
mod diagnosis;
mod duration;
mod foreign;
mod frames;
mod header;
mod limits;
mod message;
pub mod python_scalars;
mod record;
mod service_level;
mod split;
mod summary;
mod values;

use std::io::{Cursor, Read};
use std::sync::Arc;

use super::byte_text::BYTES_KEPT;
use super::dialect::{
    Certainty, Content, Dialect, DialectRow, PlacingInstant, RawHeader, RawLayout, SiteNaming, SourceOption,
    StatedIdentity, UnfinishedJobs, VersionRule, VoNaming,
};
use super::head::FileHead;
use super::options::ReaderOptions;
use super::steps::ReadSteps;
use crate::byte_order_mark::{BYTE_ORDER_MARK, without_mark};
use crate::error::Result;
use crate::sources::{Pieces, Position};

pub use limits::ApelLimits;

/// The dialect.
pub const DIALECT: Dialect = Dialect::of(&ROW);

static ROW: DialectRow = DialectRow {
    word: "apel",
    aliases: &["ssm", "car"],
    help: "APEL messages: job records, summaries, sync records; CAR XML",
    page: "Messages of the APEL client and server: individual jobs v0.3 and v0.4, summaries, normalised summaries and sync records, and the Compute Accounting Record in XML. The rules of the APEL server decide which records are accepted, but those of the future: of a job or month to come, which it refuses, the run warns. Usage records in XML of no namespace, or of an unknown one, are refused, and so is the last record of a file that ends with neither a line end nor `%%`: its last value may be cut short.",
    content: Content::Jobs,
    recognise: recognised,
    reader: |input, options, sizes| pieces_within(input, options, ApelLimits::of(sizes)),
    hints: diagnosis::hints,
    site: SiteNaming::Record,
    vo: VoNaming::Record,
    identity: StatedIdentity::Nothing,
    placed_by: PlacingInstant::End,
    version_rule: VersionRule::LastRead,
    unfinished: UnfinishedJobs::ABSENT,
    has_job_numbers: false,
    options: &[SourceOption::Acceptance, SourceOption::Summaries],
    proposal: &[],
    raw: Some(RawLayout {
        header: RawHeader::Last(|line| line.starts_with(b"APEL-")),
        row_end: Some("%%"),
    }),
    fingerprint: &[
        // Lakes written when the last value of a file could be a part of what it was are read again.
        ("apel.last_value", "ends with its line"),
        ("apel.text", BYTES_KEPT),
    ],
};

fn recognised(head: &FileHead<'_>) -> Option<Certainty> {
    match head.first()? {
        b'{' | b'[' if head.has("\"APEL-") || head.has("\"UsageRecords\"") => Some(Certainty::Mark),
        b'A' if head.text.starts_with(b"APEL-") => Some(Certainty::Mark),
        b'<' if ["UsageRecord", "SummaryRecord"].iter().any(|name| head.has(name)) => Some(Certainty::Names),
        _ => None,
    }
}

/// Whether the start of a file looks like an APEL message or another record of that world.
#[must_use]
pub fn recognise(head: &[u8]) -> bool {
    let text = without_mark(head).trim_ascii_start();
    let has = |word: &[u8]| memchr::memmem::find(text, word).is_some();
    match text.first() {
        Some(b'A') => header::next_header(text, 0, true, true) == header::HeaderSearch::Found(0),
        Some(b'<') => has(b"UsageRecord") || has(b"SummaryRecord"),
        Some(b'{' | b'[') => has(b"\"APEL-") || has(b"\"UsageRecords\""),
        _ => false,
    }
}

/// Cuts a decompressed stream of messages into pieces.
///
/// # Errors
/// [`crate::error::Kind::Io`] when reading fails.
pub fn pieces(input: Box<dyn Read + Send>, options: Arc<ReaderOptions>) -> Result<Pieces> {
    pieces_within(input, options, ApelLimits::default())
}

/// As [`pieces`], with other sizes. Rows and rejects do not depend on `limits.block`.
///
/// # Errors
/// [`crate::error::Kind::Io`] when reading fails.
pub fn pieces_within(
    mut input: Box<dyn Read + Send>,
    options: Arc<ReaderOptions>,
    limits: ApelLimits,
) -> Result<Pieces> {
    let mut at = Position {
        line: 1,
        byte_offset: 0,
    };
    let mut head = Vec::new();
    // Enough to see past a byte order mark and blanks to the first character that decides.
    input.by_ref().take(4096).read_to_end(&mut head)?;
    if head.starts_with(BYTE_ORDER_MARK) {
        head.drain(..BYTE_ORDER_MARK.len());
        at.byte_offset = message::to_u64(BYTE_ORDER_MARK.len());
    }
    let first = head.trim_ascii_start().first().copied();
    let input: Box<dyn Read + Send> = Box::new(Cursor::new(head).chain(input));
    Ok(match first {
        Some(b'<') => Box::new(std::iter::once_with(move || foreign::xml(input, &options, limits, at))),
        Some(b'{' | b'[') => Box::new(std::iter::once_with(move || foreign::json(input, limits, at))),
        _ => Box::new(ReadSteps::new(split::MessageSplitter::new(input, options, limits, at))),
    })
}
