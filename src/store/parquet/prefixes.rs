//! Texts as what differs from the text before: ids that begin alike.
//!
//! A page is how many bytes each text shares with the one before, how many it adds, both as packed steps, and what they
//! add. Rule: Parquet's `DELTA_BYTE_ARRAY`, in the layout the library writes.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_buffer::ArrowNativeType;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnDescPtr;

use super::chunk::{Chunk, ChunkFacts, ChunkPlace, Validity};
use super::deltas::encode;
use super::library::LibraryColumn;
use super::page_buffers::PageBuffers;
use super::strings::{TextBounds, finish, widen};
use crate::error::{Error, Result};
use crate::numbers::{Part, index};
use crate::schema::batch::{ColumnWords, words_of};
use crate::short_texts::word;

/// Lengths whose steps share a width: for numbers of 32 bits the library takes half as many as for others.
const GROUP: usize = 32;

/// The library cuts pages that are larger than this with lengths of four bytes.
const PAGE_BYTES: usize = 1 << 20;

/// A column of ids.
pub(in crate::store) struct Prefixes {
    chunk: Chunk,
    /// Pages so far, for the library, should one come that it writes.
    pages: Vec<Vec<ArrayRef>>,
    properties: Arc<WriterProperties>,
}

impl Prefixes {
    /// An empty column of a file with these properties.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a compression no table has.
    pub(super) fn new(
        column: ColumnDescPtr,
        compression: Compression,
        properties: Arc<WriterProperties>,
    ) -> Result<Self> {
        Ok(Self {
            chunk: Chunk::new(column, compression)?,
            pages: Vec::new(),
            properties,
        })
    }

    /// Whether the rows of the arrays are a page that is written here: of texts that are not too long, none missing.
    pub(super) fn is_page(arrays: &[ArrayRef]) -> bool {
        let bytes = |array: &ArrayRef| {
            if array.null_count() > 0 {
                return None;
            }
            // Fallback: an array that is not texts is written by the library, which reports it.
            let bytes = match words_of(array).ok()? {
                ColumnWords::Plain(texts) => {
                    let offsets = texts.offsets();
                    usize::try_from(offsets.last() - offsets.first()).ok()?
                }
                ColumnWords::Coded(codes, entries) => {
                    let length = |code: &u32| entries.value(code.as_usize()).len();
                    codes.values().iter().map(length).sum::<usize>()
                }
            };
            Some(bytes + size_of::<u32>() * array.len())
        };
        let bytes: Option<usize> = arrays.iter().map(bytes).sum();
        bytes.is_some_and(|bytes| bytes <= PAGE_BYTES)
    }

    /// The column as the library writes it, and the pages it has to write first.
    pub(super) fn give_up(&mut self) -> (LibraryColumn, Vec<Vec<ArrayRef>>) {
        let library = LibraryColumn::new(Arc::clone(&self.properties));
        (library, std::mem::take(&mut self.pages))
    }

    /// Adds a page of all rows of the arrays, if they are one.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they are no texts.
    pub(super) fn page(&mut self, arrays: &[ArrayRef], bench: &mut PageBuffers) -> Result<()> {
        let validity = Validity::of(arrays);
        self.chunk.begin_page(&validity, bench);
        let PageBuffers {
            numbers: shared,
            lengths: added,
            suffixes,
            page,
            ..
        } = bench;
        shared.clear();
        added.clear();
        suffixes.clear();
        let mut ids = PrefixPage {
            shared,
            added,
            suffixes,
            bounds: None,
            bytes: 0,
            last: &[],
        };
        for array in arrays {
            match words_of(array)? {
                ColumnWords::Plain(texts) => {
                    for text in texts.iter().flatten() {
                        ids.push(text.as_bytes())?;
                    }
                }
                ColumnWords::Coded(codes, entries) => {
                    let mut last = None;
                    for code in codes.iter().flatten() {
                        // Charges of several policies for a job follow each other.
                        if last.replace(code) == Some(code) {
                            ids.repeat()?;
                        } else {
                            ids.push(entries.value(code.as_usize()).as_bytes())?;
                        }
                    }
                }
            }
        }
        let PrefixPage { bounds, bytes, .. } = ids;
        encode::<GROUP>(shared, page);
        encode::<GROUP>(added, page);
        page.extend_from_slice(suffixes);
        let facts = ChunkFacts {
            rows: validity.rows,
            nulls: validity.nulls,
            bounds: bounds.map(TextBounds::owned),
            text_bytes: Some(bytes),
        };
        self.pages.push(arrays.to_vec());
        self.chunk.add_page(bench, Encoding::DELTA_BYTE_ARRAY, facts)
    }

    /// Ends the column.
    ///
    /// # Errors
    /// As [`Chunk::finish`].
    pub(super) fn finish<W: Write + Send>(self, into: ChunkPlace<'_, '_, W>) -> Result<()> {
        finish(self.chunk, None, into)
    }
}

/// The texts of a page, each by what it shares with the one before.
struct PrefixPage<'t, 'b> {
    /// How many bytes each shares.
    shared: &'b mut Vec<i64>,
    /// How many it adds.
    added: &'b mut Vec<i64>,
    /// What it adds.
    suffixes: &'b mut Vec<u8>,
    bounds: Option<TextBounds<'t>>,
    /// Bytes of all texts.
    bytes: usize,
    last: &'t [u8],
}

impl<'t> PrefixPage<'t, '_> {
    fn push(&mut self, text: &'t [u8]) -> Result<()> {
        let n = common(self.last, text);
        let suffix = text.part(n..);
        self.shared.push(length(n)?);
        self.added.push(length(suffix.len())?);
        self.suffixes.extend_from_slice(suffix);
        self.bytes += text.len();
        widen(&mut self.bounds, text);
        self.last = text;
        Ok(())
    }

    /// Adds the last text again.
    fn repeat(&mut self) -> Result<()> {
        self.shared.push(length(self.last.len())?);
        self.added.push(0);
        self.bytes += self.last.len();
        Ok(())
    }
}

/// How many bytes two texts begin alike with.
fn common(a: &[u8], b: &[u8]) -> usize {
    if let (Some(one), Some(other)) = (word(a), word(b)) {
        return index((one ^ other).trailing_zeros() / 8).min(a.len()).min(b.len());
    }
    let words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
    let whole = 8 * words.take_while(|(a, b)| a == b).count();
    let rest = |text: &'_ [u8]| -> usize { text.len().min(whole) };
    let (a, b) = (a.part(rest(a)..), b.part(rest(b)..));
    whole + a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn length(n: usize) -> Result<i64> {
    i64::try_from(n).map_err(|e| Error::internal("a text of 8 EiB").because(e))
}
