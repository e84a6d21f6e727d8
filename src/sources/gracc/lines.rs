//! A stream of lines cut into pieces of whole lines.

use std::io::Read;

use super::document::GraccDocument;
use super::usage::{self, GraccScratch};
use super::{compare, nested};
use crate::error::Result;
use crate::ledger::Reason;
use crate::numbers::count_u64;
use crate::sources::dialect::ReadSizes;
use crate::sources::input_stream::{BufferLines, InputStream};
use crate::sources::refusal::Refusal;
use crate::sources::steps::ReadStep;
use crate::sources::{Position, Sink, Work};

/// Sizes in bytes.
#[derive(Clone, Copy, Debug)]
pub struct GraccLimits {
    /// How much is read at a time; a piece is about as large.
    pub block: usize,
    /// Longest line.
    pub line: usize,
    /// How much of a line that is too long is kept as raw text; at most `line`.
    pub kept: usize,
}

impl Default for GraccLimits {
    fn default() -> Self {
        Self {
            block: 128 << 10,
            line: 16 << 20,
            kept: 64 << 10,
        }
    }
}

impl GraccLimits {
    /// The default with other sizes.
    #[must_use]
    pub(in crate::sources) fn of(sizes: ReadSizes) -> Self {
        let own = Self::default();
        let line = sizes.record_byte.unwrap_or(own.line);
        Self {
            block: sizes.block_byte.unwrap_or(own.block),
            line,
            kept: own.kept.min(line),
        }
    }
}

pub(super) struct GraccLines {
    feed: InputStream,
    limits: GraccLimits,
    /// Inside a line that is too long and already counted.
    is_skipping: bool,
    is_done: bool,
}

impl GraccLines {
    pub(super) fn new(input: Box<dyn Read + Send>, limits: GraccLimits, at: Position) -> Self {
        Self {
            feed: InputStream::new(input, at),
            limits,
            is_skipping: false,
            is_done: false,
        }
    }

    fn next_work(&mut self) -> Result<Option<Work>> {
        let block = self.limits.block.max(1);
        // Always whole blocks, so that reads and hashes stay aligned.
        let mut want = self.feed.len() + block;
        loop {
            self.feed.fill(want)?;
            if self.is_skipping {
                let end = memchr::memchr(b'\n', &self.feed);
                self.feed.take(end.map_or(self.feed.len(), |end| end + 1));
                self.is_skipping = end.is_none();
                if self.feed.is_ended() && self.feed.is_empty() {
                    return Ok(None);
                }
                want = self.feed.len() + if self.is_skipping { block } else { 0 };
                continue;
            }
            if let Some(lines) = self.feed.take_lines() {
                let limits = self.limits;
                return Ok(Some(Box::new(move |sink: &mut dyn Sink| {
                    parse(&lines, limits, false, sink);
                })));
            }
            if self.feed.len() > self.limits.line {
                self.is_skipping = true;
                let (at, limits) = (self.feed.at(), self.limits);
                let raw = self.feed.get(..limits.kept).unwrap_or(&self.feed).to_vec();
                let refusal = too_long(&raw, limits);
                return Ok(Some(Box::new(move |sink: &mut dyn Sink| {
                    sink.rows_read(1);
                    sink.reject(refusal.reason, at, 1, &refusal.detail, &raw);
                })));
            }
            if self.feed.is_ended() {
                self.is_done = true;
                let line = self.feed.take_unended_line();
                let limits = self.limits;
                return Ok(Some(Box::new(move |sink: &mut dyn Sink| {
                    parse(&line, limits, true, sink);
                })));
            }
            want = self.feed.len() + block;
        }
    }
}

impl ReadStep for GraccLines {
    fn step(&mut self) -> Result<Option<Work>> {
        if self.is_done {
            return Ok(None);
        }
        self.next_work()
    }
}

/// Reads the lines of one piece. `is_cut_off` means that its last line has no line end because the file ends there.
fn parse(lines: &BufferLines, limits: GraccLimits, is_cut_off: bool, sink: &mut dyn Sink) {
    let mut scratch = GraccScratch::default();
    let mut document = GraccDocument::empty();
    for (line, at) in lines.iter() {
        if line.len() > limits.line {
            sink.rows_read(1);
            let raw = line.get(..limits.kept).unwrap_or(line);
            let refusal = too_long(raw, limits);
            sink.reject(refusal.reason, at, 1, &refusal.detail, raw);
        } else if !line.trim_ascii().is_empty() {
            sink.rows_read(1);
            one(line, at, is_cut_off, &mut document, &mut scratch, sink);
        }
    }
}

/// Gives one framed document its outcome.
pub(super) fn one<'a>(
    line: &'a [u8],
    at: Position,
    is_cut_off: bool,
    document: &mut GraccDocument<'a>,
    scratch: &mut GraccScratch,
    sink: &mut dyn Sink,
) {
    if let Some(check) = sink.cross_check() {
        compare::document(line, check);
    }
    match document.read(line) {
        Ok(()) if document.is_nested() && nested::take(line, at, scratch, sink) => {}
        Ok(()) => usage::take(line, document, at, scratch, sink),
        Err(malformed) => {
            let (reason, what) = if is_cut_off {
                (Reason::Truncated, "the file ends inside this line: ")
            } else {
                (Reason::BadJson, "")
            };
            let detail = format!("{what}column {}: {}", malformed.at + 1, malformed.what);
            let Refusal { reason, detail } = Refusal::new(reason, detail).or_lost_text(line);
            sink.reject(reason, at, 1, &detail, line);
        }
    }
}

/// Why a line is refused for its length of which these bytes are kept: where it is cut into blocks, no more of it is known.
fn too_long(kept: &[u8], limits: GraccLimits) -> Refusal {
    let detail = format!("the line is longer than {} bytes", limits.line);
    Refusal::new(Reason::TooLong, detail).or_lost_text(kept)
}

pub(super) fn to_u64(n: usize) -> u64 {
    count_u64(n)
}
