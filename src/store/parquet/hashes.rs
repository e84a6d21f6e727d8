//! Unsigned integers as they are: hashes.

use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UInt64Array};
use parquet::basic::Encoding;
use parquet::file::statistics::{Statistics, ValueStatistics};

use super::chunk::{Chunk, ChunkFacts, ChunkPlace, PageBounds, Validity};
use super::page_buffers::PageBuffers;
use crate::error::{Error, Result};

/// A column of hashes, none of which is missing.
pub(in crate::store) struct Hashes(pub(super) Chunk);

impl Hashes {
    /// Adds a page of all rows of the arrays.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they are no unsigned integers.
    pub(super) fn page(&mut self, arrays: &[ArrayRef], bench: &mut PageBuffers) -> Result<()> {
        let validity = Validity::of(arrays);
        self.0.begin_page(&validity, bench);
        bench.page.reserve(validity.rows * size_of::<u64>());
        let mut bounds = None;
        for array in arrays {
            let array: Option<&UInt64Array> = array.as_primitive_opt();
            let array = array.filter(|array| array.null_count() == 0);
            let array = array.ok_or_else(|| Error::internal("a column of hashes has none"))?;
            for hash in array.values() {
                bench.page.extend_from_slice(&hash.to_le_bytes());
                bounds = Some(bounds.map_or((*hash, *hash), |(low, high): (u64, u64)| {
                    (low.min(*hash), high.max(*hash))
                }));
            }
        }
        let facts = ChunkFacts {
            rows: validity.rows,
            nulls: 0,
            bounds: bounds.map(|(low, high)| PageBounds {
                low: low.to_be_bytes().to_vec(),
                high: high.to_be_bytes().to_vec(),
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
        let value = |bound: &[u8]| {
            bound
                .first_chunk()
                .map_or(0, |bytes| u64::from_be_bytes(*bytes).cast_signed())
        };
        let (low, high) = (bounds.map(|(low, _)| value(low)), bounds.map(|(_, high)| value(high)));
        let statistics = ValueStatistics::new(low, high, None, Some(0), false);
        let stored = |bound: &Vec<u8>| bound.iter().rev().copied().collect();
        let index = |bounds: &PageBounds| PageBounds {
            low: stored(&bounds.low),
            high: stored(&bounds.high),
        };
        self.0.finish(None, Statistics::Int64(statistics), index, into)
    }
}
