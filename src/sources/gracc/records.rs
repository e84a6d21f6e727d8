//! XML records cut out of whatever they come in: one by one, in a `RecordEnvelope`, or in a `replication|` bundle.

use std::io::Read;

use super::GraccLimits;
use super::batch::{GraccBatch, GraccKind};
use super::usage_xml::RECORDS;
use crate::error::Result;
use crate::ledger::Reason;
use crate::numbers::Extent;
use crate::sources::steps::ReadStep;
use crate::sources::xml_scan::{RecordEnd, XmlScan, XmlTag};
use crate::sources::{Position, Work};

/// What opens one entry of a replication bundle: `replication|record|record as received|extra|`.
const REPLICATION: &[u8] = b"replication|";

/// The element that holds records.
const WRAPPER: &[u8] = b"RecordEnvelope";

pub(super) struct Records {
    scan: XmlScan<'static>,
    limits: GraccLimits,
    batch: GraccBatch,
    /// Inside an entry of a bundle: which of its fields (1 to 3), and whether its record was taken.
    entry: Option<(u8, bool)>,
    /// Envelopes that are open.
    envelope_n: usize,
    /// Inside what is refused already, up to the next record.
    is_skipping: bool,
    /// A row reports that the file is not whole.
    is_cut_off: bool,
    is_done: bool,
}

impl Records {
    pub(super) fn new(input: Box<dyn Read + Send>, limits: GraccLimits, at: Position) -> Self {
        Self {
            scan: XmlScan::new(input, at.byte_offset, limits.line, &RECORDS, WRAPPER),
            limits,
            batch: GraccBatch::default(),
            entry: None,
            envelope_n: 0,
            is_skipping: false,
            is_cut_off: false,
            is_done: false,
        }
    }

    /// One step onwards, outside records.
    fn advance(&mut self) -> Result<()> {
        while matches!(self.scan.window.byte(0)?, Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.scan.window.consume(1);
        }
        match self.scan.window.byte(0)? {
            None => self.end(),
            Some(b'<') => self.markup()?,
            Some(b'|') if self.entry.is_some() => {
                self.scan.window.consume(1);
                self.entry = self
                    .entry
                    .and_then(|(field, is_taken)| (field < 3).then_some((field + 1, is_taken)));
            }
            Some(_) => self.text()?,
        }
        Ok(())
    }

    /// The end of the input. Where that of a bundle or an envelope is missing, records may be missing as well: that must not look
    /// like a whole file.
    fn end(&mut self) {
        self.is_done = true;
        let why = match (self.entry.is_some(), self.envelope_n) {
            (true, _) => "the bundle ends inside an entry: records may be missing",
            (false, 1..) => "the envelope has no end: records may be missing",
            (false, 0) => return,
        };
        if !self.is_cut_off {
            let (kind, offset) = (GraccKind::Refused(Reason::Truncated, why), self.scan.window.offset());
            self.batch.push(kind, Vec::new(), offset, false);
        }
    }

    fn refuse(&mut self, reason: Reason, why: &'static str, n: usize) {
        let offset = self.scan.window.offset();
        let rest = self.scan.window.rest();
        let n = n.min(rest.len());
        let raw = rest.get(..n.min(self.limits.kept)).unwrap_or(rest).to_vec();
        if !self.is_skipping {
            self.batch.push(GraccKind::Refused(reason, why), raw, offset, false);
            self.is_cut_off |= reason == Reason::Truncated;
        }
        self.scan.window.consume(n);
    }

    /// Text that is in no record.
    fn text(&mut self) -> Result<()> {
        if self.scan.starts_with(0, REPLICATION)? {
            self.scan.window.consume(REPLICATION.len());
            (self.entry, self.is_skipping) = (Some((1, false)), false);
            return Ok(());
        }
        let mut n = 0;
        while !matches!(self.scan.window.byte(n)?, None | Some(b'<' | b'|' | b'\n')) && n < self.limits.line {
            n += 1;
        }
        if matches!(self.entry, Some((3, _))) {
            // What a collector adds to an entry besides the record.
            self.scan.window.consume(n);
        } else {
            self.refuse(Reason::NotARecord, "text is where a record was expected", n.max(1));
        }
        Ok(())
    }

    fn markup(&mut self) -> Result<()> {
        for (opening, closing) in [(&b"<!--"[..], &b"-->"[..]), (b"<?", b"?>")] {
            if self.scan.starts_with(0, opening)? {
                if self.scan.window.skip_to(closing, opening.len())? {
                    self.scan.window.consume(closing.len());
                } else {
                    self.refuse(Reason::Truncated, "the file ends inside a comment or instruction", 0);
                }
                return Ok(());
            }
        }
        if self.scan.starts_with(0, b"<!")? {
            // It could define entities; nothing behind it can be trusted to be what it looks like.
            let why = "document types are refused, and what follows is not read";
            self.refuse(Reason::BadXml, why, usize::MAX);
            self.is_done = true;
            return Ok(());
        }
        let Some(tag) = self.scan.tag(0)? else {
            if self.scan.ends_in_tag()? {
                self.refuse(Reason::Truncated, "the file ends inside a tag", usize::MAX);
                return Ok(());
            }
            self.refuse(Reason::BadXml, "a tag is damaged or has no end", 1);
            self.is_skipping = true;
            return Ok(());
        };
        if !self.scan.is_record(&tag) {
            if tag.name == WRAPPER && !tag.is_empty {
                self.envelope_n = if tag.is_closing {
                    self.envelope_n.less(1)
                } else {
                    self.envelope_n.further(1)
                };
            }
            self.scan.window.consume(tag.end);
            return Ok(());
        }
        self.is_skipping = false;
        self.record(&tag)
    }

    /// A record that begins here, up to its end tag, the start of another record, or the end of the input.
    fn record(&mut self, opening: &XmlTag) -> Result<()> {
        match self.scan.record(opening)? {
            (n, RecordEnd::TooLong) => {
                self.refuse(Reason::TooLong, "the record is longer than the limit", n);
                self.is_skipping = true;
            }
            (n, end) => self.emit(n, end == RecordEnd::CutOff),
        }
        Ok(())
    }

    /// Reads the record of the next `n` bytes, unless it is the copy that a bundle keeps of it.
    fn emit(&mut self, n: usize, is_cut_off: bool) {
        let offset = self.scan.window.offset();
        let is_copy = matches!(self.entry, Some((2.., true)));
        if is_copy && !is_cut_off {
            self.scan.window.consume(n);
            return;
        }
        if let Some((_, is_taken)) = &mut self.entry {
            *is_taken = true;
        }
        self.is_cut_off |= is_cut_off;
        let bytes = self.scan.window.take(n);
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
