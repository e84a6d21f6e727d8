//! The members that nearly all objects have nearly always: a key without escapes, and a text or a short number, without
//! white space between them.

use std::ops::Range;

use super::line::JsonLine;
use super::marks::JsonQuotes;
use super::scanner::Scalar;
use crate::numbers::Part;

/// A usual member.
pub(super) struct UsualMember<'a> {
    /// The bytes of its key.
    pub(super) key: &'a [u8],
    pub(super) value: UsualValue,
    /// Where what follows it begins: behind the comma or brace.
    pub(super) end: usize,
    /// The first quote that follows it.
    pub(super) nth_quote: usize,
    /// Whether the object ends with it.
    pub(super) is_last: bool,
}

/// Where the value of a usual member is: most are never looked at.
pub(super) enum UsualValue {
    /// Between the quotes.
    Text(Range<usize>),
    Number(Range<usize>),
}

impl UsualValue {
    /// The value.
    #[inline]
    pub(super) fn of<'a>(self, line: &JsonLine<'a>) -> Scalar<'a> {
        match self {
            Self::Text(between) => Scalar::Text(line.string(between)),
            Self::Number(at) => Scalar::Number(line.bytes.part(at)),
        }
    }
}

impl<'a> UsualMember<'a> {
    /// The member that begins `at`, of which this is the first quote; `None` when it is not a usual one.
    #[inline]
    pub(super) fn read(line: &JsonLine<'a>, at: usize, quotes: JsonQuotes<'_>, nth_quote: usize) -> Option<Self> {
        let bytes = line.bytes;
        let [start, key_end, text, text_end] = quotes.next(nth_quote)?;
        (start == at && !line.has_escapes(&(start + 1..key_end))).then_some(())?;
        let [b'"', b':', first] = *bytes.get(key_end..)?.first_chunk()? else {
            return None;
        };
        let (value, end, quote_n) = if first == b'"' {
            (UsualValue::Text(text + 1..text_end), text_end + 1, 4)
        } else {
            let (start, end) = (key_end + 2, number_end(bytes, key_end + 2)?);
            (UsualValue::Number(start..end), end, 2)
        };
        let last = *bytes.get(end)?;
        matches!(last, b',' | b'}').then_some(())?;
        Some(Self {
            key: bytes.get(start + 1..key_end)?,
            value,
            end: end + 1,
            nth_quote: nth_quote + quote_n,
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
