//! Integers and instants as the steps from one to the next, packed.
//!
//! A page is `256 4 n first`, then blocks of 256 steps: the smallest step, and four groups of 64, each with the width of
//! its steps above the smallest one. Rule: Parquet's `DELTA_BINARY_PACKED`, in the layout the library writes.

use std::io::Write;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{Int64Type, TimestampMillisecondType};
use parquet::basic::{Compression, Encoding};
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::ColumnDescPtr;

use super::chunk::{Chunk, Facts, Validity};
use super::numbers::{finish, ranked};
use super::runs::header;
use crate::error::{Error, Result};
use crate::leb128;

/// Steps that share a smallest one.
const BLOCK: usize = 256;
/// Steps that share a width.
const GROUP: usize = 64;

/// A column of numbers that have little in common but with the one before.
pub(in crate::store) struct Deltas {
    chunk: Chunk,
    /// Of the page at hand.
    values: Vec<i64>,
}

impl Deltas {
    /// An empty column.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a compression no table has.
    pub(super) fn new(column: ColumnDescPtr, compression: Compression) -> Result<Self> {
        let chunk = Chunk::new(column, compression)?;
        Ok(Self {
            chunk,
            values: Vec::new(),
        })
    }

    /// Adds a page of all rows of the arrays.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they are no numbers.
    pub(super) fn page(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        let validity = Validity::of(arrays);
        let mut page = self.chunk.begin_page(&validity);
        let values = if let [one] = arrays
            && validity.nulls == 0
        {
            numbers(one)?
        } else {
            self.values.clear();
            for array in arrays {
                let values = numbers(array)?;
                match array.nulls() {
                    None => self.values.extend_from_slice(values),
                    Some(nulls) => {
                        let known = values.iter().zip(nulls).filter(|(_, is_valid)| *is_valid);
                        self.values.extend(known.map(|(value, _)| value));
                    }
                }
            }
            &self.values
        };
        encode(values, &mut page);
        let low = values.iter().min();
        let high = values.iter().max();
        let facts = Facts {
            rows: validity.flags.len(),
            nulls: validity.nulls,
            bounds: low
                .zip(high)
                .map(|(low, high)| (ranked(*low).to_vec(), ranked(*high).to_vec())),
            text_bytes: None,
        };
        self.chunk.add_page(page, Encoding::DELTA_BINARY_PACKED, facts)
    }

    /// Ends the column.
    ///
    /// # Errors
    /// As [`Chunk::finish`].
    pub(super) fn finish<W: Write + Send>(self, into: &mut SerializedRowGroupWriter<'_, W>) -> Result<()> {
        finish(self.chunk, None, into)
    }
}

/// The values of an array; those of null rows are arbitrary.
pub(super) fn numbers(array: &ArrayRef) -> Result<&[i64]> {
    let ints = array.as_primitive_opt::<Int64Type>().map(|array| &**array.values());
    let times = || {
        let times = array.as_primitive_opt::<TimestampMillisecondType>();
        times.map(|array| &**array.values())
    };
    ints.or_else(times)
        .ok_or_else(|| Error::internal("a column of numbers has none"))
}

/// Appends `values`.
fn encode(values: &[i64], into: &mut Vec<u8>) {
    into.reserve(values.len() * 4);
    header(BLOCK, into);
    header(BLOCK / GROUP, into);
    header(values.len(), into);
    signed(values.first().copied().unwrap_or(0), into);
    let mut steps = [0; BLOCK];
    let following = values.get(1..).unwrap_or_default();
    for (from, to) in values.chunks(BLOCK).zip(following.chunks(BLOCK)) {
        let mut low = i64::MAX;
        for (step, (from, to)) in steps.iter_mut().zip(from.iter().zip(to)) {
            // Whoever reads adds with the same overflow.
            *step = to.wrapping_sub(*from);
            low = low.min(*step);
        }
        signed(low, into);
        let widths_at = into.len();
        into.extend_from_slice(&[0; BLOCK / GROUP]);
        let steps = steps.get_mut(..to.len()).unwrap_or_default();
        for (group, steps) in steps.chunks_mut(GROUP).enumerate() {
            let mut all = 0;
            for step in &mut *steps {
                *step = step.wrapping_sub(low);
                all |= *step;
            }
            let width = i64::BITS - all.leading_zeros();
            if let Some(place) = into.get_mut(widths_at + group) {
                *place = u8::try_from(width).unwrap_or(u8::MAX);
            }
            pack(steps, width, into);
        }
    }
}

/// Appends a number of either sign: small ones of both are short.
fn signed(number: i64, into: &mut Vec<u8>) {
    let folded = (number << 1 ^ number >> (i64::BITS - 1)).cast_unsigned();
    leb128::write(folded, into);
}

/// Appends the lowest `width` bits of each number, lowest first, and zeros until there are as many as in a group.
fn pack(numbers: &[i64], width: u32, into: &mut Vec<u8>) {
    let bytes = GROUP / 8 * usize::try_from(width).unwrap_or(0);
    let end = into.len() + bytes;
    let (mut word, mut bits) = (0_u64, 0);
    for number in numbers {
        let number = number.cast_unsigned();
        word |= number << bits;
        bits += width;
        if bits >= u64::BITS {
            into.extend_from_slice(&word.to_le_bytes());
            bits -= u64::BITS;
            word = number.unbounded_shr(width - bits);
        }
    }
    if bits > 0 {
        into.extend_from_slice(&word.to_le_bytes());
    }
    into.resize(end, 0);
}
