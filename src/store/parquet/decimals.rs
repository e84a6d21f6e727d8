//! Decimals of 38 digits as they are: amounts that hardly ever repeat.

use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef};
use parquet::basic::{Compression, Encoding};
use parquet::data_type::FixedLenByteArray;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::ColumnDescPtr;

use super::chunk::{Chunk, ChunkFacts, ChunkPlace, PageBounds, Validity};
use super::page_buffers::PageBuffers;
use crate::error::{Error, Result};

/// Half of the bytes of amounts are zeros: they come out no larger than at level 1, in three fifths of the time.
const ZSTD_LEVEL: i32 = -2;

/// Bytes of a value.
pub(super) const DECIMAL_BYTES: i32 = 16;

/// The bit that distinguishes negative values from others.
const SIGN: u128 = 1 << 127;

/// A column of decimals without a dictionary.
pub(in crate::store) struct Decimals(Chunk);

impl Decimals {
    /// An empty column.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a compression no table has.
    pub(super) fn new(column: ColumnDescPtr, compression: Compression) -> Result<Self> {
        let mut chunk = Chunk::new(column, compression)?;
        chunk.pack_at(ZSTD_LEVEL);
        Ok(Self(chunk))
    }

    /// Adds a page of all rows of the arrays.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they are no decimals.
    pub(super) fn page(&mut self, arrays: &[ArrayRef], bench: &mut PageBuffers) -> Result<()> {
        let validity = Validity::of(arrays);
        self.0.begin_page(&validity, bench);
        bench.page.reserve((validity.rows - validity.nulls) * size_of::<i128>());
        let mut bounds: Option<(i128, i128)> = None;
        let mut add = |value: i128| {
            bench.page.extend_from_slice(&value.to_be_bytes());
            bounds = Some(bounds.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
        };
        for array in arrays {
            let decimals = array.as_primitive_opt::<Decimal128Type>();
            let decimals = decimals.ok_or_else(|| Error::internal("a column of decimals has none"))?;
            if decimals.null_count() == 0 {
                decimals.values().iter().for_each(|value| add(*value));
            } else {
                decimals.iter().flatten().for_each(&mut add);
            }
        }
        let facts = ChunkFacts {
            rows: validity.rows,
            nulls: validity.nulls,
            bounds: bounds.map(|(low, high)| PageBounds {
                low: ranked(low),
                high: ranked(high),
            }),
            text_bytes: None,
        };
        self.0.add_page(bench, Encoding::PLAIN, facts)
    }

    /// Ends the column.
    ///
    /// # Errors
    /// As [`Chunk::finish`].
    pub(super) fn finish<W: Write + Send>(self, into: ChunkPlace<'_, '_, W>) -> Result<()> {
        let bounds = self.0.bounds();
        let value = |bound: &[u8]| FixedLenByteArray::from(stored(bound));
        let (low, high) = (bounds.map(|(low, _)| value(low)), bounds.map(|(_, high)| value(high)));
        let statistics = ValueStatistics::new(low, high, None, Some(self.0.nulls()), false);
        // Readers of the first Parquet take the bounds of signed values from fields of their own.
        let statistics = statistics.with_backwards_compatible_min_max(true);
        let index = |bounds: &PageBounds| PageBounds {
            low: stored(&bounds.low),
            high: stored(&bounds.high),
        };
        self.0
            .finish(None, Statistics::FixedLenByteArray(statistics), index, into)
    }
}

/// Bytes that are in the order of the values.
fn ranked(value: i128) -> Vec<u8> {
    (value.cast_unsigned() ^ SIGN).to_be_bytes().to_vec()
}

/// A value as Parquet stores it, of its bytes in order.
fn stored(ranked: &[u8]) -> Vec<u8> {
    // Fallback: never taken, bounds have the bytes that `ranked` gave them.
    let value = ranked.first_chunk().map_or(0, |bytes| u128::from_be_bytes(*bytes));
    (value ^ SIGN).to_be_bytes().to_vec()
}
