//! Raw rows of an input file, with the surrounding text that is needed to read them alone.

use std::io::{BufRead, BufReader, Read};

use super::dialect::{RawHeader, RawLayout};
use crate::byte_order_mark::without_mark;
use crate::error::Result;
use crate::numbers::{Extent, Part, count_u64, index_u64};

/// Bytes looked at at once; longer lines come in pieces.
const PIECE_BYTES: u64 = 1 << 20;
/// Bytes one row may have.
const BODY_LIMIT: usize = 64 << 20;

/// How far a row reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawExtent {
    /// This many bytes.
    Bytes(u64),
    /// This many rows of the dialect.
    Rows(u64),
}

/// A requested row.
#[derive(Clone, Copy, Debug)]
pub struct RawWanted {
    /// Where it begins, after decompression.
    pub byte_offset: u64,
    /// How far it reaches.
    pub extent: RawExtent,
}

/// A row with what goes before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// The header of the dump, or the first line of the message; empty where none is needed, or none was found.
    pub header: Vec<u8>,
    /// The row.
    pub body: Vec<u8>,
}

impl RawLayout {
    /// Whether rows mean nothing without a header.
    #[must_use]
    pub fn needs_header(&self) -> bool {
        !matches!(self.header, RawHeader::None)
    }

    fn is_header(&self, line: &[u8]) -> bool {
        match self.header {
            RawHeader::None => false,
            RawHeader::Last(is_header) | RawHeader::All(is_header) => is_header(without_mark(line)),
        }
    }

    /// Whether a line ends a row of several lines.
    fn is_end(&self, line: &[u8]) -> Option<bool> {
        self.row_end.map(|end| line.trim_ascii().starts_with(end.as_bytes()))
    }
}

struct RawOpen {
    at: usize,
    left: RawExtent,
    excerpt: Excerpt,
}

/// Reads unpacked input once and gives an excerpt for each of `wanted`, which are in the order of their offsets; what
/// the input does not reach is `None`.
///
/// # Errors
/// [`crate::error::Kind::Io`] when reading fails.
pub fn excerpts(layout: &RawLayout, input: Box<dyn Read + Send>, wanted: &[RawWanted]) -> Result<Vec<Option<Excerpt>>> {
    let mut found: Vec<Option<Excerpt>> = vec![None; wanted.len()];
    let mut input = BufReader::new(input);
    let mut next = wanted.iter().enumerate().peekable();
    let mut open: Vec<RawOpen> = Vec::new();
    let mut header = Vec::new();
    let (mut start, mut is_line_start) = (0_u64, true);
    let mut piece = Vec::new();
    while next.peek().is_some() || !open.is_empty() {
        piece.clear();
        let read = input.by_ref().take(PIECE_BYTES).read_until(b'\n', &mut piece)?;
        if read == 0 {
            break;
        }
        let end = start + count_u64(read);
        if is_line_start && layout.is_header(&piece) {
            if !matches!(layout.header, RawHeader::All(_)) {
                header.clear();
            }
            header.extend_from_slice(without_mark(&piece));
        }
        while let Some((at, wanted)) = next.next_if(|(_, wanted)| wanted.byte_offset < end) {
            // A position before the beginning of the input cannot exist.
            let skipped = index_u64(wanted.byte_offset.less(start));
            open.push(RawOpen {
                at,
                left: wanted.extent,
                excerpt: Excerpt {
                    header: header.clone(),
                    body: Vec::new(),
                },
            });
            if let Some(open) = open.last_mut() {
                open.take(layout, piece.part(skipped..));
            }
        }
        for open in open.iter_mut().filter(|open| !is_fresh(open, wanted, start, end)) {
            open.take(layout, &piece);
        }
        open.retain_mut(|open| {
            let is_done =
                matches!(open.left, RawExtent::Bytes(0) | RawExtent::Rows(0)) || open.excerpt.body.len() > BODY_LIMIT;
            if let (true, Some(place)) = (is_done, found.get_mut(open.at)) {
                *place = Some(std::mem::take(&mut open.excerpt));
            }
            !is_done
        });
        is_line_start = piece.last() == Some(&b'\n');
        start = end;
    }
    for open in open {
        // The input ended within the row.
        if let Some(place) = found.get_mut(open.at) {
            *place = Some(open.excerpt);
        }
    }
    Ok(found)
}

/// Whether a row began within the piece that was just looked at.
fn is_fresh(open: &RawOpen, wanted: &[RawWanted], start: u64, end: u64) -> bool {
    wanted
        .get(open.at)
        .is_some_and(|wanted| (start..end).contains(&wanted.byte_offset))
}

impl RawOpen {
    fn take(&mut self, layout: &RawLayout, piece: &[u8]) {
        match &mut self.left {
            RawExtent::Bytes(left) => {
                let n = index_u64(*left).min(piece.len());
                self.excerpt.body.extend_from_slice(piece.part(..n));
                *left = left.less(count_u64(n));
            }
            RawExtent::Rows(left) => {
                self.excerpt.body.extend_from_slice(piece);
                let ends = layout.is_end(piece).unwrap_or(piece.last() == Some(&b'\n'));
                *left = left.less(u64::from(ends));
            }
        }
    }
}

/// The end a row of a dialect needs in a separate file.
#[must_use]
pub fn closed(layout: &RawLayout, mut body: Vec<u8>) -> Vec<u8> {
    if body.last() != Some(&b'\n') {
        body.push(b'\n');
    }
    let is_ended = || {
        body.split(|byte| *byte == b'\n')
            .any(|line| layout.is_end(line) == Some(true))
    };
    if let Some(end) = layout.row_end
        && !is_ended()
    {
        body.extend_from_slice(end.as_bytes());
        body.push(b'\n');
    }
    body
}
