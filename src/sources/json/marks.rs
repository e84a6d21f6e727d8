//! Where the quotes of a line are: found for all of it at once, sixty-four bytes at a time, instead of string by string.

use std::ops::Range;

use fearless_simd::prelude::*;
use fearless_simd::{Simd, u8x64};

use crate::numbers::index;
use crate::sources::place_list::PlaceList;
use crate::sources::simd_scan::{ScanLook, WORD, bits, bits_of_table, show};

/// Behind the last mark: no line is as long.
const NONE: u32 = u32::MAX;

/// Quotes that are looked at together: those of a key, and of a text that is its value.
const MEMBER_QUOTES: usize = 4;

/// What usually follows a backslash, each at the place of its lower four bits. Other escapes are read byte by byte.
const USUAL_ESCAPES: [u8; 16] = {
    let mut table = [0; 16];
    table[2] = b'"';
    table[4] = b't';
    table[12] = b'\\';
    table[14] = b'n';
    table
};

/// The quotes of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonQuotes<'m>(&'m [u32]);

impl JsonQuotes<'_> {
    /// The one that is the `nth` and those behind it, of which those that do not exist are beyond the end of the line.
    #[inline]
    pub(super) fn next(self, nth: usize) -> Option<[usize; MEMBER_QUOTES]> {
        Some(self.0.get(nth..)?.first_chunk()?.map(index))
    }
}

/// A part of a line outside which there are no backslashes.
#[derive(Clone, Copy, Debug)]
pub(super) struct BackslashSpan {
    from: usize,
    until: usize,
}

impl Default for BackslashSpan {
    /// Of a line without any.
    fn default() -> Self {
        Self {
            from: usize::MAX,
            until: 0,
        }
    }
}

impl BackslashSpan {
    /// Some are among the bytes of the word that begins at `from`, which is behind all others.
    #[inline]
    fn add(&mut self, from: usize) {
        self.from = self.from.min(from);
        self.until = from + WORD;
    }

    /// Whether there may be some in this part.
    #[inline]
    pub(super) fn may_be_in(self, part: &Range<usize>) -> bool {
        part.start < self.until && self.from < part.end
    }
}

/// The marks of one line. Used again for the next one, because it keeps its room.
#[derive(Clone, Debug, Default)]
pub struct JsonIndex {
    /// Quotes that no backslash takes their meaning, and [`NONE`] behind them. Without any when a control character may be
    /// inside a string, or an escape is of an unusual kind.
    quotes: PlaceList,
    /// Where backslashes are.
    pub(super) backslashes: BackslashSpan,
    /// Some byte is a control character.
    pub(super) has_controls: bool,
}

impl JsonIndex {
    /// Finds the marks of `line`.
    pub(super) fn read(&mut self, line: &[u8]) {
        let mut eye = Eye {
            quotes: std::mem::take(&mut self.quotes),
            ..Eye::default()
        };
        eye.quotes.clear();
        // White space at the end, such as that of a line end, is in no string.
        show(line.trim_ascii_end(), b' ', &mut eye);
        self.quotes = eye.quotes;
        self.backslashes = eye.backslashes;
        self.has_controls = eye.controls != 0;
        // A backslash at the very end escapes nothing.
        let is_usual = eye.unusual == 0 && eye.is_escaped == 0 && !self.has_controls && line.len() < index(NONE);
        if !is_usual {
            self.quotes.clear();
        }
        for _ in 0..MEMBER_QUOTES {
            self.quotes.push(NONE);
        }
    }

    /// All quotes of the line.
    #[inline]
    pub(super) fn quotes(&self) -> JsonQuotes<'_> {
        JsonQuotes(self.quotes.places())
    }
}

/// Looks at one word after another.
#[derive(Default)]
struct Eye {
    quotes: PlaceList,
    backslashes: BackslashSpan,
    /// Bytes that are control characters, of all words together.
    controls: u64,
    /// 1 when a backslash at the end of the word before escapes the first byte.
    is_escaped: u64,
    /// Escaped bytes that need a closer look.
    unusual: u64,
}

impl ScanLook for Eye {
    #[expect(clippy::inline_always, reason = "it is compiled for every kind of processor")]
    #[inline(always)]
    fn look<S: Simd>(&mut self, lanes: u8x64<S>, _: &[u8; WORD], from: usize) {
        self.controls |= lanes.simd_lt(u8x64::splat(lanes.simd, b' ')).to_bitmask();
        let mut quotes = bits(lanes, b'"');
        let backslashes = bits(lanes, b'\\');
        if backslashes | self.is_escaped != 0 {
            self.backslashes.add(from);
            let escaped = self.escaped(backslashes);
            self.unusual |= escaped & !bits_of_table(lanes, &USUAL_ESCAPES);
            quotes &= !escaped;
        }
        if quotes != 0 {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "of a line that is so long no mark is kept"
            )]
            self.quotes.add(lanes.simd, quotes, from as u32);
        }
    }
}

impl Eye {
    /// The bytes that follow a backslash that is not escaped itself. Runs of backslashes escape what follows them
    /// when they are odd in length; a carry through the run decides.
    #[inline]
    fn escaped(&mut self, backslashes: u64) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let backslashes = backslashes & !self.is_escaped;
        let behind = backslashes << 1 | self.is_escaped;
        let odd_starts = backslashes & !EVEN & !behind;
        let (even_runs, is_over) = odd_starts.overflowing_add(backslashes);
        self.is_escaped = u64::from(is_over);
        (EVEN ^ (even_runs << 1)) & behind
    }
}
