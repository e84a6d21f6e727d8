//! Decimals as integers: nothing that is stored as fact passes through a float.

/// Ten-thousandths of a positive decimal written with a point and at most four decimals (`10`, `10.8`, `9.8765`).
///
/// # Errors
/// A sentence for people when the text is no such number.
pub fn ten_thousandths(text: &str) -> Result<i64, String> {
    let plain = text.strip_prefix('+').unwrap_or(text);
    let (whole, decimals) = plain.split_once('.').unwrap_or((plain, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(decimals) || plain.ends_with('.') {
        return Err(format!("\"{text}\" is no positive decimal number such as 10.8"));
    }
    // Trailing zeros say nothing, so they do not count against the limit.
    let decimals = decimals.trim_end_matches('0');
    if decimals.len() > 4 {
        return Err(format!("\"{text}\" has more than 4 decimals"));
    }
    let value: i64 = format!("{whole}{decimals:0<4}")
        .parse()
        .map_err(|_| format!("\"{text}\" is too large"))?;
    if value == 0 {
        return Err(format!("\"{text}\" must be above zero"));
    }
    Ok(value)
}

/// An integer of so many decimals as text, without zeros at its end.
#[must_use]
pub fn text(scaled: i128, decimals: u32) -> String {
    let one = 10_u128.saturating_pow(decimals);
    let (whole, rest) = (scaled.unsigned_abs() / one, scaled.unsigned_abs() % one);
    let sign = if scaled < 0 { "-" } else { "" };
    if rest == 0 {
        return format!("{sign}{whole}");
    }
    let places = usize::try_from(decimals).unwrap_or_default();
    let rest = format!("{rest:0>places$}");
    format!("{sign}{whole}.{}", rest.trim_end_matches('0'))
}
