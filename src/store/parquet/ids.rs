//! Identities of 16 bytes, stored unencoded, with a Bloom filter of those a row group may contain.

use std::io::Write;

use arrow::array::{Array, ArrayRef, AsArray};
use parquet::basic::{Compression, Encoding};
use parquet::bloom_filter::Sbbf;
use parquet::data_type::FixedLenByteArray;
use parquet::file::properties::BloomFilterProperties;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::ColumnDescPtr;

use super::chunk::{Chunk, ChunkFacts, ChunkPlace, PageBounds, Validity};
use super::page_buffers::PageBuffers;
use crate::error::{Error, Result};
use crate::numbers::Part;

/// Bytes of an identity.
pub(super) const ID_BYTES: usize = 16;

/// A column of identities, none of which is missing.
pub(in crate::store) struct IdColumn {
    chunk: Chunk,
    filter: Sbbf,
    false_positives: f64,
}

impl IdColumn {
    /// An empty column.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a compression no table has.
    pub(super) fn new(column: ColumnDescPtr, compression: Compression, filter: &BloomFilterProperties) -> Result<Self> {
        Ok(Self {
            chunk: Chunk::new(column, compression)?,
            filter: Sbbf::new_with_ndv_fpp(filter.ndv(), filter.fpp())?,
            false_positives: filter.fpp(),
        })
    }

    /// Adds a page of all rows of the arrays.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they are no identities.
    pub(super) fn page(&mut self, arrays: &[ArrayRef], bench: &mut PageBuffers) -> Result<()> {
        let validity = Validity::of(arrays);
        self.chunk.begin_page(&validity, bench);
        bench.page.reserve(validity.rows * ID_BYTES);
        let mut bounds: Option<(&[u8; ID_BYTES], &[u8; ID_BYTES])> = None;
        for array in arrays {
            let array = array.as_fixed_size_binary_opt();
            let array = array.filter(|array| array.value_length() == 16 && array.null_count() == 0);
            let array = array.ok_or_else(|| Error::internal("a column of identities has none"))?;
            let (ids, _) = array.value_data().as_chunks();
            let ids = ids.part(..array.len());
            bench.page.extend_from_slice(ids.as_flattened());
            let mut last = None;
            for id in ids {
                // Charges of several policies for a record follow each other.
                if last.replace(id) != Some(id) {
                    self.filter.insert(id.as_slice());
                }
                bounds = Some(bounds.map_or((id, id), |(low, high)| (low.min(id), high.max(id))));
            }
        }
        let facts = ChunkFacts {
            rows: validity.rows,
            nulls: 0,
            bounds: bounds.map(|(low, high)| PageBounds {
                low: low.to_vec(),
                high: high.to_vec(),
            }),
            text_bytes: None,
        };
        self.chunk.add_page(bench, Encoding::PLAIN, facts)
    }

    /// Ends the column.
    ///
    /// # Errors
    /// As [`Chunk::finish`].
    pub(super) fn finish<W: Write + Send>(mut self, into: ChunkPlace<'_, '_, W>) -> Result<()> {
        let bounds = self.chunk.bounds();
        let value = |bound: &[u8]| FixedLenByteArray::from(bound.to_vec());
        let (low, high) = (bounds.map(|(low, _)| value(low)), bounds.map(|(_, high)| value(high)));
        let statistics = ValueStatistics::new(low, high, None, Some(0), false);
        self.filter.fold_to_target_fpp(self.false_positives);
        self.chunk.keep_filter(self.filter);
        self.chunk
            .finish(None, Statistics::FixedLenByteArray(statistics), Clone::clone, into)
    }
}
