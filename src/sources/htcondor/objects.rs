//! JSON objects cut out of an array, or out of lines, byte by byte: the array is never held whole.
//!
//! `condor_history` begins every object with a brace at the start of a line and nothing else there, so a damaged object
//! does not swallow those behind it. A line end ends a text, which in JSON holds none.

use std::io::Read;

use super::history;
use crate::error::Result;
use crate::ledger::Reason;
use crate::sources::feed::{Feed, Place};
use crate::sources::lines::Limits;
use crate::sources::steps::{Step, Steps};
use crate::sources::{Pieces, Position, Sink, Work};

/// The pieces of a history in JSON that begins at `from`.
pub(super) fn pieces(input: Box<dyn Read + Send>, limits: Limits, from: Position) -> Pieces {
    Box::new(Steps::new(Objects {
        feed: Feed::new(input, from),
        limits,
        scanned: 0,
        framer: Framer::default(),
        is_done: false,
    }))
}

/// What a stretch of bytes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// An object with its closing brace.
    Object,
    /// An object in the middle of which another begins.
    Broken,
    /// The file ends inside an object.
    CutOff,
    /// Longer than a record may be.
    TooLong,
    /// Neither an object nor what stands between objects.
    Stray,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    start: usize,
    end: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Between objects.
    #[default]
    Outside,
    /// In an object that began at this byte of the buffer.
    Inside(usize),
    /// In a line that is no object, from this byte on.
    Stray(usize),
    /// In an object that is too long and already framed.
    Skipping,
}

#[derive(Debug, Default)]
struct Framer {
    state: State,
    depth: usize,
    in_text: bool,
    is_escaped: bool,
    /// The byte before this one was not a line end.
    is_mid_line: bool,
}

impl Framer {
    /// Takes the next byte, at `at` of the buffer, and gives the frames that end with it.
    fn byte(&mut self, byte: u8, at: usize, longest: usize, frames: &mut Vec<Frame>) {
        let is_line_start = !self.is_mid_line;
        self.is_mid_line = byte != b'\n';
        let begins_object = byte == b'{' && is_line_start;
        match self.state {
            State::Inside(start) if begins_object => {
                frames.push(Frame {
                    start,
                    end: at,
                    kind: Kind::Broken,
                });
                self.open(at);
            }
            State::Skipping if begins_object => self.open(at),
            State::Stray(start) if byte == b'\n' => {
                frames.push(Frame {
                    start,
                    end: at,
                    kind: Kind::Stray,
                });
                self.state = State::Outside;
            }
            State::Outside => match byte {
                b'{' => self.open(at),
                b'[' | b']' | b',' | b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => self.state = State::Stray(at),
            },
            State::Inside(start) => {
                self.inside(byte);
                if self.depth == 0 {
                    frames.push(Frame {
                        start,
                        end: at + 1,
                        kind: Kind::Object,
                    });
                    self.state = State::Outside;
                }
            }
            State::Skipping | State::Stray(_) => {}
        }
        if let State::Inside(start) | State::Stray(start) = self.state
            && at + 1 - start > longest
        {
            frames.push(Frame {
                start,
                end: at + 1,
                kind: Kind::TooLong,
            });
            self.state = State::Skipping;
        }
    }

    /// How many of the next bytes, which begin at `at` of the buffer, say nothing: the inside of a text, most of a
    /// record. They count as taken.
    fn plain(&mut self, rest: &[u8], at: usize, longest: usize) -> usize {
        let State::Inside(start) = self.state else {
            return 0;
        };
        if !self.in_text || self.is_escaped || !self.is_mid_line {
            return 0;
        }
        let plain = memchr::memchr3(b'"', b'\\', b'\n', rest).unwrap_or(rest.len());
        plain.min(longest.saturating_sub(at - start))
    }

    fn open(&mut self, at: usize) {
        *self = Self {
            state: State::Inside(at),
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
            b'{' => self.depth = self.depth.saturating_add(1),
            b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// The first byte of the buffer that is still needed, when `scanned` bytes were taken.
    fn needed(&self, scanned: usize) -> usize {
        match self.state {
            State::Inside(start) | State::Stray(start) => start,
            State::Outside | State::Skipping => scanned,
        }
    }

    fn shift(&mut self, n: usize) {
        if let State::Inside(start) | State::Stray(start) = &mut self.state {
            *start -= n.min(*start);
        }
    }
}

struct Objects {
    feed: Feed,
    limits: Limits,
    /// Bytes of the feed the framer has taken.
    scanned: usize,
    framer: Framer,
    is_done: bool,
}

impl Step for Objects {
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
                    State::Inside(_) => Some(Kind::CutOff),
                    State::Stray(_) => Some(Kind::Stray),
                    State::Outside | State::Skipping => None,
                };
                frames.extend(kind.map(|kind| Frame {
                    start: self.framer.needed(self.scanned),
                    end: self.scanned,
                    kind,
                }));
                self.framer.state = State::Outside;
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

fn parse(bytes: &[u8], from: Position, frames: &[Frame], limits: Limits, sink: &mut dyn Sink) {
    let mut place = Place::new(bytes, from);
    for frame in frames {
        let at = place.go_to(frame.start);
        let raw = bytes.get(frame.start..frame.end).unwrap_or_default();
        sink.rows_read(1);
        let (reason, detail) = match frame.kind {
            Kind::Object => match history::take(raw, at, sink) {
                Ok(()) => continue,
                Err(refusal) => (refusal.reason, refusal.detail),
            },
            Kind::Broken => (Reason::BadJson, "another object begins inside this one".to_owned()),
            Kind::CutOff => (Reason::Truncated, "the file ends inside this object".to_owned()),
            Kind::TooLong => (
                Reason::TooLong,
                format!("the object is longer than {} bytes", limits.record),
            ),
            Kind::Stray => (Reason::BadJson, "neither an object nor a comma between two".to_owned()),
        };
        let raw = match frame.kind {
            Kind::TooLong => raw.get(..limits.kept).unwrap_or(raw),
            _ => raw,
        };
        sink.reject(reason, at, 1, &detail, raw);
    }
}
