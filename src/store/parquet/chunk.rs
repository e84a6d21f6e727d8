//! One column of one row group: its pages, and their entries in the footer.

use std::io::Write;

use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, NullBuffer};
use parquet::basic::{BoundaryOrder, Compression, Encoding, PageType};
use parquet::bloom_filter::Sbbf;
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, LevelHistogram, OffsetIndexBuilder, PageEncodingStats,
};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::chunk_bytes::ChunkBytes;
use super::page_buffers::{Packing, PageBuffers};
use super::runs;
use crate::error::{Error, Result};
use crate::numbers::Extent;

/// Smallest and largest value of a page, as the index of the file holds them.
#[derive(Clone, Debug)]
pub(super) struct PageBounds {
    pub(super) low: Vec<u8>,
    pub(super) high: Vec<u8>,
}

/// Makes of bounds what the index of pages holds.
type ToIndex<'a> = &'a dyn Fn(&PageBounds) -> PageBounds;

/// What is known of the rows of a page, and what makes of their bounds what the index of pages holds.
struct PageRows<'a> {
    facts: ChunkFacts,
    index: ToIndex<'a>,
}

/// The entries of a dictionary as its page holds them.
pub(super) struct DictionaryBytes {
    pub(super) entries: Vec<u8>,
    /// How many there are.
    pub(super) entry_n: usize,
}

/// Where a chunk is finished, and the row group it goes into.
pub(super) struct ChunkPlace<'a, 'b, W: Write> {
    pub(super) bench: &'a mut PageBuffers,
    pub(super) group: &'a mut SerializedRowGroupWriter<'b, W>,
}

/// What is known of the rows of a page.
#[derive(Debug, Default)]
pub(super) struct ChunkFacts {
    /// How many there are.
    pub(super) rows: usize,
    /// How many of them are null.
    pub(super) nulls: usize,
    /// `None` when all are null.
    pub(super) bounds: Option<PageBounds>,
    /// Bytes of all texts; `None` where values are no texts.
    pub(super) text_bytes: Option<usize>,
}

/// A column chunk under construction.
pub(super) struct Chunk {
    column: ColumnDescPtr,
    compression: Compression,
    packing: Packing,
    pages: Vec<(CompressedPage, ChunkFacts)>,
    filter: Option<Sbbf>,
}

impl Chunk {
    /// An empty chunk of a column without lists.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a compression no table has.
    pub(super) fn new(column: ColumnDescPtr, compression: Compression) -> Result<Self> {
        Ok(Self {
            column,
            packing: Packing::of(compression)?,
            compression,
            pages: Vec::new(),
            filter: None,
        })
    }

    /// Packs its pages at another level of the same compression.
    pub(super) fn pack_at(&mut self, level: i32) {
        if let Packing::Zstd(own) = &mut self.packing {
            *own = level;
        }
    }

    /// Goes with a filter of its values.
    pub(super) fn keep_filter(&mut self, filter: Sbbf) {
        self.filter = Some(filter);
    }

    /// Whether values can be missing.
    pub(super) fn is_nullable(&self) -> bool {
        self.column.max_def_level() > 0
    }

    /// Begins the page of the bench with which rows have a value.
    pub(super) fn begin_page(&self, validity: &Validity, bench: &mut PageBuffers) {
        bench.page.clear();
        if self.is_nullable() {
            prefixed(&mut bench.page, |page| validity.write(page));
        }
    }

