//! Halving over time, in whole numbers: the same on every machine.

/// One, in the units decay is counted in.
const ONE: u128 = 1_000_000_000_000_000_000;
/// Bits after the point of the exponent.
const BITS: u32 = 40;

/// `amount` times 2^(-days / `half_life_days`), rounded towards zero; `None` when it does not fit. The factor has 18 places
/// after the point, rounded down.
pub(super) fn decayed(amount: i128, days: i128, half_life_days: i128) -> Option<i128> {
    let factor = i128::try_from(factor(days, half_life_days)?).ok()?;
    let one = i128::try_from(ONE).ok()?;
    // The factor is at most one: the quotient is multiplied, so that amounts of any size fit.
    let whole = (amount / one).checked_mul(factor)?;
    whole.checked_add((amount % one).checked_mul(factor)?.checked_div(one)?)
}

/// 2^(-days / half life), times [`ONE`].
fn factor(days: i128, half_life_days: i128) -> Option<u128> {
    if days < 0 || half_life_days <= 0 {
        return None;
    }
    let whole = u32::try_from(days / half_life_days).ok()?;
    let rest = days % half_life_days;
    let fraction = rest.checked_shl(BITS)? / half_life_days;
    // 2^-x is the product of the roots 2^-(1/2), 2^-(1/4), ... that the bits of x name.
    let (mut factor, mut root) = (ONE, ONE / 2);
    for bit in (0..BITS).rev() {
        root = (root * ONE).isqrt();
        if fraction >> bit & 1 == 1 {
            factor = factor * root / ONE;
        }
    }
    // Fallback: after so many halvings nothing is left of any factor.
    Some(factor.checked_shr(whole).unwrap_or_default())
}
