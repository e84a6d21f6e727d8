//! Integers and instants as the steps from one to the next, packed.
//!
//! A page is `256 4 n first`, then blocks of 256 steps: the smallest step, and four groups of 64, each with the width of
//! its steps above the smallest one. Rule: Parquet's `DELTA_BINARY_PACKED`, in the layout the library writes.

use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, TimestampMillisecondType};
use arrow_array::{Array, ArrayRef};
use fearless_simd::{Level, Simd, dispatch};
use parquet::basic::Encoding;

use super::chunk::{Chunk, ChunkFacts, ChunkPlace, PageBounds, Validity};
use super::numbers::{finish_long, ranked};
use super::page_buffers::PageBuffers;
use super::runs::header;
use crate::error::{Error, Result};
use crate::leb128;
use crate::numbers::{Part, index};

/// Groups that share a smallest step.
const GROUPS: usize = 4;
/// Steps that share a width.
const GROUP: usize = 64;

/// A column of numbers that have little in common but with the one before.
pub(in crate::store) struct Deltas(pub(super) Chunk);

impl Deltas {
    /// Adds a page of all rows of the arrays.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they are no numbers.
    pub(super) fn page(&mut self, arrays: &[ArrayRef], bench: &mut PageBuffers) -> Result<()> {
        let validity = Validity::of(arrays);
        self.0.begin_page(&validity, bench);
        let PageBuffers { numbers, page, .. } = bench;
        let values = if let [one] = arrays
            && validity.nulls == 0
        {
            values(one)?
        } else {
            numbers.clear();
            numbers.reserve(validity.rows);
            for array in arrays {
                let values = values(array)?;
                match array.nulls() {
                    None => numbers.extend_from_slice(values),
                    Some(nulls) => {
                        let known = values.iter().zip(nulls).filter(|(_, is_valid)| *is_valid);
                        numbers.extend(known.map(|(value, _)| value));
                    }
                }
            }
            numbers
        };
        encode::<GROUP>(values, page);
        let bounds = dispatch!(Level::new(), simd => bounds(simd, values));
        let facts = ChunkFacts {
            rows: validity.rows,
            nulls: validity.nulls,
            bounds: bounds.map(|(low, high)| PageBounds {
                low: ranked(low).to_vec(),
                high: ranked(high).to_vec(),
            }),
            text_bytes: None,
        };
        self.0.add_page(bench, Encoding::DELTA_BINARY_PACKED, facts)
    }

    /// Ends the column.
    ///
    /// # Errors
    /// As [`Chunk::finish`].
    pub(super) fn finish<W: Write + Send>(self, into: ChunkPlace<'_, '_, W>) -> Result<()> {
        finish_long(self.0, into)
    }
}

/// The values of an array; those of null rows are arbitrary.
pub(super) fn values(array: &ArrayRef) -> Result<&[i64]> {
    let ints = array.as_primitive_opt::<Int64Type>().map(|array| &**array.values());
    let times = || {
        let times = array.as_primitive_opt::<TimestampMillisecondType>();
        times.map(|array| &**array.values())
    };
    ints.or_else(times)
        .ok_or_else(|| Error::internal("a column of numbers has none"))
}

/// The smallest and the largest value.
#[expect(clippy::inline_always, reason = "it is compiled for every kind of processor")]
#[inline(always)]
fn bounds<S: Simd>(_: S, values: &[i64]) -> Option<(i64, i64)> {
    let first = *values.first()?;
    let widen = |(low, high): (i64, i64), value: &i64| (low.min(*value), high.max(*value));
    Some(values.iter().fold((first, first), widen))
}

/// Appends `values`, of whose steps so many share a width.
pub(super) fn encode<const GROUP: usize>(values: &[i64], into: &mut Vec<u8>) {
    dispatch!(Level::new(), simd => encode_with::<_, GROUP>(simd, values, into));
}

/// The same with what the processor has: the oldest ones cannot even compare two such numbers at once.
#[expect(clippy::inline_always, reason = "it is compiled for every kind of processor")]
#[inline(always)]
fn encode_with<S: Simd, const GROUP: usize>(_: S, values: &[i64], into: &mut Vec<u8>) {
    into.reserve(values.len() * 4);
    let block = GROUPS * GROUP;
    header(block, into);
    header(GROUPS, into);
    header(values.len(), into);
    // Fallback: a page without values begins at 0, as the format requires.
    signed(values.first().copied().unwrap_or(0), into);
    let mut steps = [[0; GROUP]; GROUPS];
    let steps = steps.as_flattened_mut();
    let following = values.part(1..);
    for (from, to) in values.chunks(block).zip(following.chunks(block)) {
        let mut low = i64::MAX;
        for (step, (from, to)) in steps.iter_mut().zip(from.iter().zip(to)) {
            // Whoever reads adds with the same overflow.
            *step = to.wrapping_sub(*from);
            low = low.min(*step);
        }
        signed(low, into);
        let widths_at = into.len();
        into.extend_from_slice(&[0; GROUPS]);
        for (group, steps) in steps.part(..to.len()).chunks(GROUP).enumerate() {
            // The last group of a page is filled up with zeros.
            let mut above = [0; GROUP];
            let mut all = 0;
            for (above, step) in above.iter_mut().zip(steps) {
                *above = step.wrapping_sub(low).cast_unsigned();
                all |= *above;
            }
            let width = u64::BITS - all.leading_zeros();
            if let Some(place) = into.get_mut(widths_at + group) {
                // Fallback: never taken, no width is above 64.
                *place = u8::try_from(width).unwrap_or(u8::MAX);
            }
            pack(above, width, into);
        }
    }
}

/// Appends a number of either sign: small ones of both are short.
fn signed(number: i64, into: &mut Vec<u8>) {
    let folded = (number << 1 ^ number >> (i64::BITS - 1)).cast_unsigned();
    leb128::write(folded, into);
}

/// Appends the lowest `width` bits of each number, lowest first; there are no others.
#[expect(clippy::inline_always, reason = "it is compiled for every kind of processor")]
#[inline(always)]
fn pack<const GROUP: usize>(mut numbers: [u64; GROUP], mut width: u32, into: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    let end = into.len() + GROUP / 8 * index(width);
    // As long as two numbers fit into one they are one: all pairs at a time.
    let mut n = GROUP;
    while n > 1 && width <= u64::BITS / 2 {
        let pairs = numbers;
        for (number, [low, high]) in numbers.iter_mut().zip(pairs.as_chunks().0).take(n / 2) {
            *number = low | high << width;
        }
        n /= 2;
        width *= 2;
    }
    let mut packed = [0; GROUP];
    let mut places = packed.iter_mut();
    let (mut word, mut bits) = (0, 0);
    for number in numbers.iter().take(n) {
        word |= number << bits;
        bits += width;
        if bits >= u64::BITS {
            if let Some(place) = places.next() {
                *place = word;
            }
            bits -= u64::BITS;
            word = number.unbounded_shr(width - bits);
        }
    }
    if let Some(place) = places.next() {
        *place = word;
    }
    let words = GROUP - places.len();
    for word in packed.iter().take(words) {
        into.extend_from_slice(&word.to_le_bytes());
    }
    // Half of the last word, or all of it, is behind the last number.
    into.truncate(end);
}
