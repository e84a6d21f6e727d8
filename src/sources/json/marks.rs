//! Where the quotes and backslashes of a line are: found for all of it at once, sixty-four bytes at a time, instead of
//! string by string.

use fearless_simd::prelude::*;
use fearless_simd::{Simd, u8x64};

use crate::sources::simd_scan::{ScanLook, WORD, bits, bits_of_two, show};

/// The marks of one line. Used again for the next one, because it keeps its room.
#[derive(Clone, Debug, Default)]
pub struct JsonIndex {
    /// `None` when a control character may be inside a string, or an escape is of an unusual kind.
    words: Vec<Word>,
    /// Some byte is a control character.
    pub(super) has_controls: bool,
}

/// A bit per byte, the first byte in the lowest bit.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// Quotes that no backslash takes their meaning.
    quotes: u64,
    backslashes: u64,
}

impl JsonIndex {
    /// Finds the marks of `line`.
    pub(super) fn read(&mut self, line: &[u8]) {
        let mut eye = Eye {
            words: std::mem::take(&mut self.words),
            ..Eye::default()
        };
        eye.words.clear();
        // White space at the end, such as that of a line end, is in no string.
        show(line.trim_ascii_end(), b' ', &mut eye);
        self.words = eye.words;
        self.has_controls = eye.controls != 0;
        // A backslash at the very end escapes nothing.
        let is_usual = eye.unusual == 0 && eye.is_escaped == 0 && !self.has_controls;
        if !is_usual {
            self.words.clear();
        }
    }

    /// The quote that ends the string whose first byte is `start`, and whether there are escapes before it; `None`
    /// when the string must be looked at byte by byte.
    #[inline]
    pub(super) fn end(&self, start: usize) -> Option<(usize, bool)> {
        let mut at = start / WORD;
        let mut mask = u64::MAX << (start % WORD);
        let mut escapes = 0;
        loop {
            let word = self.words.get(at)?;
            let (quotes, backslashes) = (word.quotes & mask, word.backslashes & mask);
            if quotes != 0 {
                let before = (quotes & quotes.wrapping_neg()).wrapping_sub(1);
                let end = at * WORD + usize::try_from(quotes.trailing_zeros()).ok()?;
                return Some((end, (escapes | backslashes & before) != 0));
            }
            escapes |= backslashes;
            mask = u64::MAX;
            at += 1;
        }
    }
}

/// Looks at one word after another.
#[derive(Default)]
struct Eye {
    words: Vec<Word>,
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
    fn look<S: Simd>(&mut self, lanes: u8x64<S>, _: &[u8; WORD], _: usize) {
        self.controls |= lanes.simd_lt(u8x64::splat(lanes.simd, b' ')).to_bitmask();
        let mut quotes = bits(lanes, b'"');
        let backslashes = bits(lanes, b'\\');
        if backslashes | self.is_escaped != 0 {
            let escaped = self.escaped(backslashes);
            let whites = bits_of_two(lanes, [b'n', b't']);
            self.unusual |= escaped & !(quotes | backslashes | whites);
            quotes &= !escaped;
        }
        self.words.push(Word { quotes, backslashes });
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
