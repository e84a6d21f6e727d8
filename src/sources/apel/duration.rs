//! ISO 8601 durations as the APEL server reads them: a year has 365 days, a month a twelfth of that.

use crate::sources::decimal;

/// `P1DT2H3M4.5S` in seconds; the seconds may be decimal, with a point or a comma, and are rounded half up. `None`
/// when it is not a duration, has no part, or does not fit.
pub(super) fn iso8601_s(text: &str) -> Option<i64> {
    const DATE: &[(char, i64)] = &[('Y', 31_536_000), ('M', 2_628_000), ('W', 604_800), ('D', 86_400)];
    const TIME: &[(char, i64)] = &[('H', 3600), ('M', 60), ('S', 1)];
    let text = text.trim().strip_prefix('P')?;
    let (date, time) = text.split_once('T').unwrap_or((text, ""));
    if date.is_empty() && time.is_empty() || text.ends_with('T') {
        return None;
    }
    part(date, DATE)?.checked_add(part(time, TIME)?)
}

/// Numbers with units, each unit at most once and in its order.
fn part(mut text: &str, mut units: &[(char, i64)]) -> Option<i64> {
    let mut sum = 0_i64;
    while !text.is_empty() {
        let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.' && letter != ',')?;
        let (number, rest) = text.split_at_checked(end)?;
        let unit = rest.chars().next()?;
        let at = units.iter().position(|(name, _)| *name == unit)?;
        let (_, seconds) = units.get(at)?;
        units = units.get(at + 1..)?;
        text = rest.get(unit.len_utf8()..)?;
        let value: i64 = if unit == 'S' {
            decimal::scaled(&number.replace(',', "."), 0)?.value
        } else {
            number.parse().ok()?
        };
        sum = sum.checked_add(value.checked_mul(*seconds)?)?;
    }
    Some(sum)
}
