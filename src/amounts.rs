//! Amounts that are added up: usage, work and money.
//!
//! In: parts of 64 or 128 bits. Out: their sum, or an error that names the sum. Promise: a sum is exact, or there is none: it
//! neither stays at the end of its type nor wraps there.
//!
//! Parts of 64 bits that are added up in 128 bits need no check: 2^64 of them fit, and nothing counts so many. Where a sum of
//! 128 bits becomes one of 64 it is checked once, at the end. Parts of 128 bits, as charges and work are, and sums of 64 bits
//! are added by [`add`], products of two amounts are made by [`product`].

use crate::error::{Error, Kind, Result};

/// How many bits a sum of 128 bits may have. What is left is room for finer units (see [`finer`]) and for differences.
const SUM_BITS: u32 = 117;

/// What can be added up.
pub trait Summand: Copy + Default {
    /// The exact sum; `None` where there is none.
    fn plus(self, more: Self) -> Option<Self>;
}

impl Summand for i64 {
    #[inline]
    fn plus(self, more: Self) -> Option<Self> {
        self.checked_add(more)
    }
}

impl Summand for u64 {
    #[inline]
    fn plus(self, more: Self) -> Option<Self> {
        self.checked_add(more)
    }
}

impl Summand for i128 {
    #[inline]
    fn plus(self, more: Self) -> Option<Self> {
        self.checked_add(more).filter(|sum| is_within(*sum))
    }
}

#[inline]
fn is_within(amount: i128) -> bool {
    amount.unsigned_abs() >> SUM_BITS == 0
}

/// The error of an amount that is too large to be exact; `what` names it, best by its column.
#[cold]
#[must_use]
pub fn too_large(what: &str) -> Error {
    Error::new(Kind::Data, "the amounts are too large for an exact sum").at("sum", what)
}

/// Adds to a sum.
///
/// # Errors
/// [`Kind::Data`] naming `what` is added up when the sum is too large.
#[inline]
pub fn add<A: Summand>(sum: &mut A, more: A, what: &str) -> Result<()> {
    *sum = sum.plus(more).ok_or_else(|| too_large(what))?;
    Ok(())
}

/// Adds to a sum of what is known: it is unknown until a part of it is known.
///
/// # Errors
/// As [`add`].
#[inline]
pub fn add_known<A: Summand>(sum: &mut Option<A>, more: Option<A>, what: &str) -> Result<()> {
    match (sum.as_mut(), more) {
        (Some(sum), Some(more)) => add(sum, more, what),
        (None, more) => {
            *sum = more;
            Ok(())
        }
        (Some(_), None) => Ok(()),
    }
}

/// The sum of all parts.
///
/// # Errors
/// As [`add`].
pub fn total<A: Summand>(parts: impl IntoIterator<Item = A>, what: &str) -> Result<A> {
    let mut sum = A::default();
    for part in parts {
        add(&mut sum, part, what)?;
    }
    Ok(sum)
}

/// A product that is an amount, such as time times cores times the value of a benchmark.
///
/// # Errors
/// [`Kind::Data`] naming `what` it is when it is too large.
#[inline]
pub fn product(a: i128, b: i128, what: &str) -> Result<i128> {
    let product = a.checked_mul(b).filter(|product| is_within(*product));
    product.ok_or_else(|| too_large(what))
}

/// A sum in units `by` times as fine: hundredths for percent, thousandths for rounding. `by` has at most ten bits, or the sum
/// as many fewer: times of 64-bit parts have room for 2^30.
#[inline]
#[must_use]
pub fn finer(sum: i128, by: i128) -> i128 {
    // Fallback: never taken, 117 bits of a sum and ten of a factor fit 127.
    sum.saturating_mul(by)
}
