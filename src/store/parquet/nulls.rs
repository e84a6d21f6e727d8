//! Pages of a column that has had no value so far: a dialect leaves a third of the columns empty.

use std::io::Write;

use arrow_array::ArrayRef;
use parquet::basic::{Compression, Encoding, Type};
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::ColumnDescPtr;

use super::chunk::{Chunk, ChunkFacts, ChunkPlace, Validity};
use crate::error::Result;

/// Empty pages.
pub(in crate::store) struct Nulls {
    column: ColumnDescPtr,
    compression: Compression,
    /// Rows of each page.
    pages: Vec<usize>,
}

impl Nulls {
    /// No page yet; `None` for a column of which no value can be missing, or of a type no table has.
    pub(super) fn new(column: ColumnDescPtr, compression: Compression) -> Option<Self> {
        let is_plain = column.max_def_level() == 1 && column.max_rep_level() == 0;
        (is_plain && statistics(column.physical_type(), 0).is_some()).then_some(Self {
            column,
            compression,
            pages: Vec::new(),
        })
    }

    /// Adds a page if all its rows are null; whether they are.
    pub(super) fn page(&mut self, arrays: &[ArrayRef]) -> bool {
        let is_empty = arrays.iter().all(|array| array.null_count() == array.len());
        if is_empty {
            self.pages.push(arrays.iter().map(|array| array.len()).sum());
        }
        is_empty
    }

    /// Rows of the pages so far.
    pub(super) fn rows(&self) -> &[usize] {
        &self.pages
    }

    /// Ends the column.
    ///
    /// # Errors
    /// As [`Chunk::finish`].
    pub(super) fn finish<W: Write + Send>(self, into: ChunkPlace<'_, '_, W>) -> Result<()> {
        let physical = self.column.physical_type();
        let mut chunk = Chunk::new(self.column, self.compression)?;
        for rows in self.pages {
            let facts = ChunkFacts {
                rows,
                nulls: rows,
                ..ChunkFacts::default()
            };
            chunk.begin_page(&Validity::none(rows), into.bench);
            chunk.add_page(into.bench, Encoding::PLAIN, facts)?;
        }
        let nulls = chunk.nulls();
        let unknown = || Statistics::int64(None, None, None, Some(nulls), false);
        let statistics = statistics(physical, nulls).unwrap_or_else(unknown);
        chunk.finish(None, statistics, Clone::clone, into)
    }
}

/// The entry in the footer for a column without values.
fn statistics(physical: Type, nulls: u64) -> Option<Statistics> {
    macro_rules! empty {
        ($kind:ident) => {
            Statistics::$kind(ValueStatistics::new(None, None, None, Some(nulls), false))
        };
    }
    Some(match physical {
        Type::BOOLEAN => empty!(Boolean),
        Type::INT32 => empty!(Int32),
        Type::INT64 => empty!(Int64),
        Type::BYTE_ARRAY => empty!(ByteArray),
        Type::FIXED_LEN_BYTE_ARRAY => empty!(FixedLenByteArray),
        _ => return None,
    })
}
