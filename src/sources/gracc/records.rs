//! XML records cut out of whatever they come in: one by one, in a `RecordEnvelope`, or in a `replication|` bundle.

use std::io::Read;

use super::GraccLimits;
use super::batch::{GraccBatch, GraccKind};
use super::usage_xml::RECORDS;
use crate::error::Result;
use crate::ledger::Reason;
use crate::numbers::{Extent, Part};
use crate::sources::steps::ReadStep;
use crate::sources::window::SlidingWindow;
use crate::sources::{Position, Work};

/// What opens one entry of a replication bundle: `replication|record|record as received|extra|`.
const REPLICATION: &[u8] = b"replication|";

/// A tag as far as framing needs it.
struct Tag {
    /// Its first byte behind `<` and `/` to the end of the name, without prefix.
    name: Vec<u8>,
    /// Its end (exclusive).
    end: usize,
    is_closing: bool,
    is_empty: bool,
}

pub(super) struct Records {
    window: SlidingWindow,
    limits: GraccLimits,
    batch: GraccBatch,
    /// Inside an entry of a bundle: which of its fields (1 to 3), and whether its record was taken.
    entry: Option<(u8, bool)>,
    /// Inside what is refused already, up to the next record.
    is_skipping: bool,
    is_done: bool,
}

impl Records {
    pub(super) fn new(input: Box<dyn Read + Send>, limits: GraccLimits, at: Position) -> Self {
        Self {
            window: SlidingWindow::new(input, at.byte_offset),
            limits,
            batch: GraccBatch::default(),
            entry: None,
            is_skipping: false,
            is_done: false,
        }
    }

    /// One step onwards, outside records.
    fn advance(&mut self) -> Result<()> {
        while matches!(self.window.byte(0)?, Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.window.consume(1);
        }
        match self.window.byte(0)? {
            None => self.is_done = true,
            Some(b'<') => self.markup()?,
            Some(b'|') if self.entry.is_some() => {
                self.window.consume(1);
                self.entry = self
                    .entry
                    .and_then(|(field, is_taken)| (field < 3).then_some((field + 1, is_taken)));
            }
            Some(_) => self.text()?,
        }
        Ok(())
    }

    fn starts_with(&mut self, at: usize, what: &[u8]) -> Result<bool> {
        self.window.byte(at + what.len() - 1)?;
        let rest = self.window.rest().part(at..);
        Ok(rest.starts_with(what))
    }

    fn refuse(&mut self, reason: Reason, why: &'static str, n: usize) {
        let offset = self.window.offset();
        let rest = self.window.rest();
        let n = n.min(rest.len());
        let raw = rest.get(..n.min(self.limits.kept)).unwrap_or(rest).to_vec();
        if !self.is_skipping {
            self.batch.push(GraccKind::Refused(reason, why), raw, offset, false);
        }
        self.window.consume(n);
    }

    /// Text that is in no record.
    fn text(&mut self) -> Result<()> {
        if self.starts_with(0, REPLICATION)? {
            self.window.consume(REPLICATION.len());
            (self.entry, self.is_skipping) = (Some((1, false)), false);
            return Ok(());
        }
        let mut n = 0;
        while !matches!(self.window.byte(n)?, None | Some(b'<' | b'|' | b'\n')) && n < self.limits.line {
            n += 1;
        }
        if matches!(self.entry, Some((3, _))) {
            // What a collector adds to an entry besides the record.
            self.window.consume(n);
        } else {
            self.refuse(Reason::NotARecord, "text is where a record was expected", n.max(1));
        }
        Ok(())
    }

    fn markup(&mut self) -> Result<()> {
        for (opening, closing) in [(&b"<!--"[..], &b"-->"[..]), (b"<?", b"?>")] {
            if self.starts_with(0, opening)? {
                if self.window.skip_to(closing, opening.len())? {
                    self.window.consume(closing.len());
                } else {
                    self.refuse(Reason::Truncated, "the file ends inside a comment or instruction", 0);
                }
                return Ok(());
            }
        }
        if self.starts_with(0, b"<!")? {
            // It could define entities; nothing behind it can be trusted to be what it looks like.
            let why = "document types are refused, and what follows is not read";
            self.refuse(Reason::BadXml, why, usize::MAX);
            self.is_done = true;
            return Ok(());
        }
        let Some(tag) = self.tag(0)? else {
            self.refuse(Reason::BadXml, "a tag is damaged or has no end", 1);
            self.is_skipping = true;
            return Ok(());
        };
        if tag.is_closing || !RECORDS.contains(&tag.name.as_slice()) {
            self.window.consume(tag.end);
            return Ok(());
        }
        self.is_skipping = false;
        self.record(&tag)
    }

