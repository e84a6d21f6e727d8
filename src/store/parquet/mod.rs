//! Columns of a row group, encoded page by page.

mod chunk;
mod chunk_bytes;
mod decimals;
mod deltas;
mod flags;
mod hashes;
mod ids;
mod library;
mod nulls;
mod numbers;
mod page_buffers;
mod prefixes;
mod runs;
mod strings;

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, new_null_array};
use arrow_schema::{DataType, Field, TimeUnit};
use parquet::basic::{Encoding, Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::ColumnDescPtr;

use self::chunk::{Chunk, ChunkPlace};
use self::decimals::{DECIMAL_BYTES, Decimals};
use self::deltas::Deltas;
use self::flags::Flags;
use self::hashes::Hashes;
use self::ids::IdColumn;
use self::library::LibraryColumn;
use self::nulls::Nulls;
use self::numbers::NumberColumn;
use self::prefixes::Prefixes;
use super::parquet::strings::StringColumn;
use crate::error::Result;

pub(super) use self::page_buffers::{FileBuffers, PageBuffers};

/// One column of a row group under construction.
pub(super) struct ParquetColumn {
    /// Its pages while all of them are empty.
    nulls: Option<Nulls>,
    pages: ParquetPages,
}

/// How pages are written.
enum ParquetPages {
    /// Texts in a dictionary.
    Words(Box<StringColumn>),
    /// Numbers in a dictionary, decimals of few digits included.
    Numbers(Box<NumberColumn>),
    /// Numbers as steps.
    Deltas(Box<Deltas>),
    /// Decimals as they are.
    Decimals(Box<Decimals>),
    /// Truth values as runs.
    Flags(Box<Flags>),
    /// Identities with a filter.
    Ids(Box<IdColumn>),
    /// Unsigned integers as they are.
    Hashes(Box<Hashes>),
    /// Texts as what differs from the one before.
    Prefixes(Box<Prefixes>),
    /// Anything else, as the library writes it.
    Other(LibraryColumn),
}

impl ParquetPages {
    fn new(field: &Field, leaf: &ColumnDescPtr, properties: &Arc<WriterProperties>) -> Result<Self> {
        let path = leaf.path();
        let filter = properties.bloom_filter_properties(path);
        let is_coded = properties.dictionary_enabled(path) && filter.is_none();
        let is_encoded = |encoding| {
            properties.encoding(path) == Some(encoding) && !properties.dictionary_enabled(path) && filter.is_none()
        };
        let is_plain = properties.encoding(path) == Some(Encoding::PLAIN) && !properties.dictionary_enabled(path);
        let (leaf, compression) = (ColumnDescPtr::clone(leaf), properties.compression(path));
        Ok(match field.data_type() {
            DataType::Utf8 if is_coded => Self::Words(Box::new(StringColumn::new(leaf, compression)?)),
            DataType::Int64 | DataType::Timestamp(TimeUnit::Millisecond, None) | DataType::Date32 if is_coded => {
                Self::Numbers(Box::new(NumberColumn::new(leaf, compression)?))
            }
            DataType::Decimal128(..) if is_coded && matches!(leaf.physical_type(), Type::INT32 | Type::INT64) => {
                Self::Numbers(Box::new(NumberColumn::new(leaf, compression)?))
            }
            DataType::Int64 | DataType::Timestamp(TimeUnit::Millisecond, None)
                if is_encoded(Encoding::DELTA_BINARY_PACKED) =>
            {
                Self::Deltas(Box::new(Deltas(Chunk::new(leaf, compression)?)))
            }
            DataType::Decimal128(..) if is_plain && filter.is_none() && leaf.type_length() == DECIMAL_BYTES => {
                Self::Decimals(Box::new(Decimals::new(leaf, compression)?))
            }
            DataType::Boolean if is_encoded(Encoding::RLE) && !field.is_nullable() => {
                Self::Flags(Box::new(Flags(Chunk::new(leaf, compression)?)))
            }
            DataType::FixedSizeBinary(16) if is_plain && !field.is_nullable() => match filter {
                Some(filter) => Self::Ids(Box::new(IdColumn::new(leaf, compression, filter)?)),
                None => Self::Other(LibraryColumn::new(Arc::clone(properties))),
            },
            DataType::UInt64 if is_plain && filter.is_none() && !field.is_nullable() => {
                Self::Hashes(Box::new(Hashes(Chunk::new(leaf, compression)?)))
            }
            DataType::Utf8 if is_encoded(Encoding::DELTA_BYTE_ARRAY) => {
                Self::Prefixes(Box::new(Prefixes::new(leaf, compression, Arc::clone(properties))?))
            }
            _ => Self::Other(LibraryColumn::new(Arc::clone(properties))),
        })
    }

    fn add(&mut self, field: &Field, arrays: &[ArrayRef], bench: &mut PageBuffers) -> Result<()> {
        match self {
            Self::Words(words) => words.page(arrays, bench),
            Self::Numbers(numbers) => numbers.page(arrays, bench),
            Self::Deltas(deltas) => deltas.page(arrays, bench),
            Self::Decimals(decimals) => decimals.page(arrays, bench),
            Self::Flags(flags) => flags.page(arrays, bench),
            Self::Ids(ids) => ids.page(arrays, bench),
            Self::Hashes(hashes) => hashes.page(arrays, bench),
            Self::Prefixes(prefixes) if Prefixes::is_page(arrays) => prefixes.page(arrays, bench),
            Self::Prefixes(prefixes) => {
                let (library, pages) = prefixes.give_up();
                *self = Self::Other(library);
                for page in pages {
                    self.add(field, &page, bench)?;
                }
                self.add(field, arrays, bench)
            }
            Self::Other(library) => library.page(field, arrays),
        }
    }
}

impl ParquetColumn {
    /// An empty column of `field`, whose `leaves` are those of the file.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a compression no table has.
    pub(super) fn new(field: &Field, leaves: &[ColumnDescPtr], properties: &Arc<WriterProperties>) -> Result<Self> {
        let [leaf] = leaves else {
            return Ok(Self {
                nulls: None,
                pages: ParquetPages::Other(LibraryColumn::new(Arc::clone(properties))),
            });
        };
        let compression = properties.compression(leaf.path());
        Ok(Self {
            nulls: Nulls::new(ColumnDescPtr::clone(leaf), compression),
            pages: ParquetPages::new(field, leaf, properties)?,
        })
    }

    /// Adds a page: all rows of the arrays, one after another.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they are not of the type of the field.
    pub(super) fn page(&mut self, field: &Field, arrays: &[ArrayRef], bench: &mut PageBuffers) -> Result<()> {
        if let Some(nulls) = &mut self.nulls {
            if nulls.page(arrays) {
                return Ok(());
            }
            for rows in nulls.rows() {
                let empty = new_null_array(field.data_type(), *rows);
                self.pages.add(field, &[empty], bench)?;
            }
            self.nulls = None;
        }
        self.pages.add(field, arrays, bench)
    }

    /// Ends the column and writes it behind those before it.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be written.
    pub(super) fn finish<W: Write + Send>(
        self,
        bench: &mut PageBuffers,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        let into = ChunkPlace { bench, group };
        if let Some(nulls) = self.nulls {
            return nulls.finish(into);
        }
        match self.pages {
            ParquetPages::Words(words) => words.finish(into),
            ParquetPages::Numbers(numbers) => numbers.finish(into),
            ParquetPages::Deltas(deltas) => deltas.finish(into),
            ParquetPages::Decimals(decimals) => decimals.finish(into),
            ParquetPages::Flags(flags) => flags.finish(into),
            ParquetPages::Ids(ids) => ids.finish(into),
            ParquetPages::Hashes(hashes) => hashes.finish(into),
            ParquetPages::Prefixes(prefixes) => prefixes.finish(into),
            ParquetPages::Other(library) => library.finish(group),
        }
    }
}
