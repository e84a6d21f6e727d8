//! Scalars as the APEL server's Python reads them.

use std::borrow::Cow;

use crate::sources::{decimal, instant};

/// Python's `text.strip()`. Nearly every value starts and ends with an ASCII character, which needs no tables.
#[inline]
pub(super) fn strip(text: &str) -> &str {
    let text = text.strip_prefix(' ').unwrap_or(text);
    if let [first, .., last] = text.as_bytes()
        && first.is_ascii_graphic()
        && last.is_ascii_graphic()
    {
        return text;
    }
    strip_all(text)
}

fn strip_all(text: &str) -> &str {
    let text = text.trim_ascii();
    let is_plain = |b: Option<&u8>| b.is_none_or(u8::is_ascii_graphic);
    if is_plain(text.as_bytes().first()) && is_plain(text.as_bytes().last()) {
        text
    } else {
        text.trim()
    }
}

/// The words that mean "absent": empty, `none` and `null` in any case.
#[inline]
pub(super) fn is_null(value: &str) -> bool {
    match value.len() {
        0 => true,
        4 => value.eq_ignore_ascii_case("none") || value.eq_ignore_ascii_case("null"),
        _ => false,
    }
}

/// Python's `int(text)`: blanks around it, a sign, single underscores between digits. `10.0` is not an integer.
pub(super) fn int(text: &str) -> Option<i64> {
    decimal::digits::<18>(text.as_bytes()).or_else(|| int_of(text))
}

fn int_of(text: &str) -> Option<i64> {
    is_int(text).then(|| without_underscores(strip(text))?.parse().ok())?
}

/// Whether [`int`] takes a text for an integer, of whatever size.
pub(super) fn is_int(text: &str) -> bool {
    let text = strip(text);
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    is_digits && without_underscores(text).is_some()
}

/// Python's `float(text)`, in thousandths, rounded half away from zero as `DECIMAL(10,3)` is. `inf` and `nan` are
/// floats to Python but no decimals to the database.
#[must_use]
pub fn thousandths(text: &str) -> Option<i64> {
    decimal::scaled(&without_underscores(strip(text))?, 3).map(|scaled| scaled.value)
}

/// Integer Unix seconds, or `YYYY-MM-DDTHH:MM:SSZ`; offsets, fractions and floats are refused. Unix seconds.
#[inline]
#[must_use]
pub fn datetime_s(text: &str) -> Option<i64> {
    let second = decimal::digits::<16>(text.as_bytes()).or_else(|| datetime_of(text))?;
    (0..=instant::LAST_S).contains(&second).then_some(second)
}

/// What is not a few digits; before 1970 and after the last second, too.
fn datetime_of(text: &str) -> Option<i64> {
    if let Some(second) = int(text) {
        return Some(second);
    }
    if text.len() != 20 || !text.ends_with('Z') || text.as_bytes().get(10) != Some(&b'T') {
        return None;
    }
    instant::rfc3339_ms(text).map(|ms| ms.div_euclid(1000))
}

/// A number without underscores, which are legal between two digits only; `None` where one is elsewhere.
#[must_use]
pub fn without_underscores(text: &str) -> Option<Cow<'_, str>> {
    if memchr::memchr(b'_', text.as_bytes()).is_none() {
        return Some(Cow::Borrowed(text));
    }
    let bytes = text.as_bytes();
    let digit_at = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    for (at, _) in text.match_indices('_') {
        if !digit_at(at.checked_sub(1)) || !digit_at(Some(at + 1)) {
            return None;
        }
    }
    Some(Cow::Owned(text.replace('_', "")))
}

/// Python's `int(float(text))`: the fraction is cut off.
#[must_use]
pub fn truncated(text: &str) -> Option<i64> {
    let text = without_underscores(strip(text))?;
    let nearest = decimal::scaled(&text, 0)?.value;
    let whole = text.split('.').next().filter(|_| !text.contains(['e', 'E']));
    let whole = whole.map(|whole| {
        if matches!(whole, "" | "+" | "-") {
            Some(0)
        } else {
            whole.parse().ok()
        }
    });
    whole.unwrap_or(Some(nearest))
}
