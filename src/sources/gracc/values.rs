//! JSON that is not one document per line: search and scroll responses, lists, and documents spread over lines. The
//! documents are cut out at the byte level; nothing larger than one of them is ever held.

use std::io::Read;

use super::GraccLimits;
use super::batch::{GraccBatch, GraccKind, JSON_MARK};
use crate::error::Result;
use crate::ledger::Reason;
use crate::numbers::{Extent, Part};
use crate::sources::steps::ReadStep;
use crate::sources::window::SlidingWindow;
use crate::sources::{Position, Work};

/// Where in the stream the window begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonPlace {
    /// Between values.
    Top,
    /// Inside a response, between its keys.
    Response,
    /// Inside the `hits` of a response, between its keys.
    Hits,
    /// Inside a list of documents: of a response, or one of its own.
    List { is_response: bool },
}

/// How a value ends.
enum JsonEnd {
    /// With this byte (exclusive).
    At(usize),
    /// With the input.
    CutOff,
    /// Beyond the limit.
    TooLong,
}

pub(super) struct JsonValues {
    window: SlidingWindow<'static>,
    limits: GraccLimits,
    place: JsonPlace,
    batch: GraccBatch,
}

impl JsonValues {
    pub(super) fn new(input: Box<dyn Read + Send>, limits: GraccLimits, at: Position) -> Self {
        Self {
            window: SlidingWindow::new(input, at.byte_offset),
            limits,
            place: JsonPlace::Top,
            batch: GraccBatch::default(),
        }
    }

    /// One step onwards; false at the end of the input.
    fn advance(&mut self) -> Result<bool> {
        let at = self.blanks(0)?;
        self.window.consume(at);
        let next = self.window.byte(0)?;
        match (self.place, next) {
            (JsonPlace::Top, None) => return Ok(false),
            (_, None) => {
                // Documents may be missing: that must not look like a whole answer.
                let why = "the response or list has no end: documents may be missing";
                self.refuse(Reason::Truncated, why, Vec::new(), self.window.offset());
                self.place = JsonPlace::Top;
                return Ok(false);
            }
            (JsonPlace::Top, Some(b'{')) => self.object()?,
            (JsonPlace::Top, Some(b'[')) => self.enter(1, JsonPlace::List { is_response: false }),
            (JsonPlace::Top, Some(_)) => self.stray()?,
            (JsonPlace::List { is_response }, Some(b']')) => {
                self.enter(1, if is_response { JsonPlace::Hits } else { JsonPlace::Top });
            }
            (JsonPlace::List { .. } | JsonPlace::Response | JsonPlace::Hits, Some(b',')) => self.window.consume(1),
            (JsonPlace::List { .. }, Some(_)) => self.document()?,
            (JsonPlace::Response, Some(b'}')) => self.enter(1, JsonPlace::Top),
            (JsonPlace::Hits, Some(b'}')) => self.enter(1, JsonPlace::Response),
            (JsonPlace::Response | JsonPlace::Hits, Some(_)) => self.member()?,
        }
        Ok(true)
    }

    fn enter(&mut self, n: usize, place: JsonPlace) {
        self.window.consume(n);
        self.place = place;
    }

    fn refuse(&mut self, reason: Reason, why: &'static str, bytes: Vec<u8>, offset: u64) {
        self.batch.push(GraccKind::Refused(reason, why), bytes, offset, false);
    }

    /// A value at the top: a response if it has `hits`, else a document.
    fn object(&mut self) -> Result<()> {
        let mut at = 1;
        loop {
            at = self.blanks(at)?;
            let Some((is_hits, value)) = self.key(at)? else {
                return self.document();
            };
            if is_hits && self.window.byte(value)? == Some(b'{') {
                self.enter(value + 1, JsonPlace::Hits);
                return Ok(());
            }
            let JsonEnd::At(end) = self.end(value)? else {
                return self.document();
            };
            at = self.blanks(end)?;
            if self.window.byte(at)? != Some(b',') {
                return self.document();
            }
            at += 1;
        }
    }

    /// A key that begins `at`: whether it is `hits`, and where its value begins.
    fn key(&mut self, at: usize) -> Result<Option<(bool, usize)>> {
        if self.window.byte(at)? != Some(b'"') {
            return Ok(None);
        }
        let JsonEnd::At(end) = self.end(at)? else {
            return Ok(None);
        };
        let is_hits = self.window.rest().get(at..end) == Some(b"\"hits\"");
        let colon = self.blanks(end)?;
        if self.window.byte(colon)? != Some(b':') {
            return Ok(None);
        }
        Ok(Some((is_hits, self.blanks(colon + 1)?)))
    }

