//! Decimals as integers: nothing that is stored as fact passes through a float.

use crate::numbers::index;

/// Ten-thousandths of a positive decimal written with a point and at most four decimals (`10`, `10.8`, `9.8765`).
///
/// # Errors
/// A sentence for people when the text is no such number.
pub fn ten_thousandths(text: &str) -> Result<i64, String> {
    let value = scaled(text, 4)?;
    if value == 0 {
        return Err(format!("\"{text}\" must be above zero"));
    }
    i64::try_from(value).map_err(|_| format!("\"{text}\" is too large"))
}

/// A decimal that is not negative, written with a point, as an integer of so many decimals.
///
/// # Errors
/// A sentence for people when the text is no such number, or has more decimals.
pub fn scaled(text: &str, decimals: u32) -> Result<i128, String> {
    let plain = text.strip_prefix('+').unwrap_or(text);
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || plain.ends_with('.') {
        return Err(format!("\"{text}\" is not a positive decimal number such as 10.8"));
    }
    // Trailing zeros carry no value, so they do not count against the limit.
    let fraction = fraction.trim_end_matches('0');
    let places = index(decimals);
    if fraction.len() > places {
        return Err(format!("\"{text}\" has more than {decimals} decimals"));
    }
    let value: Option<i128> = format!("{whole}{fraction:0<places$}").parse().ok();
    // Sums of these must not overflow either.
    let value = value.filter(|value| *value < 10_i128.pow(33));
    value.ok_or_else(|| format!("\"{text}\" is too large"))
}

/// An integer of so many decimals as text, without zeros at its end.
#[must_use]
pub fn text(scaled: i128, decimals: u32) -> String {
    // Fallback: never taken, no decimal has more than 38 places.
    let one = 10_u128.saturating_pow(decimals);
    let (whole, rest) = (scaled.unsigned_abs() / one, scaled.unsigned_abs() % one);
    let sign = if scaled < 0 { "-" } else { "" };
    if rest == 0 {
        return format!("{sign}{whole}");
    }
    let places = index(decimals);
    let rest = format!("{rest:0>places$}");
    format!("{sign}{whole}.{}", rest.trim_end_matches('0'))
}
