//! The part of an account in all charges, rounded once, where it is printed.

use std::cmp::Ordering;

use arrow_buffer::i256;

use crate::expr::decimal::nearest_of_256;

/// A part of all charges, exact.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChargePart {
    part: i256,
    whole: i256,
}

impl ChargePart {
    /// `part` of `whole`.
    pub(super) fn new(part: i128, whole: i128) -> Self {
        let (part, whole) = (i256::from_i128(part), i256::from_i128(whole));
        match whole.cmp(&i256::ZERO) {
            Ordering::Greater => Self { part, whole },
            Ordering::Less => Self {
                part: part.wrapping_neg(),
                whole: whole.wrapping_neg(),
            },
            // Nothing was charged: nobody has a part of it.
            Ordering::Equal => Self {
                part: i256::ZERO,
                whole: i256::ONE,
            },
        }
    }

    /// How much more it is; `None` where that does not fit.
    pub(super) fn minus(self, other: Self) -> Option<Self> {
        let (own, others) = (self.part.checked_mul(other.whole)?, other.part.checked_mul(self.whole)?);
        Some(Self {
            part: own.checked_sub(others)?,
            whole: self.whole.checked_mul(other.whole)?,
        })
    }

    /// In ten-thousandths, rounded half to even; `None` where that does not fit.
    pub(super) fn e4(self) -> Option<i64> {
        let rounded = nearest_of_256(self.part.checked_mul(i256::from_i128(10_000))?, self.whole)?;
        i64::try_from(rounded.to_i128()?).ok()
    }
}