    /// Adds the page of the bench: what [`Chunk::begin_page`] wrote and the values behind it.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be compressed.
    pub(super) fn add_page(&mut self, bench: &mut PageBuffers, encoding: Encoding, facts: ChunkFacts) -> Result<()> {
        let page = std::mem::take(&mut bench.page);
        let size = page.len();
        let packed = bench.pack(&page, self.packing);
        bench.page = page;
        let page = Page::DataPage {
            buf: packed?,
            // Fallback: never taken, a page has no more rows than a row group, 122 880.
            num_values: u32::try_from(facts.rows).unwrap_or(u32::MAX),
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        self.pages.push((CompressedPage::new(page, size), facts));
        Ok(())
    }

    /// Bounds of all pages.
    pub(super) fn bounds(&self) -> Option<(&[u8], &[u8])> {
        let bounds = || self.pages.iter().filter_map(|(_, facts)| facts.bounds.as_ref());
        let low = bounds().map(|page| page.low.as_slice()).min()?;
        let high = bounds().map(|page| page.high.as_slice()).max()?;
        Some((low, high))
    }

    /// Nulls of all pages.
    pub(super) fn nulls(&self) -> u64 {
        self.pages.iter().map(|(_, facts)| facts.nulls as u64).sum()
    }

    /// Ends the chunk, with a dictionary of so many entries if its codes have one, and writes it behind the columns
    /// before it. `index` makes of bounds what the index of pages holds.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be written.
    pub(super) fn finish<W: Write + Send>(
        self,
        dictionary: Option<DictionaryBytes>,
        statistics: Statistics,
        index: impl Fn(&PageBounds) -> PageBounds,
        into: ChunkPlace<'_, '_, W>,
    ) -> Result<()> {
        let ChunkPlace { bench, group } = into;
        let dictionary = match dictionary {
            Some(DictionaryBytes { entries, entry_n }) => {
                let size = entries.len();
                let page = Page::DictionaryPage {
                    buf: bench.pack(&entries, self.packing)?,
                    // Fallback: never taken, a dictionary has no more entries than its row group rows.
                    num_values: u32::try_from(entry_n).unwrap_or(u32::MAX),
                    encoding: Encoding::PLAIN,
                    is_sorted: false,
                };
                Some(CompressedPage::new(page, size))
            }
            None => None,
        };
        let mut reported = PageStats::new(&self, dictionary.is_some());
        let mut sink = TrackedWrite::new(ChunkBytes::default());
        if let Some(page) = dictionary {
            reported.page(&mut sink, page, None)?;
        }
        for (page, facts) in self.pages {
            let index = &index;
            reported.page(&mut sink, page, Some(PageRows { facts, index }))?;
        }
        let mut bytes = sink.into_inner()?;
        bytes.end();
        let mut reported = reported.close(self.column, self.compression, statistics)?;
        reported.bloom_filter = self.filter;
        group.append_column(&bytes, reported)?;
        Ok(())
    }
}

/// The future entry of a chunk in the footer.
struct PageStats {
    encodings: Vec<Encoding>,
    stats: Vec<PageEncodingStats>,
    dictionary_at: Option<i64>,
    data_at: Option<i64>,
    compressed: i64,
    uncompressed: i64,
    rows: usize,
    nulls: usize,
    text_bytes: Option<i64>,
    is_nullable: bool,
    /// Bounds of the last page that had any, and whether they rose and fell so far.
    last: Option<PageBounds>,
    is_rising: bool,
    is_falling: bool,
    pages: ColumnIndexBuilder,
    places: OffsetIndexBuilder,
}

impl PageStats {
    fn new(chunk: &Chunk, has_dictionary: bool) -> Self {
        let mut encodings = vec![Encoding::RLE];
        if has_dictionary {
            encodings.push(Encoding::PLAIN);
        }
        Self {
            encodings,
            stats: Vec::new(),
            dictionary_at: None,
            data_at: None,
            compressed: 0,
            uncompressed: 0,
            rows: 0,
            nulls: 0,
            text_bytes: None,
            is_nullable: chunk.is_nullable(),
            last: None,
            is_rising: true,
            is_falling: true,
            pages: ColumnIndexBuilder::new(chunk.column.physical_type()),
            places: OffsetIndexBuilder::new(),
        }
    }

    /// Writes a page, with the facts of its rows unless it is a dictionary.
    fn page(
        &mut self,
        sink: &mut TrackedWrite<ChunkBytes>,
        page: CompressedPage,
        rows: Option<PageRows<'_>>,
    ) -> Result<()> {
        let (page_type, encoding) = (page.page_type(), page.encoding());
        if !self.encodings.contains(&encoding) {
            self.encodings.push(encoding);
        }
        match self.stats.last_mut() {
            Some(last) if last.page_type == page_type && last.encoding == encoding => last.count += 1,
            _ => self.stats.push(PageEncodingStats {
                page_type,
                encoding,
                count: 1,
            }),
        }
        sink.inner_mut().expect(page.compressed_page().buffer().clone());
        let placed = SerializedPageWriter::new(sink).write_page(page)?;
        let (at, size) = (signed(placed.offset)?, signed(placed.compressed_size)?);
        self.compressed += size;
        self.uncompressed += signed(placed.uncompressed_size)?;
        let Some(PageRows { facts, index }) = rows else {
            debug_assert_eq!(page_type, PageType::DICTIONARY_PAGE);
            self.dictionary_at = Some(at);
            return Ok(());
        };
        self.data_at.get_or_insert(at);
        self.rows += facts.rows;
        self.nulls += facts.nulls;
        self.places.append_row_count(signed(facts.rows)?);
        let too_large = |e| Error::internal("a page of more than 2 GiB").because(e);
        self.places
            .append_offset_and_size(at, i32::try_from(size).map_err(too_large)?);
        let text_bytes = facts.text_bytes.map(signed).transpose()?;
        self.places.append_unencoded_byte_array_data_bytes(text_bytes);
        if let Some(bytes) = text_bytes {
            *self.text_bytes.get_or_insert(0) += bytes;
        }
        let nulls = signed(facts.nulls)?;
        match facts.bounds {
            None => self.pages.append(true, Vec::new(), Vec::new(), nulls, None),
            Some(bounds) => {
                let PageBounds { low, high } = index(&bounds);
                self.pages.append(false, low, high, nulls, None);
                if let Some(last) = &self.last {
                    self.is_rising &= last.low <= bounds.low && last.high <= bounds.high;
                    self.is_falling &= last.low >= bounds.low && last.high >= bounds.high;
                }
                self.last = Some(bounds);
            }
        }
        let levels = levels(self.is_nullable, facts.rows, facts.nulls)?;
        self.pages.append_histograms(&None, &levels);
        Ok(())
    }

