//! The records of a damaged document of CAR, cut out one by one and each read on its own, so that damage costs only the
//! record it is in.

use super::car::{Car, CarFields, CarText, RECORD};
use super::message::{line_ends, to_u64, too_long};
use crate::error::Result;
use crate::ledger::Reason;
use crate::numbers::{Extent, Part, index_u64};
use crate::sources::Position;
use crate::sources::refusal::Refusal;
use crate::sources::xml_scan::{RecordEnd, XmlScan, XmlTag};

/// The records of `document`, which begins at this position. A stretch between records that is not well-formed counts as
/// one: records may have been there.
pub(super) fn read(document: &[u8], at: Position, text: CarText) -> Vec<CarFields> {
    let mut frames = CarFrames {
        document,
        text,
        base: at,
        scan: XmlScan::new(Box::new(document), 0, text.limits.record, &[RECORD], b""),
        root: None,
        refusal: None,
        done: 0,
        is_skipping: false,
        lines: 0,
        lines_to: 0,
        found: Vec::new(),
    };
    // Reading from memory does not fail.
    while matches!(frames.step(), Ok(true)) {}
    frames.found
}

struct CarFrames<'a> {
    document: &'a [u8],
    text: CarText,
    base: Position,
    scan: XmlScan<'a>,
    /// The start tag of the root element, which declares the names; `None` before it, empty when a record is the root.
    root: Option<&'a [u8]>,
    /// Why all records behind are refused.
    refusal: Option<Refusal>,
    /// The end of the last record.
    done: usize,
    /// What follows it belongs to a record that is refused already.
    is_skipping: bool,
    /// Line ends up to `lines_to`.
    lines: u64,
    lines_to: usize,
    found: Vec<CarFields>,
}

impl CarFrames<'_> {
    /// Up to the end of the next record; false at the end of the document.
    fn step(&mut self) -> Result<bool> {
        while self.scan.window.byte(0)?.is_some() {
            let rest = self.scan.window.rest();
            let text_n = memchr::memchr(b'<', rest).unwrap_or(rest.len());
            if text_n > 0 {
                self.scan.window.consume(text_n);
                continue;
            }
            let behind = match (self.scan.stepped_over(0)?, self.scan.tag(0)?) {
                (Some(behind), _) => behind,
                (None, None) => 1,
                (None, Some(tag)) if self.scan.is_record(&tag) => {
                    self.root.get_or_insert_default();
                    self.record(&tag)?;
                    return Ok(true);
                }
                (None, Some(tag)) => {
                    let at = index_u64(self.scan.window.offset());
                    if self.root.is_none() && !tag.is_closing && !self.scan.starts_with(0, b"<!")? {
                        self.root = Some(self.document.part(at..at + tag.end));
                        self.scan.wrapper.clone_from(&tag.name);
                    }
                    tag.end
                }
            };
            self.scan.window.consume(behind);
        }
        self.outside(self.document.len(), true);
        Ok(false)
    }

    /// The record that begins here.
    fn record(&mut self, opening: &XmlTag) -> Result<()> {
        let start = index_u64(self.scan.window.offset());
        self.outside(start, false);
        let (length, how) = self.scan.record(opening)?;
        self.scan.window.consume(length);
        self.done = start + length;
        self.is_skipping = matches!(how, RecordEnd::TooLong | RecordEnd::CutOff);
        if let Some(car) = self.car(self.document.part(start..self.done), how) {
            self.push(start, car);
        }
        Ok(())
    }

    /// What a record holds; `None` for a record of another namespace.
    fn car(&self, record: &[u8], how: RecordEnd) -> Option<Result<Car, Refusal>> {
        if let Some(refusal) = &self.refusal {
            return Some(Err(refusal.clone()));
        }
        match self.behind_root(record) {
            // What breaks another limit earlier is named by it.
            Err(bad) if how == RecordEnd::TooLong && bad.reason == Reason::LimitExceeded => Some(Err(bad)),
            _ if how == RecordEnd::TooLong => Some(Err(too_long(self.text.limits))),
            Ok((mut found, _)) => found.pop().map(|fields| fields.car),
            Err(bad) if how == RecordEnd::CutOff => {
                let detail = format!("the document ends inside the record: {}", bad.detail);
                Some(Err(Refusal::new(Reason::Truncated, detail)))
            }
            Err(bad) => Some(Err(bad)),
        }
    }

    /// Judges what is between the last record and `end`.
    fn outside(&mut self, end: usize, is_last: bool) {
        let start = self.done;
        let part = self.document.part(start..end);
        let is_first = start == 0;
        if self.is_skipping || (part.trim_ascii().is_empty() && !is_last) {
            return;
        }
        let read = if is_first {
            self.text.read(part, Position::default())
        } else {
            self.behind_root(part)
        };
        let root_n = usize::from(self.root.is_some_and(|root| !root.is_empty()));
        let refusal = match read {
            Err(bad) if bad.reason == Reason::BadMessage => {
                self.refusal = Some(bad);
                return;
            }
            Err(bad) => Refusal::new(bad.reason, format!("between records: {}", bad.detail)),
            Ok((_, 0)) if is_last => return,
            // A document without a record is refused as such.
            Ok(_) if is_last && is_first => return,
            Ok(_) if is_last => Refusal::new(
                Reason::Truncated,
                "the document ends before its root element does: records may be missing",
            ),
            Ok((_, open_n)) if open_n == root_n => return,
            Ok(_) => Refusal::new(
                Reason::BadXml,
                "between records: it is not well-formed XML: elements are left open",
            ),
        };
        let blank_n = part.len().less(part.trim_ascii_start().len());
        self.push(start + blank_n, Err(refusal));
        if let Some(last) = self.found.last_mut() {
            last.span.end = end;
        }
    }

    /// Reads a part of the document with the names that its root declares.
    fn behind_root(&self, part: &[u8]) -> Result<(Vec<CarFields>, usize), Refusal> {
        match self.root {
            Some(root) if !root.is_empty() => self.text.read(&[root, part].concat(), Position::default()),
            _ => self.text.read(part, Position::default()),
        }
    }

    fn push(&mut self, start: usize, car: Result<Car, Refusal>) {
        self.lines += line_ends(self.document.part(self.lines_to..start));
        self.lines_to = start;
        self.found.push(CarFields {
            at: Position {
                line: self.base.line + self.lines,
                byte_offset: self.base.byte_offset + to_u64(start),
            },
            span: start..self.done.max(start),
            car,
        });
    }
}
