//! Exact quotients, rounded once, where they are printed.

use super::decimal;
use crate::numbers::Comparand;

/// A quotient of integers with a positive divisor.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    number: i128,
    divisor: i128,
}

impl Ratio {
    /// `number / divisor`; `None` unless the divisor is positive.
    #[must_use]
    pub fn new(number: i128, divisor: i128) -> Option<Self> {
        (divisor > 0).then_some(Self { number, divisor }.reduced())
    }

    /// A decimal in ten-thousandths.
    #[must_use]
    pub fn from_e4(e4: i64) -> Self {
        Self {
            number: i128::from(e4),
            divisor: 10_000,
        }
        .reduced()
    }

    /// Their product.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        Self {
            number: product(self.number, other.number),
            divisor: product(self.divisor, other.divisor),
        }
        .reduced()
    }

    /// The quotient of two; `None` unless `other` is positive.
    #[must_use]
    pub fn over(self, other: Self) -> Option<Self> {
        (other.number > 0).then_some(
            Self {
                number: product(self.number, other.divisor),
                divisor: product(self.divisor, other.number),
            }
            .reduced(),
        )
    }

    /// Their difference.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        let left = product(self.number, other.divisor);
        Self {
            number: left.difference_to_compare(product(other.number, self.divisor)),
            divisor: product(self.divisor, other.divisor),
        }
        .reduced()
    }

    /// The integer nearest to `self` times ten to the power of `decimals`, halves away from zero.
    #[must_use]
    pub fn scaled(self, decimals: u32) -> i128 {
        let number = product(self.number, 10_i128.pow(decimals));
        let (whole, rest) = (number / self.divisor, (number % self.divisor).abs());
        let up = i128::from(rest >= self.divisor - rest && rest > 0);
        whole + if number < 0 { -up } else { up }
    }

    /// As a decimal of at most so many places, rounded half up, without zeros at its end.
    #[must_use]
    pub fn text(self, decimals: u32) -> String {
        decimal::text(self.scaled(decimals), decimals)
    }

    fn reduced(self) -> Self {
        let (mut a, mut b) = (self.number.unsigned_abs(), self.divisor.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let common = i128::try_from(a).unwrap_or(1).max(1);
        Self {
            number: self.number / common,
            divisor: self.divisor / common,
        }
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ratio {}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.minus(*other).number.cmp(&0)
    }
}

/// The product of two numbers of ratios. Ratios are shown and compared, and nothing is added up from them.
fn product(a: i128, b: i128) -> i128 {
    // Fallback: what nodes have comes to 100 bits; a table of absurd numbers is shown at the end of the type.
    a.saturating_mul(b)
}