    fn close(
        mut self,
        column: ColumnDescPtr,
        compression: Compression,
        statistics: Statistics,
    ) -> Result<ColumnCloseResult> {
        self.encodings.sort_unstable();
        let metadata = ColumnChunkMetaData::builder(column)
            .set_compression(compression)
            .set_encodings(self.encodings)
            .set_page_encoding_stats(self.stats)
            .set_total_compressed_size(self.compressed)
            .set_total_uncompressed_size(self.uncompressed)
            .set_num_values(signed(self.rows)?)
            // Fallback: a chunk without rows has no page, and Parquet requires a number.
            .set_data_page_offset(self.data_at.unwrap_or(0))
            .set_dictionary_page_offset(self.dictionary_at)
            .set_statistics(statistics)
            .set_unencoded_byte_array_data_bytes(self.text_bytes)
            .set_definition_level_histogram(levels(self.is_nullable, self.rows, self.nulls)?)
            .build()?;
        self.pages.set_boundary_order(match (self.is_rising, self.is_falling) {
            (true, _) => BoundaryOrder::ASCENDING,
            (false, true) => BoundaryOrder::DESCENDING,
            (false, false) => BoundaryOrder::UNORDERED,
        });
        Ok(ColumnCloseResult {
            bytes_written: self.compressed.unsigned_abs(),
            rows_written: self.rows as u64,
            metadata,
            bloom_filter: None,
            column_index: Some(self.pages.build()?),
            offset_index: Some(self.places.build()),
        })
    }
}

/// How many rows are null and how many are not.
fn levels(is_nullable: bool, rows: usize, nulls: usize) -> Result<Option<LevelHistogram>> {
    if !is_nullable {
        return Ok(None);
    }
    let levels = vec![signed(nulls)?, signed(rows.less(nulls))?];
    Ok(Some(LevelHistogram::from(levels)))
}

fn signed(n: impl TryInto<i64>) -> Result<i64> {
    n.try_into()
        .map_err(|_| Error::internal("a column of more than 63 bits of bytes"))
}

/// Appends what `write` appends, behind how many bytes that is.
pub(super) fn prefixed(into: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = into.len();
    into.extend_from_slice(&[0; 4]);
    write(into);
    // Fallback: never taken, levels of a page are shorter than its rows.
    let len = u32::try_from(into.len() - at - 4).unwrap_or(u32::MAX);
    if let Some(place) = into.get_mut(at..at + 4) {
        place.copy_from_slice(&len.to_le_bytes());
    }
}

/// Which rows of a page have a value.
pub(super) struct Validity {
    /// How many rows there are.
    pub(super) rows: usize,
    /// How many have none.
    pub(super) nulls: usize,
    /// A flag for each row, where they differ.
    flags: Option<BooleanBuffer>,
}

impl Validity {
    /// Of so many rows without a value.
    pub(super) fn none(rows: usize) -> Self {
        Self {
            rows,
            nulls: rows,
            flags: None,
        }
    }

    /// Of the rows of all arrays, one after another.
    pub(super) fn of(arrays: &[ArrayRef]) -> Self {
        let rows = arrays.iter().map(|array| array.len()).sum();
        let nulls = arrays.iter().map(|array| array.null_count()).sum();
        let differ = nulls > 0 && nulls < rows;
        let flags = differ.then(|| {
            let mut flags = arrow_array::builder::BooleanBufferBuilder::new(rows);
            for array in arrays {
                match array.nulls() {
                    Some(nulls) => flags.append_buffer(NullBuffer::inner(nulls)),
                    None => flags.append_n(array.len(), true),
                }
            }
            flags.finish()
        });
        Self { rows, nulls, flags }
    }

    fn write(&self, page: &mut Vec<u8>) {
        match &self.flags {
            Some(flags) => runs::flags(flags, page),
            None => runs::alike(u32::from(self.nulls == 0), self.rows, 1, page),
        }
    }
}
