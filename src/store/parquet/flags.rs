//! Truth values, as runs.

use std::io::Write;

use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray};
use parquet::basic::Encoding;
use parquet::file::statistics::{Statistics, ValueStatistics};

use super::chunk::{Chunk, ChunkFacts, ChunkPlace, PageBounds, Validity, prefixed};
use super::page_buffers::PageBuffers;
use super::runs;
use crate::error::{Error, Result};

/// A column of flags, none of which is missing.
pub(in crate::store) struct Flags(pub(super) Chunk);

impl Flags {
    /// Adds a page of all rows of the arrays.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they are no flags.
    pub(super) fn page(&mut self, arrays: &[ArrayRef], bench: &mut PageBuffers) -> Result<()> {
        let flags = arrays.iter().map(|array| {
            let flags = array.as_boolean_opt();
            flags
                .map(BooleanArray::values)
                .ok_or_else(|| Error::internal("flags are truth values"))
        });
        let flags = flags.collect::<Result<Vec<_>>>()?;
        let validity = Validity::of(arrays);
        let rows = validity.rows;
        let set: usize = flags.iter().map(|flags| flags.count_set_bits()).sum();
        self.0.begin_page(&validity, bench);
        prefixed(&mut bench.page, |page| {
            if set == 0 || set == rows {
                return runs::alike(u32::from(set > 0), rows, 1, page);
            }
            let mut all = BooleanBufferBuilder::new(rows);
            for flags in &flags {
                all.append_buffer(flags);
            }
            runs::flags(&all.finish(), page);
        });
        let (low, high) = (u8::from(set == rows), u8::from(set > 0));
        let facts = ChunkFacts {
            rows,
            nulls: 0,
            bounds: Some(PageBounds {
                low: vec![low],
                high: vec![high],
            }),
            text_bytes: None,
        };
        self.0.add_page(bench, Encoding::RLE, facts)
    }

    /// Ends the column.
    ///
    /// # Errors
    /// As [`Chunk::finish`].
    pub(super) fn finish<W: Write + Send>(self, into: ChunkPlace<'_, '_, W>) -> Result<()> {
        let bounds = self.0.bounds();
        let (low, high) = (bounds.map(|(low, _)| low == [1]), bounds.map(|(_, high)| high == [1]));
        let statistics = ValueStatistics::new(low, high, None, Some(0), false);
        self.0.finish(None, Statistics::Boolean(statistics), Clone::clone, into)
    }
}
