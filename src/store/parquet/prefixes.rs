//! Texts as what differs from the text before: ids that begin alike.
//!
//! A page is how many bytes each text shares with the one before, how many it adds, both as packed steps, and what they
//! add. Rule: Parquet's `DELTA_BYTE_ARRAY`, in the layout the library writes.

use std::io::Write;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnDescPtr;

use super::chunk::{Chunk, ChunkFacts, ChunkPlace, Validity};
use super::deltas::encode;
use super::library::LibraryColumn;
use super::page_buffers::PageBuffers;
use super::strings::{TextBounds, finish, widen};
use crate::error::{Error, Result};
use crate::numbers::Part;

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

    /// Whether the rows of the arrays are a page that is written here: of plain texts that are not too long, none missing.
    pub(super) fn is_page(arrays: &[ArrayRef]) -> bool {
        let bytes = |array: &ArrayRef| {
            let texts = array.as_string_opt::<i32>().filter(|texts| texts.null_count() == 0)?;
            let offsets = texts.offsets();
            let bytes = usize::try_from(offsets.last() - offsets.first()).ok()?;
            Some(bytes + size_of::<u32>() * texts.len())
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
    /// [`crate::error::Kind::Internal`] when they are no plain texts.
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
        let (mut bounds, mut bytes): (Option<TextBounds<'_>>, usize) = (None, 0);
        let mut last: &[u8] = &[];
        for array in arrays {
            let texts: &StringArray = array.as_string_opt().ok_or_else(|| Error::internal("ids are texts"))?;
            for text in texts.iter().flatten() {
                let text = text.as_bytes();
                let n = common(last, text);
                let suffix = text.part(n..);
                shared.push(length(n)?);
                added.push(length(suffix.len())?);
                suffixes.extend_from_slice(suffix);
                bytes += text.len();
                widen(&mut bounds, text);
                last = text;
            }
        }
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

/// How many bytes two texts begin alike with.
fn common(a: &[u8], b: &[u8]) -> usize {
    let words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
    let whole = 8 * words.take_while(|(a, b)| a == b).count();
    let rest = |text: &'_ [u8]| -> usize { text.len().min(whole) };
    let (a, b) = (a.part(rest(a)..), b.part(rest(b)..));
    whole + a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn length(n: usize) -> Result<i64> {
    i64::try_from(n).map_err(|e| Error::internal("a text of 8 EiB").because(e))
}
