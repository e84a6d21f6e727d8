//! Where the quotes of a line are, and which of them end strings with escapes: found for all of it at once, sixty-four bytes
//! at a time, instead of string by string.

use fearless_simd::prelude::*;
use fearless_simd::{Simd, u8x64};

use crate::numbers::{Extent, Part, index};
use crate::sources::place_list::PlaceList;
use crate::sources::simd_scan::{ScanLook, WORD, bits, bits_of_two, show};

/// Behind the last mark: no line is as long.
const NONE: u32 = u32::MAX;

/// Quotes that are looked at together: those of a key, and of a text that is its value.
const MEMBER_QUOTES: usize = 4;

/// Quotes that are not yet passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonQuotes<'m> {
    quotes: &'m [u32],
    escaped: &'m [u32],
}

/// How many marks are not yet passed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MarksLeft {
    quote_n: usize,
    escaped_n: usize,
}

impl JsonQuotes<'_> {
    /// How many there are.
    #[inline]
    pub(super) fn left(self) -> MarksLeft {
        MarksLeft {
            quote_n: self.quotes.len(),
            escaped_n: self.escaped.len(),
        }
    }

    /// The next ones, of which those that do not exist are beyond the end of the line.
    #[inline]
    pub(super) fn next(self) -> Option<[usize; MEMBER_QUOTES]> {
        Some(self.quotes.first_chunk()?.map(index))
    }

    /// Whether the string that ends with this quote has escapes: all strings before it were passed.
    #[inline]
    pub(super) fn has_escapes(self, end: usize) -> bool {
        self.escaped.first().is_some_and(|escaped| index(*escaped) == end)
    }

    /// Those behind a string, which ends with this quote.
    #[inline]
    pub(super) fn behind_string(self, end: usize) -> Self {
        Self {
            quotes: self.quotes.part(2..),
            escaped: self.escaped.part(usize::from(self.has_escapes(end))..),
        }
    }
}

/// The marks of one line. Used again for the next one, because it keeps its room.
#[derive(Clone, Debug, Default)]
pub struct JsonIndex {
    /// Quotes that no backslash takes their meaning, and [`NONE`] behind them. Without any when a control character may be
    /// inside a string, or an escape is of an unusual kind.
    quotes: PlaceList,
    /// Those of them between which and the quote before are backslashes, and [`NONE`].
    escaped: PlaceList,
    /// Some byte is a control character.
    pub(super) has_controls: bool,
}

impl JsonIndex {
    /// Finds the marks of `line`.
    pub(super) fn read(&mut self, line: &[u8]) {
        let mut eye = Eye {
            quotes: std::mem::take(&mut self.quotes),
            escaped: std::mem::take(&mut self.escaped),
            ..Eye::default()
        };
        eye.quotes.clear();
        eye.escaped.clear();
        // White space at the end, such as that of a line end, is in no string.
        show(line.trim_ascii_end(), b' ', &mut eye);
        (self.quotes, self.escaped) = (eye.quotes, eye.escaped);
        self.has_controls = eye.controls != 0;
        // A backslash at the very end escapes nothing.
        let is_usual = eye.unusual == 0 && eye.is_escaped == 0 && !self.has_controls && line.len() < index(NONE);
        if !is_usual {
            self.quotes.clear();
        }
        for _ in 0..MEMBER_QUOTES {
            self.quotes.push(NONE);
        }
        self.escaped.push(NONE);
    }

    /// The last quotes, as many as are left.
    #[inline]
    pub(super) fn quotes(&self, left: MarksLeft) -> JsonQuotes<'_> {
        let (quotes, escaped) = (self.quotes.places(), self.escaped.places());
        JsonQuotes {
            quotes: quotes.part(quotes.len().less(left.quote_n)..),
            escaped: escaped.part(escaped.len().less(left.escaped_n)..),
        }
    }

    /// All marks of the line.
    pub(super) fn left(&self) -> MarksLeft {
        MarksLeft {
            quote_n: self.quotes.places().len(),
            escaped_n: self.escaped.places().len(),
        }
    }
}

/// Looks at one word after another.
#[derive(Default)]
struct Eye {
    quotes: PlaceList,
    escaped: PlaceList,
    /// Bytes that are control characters, of all words together.
    controls: u64,
    /// 1 when a backslash at the end of the word before escapes the first byte.
    is_escaped: u64,
    /// Backslashes stand between the last quote and the end of the word before.
    has_escapes: bool,
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
        // Fallback: a line that is so long is read byte by byte, and none of its marks is kept.
        let from = u32::try_from(from).unwrap_or(0);
        if backslashes | self.is_escaped != 0 {
            let escaped = self.escaped(backslashes);
            let whites = bits_of_two(lanes, [b'n', b't']);
            self.unusual |= escaped & !(quotes | backslashes | whites);
            quotes &= !escaped;
        }
        let behind_escapes = self.behind_escapes(quotes, backslashes);
        if behind_escapes != 0 {
            self.escaped.add(lanes.simd, behind_escapes, from);
        }
        if quotes != 0 {
            self.quotes.add(lanes.simd, quotes, from);
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

    /// The quotes between which and the quote before are backslashes: added to the bytes that are no quotes, each of them
    /// carries to the next quote.
    #[inline]
    fn behind_escapes(&mut self, quotes: u64, backslashes: u64) -> u64 {
        let (sum, is_over) = (!quotes).carrying_add(backslashes, self.has_escapes);
        self.has_escapes = is_over;
        sum & quotes
    }
}
