//! A line cut at its delimiters.

use memchr::{memchr2_iter, memmem};

/// A physical line within a piece, and where its delimiters begin (in the scratch of whoever scanned it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// First byte.
    pub(super) start: usize,
    /// Behind the last byte of the text, without the line end.
    pub(super) end: usize,
    /// First byte of the next line.
    pub(super) next: usize,
    /// A line feed ends it.
    pub(super) is_ended: bool,
}

/// Scans the line that begins at `start`, adding the position of every delimiter to `cuts`.
pub(super) fn scan(text: &[u8], start: usize, delimiter: &[u8], is_crlf: bool, cuts: &mut Vec<usize>) -> Line {
    let rest = text.get(start..).unwrap_or_default();
    let mut end = text.len();
    let mut is_ended = false;
    match *delimiter {
        [single] => {
            for at in memchr2_iter(single, b'\n', rest) {
                let at = start + at;
                if text.get(at) == Some(&b'\n') {
                    end = at;
                    is_ended = true;
                    break;
                }
                cuts.push(at);
            }
        }
        _ => {
            let first = delimiter.first().copied().unwrap_or(b'\n');
            let mut free_from = start;
            for at in memchr2_iter(first, b'\n', rest) {
                let at = start + at;
                if text.get(at) == Some(&b'\n') {
                    end = at;
                    is_ended = true;
                    break;
                }
                if at >= free_from && text.get(at..).is_some_and(|t| t.starts_with(delimiter)) {
                    cuts.push(at);
                    free_from = at + delimiter.len();
                }
            }
        }
    }
    let next = end + usize::from(is_ended);
    if is_crlf && end > start && text.get(end - 1) == Some(&b'\r') {
        end -= 1;
    }
    Line {
        start,
        end,
        next,
        is_ended,
    }
}

/// One record as fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'t, 'c> {
    text: &'t [u8],
    start: usize,
    end: usize,
    cuts: &'c [usize],
    delimiter_len: usize,
}

impl<'t, 'c> Fields<'t, 'c> {
    /// The bytes `start..end` of `text`, cut where `cuts` says.
    pub(super) fn new(text: &'t [u8], start: usize, end: usize, cuts: &'c [usize], delimiter_len: usize) -> Self {
        Self {
            text,
            start,
            end,
            cuts,
            delimiter_len,
        }
    }

    /// How many fields there are.
    pub(super) fn len(&self) -> usize {
        self.cuts.len() + 1
    }

    /// Where in the text field `i` begins and ends.
    pub(super) fn bounds(&self, i: usize) -> Option<(usize, usize)> {
        let start = match i {
            0 => self.start,
            _ => self.cuts.get(i - 1)? + self.delimiter_len,
        };
        Some((start, self.cuts.get(i).copied().unwrap_or(self.end)))
    }

    /// Field `i`.
    pub(super) fn get(&self, i: usize) -> Option<&'t [u8]> {
        let (start, end) = self.bounds(i)?;
        self.text.get(start..end)
    }

    /// Where the delimiter before field `i` begins.
    pub(super) fn cut_before(&self, i: usize) -> Option<usize> {
        self.cuts.get(i.checked_sub(1)?).copied()
    }
}

impl Fields<'_, '_> {
    /// A single line in pieces, for the rare occasions.
    pub(super) fn split<'l>(line: &'l [u8], delimiter: &[u8]) -> Vec<&'l [u8]> {
        let mut parts = Vec::new();
        let mut from = 0;
        for at in memmem::find_iter(line, delimiter) {
            parts.push(line.get(from..at).unwrap_or_default());
            from = at + delimiter.len();
        }
        parts.push(line.get(from..).unwrap_or_default());
        parts
    }
}
