//! Decimals and sizes as Slurm prints them, without a float in between.

/// `text` (digits, point, exponent; no sign) times ten to the power of `places`; `None` when it is no such number, does
/// not fit, or has digits behind the last place.
#[must_use]
pub fn decimal(text: &str, places: u32) -> Option<i128> {
    const DIGIT_LIMIT: usize = 40;
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    let digit_n = whole.len() + fraction.len();
    if digit_n == 0 || digit_n > DIGIT_LIMIT || !digits().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut value = 0_i128;
    for byte in digits() {
        value = value.checked_mul(10)?.checked_add(i128::from(byte - b'0'))?;
    }
    let shift = exponent
        .checked_add(i32::try_from(places).ok()?)?
        .checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let power = 10_i128.checked_pow(shift.unsigned_abs());
    match (value, power) {
        (0, _) => Some(0),
        (_, Some(power)) if shift >= 0 => value.checked_mul(power),
        (_, Some(power)) if value % power == 0 => Some(value / power),
        _ => None,
    }
}

/// The power of 1024 a unit letter stands for, upper or lower case.
#[must_use]
pub fn unit(letter: char) -> Option<i64> {
    Some(match letter.to_ascii_uppercase() {
        'K' => 1 << 10,
        'M' => 1 << 20,
        'G' => 1 << 30,
        'T' => 1 << 40,
        'P' => 1 << 50,
        _ => return None,
    })
}

/// A size or count with an optional unit letter; without one it counts in `base`. Rounded half up to whole units:
/// Slurm prints two decimals (`62.50G`).
#[must_use]
pub fn size(text: &str, base: i64) -> Option<i64> {
    const PLACES: u32 = 9;
    const SCALE: i128 = 1_000_000_000;
    let last = text.chars().last()?;
    let (digits, factor) = match unit(last) {
        Some(factor) => (text.strip_suffix(last)?, factor),
        None => (text, base),
    };
    let scaled = decimal(digits, PLACES)?.checked_mul(i128::from(factor))?;
    i64::try_from(scaled.checked_add(SCALE / 2)? / SCALE).ok()
}

/// A plain count; `None` for any other text, and for the numbers that stand for "not set" and "infinite".
#[must_use]
pub fn count(text: &str) -> Option<i64> {
    let value: u64 = text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())??;
    match value {
        4_294_967_294 | 4_294_967_295 => None,
        value => i64::try_from(value).ok(),
    }
}
