//! Exact arithmetic of decimals: every number is an integer in units of the last of [`SCALE`] places.
//!
//! Sums, differences and products are exact as far as those places go; a product or quotient with more of them is rounded
//! once, to the last place, half to even. What does not fit 38 digits is `None`: nothing wraps, and nothing is a float.

use std::cmp::Ordering;

use arrow_buffer::i256;

/// Decimal places of every number.
pub const SCALE: u32 = 12;

/// The number 1.
const ONE: i128 = 10_i128.pow(SCALE);
/// [`ONE`] for numbers that fit 64 bits, whose division is cheap.
const SHORT_ONE: i64 = 10_i64.pow(SCALE);
/// Numbers have no more digits than this power of ten.
const END: i128 = 10_i128.pow(38);

/// Whether a number has no more digits than a decimal may have.
#[must_use]
pub fn fits(value: i128) -> bool {
    -END < value && value < END
}

/// A decimal text (`12`, `-0.5`) in units of the last of [`SCALE`] places; `None` when it is not one, has more places or is
/// too large.
#[must_use]
pub fn parse(text: &str) -> Option<i128> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, places) = digits.split_once('.').unwrap_or((digits, ""));
    let places = places.trim_end_matches('0');
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(places) || digits.ends_with('.') {
        return None;
    }
    let width = SCALE as usize;
    if places.len() > width {
        return None;
    }
    let value: i128 = format!("{whole}{places:0<width$}").parse().ok()?;
    fits(value).then_some(if is_negative { -value } else { value })
}

/// `left + right`.
pub(super) fn sum(left: i128, right: i128) -> Option<i128> {
    left.checked_add(right).filter(|sum| fits(*sum))
}

/// `left - right`.
pub(super) fn difference(left: i128, right: i128) -> Option<i128> {
    left.checked_sub(right).filter(|difference| fits(*difference))
}

/// `left * right`, rounded half to even.
pub(super) fn product(left: i128, right: i128) -> Option<i128> {
    match whole(left) {
        Some(left) => Factor::Whole(left).times(right),
        None => Factor::of(right).times(left),
    }
}

/// A number that others are multiplied by.
#[derive(Clone, Copy, Debug)]
pub(super) enum Factor {
    /// A whole number.
    Whole(i64),
    /// One divided by this whole number: weights mostly are a half, a quarter or a tenth, and to divide by two, four or ten is less
    /// than to multiply and to take away twelve places.
    Reciprocal(i128),
    /// Any other.
    Other(i128),
}

impl Factor {
    /// How to multiply by a number.
    pub(super) fn of(value: i128) -> Self {
        match (whole(value), reciprocal(value)) {
            (Some(whole), _) => Self::Whole(whole),
            (None, Some(divisor)) => Self::Reciprocal(divisor),
            (None, None) => Self::Other(value),
        }
    }

    /// The product with a number, rounded half to even.
    #[inline]
    pub(super) fn times(self, value: i128) -> Option<i128> {
        let product = match self {
            Self::Whole(factor) => times(value, factor)?,
            Self::Reciprocal(divisor) => nearest(value, divisor),
            Self::Other(factor) => {
                if let Some(value) = whole(value) {
                    times(factor, value)?
                } else if let Some(divisor) = reciprocal(value) {
                    nearest(factor, divisor)
                } else if let Some(product) = factor.checked_mul(value) {
                    nearest(product, ONE)
                } else {
                    wide_nearest(factor, value, ONE)?
                }
            }
        };
        fits(product).then_some(product)
    }
}

/// A number so many times. Numbers of 64 bits are multiplied at once, and always fit.
fn times(value: i128, times: i64) -> Option<i128> {
    match i64::try_from(value) {
        Ok(short) => Some(i128::from(short) * i128::from(times)),
        Err(_) => value.checked_mul(i128::from(times)),
    }
}

/// `left / right`, rounded half to even; `right` is not zero.
pub(super) fn quotient(left: i128, right: i128) -> Option<i128> {
    Divisor::of(right).divide(left)
}

/// A number other than zero that others are divided by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divisor {
    is_negative: bool,
    size: DivisorSize,
}

/// A divisor without its sign.
#[derive(Clone, Copy, Debug)]
enum DivisorSize {
    /// A whole number.
    Whole(i128),
    /// Any other, in units of the last place.
    Other(i128),
}

impl Divisor {
    /// How to divide by a number, which is not zero.
    pub(super) fn of(value: i128) -> Self {
        // Numbers fit 38 digits, so that their negation fits as well.
        let size = value.abs();
        Self {
            is_negative: value < 0,
            size: whole(size).map_or(DivisorSize::Other(size), |whole| DivisorSize::Whole(i128::from(whole))),
        }
    }

    /// A number divided by it, rounded half to even.
    #[inline]
    pub(super) fn divide(self, value: i128) -> Option<i128> {
        let value = if self.is_negative { -value } else { value };
        let quotient = match self.size {
            DivisorSize::Whole(divisor) => nearest(value, divisor),
            DivisorSize::Other(divisor) => match value.checked_mul(ONE) {
                Some(value) => nearest(value, divisor),
                None => wide_nearest(value, ONE, divisor)?,
            },
        };
        fits(quotient).then_some(quotient)
    }
}

