//! Where the delimiters and line ends of a piece are: found for all of it at once, sixty-four bytes at a time, instead
//! of line by line.

use std::cell::Cell;

use fearless_simd::prelude::*;
use fearless_simd::{Simd, u8x64};

use super::fields::{RowLine, cut, place, scan};
use super::layout::ColumnLayout;
use crate::sources::place_list::PlaceList;
use crate::sources::refusal::holds_nul;
use crate::sources::simd_scan::{ScanLook, WORD, bits, count, show};

/// The lines of a piece, one after another.
pub(super) enum LineIndex<'t> {
    /// The delimiter is one byte: all is known beforehand.
    Marked(DelimiterIndex<'t>),
    /// It is several: each line is scanned when its turn comes.
    Scanned {
        /// The piece.
        text: &'t [u8],
        /// What it is laid out like.
        layout: &'t ColumnLayout,
        /// Delimiters of the line at hand.
        cuts: Vec<u32>,
    },
}

/// The places of a piece that separate something.
pub(super) struct DelimiterIndex<'t> {
    text: &'t [u8],
    is_crlf: bool,
    /// Delimiters and line feeds.
    places: PlaceList,
    /// Which of them are line feeds.
    feeds: Vec<u32>,
    /// How many lines were passed.
    line: usize,
    /// Whether there is a NUL byte.
    has_nul: bool,
}

/// Finds the marks of one word after another.
struct Finder {
    delimiter: u8,
    places: PlaceList,
    feeds: Vec<u32>,
    /// Bits of NUL bytes, of all words together.
    nuls: u64,
}

impl ScanLook for Finder {
    #[expect(clippy::inline_always, reason = "it is compiled for every kind of processor")]
    #[inline(always)]
    fn look<S: Simd>(&mut self, lanes: u8x64<S>, _: &[u8; WORD], from: usize) {
        self.nuls |= bits(lanes, 0);
        let mut ends = bits(lanes, b'\n');
        let hits = ends | bits(lanes, self.delimiter);
        while ends != 0 {
            let before = hits & (lowest(ends) - 1);
            let at = self.places.places().len() + count(before);
            self.feeds.push(cut(at));
            ends &= ends - 1;
        }
        self.places.add(lanes.simd, hits, cut(from));
    }
}

impl<'t> LineIndex<'t> {
    /// The lines of `text`.
    pub(super) fn new(text: &'t [u8], layout: &'t ColumnLayout) -> Self {
        match *layout.delimiter {
            [delimiter] => Self::Marked(DelimiterIndex::new(text, delimiter, layout.is_crlf)),
            _ => Self::Scanned {
                text,
                layout,
                cuts: Vec::with_capacity(layout.width()),
            },
        }
    }

    /// Whether there is a NUL byte among them.
    pub(super) fn has_nul(&self) -> bool {
        match self {
            Self::Marked(marks) => marks.has_nul,
            Self::Scanned { text, .. } => holds_nul(text),
        }
    }

    /// The line that begins at `start`, which is not before the last one, and where its delimiters begin.
    pub(super) fn at(&mut self, start: usize) -> (RowLine, &[u32]) {
        match self {
            Self::Marked(marks) => marks.at(start),
            Self::Scanned { text, layout, cuts } => {
                cuts.clear();
                let line = scan(text, start, &layout.delimiter, layout.is_crlf, cuts);
                (line, cuts)
            }
        }
    }
}

/// What a piece took that was large for the sake of one long row is not kept.
const ROOM_PLACES: usize = 1 << 18;

thread_local! {
    /// Room for places and feeds that the piece before has left: it need not be zeroed for every piece.
    static ROOM: Cell<(PlaceList, Vec<u32>)> = const { Cell::new((PlaceList::new(), Vec::new())) };
}

impl Drop for DelimiterIndex<'_> {
    fn drop(&mut self) {
        if self.places.room() <= ROOM_PLACES {
            self.feeds.clear();
            ROOM.set((std::mem::take(&mut self.places), std::mem::take(&mut self.feeds)));
        }
    }
}

impl<'t> DelimiterIndex<'t> {
    fn new(text: &'t [u8], delimiter: u8, is_crlf: bool) -> Self {
        let (mut places, feeds) = ROOM.take();
        places.clear();
        // Fields have eight bytes or so.
        places.make_room(text.len() / 6);
        let mut finder = Finder {
            delimiter,
            places,
            feeds,
            nuls: 0,
        };
        // Filled up with what is neither, nor NUL.
        show(text, b' '.max(delimiter.wrapping_add(1)), &mut finder);
        Self {
            text,
            is_crlf,
            places: finder.places,
            feeds: finder.feeds,
            line: 0,
            has_nul: finder.nuls != 0,
        }
    }

    #[inline]
    fn at(&mut self, start: usize) -> (RowLine, &[u32]) {
        let first = loop {
            let first = self.line.checked_sub(1).and_then(|last| self.feeds.get(last));
            let first = first.map_or(0, |feed| place(*feed) + 1);
            // The feed of this line is at `start` or behind it.
            match self
                .feeds
                .get(self.line)
                .and_then(|feed| self.places.places().get(place(*feed)))
            {
                Some(feed) if place(*feed) < start => self.line += 1,
                _ => break first,
            }
        };
        let places = self.places.places();
        let (cuts, found) = match self.feeds.get(self.line) {
            Some(&feed) => {
                self.line += 1;
                (places.get(first..place(feed)), places.get(place(feed)))
            }
            None => (places.get(first..), None),
        };
        let mut end = found.map_or(self.text.len(), |feed| place(*feed));
        let next = end + usize::from(found.is_some());
        if self.is_crlf && end > start && self.text.get(end - 1) == Some(&b'\r') {
            end -= 1;
        }
        let line = RowLine {
            start,
            end,
            next,
            is_ended: found.is_some(),
        };
        // Fallback: never taken, the places of a line are among those of all lines.
        (line, cuts.unwrap_or_default())
    }
}

/// The state of a stretch of lines before it is accepted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockStats {
    /// How many line feeds there are.
    pub(super) feed_n: usize,
    /// A letter `j` is four bytes before a letter `d`, in either case, as in every spelling of `JobID`.
    pub(super) may_name_job_id: bool,
    /// Where a `j` of the word before would have its `d`, in the lowest bits.
    ahead: u64,
}

impl BlockStats {
    /// Looks at `text`.
    pub(super) fn at(text: &[u8]) -> Self {
        let mut block_stats = Self::default();
        show(text, 0, &mut block_stats);
        block_stats
    }
}

impl ScanLook for BlockStats {
    #[inline(always)]
    fn look<S: Simd>(&mut self, lanes: u8x64<S>, _: &[u8; WORD], _: usize) {
        /// Bytes from the one letter to the other.
        const AHEAD: u32 = 4;
        self.feed_n += count(bits(lanes, b'\n'));
        let lower = lanes | u8x64::splat(lanes.simd, 0x20);
        let (first, last) = (bits(lower, b'j'), bits(lower, b'd'));
        self.may_name_job_id |= (first << AHEAD | self.ahead) & last != 0;
        self.ahead = first >> (u64::BITS - AHEAD);
    }
}

#[inline]
fn lowest(bits: u64) -> u64 {
    bits & bits.wrapping_neg()
}
