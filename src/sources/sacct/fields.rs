//! A line cut at its delimiters.

use crate::numbers::{Extent, Part, index};
use memchr::{memchr2_iter, memmem};

/// A physical line within a piece, and where its delimiters begin (in the scratch of whoever scanned it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowLine {
    /// First byte.
    pub(super) start: usize,
    /// Behind the last byte of the text, without the line end.
    pub(super) end: usize,
    /// First byte of the next line.
    pub(super) next: usize,
    /// A line feed ends it.
    pub(super) is_ended: bool,
}

/// The place in the text that a cut names. Pieces have 64 MiB at most, so that four bytes name any.
#[inline]
pub(super) fn place(cut: u32) -> usize {
    index(cut)
}

/// The cut that names a place in the text.
#[inline]
pub(super) fn cut(place: usize) -> u32 {
    // Fallback: never taken, a piece of text is shorter than 2^32 bytes.
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// Scans the line that begins at `start`, adding the position of every delimiter to `cuts`.
pub(super) fn scan(text: &[u8], start: usize, delimiter: &[u8], is_crlf: bool, cuts: &mut Vec<u32>) -> RowLine {
    let rest = text.part(start..);
    let found = match *delimiter {
        [single] => single_byte(rest, start, single, cuts),
        _ => several_bytes(rest, start, delimiter, cuts),
    };
    let is_ended = found.is_some();
    let mut end = found.unwrap_or(text.len());
    let next = end + usize::from(is_ended);
    if is_crlf && end > start && text.get(end - 1) == Some(&b'\r') {
        end -= 1;
    }
    RowLine {
        start,
        end,
        next,
        is_ended,
    }
}

/// Delimiters of one byte, up to the line feed whose position is returned. Fields are short, eight bytes or so: looking
/// at eight bytes at once and picking the hits out of the word is faster than a search per field.
fn single_byte(rest: &[u8], start: usize, delimiter: u8, cuts: &mut Vec<u32>) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let (delimiters, feeds) = (ONES * u64::from(delimiter), ONES * u64::from(b'\n'));
    let (words, tail) = rest.as_chunks::<8>();
    let mut at = start;
    for word in words {
        let word = u64::from_le_bytes(*word);
        let ends = zero_bytes(word ^ feeds);
        let mut hits = zero_bytes(word ^ delimiters);
        if ends != 0 {
            // Only the part before the line feed.
            hits &= (ends & ends.wrapping_neg()) - 1;
        }
        while hits != 0 {
            cuts.push(cut(at + byte_index(hits)));
            hits &= hits - 1;
        }
        if ends != 0 {
            return Some(at + byte_index(ends));
        }
        at += 8;
    }
    for (i, &byte) in tail.iter().enumerate() {
        if byte == b'\n' {
            return Some(at + i);
        }
        if byte == delimiter {
            cuts.push(cut(at + i));
        }
    }
    None
}

/// The high bit of every byte of `word` that is zero, and no other bit.
fn zero_bytes(word: u64) -> u64 {
    const LOW_7: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    !(((word & LOW_7) + LOW_7) | word | LOW_7)
}

/// The index of the first byte with a bit set.
fn byte_index(bits: u64) -> usize {
    index(bits.trailing_zeros() / 8)
}

/// The same for delimiters of several bytes.
fn several_bytes(rest: &[u8], start: usize, delimiter: &[u8], cuts: &mut Vec<u32>) -> Option<usize> {
    let first = delimiter.first().copied().unwrap_or(b'\n');
    let mut free_from = 0;
    for at in memchr2_iter(first, b'\n', rest) {
        let found = rest.get(at..)?;
        if found.first() == Some(&b'\n') {
            return Some(start + at);
        }
        if at >= free_from && found.starts_with(delimiter) {
            cuts.push(cut(start + at));
            free_from = at + delimiter.len();
        }
    }
    None
}

/// One record as fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowFields<'t, 'c> {
    text: &'t [u8],
    start: usize,
    end: usize,
    cuts: &'c [u32],
    delimiter_len: usize,
}

impl<'t, 'c> RowFields<'t, 'c> {
    /// The bytes `start..end` of `text`, cut at `cuts`.
    pub(super) fn new(text: &'t [u8], start: usize, end: usize, cuts: &'c [u32], delimiter_len: usize) -> Self {
        Self {
            text,
            start,
            end,
            cuts,
            delimiter_len,
        }
    }

    /// Fields 0 to `i`, delimiters included.
    pub(super) fn upto(&self, i: usize) -> &'t [u8] {
        let end = self.cuts.get(i).map_or(self.end, |cut| place(*cut));
        self.text.part(self.start..end)
    }

    /// How many fields there are.
    pub(super) fn len(&self) -> usize {
        self.cuts.len() + 1
    }

    /// Where in the text field `i` begins and ends.
    pub(super) fn bounds(&self, i: usize) -> Option<(usize, usize)> {
        let start = match i {
            0 => self.start,
            _ => place(*self.cuts.get(i - 1)?) + self.delimiter_len,
        };
        Some((start, self.cuts.get(i).map_or(self.end, |cut| place(*cut))))
    }

    /// Field `i`.
    pub(super) fn get(&self, i: usize) -> Option<&'t [u8]> {
        let (start, end) = self.bounds(i)?;
        self.text.get(start..end)
    }

    /// Bytes of all fields and their delimiters.
    pub(super) fn byte_n(&self) -> usize {
        self.end.less(self.start)
    }

    /// Whether a field has delimiters in it.
    pub(super) fn has_surplus(&self, delimiter: &[u8]) -> bool {
        let text = self.text.part(self.start..self.end);
        memmem::find_iter(text, delimiter).count() > self.cuts.len()
    }

    /// Where the delimiter before field `i` begins.
    pub(super) fn cut_before(&self, i: usize) -> Option<u32> {
        self.cuts.get(i.checked_sub(1)?).copied()
    }
}

impl RowFields<'_, '_> {
    /// A single line in pieces, for the rare occasions.
    pub(super) fn split<'l>(line: &'l [u8], delimiter: &[u8]) -> Vec<&'l [u8]> {
        let mut parts = Vec::new();
        let mut from = 0;
        for at in memmem::find_iter(line, delimiter) {
            parts.push(line.part(from..at));
            from = at + delimiter.len();
        }
        parts.push(line.part(from..));
        parts
    }
}
