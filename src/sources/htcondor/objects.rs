//! JSON objects cut out of an array, or out of lines, byte by byte: the array is never held whole.
//!
//! `condor_history` begins every object with a brace at the start of a line and nothing else there, so a damaged object
//! does not swallow those behind it. A line end ends a text, which in JSON holds none.

use std::io::Read;

use super::history;
use crate::error::Result;
use crate::ledger::Reason;
use crate::numbers::{Extent, Part};
use crate::sources::input_stream::{InputStream, StreamPlace};
use crate::sources::lines::LogLimits;
use crate::sources::refusal::Refusal;
use crate::sources::steps::{ReadStep, ReadSteps};
use crate::sources::{Pieces, Position, Sink, Work};

/// The pieces of a history in JSON that begins at `from`.
pub(super) fn pieces(input: Box<dyn Read + Send>, limits: LogLimits, from: Position) -> Pieces {
    Box::new(ReadSteps::new(Objects {
        feed: InputStream::new(input, from),
        limits,
        scanned: 0,
        framer: CondorFramer::default(),
        is_done: false,
    }))
}

/// What a stretch of bytes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CondorKind {
    /// An object with its closing brace.
    Object,
    /// An object in the middle of which another begins.
    Broken,
    /// The file ends inside an object.
    CutOff,
    /// Longer than a record may be.
    TooLong,
    /// Neither an object nor a separator of objects.
    Stray,
}

#[derive(Clone, Copy, Debug)]
struct CondorFrame {
    start: usize,
    end: usize,
    kind: CondorKind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CondorState {
    /// Between objects.
    #[default]
    Outside,
    /// In an object that began at this byte of the buffer.
    Inside(usize),
    /// In a line that is not an object, from this byte on.
    Stray(usize),
    /// In an object that is too long and already framed.
    Skipping,
}

#[derive(Debug, Default)]
struct CondorFramer {
    state: CondorState,
    depth: usize,
    in_text: bool,
    is_escaped: bool,
    /// The byte before this one was not a line end.
    is_mid_line: bool,
}

impl CondorFramer {
    /// Takes the next byte, at `at` of the buffer, and gives the frames that end with it.
    fn byte(&mut self, byte: u8, at: usize, longest: usize, frames: &mut Vec<CondorFrame>) {
        let is_line_start = !self.is_mid_line;
        self.is_mid_line = byte != b'\n';
        let begins_object = byte == b'{' && is_line_start;
        match self.state {
            CondorState::Inside(start) if begins_object => {
                frames.push(CondorFrame {
                    start,
                    end: at,
                    kind: CondorKind::Broken,
                });
                self.open(at);
            }
            CondorState::Skipping if begins_object => self.open(at),
            CondorState::Stray(start) if byte == b'\n' => {
                frames.push(CondorFrame {
                    start,
                    end: at,
                    kind: CondorKind::Stray,
                });
                self.state = CondorState::Outside;
            }
            CondorState::Outside => match byte {
                b'{' => self.open(at),
                b'[' | b']' | b',' | b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => self.state = CondorState::Stray(at),
            },
            CondorState::Inside(start) => {
                self.inside(byte);
                if self.depth == 0 {
                    frames.push(CondorFrame {
                        start,
                        end: at + 1,
                        kind: CondorKind::Object,
                    });
                    self.state = CondorState::Outside;
                }
            }
            CondorState::Skipping | CondorState::Stray(_) => {}
        }
        if let CondorState::Inside(start) | CondorState::Stray(start) = self.state
            && at + 1 - start > longest
        {
            frames.push(CondorFrame {
                start,
                end: at + 1,
                kind: CondorKind::TooLong,
            });
            self.state = CondorState::Skipping;
        }
    }

    /// How many of the next bytes, which begin at `at` of the buffer, have no meaning here: the inside of a text, most of a
    /// record. They count as taken.
    fn plain(&mut self, rest: &[u8], at: usize, longest: usize) -> usize {
        let CondorState::Inside(start) = self.state else {
            return 0;
        };
        if !self.in_text || self.is_escaped || !self.is_mid_line {
            return 0;
        }
        let plain = memchr::memchr3(b'"', b'\\', b'\n', rest).unwrap_or(rest.len());
        plain.min(longest.less(at - start))
    }

