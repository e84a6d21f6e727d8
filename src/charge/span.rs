//! Units that are something held for a time: a core for an hour.

/// Ends of units that are a span of time, and its seconds.
const SPANS: [(&str, i128); 4] = [("_second", 1), ("_minute", 60), ("_hour", 3600), ("_day", 86_400)];

/// What a unit of time is of, and its seconds: `rgu_hour` is 3600 seconds of `rgu`.
#[must_use]
pub fn spanned(unit: &str) -> Option<(&str, i128)> {
    SPANS
        .iter()
        .find_map(|(end, span_s)| Some((unit.strip_suffix(end)?, *span_s)))
}

/// An amount times a factor over a divisor, to the nearest whole number, a tie to the even one. The quotient is multiplied,
/// not the amount: a charge times the seconds of a day, over those of a year, fits whatever the charge. `None` without a
/// divisor.
#[must_use]
pub fn times_over(amount: i128, factor: i128, divisor: i128) -> Option<i128> {
    let (quotient, rest) = (amount.checked_div_euclid(divisor)?, amount.checked_rem_euclid(divisor)?);
    let rest = rest.checked_mul(factor)?;
    let whole = quotient
        .checked_mul(factor)?
        .checked_add(rest.checked_div_euclid(divisor)?)?;
    let twice = rest.checked_rem_euclid(divisor)?.checked_mul(2)?;
    let limit = divisor.checked_abs()?;
    let is_up = twice > limit || (twice == limit && whole % 2 != 0);
    whole.checked_add(i128::from(is_up))
}
