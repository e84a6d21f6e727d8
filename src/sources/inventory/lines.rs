//! Lines and records of text, with their places.

use std::borrow::Cow;

use crate::numbers::count_u64;
use crate::sources::Position;
use crate::sources::byte_text::text_of;

/// A line without its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct InventoryLine<'t> {
    pub(super) at: Position,
    pub(super) bytes: &'t [u8],
    /// Whether a line end follows; the last line of a file that was cut off has none.
    pub(super) is_ended: bool,
}

impl<'t> InventoryLine<'t> {
    pub(super) fn text(&self) -> Cow<'t, str> {
        text_of(self.bytes)
    }

    pub(super) fn is_blank(&self) -> bool {
        self.bytes.trim_ascii().is_empty()
    }
}

/// The lines of a file; a byte order mark is taken off.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = InventoryLine<'_>> {
    let mark = bytes.len() - crate::byte_order_mark::without_mark(bytes).len();
    let (mut offset, mut number) = (mark, 0);
    std::iter::from_fn(move || {
        let rest = bytes.get(offset..).filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'\n', rest);
        let line = rest.get(..end.unwrap_or(rest.len()))?;
        number += 1;
        let at = Position {
            line: number,
            byte_offset: count_u64(offset),
        };
        offset += line.len() + 1;
        Some(InventoryLine {
            at,
            bytes: line.strip_suffix(b"\r").unwrap_or(line),
            is_ended: end.is_some(),
        })
    })
}

/// Longest record, bytes: a node with many partitions and features needs a few thousand.
const RECORD_LIMIT: usize = 1 << 20;

/// A record that begins with a given key and may continue over indented lines.
#[derive(Clone, Debug)]
pub(super) struct InventoryRecord {
    pub(super) at: Position,
    /// Its lines with blanks between them.
    pub(super) text: String,
    pub(super) is_ended: bool,
    pub(super) is_too_long: bool,
}

/// Records of `scontrol`: each begins with a line that is not indented; indented ones continue with the record before them,
/// also behind a blank line (24.11 prints one before `ReservationName`). What does not begin with `key` is for the reader
/// to refuse.
pub(super) fn records(bytes: &[u8], key: &str) -> Vec<InventoryRecord> {
    let mut records: Vec<InventoryRecord> = Vec::new();
    for line in lines(bytes) {
        if line.is_blank() {
            continue;
        }
        let text = line.text();
        let is_indented = text.starts_with([' ', '\t']);
        match records.last_mut() {
            Some(record) if is_indented && !text.trim_start().starts_with(key) => {
                record.is_ended = line.is_ended;
                if record.text.len() + text.len() > RECORD_LIMIT {
                    record.is_too_long = true;
                } else {
                    record.text.push(' ');
                    record.text.push_str(text.trim());
                }
            }
            _ => records.push(InventoryRecord {
                at: line.at,
                is_too_long: text.len() > RECORD_LIMIT,
                text: text.into_owned(),
                is_ended: line.is_ended,
            }),
        }
    }
    records
}
