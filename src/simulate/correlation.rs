//! How two series of numbers go together: Pearson's and Spearman's coefficients.

use crate::amounts::too_large;
use crate::error::Result;
use crate::fairshare::float::of_integer;
use crate::numbers::{count_i64, count_i128};
use crate::runtime::column::{Column, ColumnWriter};
use crate::runtime::column_value::{ByteFields, ColumnValue};
use crate::runtime::sorter::Sorter;

/// Pearson's coefficient of pairs, in their order: their covariance over the product of their standard
/// deviations, -1 to 1. Sums are exact; there is one division, of doubles. `None` where a series is constant or empty.
///
/// # Errors
/// [`crate::error::Kind::Data`] when a sum is too large.
pub fn pearson(one: &Column<i64>, other: &Column<i64>) -> Result<Option<f64>> {
    let n = count_i128(one.len().min(other.len()));
    let (Some(first_one), Some(first_other)) = (one.first(), other.first()) else {
        return Ok(None);
    };
    let mut sums = PairSums::default();
    for (one, other) in one.iter().zip(other) {
        // From the first pair: instants are large, their differences are not.
        let added = sums.add(
            i128::from(one) - i128::from(first_one),
            i128::from(other) - i128::from(first_other),
        );
        added.ok_or_else(|| too_large("squares of times"))?;
    }
    let times_n = |of_products: i128, left: i128, right: i128| {
        let product = left.checked_mul(right)?;
        n.checked_mul(of_products)?.checked_sub(product)
    };
    let large = || too_large("squares of times");
    let together = times_n(sums.product, sums.left, sums.right).ok_or_else(large)?;
    let alone_x = times_n(sums.left_square, sums.left, sums.left).ok_or_else(large)?;
    let alone_y = times_n(sums.right_square, sums.right, sums.right).ok_or_else(large)?;
    if alone_x == 0 || alone_y == 0 {
        return Ok(None);
    }
    // Each root by itself: their product as an integer would not fit.
    let spread = of_integer(alone_x).sqrt() * of_integer(alone_y).sqrt();
    Ok(Some((of_integer(together) / spread).clamp(-1.0, 1.0)))
}

/// Sums over pairs.
#[derive(Clone, Copy, Debug, Default)]
struct PairSums {
    left: i128,
    right: i128,
    left_square: i128,
    right_square: i128,
    product: i128,
}

impl PairSums {
    fn add(&mut self, left: i128, right: i128) -> Option<()> {
        self.left = self.left.checked_add(left)?;
        self.right = self.right.checked_add(right)?;
        self.left_square = self.left_square.checked_add(left.checked_mul(left)?)?;
        self.right_square = self.right_square.checked_add(right.checked_mul(right)?)?;
        self.product = self.product.checked_add(left.checked_mul(right)?)?;
        Some(())
    }
}

/// Spearman's coefficient: Pearson's of the ranks, equal numbers having the mean of their ranks.
///
/// # Errors
/// As [`pearson`]; [`crate::error::Kind::Io`] when many ranks cannot be put into a temporary file.
pub fn spearman(one: &Column<i64>, other: &Column<i64>) -> Result<Option<f64>> {
    pearson(&ranks(one)?, &ranks(other)?)
}

/// A number and the place it is at, or a place and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NumberPair {
    first: i64,
    second: i64,
}

impl ColumnValue for NumberPair {
    fn encode(&self, bytes: &mut Vec<u8>) {
        self.first.encode(bytes);
        self.second.encode(bytes);
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        Self {
            first: bytes.signed(),
            second: bytes.signed(),
        }
    }
}

/// Twice the rank of each number: the mean rank of equal numbers may be a half.
fn ranks(numbers: &Column<i64>) -> Result<Column<i64>> {
    let budget = numbers.budget();
    let mut by_number = Sorter::new(budget);
    for (first, second) in numbers.iter().zip(0..) {
        by_number.push(NumberPair { first, second })?;
    }
    let ordered = Column::of(by_number.finish()?, budget)?;
    let mut by_place = Sorter::new(budget);
    // One reader is ahead of the other by those that are equal.
    let (mut ahead, mut behind) = (ordered.iter().peekable(), ordered.iter());
    let mut first = 0;
    while let Some(number) = ahead.peek().map(|pair| pair.first) {
        let mut same_n = 0;
        while ahead.next_if(|pair| pair.first == number).is_some() {
            same_n += 1;
        }
        let last = first + same_n - 1;
        for pair in behind.by_ref().take(same_n) {
            by_place.push(NumberPair {
                first: pair.second,
                second: count_i64(first + last + 2),
            })?;
        }
        first += same_n;
    }
    let mut ranks = ColumnWriter::new(budget);
    for pair in by_place.finish()? {
        ranks.push(pair.second)?;
    }
    ranks.finish()
}
