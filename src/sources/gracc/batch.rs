//! Framed records on their way to a worker.

use super::document::GraccDocument;
use super::usage::{self, GraccScratch};
use super::{GraccLimits, lines, usage_xml};
use crate::ledger::Reason;
use crate::numbers::Part;
use crate::sources::json::Scanner;
use crate::sources::refusal::{Refusal, without_nul};
use crate::sources::{Position, Sink, Work};

/// What a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GraccKind {
    /// A JSON document.
    Json,
    /// An XML record.
    Xml,
    /// Neither: refused unchanged.
    Refused(Reason, &'static str),
}

/// One record's bytes.
pub(super) struct GraccFrame {
    pub(super) kind: GraccKind,
    pub(super) bytes: Vec<u8>,
    pub(super) at: Position,
    /// The input ended inside it.
    pub(super) is_cut_off: bool,
}

/// The beginning of the next record in a damaged stretch.
pub(super) const JSON_MARK: &[u8] = b"{\"_index\"";

/// Frames that are handed over together.
#[derive(Default)]
pub(super) struct GraccBatch {
    frames: Vec<GraccFrame>,
    bytes: usize,
    record_n: u64,
}

impl GraccBatch {
    /// Adds a frame that begins at this offset. In files without lines, records are numbered instead.
    pub(super) fn push(&mut self, kind: GraccKind, bytes: Vec<u8>, byte_offset: u64, is_cut_off: bool) {
        let first = self.record_n + 1;
        // A damaged stretch may turn out to be several records; each needs a number of its own.
        let behind = bytes.part(1..);
        let more_n = match kind {
            GraccKind::Json => memchr::memmem::find_iter(behind, JSON_MARK).count(),
            _ => 0,
        };
        self.record_n = first + lines::to_u64(more_n);
        self.bytes += bytes.len();
        self.frames.push(GraccFrame {
            kind,
            bytes,
            at: Position {
                line: first,
                byte_offset,
            },
            is_cut_off,
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Whether it is large enough to be worth a piece.
    pub(super) fn is_full(&self, limits: GraccLimits) -> bool {
        self.bytes >= limits.block
    }

    /// The piece; the next batch continues counting.
    pub(super) fn work(&mut self, limits: GraccLimits) -> Work {
        let frames = std::mem::take(&mut self.frames);
        self.bytes = 0;
        Box::new(move |sink: &mut dyn Sink| {
            let mut scratch = GraccScratch::default();
            for frame in &frames {
                take(frame, limits, &mut scratch, sink);
            }
        })
    }
}

fn take(frame: &GraccFrame, limits: GraccLimits, scratch: &mut GraccScratch, sink: &mut dyn Sink) {
    let (bytes, at) = (frame.bytes.as_slice(), frame.at);
    match frame.kind {
        GraccKind::Refused(reason, why) => {
            sink.rows_read(1);
            let raw = bytes.get(..limits.kept).unwrap_or(bytes);
            let refusal = Refusal::new(reason, why).or_lost_text(raw);
            sink.reject(refusal.reason, at, 1, &refusal.detail, raw);
        }
        GraccKind::Json => json(bytes, at, frame.is_cut_off, scratch, sink),
        GraccKind::Xml => {
            sink.rows_read(1);
            xml(bytes, at, frame.is_cut_off, scratch, sink);
        }
    }
}

/// A document; where it is damaged, whole documents may follow inside the frame.
fn json(bytes: &[u8], at: Position, is_cut_off: bool, scratch: &mut GraccScratch, sink: &mut dyn Sink) {
    let behind = bytes.part(1..);
    let mut marks = memchr::memmem::find_iter(behind, JSON_MARK)
        .map(|found| found + 1)
        .peekable();
    if marks.peek().is_none() || GraccDocument::parse(bytes).is_ok() {
        sink.rows_read(1);
        return lines::one(bytes, at, is_cut_off, &mut GraccDocument::empty(), scratch, sink);
    }
    let (mut start, mut line) = (0, at.line);
    loop {
        let end = marks.next();
        let part = bytes.part(start..end.unwrap_or(bytes.len()));
        let here = Position {
            line,
            byte_offset: at.byte_offset + lines::to_u64(start),
        };
        sink.rows_read(1);
        lines::one(
            without_closing(part),
            here,
            is_cut_off && end.is_none(),
            &mut GraccDocument::empty(),
            scratch,
            sink,
        );
        let Some(end) = end else { break };
        (start, line) = (end, line + 1);
    }
}

/// A part of a damaged stretch without separators between documents and the end of the list around them.
fn without_closing(part: &[u8]) -> &[u8] {
    let mut scanner = Scanner::new(part);
    let is_whole = scanner.scalar().is_ok();
    let (document, behind) = part.split_at(scanner.position().min(part.len()));
    let is_closing = behind.iter().all(|b| b",]} \r\n\t".contains(b));
    if is_whole && is_closing { document } else { part }
}

/// Gives one XML record its outcome.
pub(super) fn xml(bytes: &[u8], at: Position, is_cut_off: bool, scratch: &mut GraccScratch, sink: &mut dyn Sink) {
    match without_nul(bytes).and_then(|()| usage_xml::read(bytes)) {
        Ok(flat) => usage::take(bytes, &flat.document(), at, scratch, sink),
        Err(Refusal { detail, .. }) if is_cut_off => {
            let detail = format!("the file ends inside this record: {detail}");
            sink.reject(Reason::Truncated, at, 1, &detail, bytes);
        }
        Err(Refusal { reason, detail }) => sink.reject(reason, at, 1, &detail, bytes),
    }
}
