//! Quotients of whole numbers, rounded half up.

/// Rounded half up; `None` when it does not fit, or the divisor is not above zero. Of most amounts both fit 64 bits, where dividing is
/// one instruction.
#[inline]
#[must_use]
pub fn half_up(numerator: i128, divisor: i128) -> Option<i64> {
    if let (Ok(numerator), Ok(divisor)) = (u64::try_from(numerator), u64::try_from(divisor)) {
        let whole = numerator.checked_div(divisor)?;
        let rest = numerator % divisor;
        return i64::try_from(whole + u64::from(rest >= divisor - rest)).ok();
    }
    half_up_wide(numerator, divisor)
}

fn half_up_wide(numerator: i128, divisor: i128) -> Option<i64> {
    if divisor <= 0 {
        return None;
    }
    if let Ok(numerator) = u128::try_from(numerator) {
        let divisor = divisor.unsigned_abs();
        let whole = numerator / divisor;
        let rest = numerator - whole * divisor;
        return i64::try_from(whole + u128::from(rest >= divisor - rest)).ok();
    }
    let whole = numerator.div_euclid(divisor);
    let rest = numerator.rem_euclid(divisor);
    i64::try_from(whole + i128::from(rest >= divisor - rest)).ok()
}
