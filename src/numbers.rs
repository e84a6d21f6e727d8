//! Numbers of one type as another, and places in memory and files, where no value can be lost.
//!
//! In: lengths, positions and limits. Out: the same in the type that is needed. Promise: what a function gives up is stated
//! where it is defined and cannot occur, or is what its name states. Amounts that are published (time, work, charges, jobs)
//! have no place here: they are added by the room `amounts`, and what does not fit is an [`Error`].

use std::slice::SliceIndex;

use crate::error::{Error, Kind, Result};

/// Memory is addressed with 64 bits: a place in a file is a place in memory as well. On other machines gridtally is not built.
const _: () = assert!(usize::BITS == 64, "gridtally needs a machine of 64 bits");

/// A length or a number of things as 64 bits, which it has already.
#[inline]
#[must_use]
pub const fn count_u64(n: usize) -> u64 {
    n as u64
}

/// A number of things held in memory, or read. It fits: no memory holds 2^63 bytes, and no file.
#[inline]
#[must_use]
pub fn count_i64(n: usize) -> i64 {
    // Fallback: never taken, no memory or file has 2^63 bytes.
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A number of things, where sums are made in 128 bits.
#[inline]
#[must_use]
pub fn count_i128(n: usize) -> i128 {
    i128::from(count_u64(n))
}

/// A number of 32 bits as an index.
#[inline]
#[must_use]
pub const fn index(n: u32) -> usize {
    n as usize
}

/// A place of 64 bits as an index.
#[inline]
#[must_use]
pub fn index_u64(n: u64) -> usize {
    // Fallback: never taken, an index has 64 bits as well.
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// One of two to the power of `bits` places, at most 63: words that follow each other, or differ in a few bytes, mostly have
/// different ones.
#[inline]
#[must_use]
pub fn scattered(word: u64, bits: u32) -> usize {
    // The odd number next to two to the power of 64 by the golden ratio: the highest bits of a product depend on all of a word.
    let scattered = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    index_u64(scattered.rotate_left(bits) & !u64::MAX.unbounded_shl(bits))
}

/// The largest number that divides both, of which one is above zero.
#[must_use]
pub const fn common_divisor(one: i64, other: i64) -> i64 {
    let (mut one, mut other) = (one, other);
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// What was counted one by one, or a place in a file, in a type with a sign. It fits: to count to 2^63 takes centuries.
#[inline]
#[must_use]
pub fn counted_i64(n: u64) -> i64 {
    // Fallback: never taken, nothing counts to 2^63 one by one.
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// What a table of counts holds under a key: nothing was counted under a key that it does not have.
#[inline]
#[must_use]
pub fn tally<N: Default>(entry: Option<N>) -> N {
    // Fallback: a key without an entry was never counted, which is a count of none.
    entry.unwrap_or_default()
}

/// A number of rows or bytes that a table of the lake holds, which has no type without a sign.
///
/// # Errors
/// [`Kind::Data`] naming the column when it is below zero.
pub fn stored_u64(n: i64, column: &str) -> Result<u64> {
    u64::try_from(n).map_err(|_| Error::new(Kind::Data, format!("{column} is {n}, which is below zero")))
}

/// Lengths, positions and limits: none is below zero, and none is an amount.
pub trait Extent: Copy {
    /// What is left of it without `n`: nothing where there are not so many.
    #[must_use]
    fn less(self, n: Self) -> Self;

    /// A position or limit further on by `n`. At the end of its type it is beyond every file and every memory, so that it
    /// ends there.
    #[must_use]
    fn further(self, n: Self) -> Self;

    /// A limit `n` times as large, with the same end.
    #[must_use]
    fn times(self, n: Self) -> Self;
}

macro_rules! extent {
    ($($type:ty)*) => {$(
        impl Extent for $type {
            #[inline]
            fn less(self, n: Self) -> Self {
                // Fallback: nothing is what is left, as the name of the method states.
                self.saturating_sub(n)
            }

            #[inline]
            fn further(self, n: Self) -> Self {
                // Fallback: the end of the type is beyond every file and memory.
                self.saturating_add(n)
            }

            #[inline]
            fn times(self, n: Self) -> Self {
                // Fallback: a limit at the end of its type limits nothing that exists.
                self.saturating_mul(n)
            }
        }
    )*};
}

extent!(usize u64);

/// What stays at the ends of its type. Only for a value that is compared with a limit far within the type next: beyond the
/// type is beyond the limit, and refused by it.
pub trait Comparand: Copy {
    /// The sum, for a comparison with a limit.
    #[must_use]
    fn sum_to_compare(self, other: Self) -> Self;

    /// The product, for a comparison with a limit.
    #[must_use]
    fn product_to_compare(self, other: Self) -> Self;

    /// The difference, for a comparison with a limit.
    #[must_use]
    fn difference_to_compare(self, other: Self) -> Self;
}

macro_rules! compared {
    ($($type:ty)*) => {$(
        impl Comparand for $type {
            #[inline]
            fn sum_to_compare(self, other: Self) -> Self {
                // Fallback: beyond the type is beyond the limit it is compared with.
                self.saturating_add(other)
            }

            #[inline]
            fn product_to_compare(self, other: Self) -> Self {
                // Fallback: beyond the type is beyond the limit it is compared with.
                self.saturating_mul(other)
            }

            #[inline]
            fn difference_to_compare(self, other: Self) -> Self {
                // Fallback: beyond the type is beyond the limit it is compared with.
                self.saturating_sub(other)
            }
        }
    )*};
}

compared!(i64 i128);

/// A part of a text or of a slice: what lies past its end, or between the bytes of a letter, is empty.
pub trait Part<R> {
    /// The part in a range.
    #[must_use]
    fn part(&self, range: R) -> &Self;
}

impl<T, R: SliceIndex<[T], Output = [T]>> Part<R> for [T] {
    #[inline]
    fn part(&self, range: R) -> &Self {
        // Fallback: a range past the end holds nothing, as the trait states.
        self.get(range).unwrap_or_default()
    }
}

impl<R: SliceIndex<str, Output = str>> Part<R> for str {
    #[inline]
    fn part(&self, range: R) -> &Self {
        // Fallback: a range that is none of the text holds no letters.
        self.get(range).unwrap_or_default()
    }
}
