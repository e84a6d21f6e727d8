//! Truth values, as runs.

use std::io::Write;

use arrow::array::{Array, ArrayRef, AsArray, BooleanBufferBuilder};
use parquet::basic::{Compression, Encoding};
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::ColumnDescPtr;

use super::chunk::{Chunk, Facts, Validity, prefixed};
use super::runs;
use crate::error::{Error, Result};

/// A column of flags, none of which is missing.
pub(in crate::store) struct Flags {
    chunk: Chunk,
}

impl Flags {
    /// An empty column.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a compression no table has.
    pub(super) fn new(column: ColumnDescPtr, compression: Compression) -> Result<Self> {
        let chunk = Chunk::new(column, compression)?;
        Ok(Self { chunk })
    }

    /// Adds a page of all rows of the arrays.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they are no flags.
    pub(super) fn page(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        let mut flags = BooleanBufferBuilder::new(arrays.iter().map(Array::len).sum());
        for array in arrays {
            let array = array.as_boolean_opt();
            let array = array.ok_or_else(|| Error::internal("flags are truth values"))?;
            flags.append_buffer(array.values());
        }
        let flags = flags.finish();
        let set = flags.count_set_bits();
        let (low, high) = (u8::from(set == flags.len()), u8::from(set > 0));
        let mut page = self.chunk.begin_page(&Validity::of(arrays));
        prefixed(&mut page, |page| runs::flags(&flags, page));
        let facts = Facts {
            rows: flags.len(),
            nulls: 0,
            bounds: Some((vec![low], vec![high])),
            text_bytes: None,
        };
        self.chunk.add_page(page, Encoding::RLE, facts)
    }

    /// Ends the column.
    ///
    /// # Errors
    /// As [`Chunk::finish`].
    pub(super) fn finish<W: Write + Send>(self, into: &mut SerializedRowGroupWriter<'_, W>) -> Result<()> {
        let bounds = self.chunk.bounds();
        let (low, high) = (bounds.map(|(low, _)| low == [1]), bounds.map(|(_, high)| high == [1]));
        let statistics = ValueStatistics::new(low, high, None, Some(0), false);
        self.chunk
            .finish(None, Statistics::Boolean(statistics), Clone::clone, into)
    }
}
