//! Tags and records of XML as far as framing needs them: where a record begins and where it ends, also behind damage.

use std::io::Read;

use super::window::SlidingWindow;
use crate::error::Result;
use crate::numbers::{Extent, Part, count_u64};

/// What is stepped over as a whole, with its end.
const CLOSED_BY: [(&[u8], &[u8]); 3] = [(b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>")];

/// A tag.
pub(super) struct XmlTag {
    /// Its name without prefix.
    pub(super) name: Vec<u8>,
    /// Its end (exclusive).
    pub(super) end: usize,
    pub(super) is_closing: bool,
    /// It is start and end of an element in one.
    pub(super) is_empty: bool,
}

/// How a record ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordEnd {
    /// With its end tag.
    Closed,
    /// Without one: another record starts here, or the element around the records ends.
    Unclosed,
    /// The input ends inside it.
    CutOff,
    /// It is longer than a record may be.
    TooLong,
}

/// XML that is looked at tag by tag, in constant memory.
pub(super) struct XmlScan<'a> {
    pub(super) window: SlidingWindow<'a>,
    /// Longest record, and longest tag.
    limit: usize,
    /// Local names of the elements that are records.
    records: &'static [&'static [u8]],
    /// Local name of the element around them.
    pub(super) wrapper: Vec<u8>,
    /// Up to which offset of the stream each end of [`CLOSED_BY`] is known to be missing, so that none is searched twice.
    missing_to: [u64; CLOSED_BY.len()],
}

impl<'a> XmlScan<'a> {
    /// Looks at `input`, whose first byte has the offset `at`.
    pub(super) fn new(
        input: Box<dyn Read + Send + 'a>,
        at: u64,
        limit: usize,
        records: &'static [&'static [u8]],
        wrapper: &[u8],
    ) -> Self {
        Self {
            window: SlidingWindow::new(input, at),
            limit,
            records,
            wrapper: wrapper.to_vec(),
            missing_to: [at; CLOSED_BY.len()],
        }
    }

    /// Whether these bytes are `at` places ahead.
    pub(super) fn starts_with(&mut self, at: usize, what: &[u8]) -> Result<bool> {
        self.window.byte((at + what.len()).less(1))?;
        Ok(self.window.rest().part(at..).starts_with(what))
    }

    /// Whether the tag begins a record.
    pub(super) fn is_record(&self, tag: &XmlTag) -> bool {
        !tag.is_closing && self.records.contains(&tag.name.as_slice())
    }

    /// The end (exclusive) of the comment, instruction or character data that begins `at`; `None` when none does, or when
    /// it has no end.
    pub(super) fn stepped_over(&mut self, at: usize) -> Result<Option<usize>> {
        for (nth, (opening, closing)) in CLOSED_BY.into_iter().enumerate() {
            if self.starts_with(at, opening)? {
                return self.find(nth, closing, at + opening.len());
            }
        }
        Ok(None)
    }

    /// Behind the next occurrence of `closing`, if it is near enough for a record.
    fn find(&mut self, nth: usize, closing: &[u8], from: usize) -> Result<Option<usize>> {
        let known = self.missing_to.get(nth).copied();
        // Fallback: of what was never searched, nothing is known to be missing.
        let known = known.map_or(0, |to| crate::numbers::index_u64(to.less(self.window.offset())));
        let mut from = from.max(known);
        loop {
            let rest = self.window.rest();
            if let Some(at) = memchr::memmem::find(rest.part(from..), closing) {
                return Ok(Some(from + at + closing.len()));
            }
            from = from.max(rest.len().less(closing.len().less(1)));
            if from > self.limit || !self.window.more()? {
                let to = self.window.offset() + count_u64(from);
                if let Some(missing_to) = self.missing_to.get_mut(nth) {
                    *missing_to = to;
                }
                return Ok(None);
            }
        }
    }

    /// The tag that begins `at`; `None` when it is not a tag.
    pub(super) fn tag(&mut self, at: usize) -> Result<Option<XmlTag>> {
        let mut i = at + 1;
        let is_closing = self.window.byte(i)? == Some(b'/');
        i += usize::from(is_closing);
        let start = i;
        while let Some(byte) = self.window.byte(i)? {
            if matches!(byte, b'>' | b'/' | b'<' | b' ' | b'\n' | b'\r' | b'\t') {
                break;
            }
            i += 1;
            if i - at > self.limit {
                return Ok(None);
            }
        }
        let name = self.window.rest().part(start..i);
        let local = name.rsplit(|&b| b == b':').next().unwrap_or(name);
        let name = local.to_vec();
        let mut quote = None;
        loop {
            match (self.window.byte(i)?, quote) {
                (None | Some(b'<'), _) => return Ok(None),
                (Some(b'>'), None) => break,
                (Some(byte), Some(open)) if byte == open => quote = None,
                (Some(byte @ (b'"' | b'\'')), None) => quote = Some(byte),
                _ => {}
            }
            i += 1;
            if i - at > self.limit {
                return Ok(None);
            }
        }
        let is_empty = i > 0 && self.window.rest().get(i - 1) == Some(&b'/');
        Ok((!name.is_empty()).then_some(XmlTag {
            name,
            end: i + 1,
            is_closing,
            is_empty,
        }))
    }

    /// Whether the input ends inside the tag that begins here and that [`Self::tag`] did not find to be one.
    pub(super) fn ends_in_tag(&mut self) -> Result<bool> {
        let rest = self.window.rest().part(1..);
        let is_open = rest.len() <= self.limit && memchr::memchr2(b'<', b'>', rest).is_none();
        Ok(is_open && !self.window.more()?)
    }

    /// The length of the record that begins here with this tag, and how it ends.
    pub(super) fn record(&mut self, opening: &XmlTag) -> Result<(usize, RecordEnd)> {
        if opening.is_empty {
            return Ok((opening.end, RecordEnd::Closed));
        }
        let mut i = opening.end;
        loop {
            if i > self.limit {
                return Ok((i, RecordEnd::TooLong));
            }
            let rest = self.window.rest().part(i..);
            let Some(run) = memchr::memchr(b'<', rest) else {
                i += rest.len();
                if !self.window.more()? {
                    return Ok((i, RecordEnd::CutOff));
                }
                continue;
            };
            i += run;
            if let Some(behind) = self.stepped_over(i)? {
                i = behind;
                continue;
            }
            let Some(tag) = self.tag(i)? else {
                i += 1;
                continue;
            };
            if tag.is_closing && tag.name == opening.name {
                return Ok((tag.end, RecordEnd::Closed));
            }
            // Records do not nest: this one lost its end.
            if self.is_record(&tag) || (tag.is_closing && tag.name == self.wrapper) {
                return Ok((i, RecordEnd::Unclosed));
            }
            i = tag.end;
        }
    }
}
