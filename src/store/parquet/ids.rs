//! Identities of 16 bytes, with a Bloom filter of those a row group may contain. They are stored as they are, or, where several
//! rows after each other have the same, as codes of a dictionary.

use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use parquet::basic::{Compression, Encoding};
use parquet::bloom_filter::Sbbf;
use parquet::data_type::FixedLenByteArray;
use parquet::file::properties::BloomFilterProperties;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::ColumnDescPtr;

use super::chunk::{Chunk, ChunkFacts, ChunkPlace, DictionaryBytes, PageBounds, Validity};
use super::page_buffers::PageBuffers;
use super::runs;
use crate::error::{Error, Result};
use crate::numbers::{Extent, Part};

/// Bytes of an identity.
pub(super) const ID_BYTES: usize = 16;

/// As many rows of the first page as one in this many have the identity of the row before: codes take less room then.
const REPEATED: usize = 4;

/// A column of identities, none of which is missing.
pub(in crate::store) struct IdColumn {
    chunk: Chunk,
    layout: Option<IdLayout>,
    filter: Sbbf,
    false_positives: f64,
}

/// How the pages of a chunk hold identities: as its first page shows to be best.
enum IdLayout {
    Plain,
    Coded(IdDictionary),
}

impl IdLayout {
    fn of(arrays: &[&[Id]], row_n: usize) -> Self {
        let pairs = arrays.iter().flat_map(|ids| ids.iter().zip(ids.part(1..)));
        let repeated_n = pairs.filter(|(id, next)| id == next).count();
        if repeated_n * REPEATED >= row_n {
            Self::Coded(IdDictionary::default())
        } else {
            Self::Plain
        }
    }
}

/// Which identities a page has.
struct SeenIds<'c> {
    /// Of the row group.
    filter: &'c mut Sbbf,
    /// The smallest and the largest.
    bounds: Option<(u128, u128)>,
}

impl SeenIds<'_> {
    #[inline]
    fn add(&mut self, id: &Id) {
        self.filter.insert(id.as_slice());
        let number = u128::from_be_bytes(*id);
        let bounds = self
            .bounds
            .map_or((number, number), |(low, high)| (low.min(number), high.max(number)));
        self.bounds = Some(bounds);
    }
}

/// Identities in the order of rows, each as often as it comes after another.
#[derive(Default)]
struct IdDictionary(Vec<Id>);

/// The bytes of an identity.
type Id = [u8; ID_BYTES];

impl IdDictionary {
    /// Adds the codes of a page; gives the entries that the page has.
    fn page(&mut self, arrays: &[&[Id]], codes: &mut Vec<u32>) -> Result<&[Id]> {
        let Self(entries) = self;
        let first = arrays.iter().find_map(|ids| ids.first());
        let is_last = first.is_some_and(|first| entries.last() == Some(first));
        let from = entries.len().less(usize::from(is_last));
        let mut next = u32::try_from(entries.len()).map_err(too_many)?;
        for id in arrays.iter().copied().flatten() {
            if entries.last() != Some(id) {
                entries.push(*id);
                next = next.wrapping_add(1);
            }
            codes.push(next.wrapping_sub(1));
        }
        // No code has wrapped where the number of entries fits.
        u32::try_from(entries.len()).map_err(too_many)?;
        Ok(entries.part(from..))
    }
}

fn too_many(why: std::num::TryFromIntError) -> Error {
    Error::internal("4 billion identities").because(why)
}

impl IdColumn {
    /// An empty column.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a compression no table has.
    pub(super) fn new(column: ColumnDescPtr, compression: Compression, filter: &BloomFilterProperties) -> Result<Self> {
        Ok(Self {
            chunk: Chunk::new(column, compression)?,
            layout: None,
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
        let arrays = arrays.iter().map(ids).collect::<Result<Vec<_>>>()?;
        let layout = self.layout.get_or_insert_with(|| IdLayout::of(&arrays, validity.rows));
        let mut seen = SeenIds {
            filter: &mut self.filter,
            bounds: None,
        };
        let PageBuffers { codes, page, .. } = bench;
        let encoding = match layout {
            IdLayout::Plain => {
                page.reserve(validity.rows * ID_BYTES);
                for ids in arrays {
                    page.extend_from_slice(ids.as_flattened());
                    for id in ids {
                        seen.add(id);
                    }
                }
                Encoding::PLAIN
            }
            IdLayout::Coded(dictionary) => {
                codes.clear();
                codes.reserve(validity.rows);
                for id in dictionary.page(&arrays, codes)? {
                    seen.add(id);
                }
                let width = runs::begin_codes(dictionary.0.len(), page);
                runs::codes(codes, width, page);
                Encoding::RLE_DICTIONARY
            }
        };
        let facts = ChunkFacts {
            rows: validity.rows,
            bounds: seen.bounds.map(|(low, high)| PageBounds {
                low: low.to_be_bytes().to_vec(),
                high: high.to_be_bytes().to_vec(),
            }),
            ..ChunkFacts::default()
        };
        self.chunk.add_page(bench, encoding, facts)
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
        let dictionary = match self.layout {
            Some(IdLayout::Coded(IdDictionary(entries))) => Some(DictionaryBytes {
                entry_n: entries.len(),
                entries: entries.into_flattened(),
            }),
            Some(IdLayout::Plain) | None => None,
        };
        self.chunk.finish(
            dictionary,
            Statistics::FixedLenByteArray(statistics),
            Clone::clone,
            into,
        )
    }
}

/// The identities of an array.
fn ids(array: &ArrayRef) -> Result<&[Id]> {
    let array = array.as_fixed_size_binary_opt();
    let array = array.filter(|array| array.value_length() == 16 && array.null_count() == 0);
    let array = array.ok_or_else(|| Error::internal("a column of identities has none"))?;
    let (ids, _) = array.value_data().as_chunks();
    Ok(ids.part(..array.len()))
}