/// The largest whole number that is not above.
pub(super) fn floor(value: i128) -> Option<i128> {
    if let Ok(short) = i64::try_from(value)
        && let Some(floor) = short.div_euclid(SHORT_ONE).checked_mul(SHORT_ONE)
    {
        return Some(i128::from(floor));
    }
    let floor = value.div_euclid(ONE).checked_mul(ONE)?;
    fits(floor).then_some(floor)
}

/// The smallest whole number that is not below.
pub(super) fn ceil(value: i128) -> Option<i128> {
    floor(-value).map(|floor| -floor)
}

/// Rounded half to even to `places`.
pub(super) fn rounded(value: i128, places: u32) -> Option<i128> {
    let Some(cut) = SCALE.checked_sub(places) else {
        return Some(value);
    };
    let unit = 10_i128.pow(cut);
    nearest(value, unit).checked_mul(unit).filter(|rounded| fits(*rounded))
}

/// The number as an integer, if it is whole and 64 bits hold it: most are, and need no division of 128 bits.
#[inline]
fn whole(value: i128) -> Option<i64> {
    let short = i64::try_from(value).ok()?;
    let whole = short / SHORT_ONE;
    (whole * SHORT_ONE == short).then_some(whole)
}

/// The whole number whose reciprocal a number is.
#[inline]
fn reciprocal(value: i128) -> Option<i128> {
    let short = i64::try_from(value).ok().filter(|short| *short > 0)?;
    let divisor = SHORT_ONE / short;
    (divisor * short == SHORT_ONE).then_some(i128::from(divisor))
}

/// `value / divisor` without what is behind the point; `divisor` is positive. Sizes of memory are in powers of two, which divide in a
/// fraction of the time.
fn toward_zero(value: i128, divisor: i128) -> i128 {
    if divisor < 2 || divisor.count_ones() != 1 {
        return value / divisor;
    }
    let whole = (value.unsigned_abs() >> divisor.trailing_zeros()).cast_signed();
    if value < 0 { -whole } else { whole }
}

/// `value / divisor` rounded half to even; `divisor` is positive.
#[inline]
pub(crate) fn nearest(value: i128, divisor: i128) -> i128 {
    divided(value, divisor, half_even)
}

/// What a division leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest {
    /// Whether the number without it is odd.
    pub(crate) is_odd: bool,
    /// How it compares with half of the divisor.
    pub(crate) half: Ordering,
}

/// `value / divisor`, one further from zero where anything is left and it `is_away`; `divisor` is positive.
#[inline]
pub(crate) fn divided(value: i128, divisor: i128, is_away: impl Fn(Rest) -> bool) -> i128 {
    // Nearly all numbers have 64 bits, which divide in a fraction of the time.
    match (i64::try_from(value), i64::try_from(divisor)) {
        (Ok(value), Ok(divisor)) => i128::from(short_divided(value, divisor, is_away)),
        _ => wide_divided(value, divisor, is_away),
    }
}

/// The same of 64 bits, without a branch on what is left: no processor can predict whether that is more than a half.
#[inline]
pub(crate) fn short_divided(value: i64, divisor: i64, is_away: impl Fn(Rest) -> bool) -> i64 {
    let (whole, rest) = (value / divisor, value % divisor);
    let half = (2 * rest.unsigned_abs()).cmp(&divisor.unsigned_abs());
    let is_odd = whole & 1 != 0;
    whole + i64::from(is_away(Rest { is_odd, half })) * rest.signum()
}

/// Apart, so that what divides short numbers is small.
#[inline(never)]
fn wide_divided(value: i128, divisor: i128, is_away: impl Fn(Rest) -> bool) -> i128 {
    let whole = toward_zero(value, divisor);
    let rest = value - whole * divisor;
    if rest == 0 {
        return whole;
    }
    let half = (2 * rest.unsigned_abs()).cmp(&divisor.unsigned_abs());
    let is_odd = whole & 1 != 0;
    let is_further = is_away(Rest { is_odd, half });
    whole + if is_further { rest.signum() } else { 0 }
}

/// Half to even: what is left is further from zero where it is more than half of the divisor, or half of it behind an odd number.
pub(crate) fn half_even(rest: Rest) -> bool {
    rest.half == Ordering::Greater || (rest.half == Ordering::Equal && rest.is_odd)
}

/// `left * right / divisor` rounded half to even, where the product has more than 128 bits; `divisor` is positive.
fn wide_nearest(left: i128, right: i128, divisor: i128) -> Option<i128> {
    let value = i256::from_i128(left).checked_mul(i256::from_i128(right))?;
    nearest_of_256(value, i256::from_i128(divisor))?.to_i128()
}

/// `value / divisor` of 256 bits, rounded half to even; `divisor` is positive.
pub(crate) fn nearest_of_256(value: i256, divisor: i256) -> Option<i256> {
    let down = value.checked_div(divisor)?;
    let rest = value.checked_rem(divisor)?;
    let twice = rest.wrapping_abs().checked_mul(i256::from_i128(2))?;
    let is_odd = down.checked_rem(i256::from_i128(2))? != i256::ZERO;
    let is_away = twice > divisor || twice == divisor && is_odd;
    let step = match (is_away, rest.is_negative()) {
        (false, _) => i256::ZERO,
        (true, false) => i256::ONE,
        (true, true) => i256::MINUS_ONE,
    };
    down.checked_add(step)
}
