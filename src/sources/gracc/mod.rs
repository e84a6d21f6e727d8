//! GRACC raw index dumps: one JSON document per line, either an index hit (`{"_index":..,"_id":..,"_source":{..}}`, as
//! elasticdump writes) or a bare `_source`.
//!
//! Three accounts of the same hours live in one index: what sites gave (`batch`), what users got inside pilots
//! (`payload`), and transfers (`storage`). They are kept apart as views.

mod document;
mod fields;
pub use super::json;
mod lines;
mod usage;

use std::io::{Cursor, Read};
use std::sync::Arc;

use crate::error::{Error, Kind, Result};
use crate::pipeline::plan::SourcePlan;
use crate::sources::steps::Steps;
use crate::sources::{Pieces, Position};

pub use lines::Limits;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// How much of a file is looked at before it is cut into lines.
const HEAD: u64 = 64 << 10;

/// Whether the start of a file looks like a dump of a GRACC index (or a search response of one, for which
/// [`pieces`] has a clear answer).
#[must_use]
pub fn recognise(head: &[u8]) -> bool {
    let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
    let has = |word: &[u8]| memchr::memmem::find(text, word).is_some();
    matches!(text.first(), Some(b'{' | b'['))
        && (has(b"\"_source\"") || has(b"\"JobUsageRecord\"") || (has(b"\"ProbeName\"") && has(b"\"WallDuration\"")))
}

/// Cuts a decompressed dump into pieces of whole lines.
///
/// # Errors
/// [`Kind::Io`] when reading fails, [`Kind::Data`] when the file is not one document per line.
#[expect(clippy::needless_pass_by_value, reason = "every reader has this signature")]
pub fn pieces(input: Box<dyn Read + Send>, plan: Arc<SourcePlan>) -> Result<Pieces> {
    pieces_within(input, &plan, Limits::default())
}

/// As [`pieces`], with other sizes. Rows and rejects do not depend on `limits.block`.
///
/// # Errors
/// As [`pieces`].
pub fn pieces_within(mut input: Box<dyn Read + Send>, plan: &SourcePlan, limits: Limits) -> Result<Pieces> {
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
    if let Some(why) = other_layout(&head) {
        return Err(Error::new(Kind::Data, why).at("source", &plan.name));
    }
    let input = Box::new(Cursor::new(head).chain(input));
    Ok(Box::new(Steps::new(lines::Lines::new(input, limits, at))))
}

/// What a file is instead of lines of documents.
fn other_layout(head: &[u8]) -> Option<&'static str> {
    if head.get(257..262) == Some(b"ustar") {
        return Some("this is a tar archive; unpack it and convert its records to one JSON document per line");
    }
    let text = head.trim_ascii_start();
    match text.first() {
        Some(b'[') => Some("this is one JSON list; a GRACC dump has one document per line (elasticdump --type=data)"),
        Some(b'<') => Some("this is XML; a GRACC dump has one JSON document per line (elasticdump --type=data)"),
        Some(b'{') => {
            let first_line = text.split(|&b| b == b'\n').next().unwrap_or(text);
            let mut is_response = false;
            let mut scanner = json::Scanner::new(text);
            // The end of the head may cut a value: then the keys before it must do.
            let _ = scanner.object(|scanner, key| {
                let (key, _) = key.decode();
                is_response |= matches!(&*key, "hits" | "took" | "_shards" | "timed_out" | "_scroll_id");
                scanner.scalar().map(|_| ())
            });
            if is_response {
                Some("this is a search response; a GRACC dump has one document per line (elasticdump --type=data)")
            } else if first_line.trim_ascii() == b"{" && first_line.len() < text.len() {
                Some("this is a JSON document spread over several lines; a GRACC dump has one document per line")
            } else {
                None
            }
        }
        _ => None,
    }
}
