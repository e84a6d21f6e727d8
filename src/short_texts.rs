//! Comparing texts of a few bytes, as names and codes are, and finding them again: most of what that costs by the library is its calls.

use crate::numbers::scattered;

/// Longer texts are compared by the library, which then is faster.
const SHORT_BYTES: usize = 64;

/// Whether two texts are the same.
#[inline]
#[must_use]
pub fn is_same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if a.len() > SHORT_BYTES {
        return a == b;
    }
    // The last bytes overlap the first ones, which together are all of them.
    if let (Some(a_end), Some(b_end)) = (a.last_chunk::<32>(), b.last_chunk::<32>()) {
        return a.first_chunk::<32>() == b.first_chunk::<32>() && a_end == b_end;
    }
    if let (Some(a_end), Some(b_end)) = (a.last_chunk::<16>(), b.last_chunk::<16>()) {
        return a.first_chunk::<16>() == b.first_chunk::<16>() && a_end == b_end;
    }
    if let (Some(a_end), Some(b_end)) = (a.last_chunk::<8>(), b.last_chunk::<8>()) {
        return a.first_chunk::<8>() == b.first_chunk::<8>() && a_end == b_end;
    }
    if let (Some(a_end), Some(b_end)) = (a.last_chunk::<4>(), b.last_chunk::<4>()) {
        return a.first_chunk::<4>() == b.first_chunk::<4>() && a_end == b_end;
    }
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// The bytes of a text of at most eight, the first of them lowest, and zeros behind them.
#[inline]
#[must_use]
pub fn word(text: &[u8]) -> Option<u64> {
    if text.len() > 8 {
        return None;
    }
    if let (Some(start), Some(end)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        let (start, end) = (u32::from_le_bytes(*start), u32::from_le_bytes(*end));
        // Where the two overlap they have the same bits.
        return Some(u64::from(start) | u64::from(end) << (8 * (text.len() - 4)));
    }
    let (Some(first), Some(last)) = (text.first(), text.last()) else {
        return Some(0);
    };
    let at = text.len() / 2;
    // Of two bytes the middle one is the last, of one all three are the first.
    let middle = text.get(at).unwrap_or(last);
    Some(u64::from(*first) | u64::from(*middle) << (8 * at) | u64::from(*last) << (8 * (text.len() - 1)))
}

/// The bytes of a text of at most sixteen, the first of them lowest, and zeros behind them.
#[inline]
#[must_use]
pub fn wide_word(text: &[u8]) -> Option<u128> {
    if text.len() > 16 {
        return None;
    }
    if let (Some(start), Some(end)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        let (start, end) = (u64::from_le_bytes(*start), u64::from_le_bytes(*end));
        // Where the two overlap they have the same bits.
        return Some(u128::from(start) | u128::from(end) << (8 * (text.len() - 8)));
    }
    word(text).map(u128::from)
}

/// Bytes of the longest [`ShortText`].
const MOST_BYTES: usize = 15;

/// A text of at most 15 bytes, by value: two are the same where these are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShortText {
    start: u64,
    /// The last seven bytes of texts of eight and more, and the length in the highest byte.
    end: u64,
}

impl ShortText {
    /// A text, unless it is longer.
    #[inline]
    #[must_use]
    pub fn of(text: &[u8]) -> Option<Self> {
        if text.len() > MOST_BYTES {
            return None;
        }
        let bytes = (text.len() as u64) << 56;
        if let (Some(start), Some(end)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
            return Some(Self {
                start: u64::from_le_bytes(*start),
                end: u64::from_le_bytes(*end) >> 8 | bytes,
            });
        }
        word(text).map(|start| Self { start, end: bytes })
    }

    /// Its place among two to the power of `bits`: different texts mostly have different ones.
    #[inline]
    #[must_use]
    pub fn place(self, bits: u32) -> usize {
        scattered(self.start ^ self.end.rotate_left(29), bits)
    }
}