    /// A key and value of the wrapping around the documents.
    fn member(&mut self) -> Result<()> {
        if let Some((is_hits, value)) = self.key(0)? {
            if is_hits {
                match (self.place, self.window.byte(value)?) {
                    (JsonPlace::Response, Some(b'{')) => {
                        self.enter(value + 1, JsonPlace::Hits);
                        return Ok(());
                    }
                    (JsonPlace::Hits, Some(b'[')) => {
                        self.enter(value + 1, JsonPlace::List { is_response: true });
                        return Ok(());
                    }
                    _ => {}
                }
            }
            if let JsonEnd::At(end) = self.end(value)?
                && end > value
            {
                self.window.consume(end);
                return Ok(());
            }
        }
        // The wrapping is damaged: documents are found by how they begin.
        let (offset, raw) = (self.window.offset(), self.kept(usize::MAX));
        self.refuse(
            Reason::BadJson,
            "the response is damaged around its documents",
            raw,
            offset,
        );
        if self.window.skip_to(JSON_MARK, 1)? {
            self.place = JsonPlace::List { is_response: true };
        } else {
            self.place = JsonPlace::Top;
        }
        Ok(())
    }

    /// A document that begins here, whatever it is worth.
    fn document(&mut self) -> Result<()> {
        let offset = self.window.offset();
        match self.end(0)? {
            JsonEnd::At(end) => {
                let bytes = self.window.take(end.max(1));
                self.batch.push(GraccKind::Json, bytes, offset, false);
            }
            JsonEnd::CutOff => {
                let bytes = self.window.take(usize::MAX);
                self.batch.push(GraccKind::Json, bytes, offset, true);
                // A document reports its own mistakes.
                self.place = JsonPlace::Top;
            }
            JsonEnd::TooLong => {
                let rest = self.window.rest();
                let next = memchr::memmem::find(rest.part(1..), JSON_MARK).map(|at| at + 1);
                if let Some(next) = next {
                    let bytes = self.window.take(next);
                    self.batch.push(GraccKind::Json, bytes, offset, false);
                } else {
                    let raw = self.kept(self.limits.kept);
                    self.refuse(Reason::TooLong, "the document is longer than the limit", raw, offset);
                    self.window.skip_to(JSON_MARK, 1)?;
                }
            }
        }
        Ok(())
    }

    /// A line between values that is not JSON.
    fn stray(&mut self) -> Result<()> {
        let offset = self.window.offset();
        let mut at = 0;
        while !matches!(self.window.byte(at)?, None | Some(b'\n')) && at < self.limits.line {
            at += 1;
        }
        let bytes = self.window.take(at);
        self.refuse(Reason::BadJson, "a document was expected", bytes, offset);
        Ok(())
    }

    fn kept(&self, n: usize) -> Vec<u8> {
        let rest = self.window.rest();
        rest.get(..n.min(self.limits.kept)).unwrap_or(rest).to_vec()
    }

    /// The first byte at or after `at` that is not white space.
    fn blanks(&mut self, mut at: usize) -> Result<usize> {
        while matches!(self.window.byte(at)?, Some(b' ' | b'\n' | b'\r' | b'\t')) {
            at += 1;
            // However many there are, they are not kept when nothing precedes them.
            if at > self.limits.line {
                break;
            }
        }
        Ok(at)
    }

    /// The end of the value that begins `at`, judged by quotes and brackets alone.
    fn end(&mut self, at: usize) -> Result<JsonEnd> {
        let (mut i, mut depth, mut is_text) = (at, 0_usize, false);
        loop {
            if i > self.limits.line.further(at) {
                return Ok(JsonEnd::TooLong);
            }
            let Some(byte) = self.window.byte(i)? else {
                // A number at the very end of the input is whole.
                let is_scalar = depth == 0 && !is_text && i > at;
                return Ok(if is_scalar { JsonEnd::At(i) } else { JsonEnd::CutOff });
            };
            if is_text {
                let rest = self.window.rest().part(i..);
                match memchr::memchr2(b'"', b'\\', rest) {
                    Some(run) if rest.get(run) == Some(&b'"') => {
                        i += run + 1;
                        is_text = false;
                    }
                    Some(run) => i += run + 2,
                    None => i += rest.len(),
                }
                if is_text || depth > 0 {
                    continue;
                }
                return Ok(JsonEnd::At(i));
            }
            match byte {
                b'"' => is_text = true,
                b'{' | b'[' => depth += 1,
                b'}' | b']' | b',' | b' ' | b'\n' | b'\r' | b'\t' if depth == 0 => return Ok(JsonEnd::At(i)),
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(JsonEnd::At(i + 1));
                    }
                }
                _ => {}
            }
            i += 1;
        }
    }
}

impl ReadStep for JsonValues {
    fn step(&mut self) -> Result<Option<Work>> {
        while !self.batch.is_full(self.limits) {
            if !self.advance()? {
                break;
            }
        }
        Ok((!self.batch.is_empty()).then(|| self.batch.work(self.limits)))
    }
}