    fn open(&mut self, at: usize) {
        *self = Self {
            state: CondorState::Inside(at),
            depth: 1,
            is_mid_line: true,
            ..Self::default()
        };
    }

    fn inside(&mut self, byte: u8) {
        if self.in_text {
            match byte {
                b'\n' => (self.in_text, self.is_escaped) = (false, false),
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => self.in_text = true,
            b'{' => self.depth = self.depth.further(1),
            b'}' => self.depth = self.depth.less(1),
            _ => {}
        }
    }

    /// The first byte of the buffer that is still needed, when `scanned` bytes were taken.
    fn needed(&self, scanned: usize) -> usize {
        match self.state {
            CondorState::Inside(start) | CondorState::Stray(start) => start,
            CondorState::Outside | CondorState::Skipping => scanned,
        }
    }

    fn shift(&mut self, n: usize) {
        if let CondorState::Inside(start) | CondorState::Stray(start) = &mut self.state {
            *start -= n.min(*start);
        }
    }
}

struct Objects {
    feed: InputStream,
    limits: LogLimits,
    /// Bytes of the feed the framer has taken.
    scanned: usize,
    framer: CondorFramer,
    is_done: bool,
}

impl ReadStep for Objects {
    fn step(&mut self) -> Result<Option<Work>> {
        while !self.is_done {
            self.feed.fill(self.feed.len() + self.limits.block.max(1))?;
            let mut frames = Vec::new();
            let longest = self.limits.record;
            while let Some(rest) = self.feed.get(self.scanned..)
                && let Some(byte) = rest.first()
            {
                let plain = self.framer.plain(rest, self.scanned, longest);
                if plain > 0 {
                    self.scanned += plain;
                    continue;
                }
                self.framer.byte(*byte, self.scanned, longest, &mut frames);
                self.scanned += 1;
            }
            if self.feed.is_ended() {
                self.is_done = true;
                let kind = match self.framer.state {
                    CondorState::Inside(_) => Some(CondorKind::CutOff),
                    CondorState::Stray(_) => Some(CondorKind::Stray),
                    CondorState::Outside | CondorState::Skipping => None,
                };
                frames.extend(kind.map(|kind| CondorFrame {
                    start: self.framer.needed(self.scanned),
                    end: self.scanned,
                    kind,
                }));
                self.framer.state = CondorState::Outside;
            }
            let needed = self.framer.needed(self.scanned);
            let (bytes, from) = self.feed.take(needed);
            self.scanned -= needed;
            self.framer.shift(needed);
            if !frames.is_empty() {
                let limits = self.limits;
                return Ok(Some(Box::new(move |sink: &mut dyn Sink| {
                    parse(&bytes, from, &frames, limits, sink);
                })));
            }
        }
        Ok(None)
    }
}

fn parse(bytes: &[u8], from: Position, frames: &[CondorFrame], limits: LogLimits, sink: &mut dyn Sink) {
    let mut place = StreamPlace::new(bytes, from);
    for frame in frames {
        let at = place.go_to(frame.start);
        let raw = bytes.part(frame.start..frame.end);
        sink.rows_read(1);
        let (reason, detail) = match frame.kind {
            CondorKind::Object => match history::take(raw, at, sink) {
                Ok(()) => continue,
                Err(refusal) => (refusal.reason, refusal.detail),
            },
            CondorKind::Broken => (Reason::BadJson, "another object begins inside this one".to_owned()),
            CondorKind::CutOff => (Reason::Truncated, "the file ends inside this object".to_owned()),
            CondorKind::TooLong => (
                Reason::TooLong,
                format!("the object is longer than {} bytes", limits.record),
            ),
            CondorKind::Stray => (Reason::BadJson, "neither an object nor a comma between two".to_owned()),
        };
        let Refusal { reason, detail } = Refusal::new(reason, detail).or_lost_text(raw);
        let raw = match frame.kind {
            CondorKind::TooLong => raw.get(..limits.kept).unwrap_or(raw),
            _ => raw,
        };
        sink.reject(reason, at, 1, &detail, raw);
    }
}
