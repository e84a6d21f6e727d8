//! Durations: `[D-]HH:MM:SS`, and `MM:SS.mmm` for CPU time below an hour.

use super::{hms, scalar};
use crate::sources::decimal;

/// Milliseconds of `[D-]HH:MM:SS[.fff]` or `MM:SS[.fff]`. With two parts it is minutes and seconds.
#[inline]
pub(super) fn parse_ms(text: &[u8]) -> Option<i64> {
    // By far the most frequent shape first.
    if let Ok(clock) = <[u8; 8]>::try_from(text)
        && let Some([hour, minute, second]) = hms::parse(clock)
    {
        return Some(((hour * 60 + minute) * 60 + second) * 1000);
    }
    parse_other(text)
}

fn parse_other(text: &[u8]) -> Option<i64> {
    if let Some((days, clock)) = text.split_last_chunk::<8>()
        && let [days @ .., b'-'] = days
        && let Some(day) = decimal::digits::<6>(days)
        && let Some([hour, minute, second]) = hms::parse(*clock)
    {
        return Some((((day * 24 + hour) * 60 + minute) * 60 + second) * 1000);
    }
    if let &[a, b, b':', c, d, b'.', x, y, z] = text {
        let ms = i64::from(digit(x)?) * 100 + pair(y, z)?;
        return Some((below_60(a, b)? * 60 + below_60(c, d)?) * 1000 + ms);
    }
    parse_slow(text)
}

fn parse_slow(text: &[u8]) -> Option<i64> {
    let (day, clock) = match text.iter().position(|&b| b == b'-') {
        Some(dash) => (number(text.get(..dash)?)?, text.get(dash + 1..)?),
        None => (0, text),
    };
    let (clock, ms) = match clock.iter().position(|&b| b == b'.') {
        Some(dot) => (clock.get(..dot)?, fraction_ms(clock.get(dot + 1..)?)?),
        None => (clock, 0),
    };
    let mut parts = clock.split(|&b| b == b':');
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let (hour, minute, second) = match third {
        Some(third) => (number(first)?, two_digits(second)?, two_digits(third)?),
        None if day == 0 => (0, number(first)?, two_digits(second)?),
        None => return None,
    };
    let seconds = day
        .checked_mul(86_400)?
        .checked_add(hour.checked_mul(3600)?)?
        .checked_add(minute.checked_mul(60)?)?
        .checked_add(second)?;
    seconds.checked_mul(1000)?.checked_add(ms)
}

/// A word that means a limit the job does not have by itself.
pub(super) fn is_word(text: &[u8]) -> bool {
    [&b"UNLIMITED"[..], b"Partition_Limit", b"INFINITE", b"NONE"]
        .iter()
        .any(|word| word.eq_ignore_ascii_case(text))
}

fn number(text: &[u8]) -> Option<i64> {
    i64::try_from(scalar::unsigned(text)?).ok()
}

fn two_digits(text: &[u8]) -> Option<i64> {
    match *text {
        [a, b] => below_60(a, b),
        _ => None,
    }
}

fn fraction_ms(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let place = |i: usize| digits.get(i).copied().unwrap_or(b'0');
    Some(i64::from(digit(place(0))?) * 100 + pair(place(1), place(2))?)
}

fn digit(byte: u8) -> Option<u8> {
    let value = byte.wrapping_sub(b'0');
    (value <= 9).then_some(value)
}

fn pair(tens: u8, ones: u8) -> Option<i64> {
    Some(i64::from(digit(tens)? * 10 + digit(ones)?))
}

fn below_60(tens: u8, ones: u8) -> Option<i64> {
    pair(tens, ones).filter(|&value| value < 60)
}
