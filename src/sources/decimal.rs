//! Decimal text to scaled integers, exactly: no float in between, so `0.43000000000000005` seconds are 430 ms.

use crate::numbers::index;

/// A decimal number times a power of ten, as an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scaled {
    /// The value, rounded half away from zero.
    pub value: i64,
    /// Nothing was rounded away.
    pub is_exact: bool,
}

/// `text` times ten to the power of `places`. Reads what JSON and Python write: sign, digits, point, exponent
/// (`1.485786e+06`). `None` when it is not such a number or does not fit 64 bits.
#[must_use]
pub fn scaled(text: &str, places: u32) -> Option<Scaled> {
    scaled_ascii(text.as_bytes(), places)
}

/// The same of text that may be anything.
#[inline]
#[must_use]
pub fn scaled_ascii(bytes: &[u8], places: u32) -> Option<Scaled> {
    match digits::<15>(bytes).and_then(|whole| times_ten_to(whole, places)) {
        Some(value) => Some(Scaled { value, is_exact: true }),
        None => scaled_fraction(bytes, places).or_else(|| scaled_unusual(bytes, places)),
    }
}

/// A number times a power of ten, which is found, not computed; `None` when it does not fit.
#[inline]
fn times_ten_to(number: i64, places: u32) -> Option<i64> {
    /// All that fit.
    const POWERS: [i64; 19] = {
        let mut powers = [1; 19];
        let mut at = 1;
        while at < powers.len() {
            powers[at] = powers[at - 1] * 10;
            at += 1;
        }
        powers
    };
    number.checked_mul(*POWERS.get(index(places))?)
}

/// Digits, a point, and no more digits behind it than there are places.
#[inline(never)]
fn scaled_fraction(bytes: &[u8], places: u32) -> Option<Scaled> {
    let (whole, fraction) = bytes.split_at_checked(bytes.iter().position(|b| *b == b'.')?)?;
    let fraction = fraction.get(1..)?;
    let unused_n = places.checked_sub(u32::try_from(fraction.len()).ok()?)?;
    let whole = times_ten_to(digits::<15>(whole)?, places)?;
    let fraction = times_ten_to(digits::<8>(fraction)?, unused_n)?;
    let value = whole.checked_add(fraction)?;
    Some(Scaled { value, is_exact: true })
}

/// Numbers that are more than a few digits.
#[inline(never)]
fn scaled_unusual(bytes: &[u8], places: u32) -> Option<Scaled> {
    let (is_negative, bytes) = match bytes.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, bytes),
    };
    let (mantissa, exponent) = match bytes.iter().position(|b| matches!(b, b'e' | b'E')) {
        Some(at) => (bytes.get(..at)?, exponent(bytes.get(at + 1..)?)?),
        None => (bytes, 0),
    };
    let (whole, fraction) = match mantissa.iter().position(|&b| b == b'.') {
        Some(at) => (mantissa.get(..at)?, mantissa.get(at + 1..)?),
        None => (mantissa, &[][..]),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // The number of digits before the point once the scale is applied.
    let mut kept = i64::try_from(whole.len()).ok()? + exponent + i64::from(places);
    let (mut value, mut first_dropped, mut is_exact) = (0_i64, None, true);
    for &byte in whole.iter().chain(fraction) {
        if !byte.is_ascii_digit() {
            return None;
        }
        let digit = i64::from(byte - b'0');
        if kept > 0 {
            value = value.checked_mul(10)?.checked_add(digit)?;
        } else {
            if kept == 0 {
                first_dropped = Some(digit);
            }
            is_exact &= digit == 0;
        }
        kept -= 1;
    }
    if value != 0 {
        for _ in 0..kept.max(0) {
            value = value.checked_mul(10)?;
        }
    }
    if first_dropped.is_some_and(|digit| digit >= 5) {
        value = value.checked_add(1)?;
    }
    Some(Scaled {
        value: if is_negative { -value } else { value },
        is_exact,
    })
}

/// The exponent after `e`; beyond any sense it only matters that it is large.
fn exponent(bytes: &[u8]) -> Option<i64> {
    let (sign, digits) = match bytes.split_first() {
        Some((b'-', rest)) => (-1, rest),
        Some((b'+', rest)) => (1, rest),
        _ => (1, bytes),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0_i64;
    for &byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = (value * 10 + i64::from(byte - b'0')).min(1_000_000);
    }
    Some(sign * value)
}

/// The number that a few digits are: at least one, at most `MOST` (which is 18 or less), and nothing else. The quick way
/// for nearly every number there is; what it does not read is for whoever knows the format.
#[inline]
pub(super) fn digits<const MOST: usize>(text: &[u8]) -> Option<i64> {
    if text.len() > MOST {
        return None;
    }
    let value = match text.len() {
        0 => return None,
        1..=8 => up_to_eight(text)?,
        9..=16 => {
            // The upper ones are the first of the first eight.
            let missing = u32::try_from(16_usize.checked_sub(text.len())?).ok()? * 8;
            let high = u64::from_le_bytes(*text.first_chunk()?).unbounded_shl(missing);
            let low = u64::from_le_bytes(*text.last_chunk()?);
            eight(high, missing)? * 100_000_000 + eight(low, 0)?
        }
        _ => {
            let (high, low) = text.split_at_checked(text.len() - 16)?;
            let (middle, low) = low.split_at_checked(8)?;
            (up_to_eight(high)? * 100_000_000 + up_to_eight(middle)?) * 100_000_000 + up_to_eight(low)?
        }
    };
    i64::try_from(value).ok()
}

/// The number that one to eight digits are, all of them looked at together.
#[inline]
fn up_to_eight(text: &[u8]) -> Option<u64> {
    let missing = u32::try_from(8_usize.checked_sub(text.len())?).ok()? * 8;
    // The digits at the upper end of a word of zeros: the first byte of a word is its lowest.
    let word = match (text.first_chunk::<8>(), text.first_chunk::<4>(), text.last_chunk::<4>()) {
        (Some(all), ..) => u64::from_le_bytes(*all),
        // Where the halves overlap they are the same.
        (None, Some(first), Some(last)) => {
            let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
            u64::from(first) << missing | u64::from(last) << 32
        }
        _ => match *text {
            [one] => u64::from(one) << 56,
            [one, two] => u64::from(one) << 48 | u64::from(two) << 56,
            [one, two, three] => u64::from(one) << 40 | u64::from(two) << 48 | u64::from(three) << 56,
            _ => 0,
        },
    };
    eight(word, missing)
}

/// The number that eight digits are, of which the lowest bits, `missing` of them, are taken for zeros.
#[inline]
fn eight(word: u64, missing: u32) -> Option<u64> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let word = word | ZEROS & !u64::MAX.unbounded_shl(missing);
    // A digit has 3 in its upper half, and still has it with six more.
    let upper = 0xf0f0_f0f0_f0f0_f0f0;
    let is_digits = word & upper == ZEROS && word.wrapping_add(0x0606_0606_0606_0606) & upper == ZEROS;
    // Neighbours are put together: two of one digit, two of two, two of four.
    let pairs = (word & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(10 << 8 | 1) >> 8;
    let fours = (pairs & 0x00ff_00ff_00ff_00ff).wrapping_mul(100 << 16 | 1) >> 16;
    let all = (fours & 0x0000_ffff_0000_ffff).wrapping_mul(10_000 << 32 | 1) >> 32;
    is_digits.then_some(all)
}
