//! Cutting a message into records: one pass over its bytes finds the `%%` and the ends of all lines.

use std::ops::Range;

use fearless_simd::{Simd, u8x64};

use super::limits::ApelLimits;
use super::message::to_u64;
use crate::numbers::{Part, index};
use crate::sources::Position;
use crate::sources::simd_scan::{ScanLook, WORD, bits, bits_of_two, count, show};

/// A record and a line are hardly ever shorter.
const RECORD_BYTES: usize = 512;
const LINE_BYTES: usize = 24;

/// One framed record: text between two `%%`, without the blanks around it.
pub(super) struct ApelFrame<'a> {
    /// Its text; only the start of it when it is too long.
    pub(super) raw: &'a [u8],
    /// Where it starts in the file.
    pub(super) at: Position,
    /// Where it starts in the message.
    pub(super) from: usize,
    /// Its line ends, by their places in [`Frames::line_ends`].
    line_ends: Range<usize>,
    /// Longer than a record may be.
    pub(super) is_too_long: bool,
    /// It ends with `%%`, with the next header, or with a line end.
    pub(super) is_closed: bool,
}

/// The records of a message.
pub(super) struct Frames<'a> {
    /// The text they are in.
    pub(super) body: &'a [u8],
    /// The records.
    pub(super) records: Vec<ApelFrame<'a>>,
    /// Where in the text each LF and CR is.
    line_ends: Vec<usize>,
    /// How many of them are LF.
    pub(super) line_n: u64,
}

impl<'a> Frames<'a> {
    /// Cuts `body`, which starts `at`. With `is_open`, the file ends behind it.
    pub(super) fn new(body: &'a [u8], at: Position, is_open: bool, limits: ApelLimits) -> Self {
        let mut cutter = Cutter {
            frames: Self {
                body,
                records: Vec::with_capacity(body.len() / RECORD_BYTES),
                line_ends: Vec::with_capacity(body.len() / LINE_BYTES),
                line_n: 0,
            },
            at,
            is_open,
            limits,
            percent: usize::MAX,
            start: 0,
            known_end_n: 0,
            known_line_n: 0,
        };
        show(body, 0, &mut cutter);
        cutter.record(body.len(), None);
        cutter.frames
    }

    /// Where in the message the lines of a record end, but for the last one.
    pub(super) fn line_ends(&self, frame: &ApelFrame<'_>) -> &[usize] {
        self.line_ends.part(frame.line_ends.clone())
    }
}

struct Cutter<'a> {
    frames: Frames<'a>,
    at: Position,
    /// The file ends behind the message.
    is_open: bool,
    limits: ApelLimits,
    /// Where a second percent sign would make a mark.
    percent: usize,
    /// Where the record begins that is being looked at, with the blanks before it.
    start: usize,
    /// Line ends before it.
    known_end_n: usize,
    /// Those of them that are LF.
    known_line_n: u64,
}

impl ScanLook for Cutter<'_> {
    #[expect(clippy::inline_always, reason = "it is compiled for every kind of processor")]
    #[inline(always)]
    fn look<S: Simd>(&mut self, lanes: u8x64<S>, chunk: &[u8; WORD], from: usize) {
        let mut hits = bits(lanes, b'\n');
        let others = bits_of_two(lanes, [b'\r', b'%']);
        if others == 0 {
            // Most of a record: nothing but lines.
            let Frames { line_ends, line_n, .. } = &mut self.frames;
            *line_n += to_u64(count(hits));
            while hits != 0 {
                let nth = index(hits.trailing_zeros());
                hits &= hits - 1;
                line_ends.push(from + nth);
            }
            return;
        }
        hits |= others;
        while hits != 0 {
            let nth = index(hits.trailing_zeros());
            hits &= hits - 1;
            let place = from + nth;
            match chunk.get(nth) {
                Some(b'%') if place == self.percent => {
                    self.record(place - 1, Some(place + 1));
                    self.percent = usize::MAX;
                }
                Some(b'%') => self.percent = place + 1,
                byte => {
                    self.frames.line_n += u64::from(byte == Some(&b'\n'));
                    self.frames.line_ends.push(place);
                }
            }
        }
    }
}

impl Cutter<'_> {
    /// Ends a record at a mark, behind which the `next` one begins, or at the end of the message.
    fn record(&mut self, until: usize, next: Option<usize>) {
        let Frames { body, line_ends, .. } = &self.frames;
        let chunk = body.part(self.start..until);
        let text = chunk.trim_ascii_start();
        if !text.is_empty() {
            let from = until - text.len();
            let is_unended = self.is_open && next.is_none() && !ends_line(text);
            let is_too_long = text.len() > self.limits.record;
            let raw = if is_too_long {
                text.get(..self.limits.kept).unwrap_or(text)
            } else {
                text.trim_ascii_end()
            };
            // The ends of blank lines around it are none of its own.
            let mut own = self.known_end_n..line_ends.len();
            let mut line_n = self.known_line_n;
            while let Some(end) = line_ends.get(own.start).filter(|end| **end < from) {
                line_n += u64::from(body.get(*end) == Some(&b'\n'));
                own.start += 1;
            }
            let ends_behind = |own: &Range<usize>| {
                let last = own.clone().next_back().and_then(|last| line_ends.get(last));
                last.is_some_and(|end| *end >= from + raw.len())
            };
            while ends_behind(&own) {
                own.end -= 1;
            }
            let at = Position {
                line: self.at.line + line_n,
                byte_offset: self.at.byte_offset + to_u64(from),
            };
            self.frames.records.push(ApelFrame {
                raw,
                at,
                from,
                line_ends: own,
                is_too_long,
                is_closed: !is_unended,
            });
        }
        self.start = next.unwrap_or(until);
        self.known_end_n = self.frames.line_ends.len();
        self.known_line_n = self.frames.line_n;
    }
}

/// Whether the last line of a text that is not blank has its end.
fn ends_line(text: &[u8]) -> bool {
    let behind = text.part(text.trim_ascii_end().len()..);
    behind.iter().any(|byte| matches!(byte, b'\n' | b'\r'))
}
