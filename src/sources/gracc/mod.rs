//! GRACC and Gratia records in each of their encodings:
//!
//! * index dumps, one JSON document per line: an index hit (`{"_index":..,"_id":..,"_source":{..}}`, as elasticdump
//!   writes) or a bare `_source`, of every generation of the index (also those with texts for numbers, or nested values);
//! * search and scroll responses, JSON lists, and documents spread over lines;
//! * what the archive keeps: those in a tar (see [`super::archive`]);
//! * XML records, alone, in a `RecordEnvelope` or in a `replication|` bundle.
//!
//! Documents of the summary index are read as summaries, those of transfers among them.
//!
//! Three accounts of the same hours live in one index: what sites gave (`batch`), what users got inside pilots
//! (`payload`), and transfers (`storage`). They are kept apart as views.

mod batch;
mod compare;
mod diagnosis;
mod document;
mod element;
mod fields;
mod flat;
pub mod iso_duration;
mod lines;
mod nested;
mod records;
mod summary;
mod usage;
mod usage_xml;
mod values;

use std::io::{Cursor, Read};
use std::sync::Arc;

use super::byte_text::BYTES_KEPT;
use super::dialect::{
    Certainty, Content, Dialect, DialectRow, PlacingInstant, RawLayout, SiteNaming, SourceOption, StatedIdentity,
    UnfinishedJobs, VersionRule, VoNaming,
};
use super::head::FileHead;
use super::json::Scanner;
use super::options::ReaderOptions;
use super::steps::ReadSteps;
use crate::byte_order_mark::{BYTE_ORDER_MARK, without_mark};
use crate::error::Result;
use crate::sources::{Pieces, Position};

pub use lines::GraccLimits;

/// The dialect.
pub const DIALECT: Dialect = Dialect::of(&ROW);

static ROW: DialectRow = DialectRow {
    word: "gracc",
    aliases: &["gratia"],
    help: "GRACC index dumps and Gratia XML records",
    page: "Documents of the GRACC indexes as JSON, one per line or in lists and search responses, and Gratia usage records in XML, alone, in envelopes or in replication bundles. Batch, payload and transfer records are kept apart as views.",
    content: Content::Jobs,
    recognise: recognised,
    reader: |input, options, sizes| pieces_within(input, &options, GraccLimits::of(sizes)),
    hints: diagnosis::hints,
    site: SiteNaming::Record,
    vo: VoNaming::Record,
    identity: StatedIdentity::Nothing,
    placed_by: PlacingInstant::End,
    version_rule: VersionRule::LastReceived,
    unfinished: UnfinishedJobs::ABSENT,
    has_job_numbers: false,
    options: &[SourceOption::Summaries],
    proposal: &[],
    raw: Some(RawLayout::LINES),
    fingerprint: &[
        // Lakes written when the id of a document was its identity are read again.
        ("gracc.identity", "view, probe, job and times, or all that was measured"),
        ("gracc.text", BYTES_KEPT),
        // The same of those in which an envelope or bundle without an end passed for a whole one.
        ("gracc.envelopes", "have an end"),
        // The same of those in which a time that was derived from others was not marked.
        ("gracc.times", "assumed ones are marked"),
    ],
};

/// How much of a file is looked at before it is cut into lines.
const HEAD: u64 = 64 << 10;

fn recognised(head: &FileHead<'_>) -> Option<Certainty> {
    if recognise(head.bytes) {
        return Some(Certainty::Mark);
    }
    let keys = ["\"_index\"", "\"ProbeName\"", "\"RawXML\""];
    (head.first() == Some(b'{') && keys.iter().any(|key| head.has(key))).then_some(Certainty::Grammar)
}

/// Whether the start of a file looks like GRACC or Gratia.
#[must_use]
pub fn recognise(head: &[u8]) -> bool {
    let text = without_mark(head).trim_ascii_start();
    let has = |word: &[u8]| memchr::memmem::find(text, word).is_some();
    match text.first() {
        Some(b'{' | b'[') => {
            has(b"\"_source\"")
                || has(b"\"JobUsageRecord\"")
                || (has(b"\"ProbeName\"") && has(b"\"WallDuration\""))
                || (has(b"\"hits\"") && (has(b"\"_shards\"") || has(b"\"_scroll_id\"")))
        }
        Some(b'<') => {
            // The elements of APEL's and ARC's records are called alike; their namespaces are not.
            let is_ours = has(b"www.gridforum.org/2003/ur-wg") || has(b"schema.ogf.org/urf/2003/09/urf");
            has(b"JobUsageRecord")
                || has(b"<RecordEnvelope")
                || has(b"<StorageElement")
                || (is_ours && has(b"UsageRecord"))
        }
        Some(b'r') => text.starts_with(b"replication|"),
        _ => false,
    }
}

/// Cuts decompressed input into pieces of whole records.
///
/// # Errors
/// [`crate::error::Kind::Io`] when reading fails.
#[expect(clippy::needless_pass_by_value, reason = "every reader has this signature")]
pub fn pieces(input: Box<dyn Read + Send>, options: Arc<ReaderOptions>) -> Result<Pieces> {
    pieces_within(input, &options, GraccLimits::default())
}

/// As [`pieces`], with other sizes. Rows and rejects do not depend on `limits.block`.
///
/// # Errors
/// As [`pieces`].
pub fn pieces_within(mut input: Box<dyn Read + Send>, _: &ReaderOptions, limits: GraccLimits) -> Result<Pieces> {
    let mut at = Position {
        line: 1,
        byte_offset: 0,
    };
    let mut head = Vec::new();
    input.by_ref().take(HEAD).read_to_end(&mut head)?;
    if head.starts_with(BYTE_ORDER_MARK) {
        head.drain(..BYTE_ORDER_MARK.len());
        at.byte_offset = lines::to_u64(BYTE_ORDER_MARK.len());
    }
    let layout = GraccLayout::of(&head);
    let input = Box::new(Cursor::new(head).chain(input));
    Ok(match layout {
        GraccLayout::Lines => Box::new(ReadSteps::new(lines::GraccLines::new(input, limits, at))),
        GraccLayout::Values => Box::new(ReadSteps::new(values::JsonValues::new(input, limits, at))),
        GraccLayout::Records => Box::new(ReadSteps::new(records::Records::new(input, limits, at))),
    })
}

/// How the records of a file are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GraccLayout {
    /// One JSON document per line.
    Lines,
    /// JSON in any other way.
    Values,
    /// XML.
    Records,
}

impl GraccLayout {
    fn of(head: &[u8]) -> Self {
        let text = head.trim_ascii_start();
        match text.first() {
            Some(b'[') => Self::Values,
            Some(b'<') => Self::Records,
            Some(b'r') if text.starts_with(b"replication|") => Self::Records,
            Some(b'{') => {
                let first_line = text.split(|&b| b == b'\n').next().unwrap_or(text);
                let mut is_response = false;
                let mut scanner = Scanner::new(text);
                // The end of the head may cut a value: then the keys before it must do.
                let _ = scanner.object(|scanner, key| {
                    let (key, _) = key.decode();
                    is_response |= matches!(&*key, "hits" | "took" | "_shards" | "timed_out" | "_scroll_id");
                    scanner.scalar().map(|_| ())
                });
                // A damaged first line of many also ends too early, but hardly where a line may break.
                let can_break = matches!(first_line.trim_ascii_end().last(), Some(b'{' | b'[' | b','));
                let is_spread = can_break && first_line.len() < text.len();
                if is_response || is_spread {
                    Self::Values
                } else {
                    Self::Lines
                }
            }
            _ => Self::Lines,
        }
    }
}
