//! ISO 8601 durations as Gratia probes print them, read strictly.

use crate::numbers::Part;

/// Nanoseconds of a second.
const NANO: i128 = 1_000_000_000;
const DAY_S: i128 = 86_400;
/// Digits of a number that are read: no duration has more, and nothing can overflow.
const DIGIT_LIMIT: usize = 15;

/// The seconds of a duration such as `P1DT2H3M4.5S`, as an exact decimal text.
///
/// As in Gratia's collector a year has 365 days and a month 30. Unlike there, every part may have a fraction: probes
/// 1.21.0 to 1.22.1 print `PT2.0H27M33.0S`, which the collector stores as 0 seconds. A sign, which the collector
/// overlooks, is an error, as is text before or behind. Digits beyond the nanosecond are cut off.
///
/// # Errors
/// What is wrong, for people.
pub fn seconds(text: &str) -> Result<String, &'static str> {
    nanos(text.trim_ascii()).map(decimal)
}

/// Nanoseconds of a duration.
pub(super) fn nanos(text: &str) -> Result<i128, &'static str> {
    let Some(mut rest) = text.strip_prefix('P') else {
        let is_signed = text.starts_with(['-', '+']);
        return Err(if is_signed {
            "a duration must not have a sign"
        } else {
            "a duration starts with P"
        });
    };
    // The units that may still come, in order; `T` opens the second list.
    let mut units: &[(char, i128)] = &[('Y', 365 * DAY_S), ('M', 30 * DAY_S), ('W', 7 * DAY_S), ('D', DAY_S)];
    let (mut total, mut part_n, mut is_time) = (0_i128, 0, false);
    loop {
        if let Some(time) = rest.strip_prefix('T')
            && !is_time
        {
            (rest, is_time, part_n) = (time, true, 0);
            units = &[('H', 3600), ('M', 60), ('S', 1)];
        }
        if rest.is_empty() {
            break;
        }
        let end = rest
            .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .ok_or("a number has no unit")?;
        let (number, unit) = rest.split_at(end);
        let unit = unit.chars().next().ok_or("a number has no unit")?;
        let place = units.iter().position(|(known, _)| *known == unit);
        let place = place.ok_or("a unit is unknown, occurs twice or is in the wrong place")?;
        let (_, factor) = units.get(place).ok_or("a unit is unknown")?;
        total += scaled(number)? * factor;
        part_n += 1;
        units = units.part(place + 1..);
        rest = rest.part(end + unit.len_utf8()..);
    }
    if part_n == 0 {
        return Err("a duration has no part");
    }
    Ok(total)
}

/// A decimal number in billionths.
fn scaled(number: &str) -> Result<i128, &'static str> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
        return Err("a number is none");
    }
    if whole.len() > DIGIT_LIMIT {
        return Err("a number is too large");
    }
    let whole: i128 = whole.parse().map_err(|_| "a number is none")?;
    let fraction: String = fraction.chars().chain(std::iter::repeat('0')).take(9).collect();
    let fraction: i128 = fraction.parse().map_err(|_| "a number is none")?;
    Ok(whole * NANO + fraction)
}

/// Nanoseconds as seconds, without needless zeros.
pub(super) fn decimal(nanos: i128) -> String {
    let (whole, fraction) = (nanos / NANO, nanos % NANO);
    if fraction == 0 {
        return whole.to_string();
    }
    let text = format!("{whole}.{fraction:09}");
    text.trim_end_matches('0').to_owned()
}
