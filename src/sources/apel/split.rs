//! A stream of concatenated messages cut into pieces: whole messages where possible, whole records otherwise.

use std::io::Read;
use std::sync::Arc;

use super::acceptance::Acceptance;
use super::header::{HeaderKind, HeaderSearch, next_header};
use super::limits::ApelLimits;
use super::message::{MessagePiece, bad_header, headless, line_ends, over_long, to_u64, too_long};
use crate::error::Result;
use crate::ledger::Reason;
use crate::numbers::Extent;
use crate::sources::buffer::{Buffer, BufferBlock};
use crate::sources::options::ReaderOptions;
use crate::sources::steps::ReadStep;
use crate::sources::{Position, Sink, Work};

/// The beginning of a file. The server takes its first line for the header, and refuses the file when it is not a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageStart {
    /// Nothing but blanks so far.
    Blank,
    /// With a header.
    Header,
    /// With something else.
    Record,
}

impl MessageStart {
    fn of(bytes: &[u8]) -> Self {
        let blank = bytes.len() - bytes.trim_ascii_start().len();
        if blank == bytes.len() {
            Self::Blank
        } else if next_header(bytes, 0, true, true) == HeaderSearch::Found(blank) {
            Self::Header
        } else {
            Self::Record
        }
    }
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "five independent facts about the buffer, each with its name"
)]
pub(super) struct MessageSplitter {
    input: Box<dyn Read + Send>,
    options: Arc<ReaderOptions>,
    limits: ApelLimits,
    buffer: Buffer,
    /// Position of the first byte of the buffer.
    at: Position,
    /// Kind of the message the buffer continues with; `None` when it starts with a header or with the file.
    within: Option<HeaderKind>,
    is_over_long: bool,
    starts_line: bool,
    /// How the file begins.
    start: MessageStart,
    /// No header starts before this byte, except at the very start and those that were counted.
    searched: usize,
    /// Headers found behind the very start.
    header_n: usize,
    /// Inside a record that is too long and already counted.
    is_skipping: bool,
    is_ended: bool,
    is_done: bool,
}

impl MessageSplitter {
    pub(super) fn new(
        input: Box<dyn Read + Send>,
        options: Arc<ReaderOptions>,
        limits: ApelLimits,
        at: Position,
    ) -> Self {
        Self {
            input,
            options,
            limits,
            buffer: Buffer::default(),
            at,
            within: None,
            is_over_long: false,
            starts_line: true,
            start: MessageStart::Blank,
            searched: 0,
            header_n: 0,
            is_skipping: false,
            is_ended: false,
            is_done: false,
        }
    }

    /// Reads until the buffer holds `want` bytes or the input ends.
    fn fill(&mut self, want: usize) -> Result<()> {
        if !self.is_ended {
            self.is_ended = !self.buffer.fill(&mut self.input, want)?;
        }
        Ok(())
    }

    /// The start of the last message in the buffer, when it is not the first.
    fn last_boundary(&mut self) -> Option<usize> {
        let mut last = None;
        loop {
            match next_header(&self.buffer, self.searched, self.starts_line, self.is_ended) {
                HeaderSearch::Found(at) => {
                    if at == 0 {
                        // Everything before it is already cut off: the message that continued here has ended.
                        (self.within, self.is_over_long) = (None, false);
                    } else {
                        last = Some(at);
                        self.header_n += 1;
                    }
                    self.searched = at + 1;
                }
                HeaderSearch::Pending(until) => {
                    self.searched = self.searched.max(until);
                    return last;
                }
            }
        }
    }

    /// Takes `n` bytes off the front of the buffer.
    fn take(&mut self, n: usize) -> (BufferBlock, Position) {
        let taken = self.buffer.take(n);
        let at = self.at;
        // Nothing follows the last byte that would need its line.
        if !(self.is_ended && self.buffer.is_empty()) {
            self.at.line += line_ends(&taken);
        }
        self.at.byte_offset += to_u64(taken.len());
        self.searched = self.searched.less(taken.len());
        (taken, at)
    }

    /// A piece of the first `n` bytes, after which a message of kind `next` goes over into the next piece, or a new one starts.
    fn cut(&mut self, n: usize, next: Option<HeaderKind>, starts_line: bool) -> Work {
        let (bytes, at) = self.take(n);
        let continues = next.is_some();
        if self.start == MessageStart::Blank {
            self.start = MessageStart::of(&bytes);
        }
        let piece = MessagePiece {
            bytes,
            at,
            within: std::mem::replace(&mut self.within, next),
            is_over_long: self.is_over_long,
            is_headless: self.start == MessageStart::Record,
            starts_line: std::mem::replace(&mut self.starts_line, starts_line),
            is_last: self.is_ended && self.buffer.is_empty(),
            // Where any was found, the piece ends before the last one.
            is_alone: self.header_n <= 1,
        };
        self.header_n = 0;
        self.is_over_long &= continues;
        let (acceptance, limits) = (self.options.acceptance, self.limits);
        Box::new(move |sink: &mut dyn Sink| piece.parse(acceptance, limits, sink))
    }

    /// Kind of the message at the start of the buffer and where its records start; `None` while its first line is
    /// incomplete.
    fn kind(&self) -> Option<(HeaderKind, usize)> {
        if let Some(kind) = &self.within {
            return Some((kind.clone(), 0));
        }
        if next_header(&self.buffer, 0, self.starts_line, self.is_ended) != HeaderSearch::Found(0) {
            return Some((HeaderKind::Missing, 0));
        }
        let line_end = memchr::memchr2(b'\n', b'\r', &self.buffer);
        if line_end.unwrap_or(self.buffer.len()) > self.limits.record {
            // A header line without an end is not a header.
            return Some((HeaderKind::Missing, 0));
        }
        let line_end = line_end?;
        let line = self.buffer.get(..line_end)?;
        Some((HeaderKind::of(line, self.options.acceptance), line_end))
    }