    /// The tag that begins `at`; `None` when it is not a tag.
    fn tag(&mut self, at: usize) -> Result<Option<Tag>> {
        let mut i = at + 1;
        let is_closing = self.window.byte(i)? == Some(b'/');
        i += usize::from(is_closing);
        let start = i;
        while let Some(byte) = self.window.byte(i)? {
            if matches!(byte, b'>' | b'/' | b'<' | b' ' | b'\n' | b'\r' | b'\t') {
                break;
            }
            i += 1;
            if i - at > self.limits.line {
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
            if i - at > self.limits.line {
                return Ok(None);
            }
        }
        let is_empty = i > 0 && self.window.rest().get(i - 1) == Some(&b'/');
        Ok((!name.is_empty()).then_some(Tag {
            name,
            end: i + 1,
            is_closing,
            is_empty,
        }))
    }

    /// A record that begins here, up to its end tag, the start of another record, or the end of the input.
    fn record(&mut self, opening: &Tag) -> Result<()> {
        if opening.is_empty {
            self.emit(opening.end, false);
            return Ok(());
        }
        let mut i = opening.end;
        loop {
            if i > self.limits.line {
                self.refuse(Reason::TooLong, "the record is longer than the limit", i);
                self.is_skipping = true;
                return Ok(());
            }
            let rest = self.window.rest().part(i..);
            let Some(run) = memchr::memchr(b'<', rest) else {
                i += rest.len();
                if !self.window.more()? {
                    self.emit(i, true);
                    return Ok(());
                }
                continue;
            };
            i += run;
            let mut is_stepped_over = false;
            for (opening, closing) in [(&b"<!--"[..], &b"-->"[..]), (b"<![CDATA[", b"]]>")] {
                if self.starts_with(i, opening)? {
                    i = self.find(closing, i + opening.len())?;
                    is_stepped_over = true;
                    break;
                }
            }
            if is_stepped_over {
                continue;
            }
            let Some(tag) = self.tag(i)? else {
                i += 1;
                continue;
            };
            if tag.is_closing && tag.name == opening.name {
                self.emit(tag.end, false);
                return Ok(());
            }
            if !tag.is_closing && RECORDS.contains(&tag.name.as_slice()) {
                // Records do not nest: this one lost its end.
                self.emit(i, false);
                return Ok(());
            }
            i = tag.end;
        }
    }

    /// Behind the next occurrence of `what`, or the end of what is worth searching.
    fn find(&mut self, what: &[u8], from: usize) -> Result<usize> {
        let mut from = from;
        loop {
            let rest = self.window.rest();
            if let Some(at) = memchr::memmem::find(rest.part(from..), what) {
                return Ok(from + at + what.len());
            }
            from = from.max(rest.len().less(what.len() - 1));
            if from > self.limits.line || !self.window.more()? {
                return Ok(self.window.rest().len());
            }
        }
    }

    /// Reads the record of the next `n` bytes, unless it is the copy that a bundle keeps of it.
    fn emit(&mut self, n: usize, is_cut_off: bool) {
        let offset = self.window.offset();
        let is_copy = matches!(self.entry, Some((2.., true)));
        if is_copy && !is_cut_off {
            self.window.consume(n);
            return;
        }
        if let Some((_, is_taken)) = &mut self.entry {
            *is_taken = true;
        }
        let bytes = self.window.take(n);
        self.batch.push(GraccKind::Xml, bytes, offset, is_cut_off);
    }
}

impl ReadStep for Records {
    fn step(&mut self) -> Result<Option<Work>> {
        while !self.batch.is_full(self.limits) && !self.is_done {
            self.advance()?;
        }
        Ok((!self.batch.is_empty()).then(|| self.batch.work(self.limits)))
    }
}
