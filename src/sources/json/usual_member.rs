//! The members that nearly all objects have nearly always: a key without escapes, and a text or a short number, without
//! white space between them.

use super::marks::JsonQuotes;
use super::scanner::Scalar;
use super::text::JsonText;

/// A usual member.
pub(super) struct UsualMember<'a, 'm> {
    /// The bytes of its key.
    pub(super) key: &'a [u8],
    pub(super) value: Scalar<'a>,
    /// Where what follows it begins: behind the comma or brace.
    pub(super) end: usize,
    /// The quotes that follow it.
    pub(super) quotes: JsonQuotes<'m>,
    /// Whether the object ends with it.
    pub(super) is_last: bool,
}

impl<'a, 'm> UsualMember<'a, 'm> {
    /// The member that begins `at`, of which these are the quotes; `None` when it is not a usual one.
    #[inline]
    pub(super) fn read(bytes: &'a [u8], at: usize, quotes: JsonQuotes<'m>) -> Option<Self> {
        let [start, key_end, text, text_end] = quotes.next()?;
        (start == at && !quotes.has_escapes(key_end)).then_some(())?;
        let [b'"', b':', first] = *bytes.get(key_end..)?.first_chunk()? else {
            return None;
        };
        let behind_key = quotes.behind_string(key_end);
        let (value, end, quotes) = if first == b'"' {
            let raw = bytes.get(text + 1..text_end)?;
            let has_escapes = behind_key.has_escapes(text_end);
            let value = Scalar::Text(JsonText { raw, has_escapes });
            (value, text_end + 1, behind_key.behind_string(text_end))
        } else {
            let (start, end) = (key_end + 2, number_end(bytes, key_end + 2)?);
            (Scalar::Number(bytes.get(start..end)?), end, behind_key)
        };
        let last = *bytes.get(end)?;
        matches!(last, b',' | b'}').then_some(())?;
        Some(Self {
            key: bytes.get(start + 1..key_end)?,
            value,
            end: end + 1,
            quotes,
            is_last: last == b'}',
        })
    }
}

/// The end of a number that begins at `start` and has at most seven digits before its point, and behind it.
#[inline]
fn number_end(bytes: &[u8], start: usize) -> Option<usize> {
    let digit_n = |at: usize| Some(leading_digits(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?)));
    let whole_n = digit_n(start)?;
    let is_whole = whole_n == 1 || (whole_n > 1 && whole_n < 8 && *bytes.get(start)? != b'0');
    is_whole.then_some(())?;
    let end = start + whole_n;
    if *bytes.get(end)? != b'.' {
        return Some(end);
    }
    let fraction_n = digit_n(end + 1)?;
    (fraction_n > 0 && fraction_n < 8).then_some(end + 1 + fraction_n)
}

/// How many of eight bytes, the first one lowest, are digits before the first other byte.
#[inline]
pub(super) fn leading_digits(eight: u64) -> usize {
    const HIGH: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    const SIX: u64 = 0x0606_0606_0606_0606;
    // A digit is 0x30 to 0x39, and still 0x3. when six more. A carry out of a byte reaches only those behind it.
    let others = ((eight & HIGH) ^ ZEROS) | ((eight.wrapping_add(SIX) & HIGH) ^ ZEROS);
    others.trailing_zeros() as usize / 8
}