    /// The end of the last complete `%%`, paired from the left as a search from the start would.
    fn last_mark(&self, from: usize) -> Option<usize> {
        let body = self.buffer.get(from..)?;
        let last = memchr::memmem::rfind(body, b"%%")? + 2;
        let run = body.get(..last)?.iter().rev().take_while(|&&b| b == b'%').count();
        Some(from + last - run % 2)
    }

    fn next_work(&mut self) -> Result<Option<Work>> {
        let mut want = self.limits.block.max(1);
        loop {
            self.fill(want)?;
            if self.is_skipping && !self.skip() {
                if self.is_ended {
                    return Ok(None);
                }
                want = self.buffer.len() + self.limits.block.max(1);
                continue;
            }
            if let Some(boundary) = self.last_boundary() {
                return Ok(Some(self.cut(boundary, None, true)));
            }
            if self.is_ended {
                self.is_done = true;
                let n = self.buffer.len();
                return Ok((n > 0).then(|| self.cut(n, None, true)));
            }
            want = self.buffer.len() + self.limits.block.max(1);
            let Some((kind, body)) = self.kind() else { continue };
            if kind == HeaderKind::Missing {
                // Nor may its beginning be taken for one in a piece that ends inside its line.
                self.within = Some(HeaderKind::Missing);
            }
            let is_whole = matches!(kind, HeaderKind::Job { .. } | HeaderKind::Summary(_))
                && self.options.acceptance == Acceptance::StrictApel;
            if is_whole && !self.is_over_long {
                self.is_over_long = self.searched > self.limits.message;
                if !self.is_over_long {
                    continue;
                }
            }
            if let Some(mark) = self.last_mark(body) {
                return Ok(Some(self.cut(mark, Some(kind), false)));
            }
            if body > 0 {
                // The header alone, so that what is left is one record.
                return Ok(Some(self.cut(body, Some(kind), false)));
            }
            let blanks = self.buffer.len() - self.buffer.trim_ascii_start().len();
            let blanks = blanks.min(self.searched);
            if blanks > 0 {
                let (taken, _) = self.take(blanks);
                self.starts_line = ends_line(&taken, self.starts_line);
                self.within = Some(kind.clone());
            }
            if self.known_record() > self.limits.record {
                return Ok(Some(self.too_long(kind)));
            }
            want = self.buffer.len() + self.limits.block.max(1);
        }
    }

    /// How many bytes certainly belong to the record at the start of the buffer.
    fn known_record(&self) -> usize {
        let marks = self.buffer.iter().rev().take_while(|&&b| b == b'%').count();
        self.searched.min(self.buffer.len() - marks)
    }

    /// Counts a record that does not fit and drops it from here on.
    fn too_long(&mut self, kind: HeaderKind) -> Work {
        self.is_skipping = true;
        if self.start == MessageStart::Blank {
            self.start = MessageStart::of(&self.buffer);
        }
        let at = self.at;
        let raw = self.buffer.get(..self.limits.kept).unwrap_or(&self.buffer).to_vec();
        let bad = bad_header(&kind).unwrap_or_else(|| {
            if self.start == MessageStart::Record {
                headless()
            } else if self.is_over_long {
                over_long(self.limits)
            } else {
                too_long(self.limits)
            }
        });
        let bad = bad.or_lost_text(&raw);
        self.within = Some(kind.clone());
        // It may begin like a header: its own beginning must not be taken for the end of it.
        self.take(1);
        self.starts_line = false;
        Box::new(move |sink: &mut dyn Sink| {
            sink.rows_read(1);
            match kind {
                HeaderKind::Other => sink.out_of_scope(Reason::CloudRecord, 1),
                HeaderKind::Job { .. } | HeaderKind::Summary(_) | HeaderKind::Unknown(_) | HeaderKind::Missing => {
                    sink.reject(bad.reason, at, 1, &bad.detail, &raw);
                }
            }
        })
    }

    /// Drops the rest of the record that is too long. True when its end was found.
    fn skip(&mut self) -> bool {
        let mark = memchr::memmem::find(&self.buffer, b"%%");
        let header = match next_header(&self.buffer, 0, self.starts_line, self.is_ended) {
            HeaderSearch::Found(at) => Some(at),
            HeaderSearch::Pending(until) => {
                self.searched = until;
                None
            }
        };
        match (mark, header) {
            (mark, Some(header)) if mark.is_none_or(|mark| header < mark) => {
                self.take(header);
                (self.within, self.is_over_long, self.starts_line) = (None, false, true);
            }
            (Some(mark), _) => {
                self.take(mark + 2);
                self.starts_line = false;
            }
            (None, _) => {
                let (taken, _) = self.take(self.known_record());
                self.starts_line = ends_line(&taken, self.starts_line);
                return false;
            }
        }
        self.searched = 0;
        self.is_skipping = false;
        true
    }
}

/// Whether what follows `taken` starts a line; blanks at the end of `taken` do not change that.
fn ends_line(taken: &[u8], starts_line: bool) -> bool {
    match taken.iter().rev().find(|b| !matches!(b, b' ' | b'\t')) {
        None => starts_line,
        Some(b) => matches!(b, b'\n' | b'\r'),
    }
}

impl ReadStep for MessageSplitter {
    fn step(&mut self) -> Result<Option<Work>> {
        if self.is_done {
            return Ok(None);
        }
        self.next_work()
    }
}
