//! Texts as codes of a dictionary, until there are too many of them.
//!
//! The library's own writer looks every text up again, whatever codes it had before, and compares every text with the
//! smallest and largest one. Here a text is looked up once per batch that has codes, and compared once per page.

use std::io::Write;

use ahash::RandomState;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_buffer::ArrowNativeType;
use hashbrown::HashTable;
use parquet::basic::{Compression, Encoding};
use parquet::data_type::ByteArray;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::ColumnDescPtr;

use super::chunk::{Chunk, ChunkFacts, ChunkPlace, DictionaryBytes, PageBounds, Validity};
use super::page_buffers::PageBuffers;
use super::runs;
use crate::error::{Error, Result};
use crate::schema::batch::codes as coded;
use crate::short_texts::is_same;

/// A dictionary does not grow beyond this: later pages hold their texts as they are.
const DICTIONARY_BYTES: usize = 1 << 20;

/// Bytes of a bound that are kept.
const BOUND_BYTES: usize = 64;

/// Stands for an entry whose code is not known.
const UNKNOWN: u32 = u32::MAX;

/// Smallest and largest text.
#[derive(Clone, Copy)]
pub(super) struct TextBounds<'a> {
    low: &'a [u8],
    high: &'a [u8],
}

impl TextBounds<'_> {
    pub(super) fn owned(self) -> PageBounds {
        PageBounds {
            low: self.low.to_vec(),
            high: self.high.to_vec(),
        }
    }
}

/// A column of texts.
pub(in crate::store) struct StringColumn {
    chunk: Chunk,
    dictionary: StringDictionary,
    /// Codes of the entries of the array at hand, and how many bytes they have.
    known: Vec<(u32, usize)>,
}

impl StringColumn {
    /// An empty column.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a compression no table has.
    pub(super) fn new(column: ColumnDescPtr, compression: Compression) -> Result<Self> {
        Ok(Self {
            chunk: Chunk::new(column, compression)?,
            dictionary: StringDictionary::default(),
            known: Vec::new(),
        })
    }

    /// Adds a page of all rows of the arrays.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they are no texts.
    pub(super) fn page(&mut self, arrays: &[ArrayRef], bench: &mut PageBuffers) -> Result<()> {
        let validity = Validity::of(arrays);
        self.chunk.begin_page(&validity, bench);
        let mut facts = ChunkFacts {
            rows: validity.rows,
            nulls: validity.nulls,
            ..ChunkFacts::default()
        };
        let PageBuffers { codes, page, .. } = bench;
        if self.dictionary.bytes.len() >= DICTIONARY_BYTES {
            (facts.bounds, facts.text_bytes) = plain(arrays, page)?;
            return self.chunk.add_page(bench, Encoding::PLAIN, facts);
        }
        self.dictionary.begin_page();
        let known = validity.rows - validity.nulls;
        if let Some(text) = only(arrays)? {
            let code = self.dictionary.code(text)?;
            facts.text_bytes = Some(known * self.dictionary.see(code));
            let width = runs::begin_codes(self.dictionary.entries.len(), page);
            runs::alike(code, known, width, page);
        } else {
            codes.clear();
            codes.reserve(known);
            let mut bytes = 0;
            for array in arrays {
                bytes += self.take(array, codes)?;
            }
            facts.text_bytes = Some(bytes);
            let width = runs::begin_codes(self.dictionary.entries.len(), page);
            runs::codes(codes, width, page);
        }
        facts.bounds = self.dictionary.seen();
        self.chunk.add_page(bench, Encoding::RLE_DICTIONARY, facts)
    }

    /// Adds the codes of an array; gives how many bytes its texts have.
    fn take(&mut self, array: &ArrayRef, codes: &mut Vec<u32>) -> Result<usize> {
        let mut sum = 0;
        if array.null_count() == array.len() {
            return Ok(sum);
        }
        if let Some(texts) = array.as_string_opt::<i32>() {
            let mut last = None;
            for text in texts.iter().flatten() {
                let code = match last {
                    Some((known, code)) if known == text => code,
                    _ => {
                        let code = self.dictionary.code(text.as_bytes())?;
                        self.dictionary.see(code);
                        code
                    }
                };
                last = Some((text, code));
                sum += text.len();
                codes.push(code);
            }
            return Ok(sum);
        }
        let (keys, entries) = coded(array)?;
        self.known.clear();
        self.known.resize(entries.len(), (UNKNOWN, 0));
        if keys.nulls().is_none() {
            return self.take_keys(keys.values(), entries, codes);
        }
        let known: Vec<u32> = keys.iter().flatten().collect();
        self.take_keys(&known, entries, codes)
    }

    /// Adds the codes of keys of entries; gives how many bytes their texts have.
    fn take_keys(&mut self, keys: &[u32], entries: &StringArray, codes: &mut Vec<u32>) -> Result<usize> {
        // Codes are in the order in which texts come. Most arrays have few entries, all of which come soon.
        let mut unmet_n = entries.len();
        for key in keys.iter().map(|key| key.as_usize()) {
            if unmet_n == 0 {
                break;
            }
            if self.known.get(key).is_none_or(|known| known.0 == UNKNOWN) {
                self.meet(key, entries)?;
                unmet_n -= 1;
            }
        }
        // Fallback: never taken, every key was met.
        let known = |key: &u32| self.known.get(key.as_usize()).copied().unwrap_or_default();
        codes.extend(keys.iter().map(|key| known(key).0));
        Ok(keys.iter().map(|key| known(key).1).sum())
    }

    /// Notes the code of an entry that was not met before, and how many bytes it has.
    fn meet(&mut self, key: usize, entries: &StringArray) -> Result<()> {
        let known = self.known.get_mut(key);
        let known = known.ok_or_else(|| Error::internal("a code of no entry"))?;
        let code = self.dictionary.code(entries.value(key).as_bytes())?;
        *known = (code, self.dictionary.see(code));
        Ok(())
    }

    /// Ends the column.
    ///
    /// # Errors
    /// As [`Chunk::finish`].
    pub(super) fn finish<W: Write + Send>(self, into: ChunkPlace<'_, '_, W>) -> Result<()> {
        let dictionary = DictionaryBytes {
            entries: self.dictionary.bytes,
            entry_n: self.dictionary.entries.len(),
        };
        finish(self.chunk, Some(dictionary), into)
    }
}

/// Ends a chunk of texts.
///
/// # Errors
/// As [`Chunk::finish`].
pub(super) fn finish<W: Write + Send>(
    chunk: Chunk,
    dictionary: Option<DictionaryBytes>,
    into: ChunkPlace<'_, '_, W>,
) -> Result<()> {
    let bounds = chunk.bounds();
    let (low, high) = (
        bounds.map(|(low, _)| (floor(low), low)),
        bounds.map(|(_, high)| (ceiling(high), high)),
    );
    let is_exact = |bound: &Option<(Vec<u8>, &[u8])>| bound.as_ref().is_none_or(|(cut, whole)| cut == whole);
    let (is_low_exact, is_high_exact) = (is_exact(&low), is_exact(&high));
    let value = |bound: Option<(Vec<u8>, &[u8])>| bound.map(|(cut, _)| ByteArray::from(cut));
    let statistics = ValueStatistics::new(value(low), value(high), None, Some(chunk.nulls()), false)
        .with_min_is_exact(is_low_exact)
        .with_max_is_exact(is_high_exact);
    let index = |bounds: &PageBounds| PageBounds {
        low: floor(&bounds.low),
        high: ceiling(&bounds.high),
    };
    chunk.finish(dictionary, Statistics::ByteArray(statistics), index, into)
}

/// The text of all rows that have one, where the arrays mark that there is only one.
fn only(arrays: &[ArrayRef]) -> Result<Option<&[u8]>> {
    let mut only = None;
    for array in arrays.iter().filter(|array| array.null_count() < array.len()) {
        if array.as_string_opt::<i32>().is_some() {
            return Ok(None);
        }
        let (_, entries) = coded(array)?;
        let text = (entries.len() == 1).then(|| entries.value(0).as_bytes());
        if text.is_none() || only.is_some_and(|only| Some(only) != text) {
            return Ok(None);
        }
        only = text;
    }
    Ok(only)
}

/// Appends texts as they are; gives their bounds and how many bytes they have.
fn plain(arrays: &[ArrayRef], page: &mut Vec<u8>) -> Result<(Option<PageBounds>, Option<usize>)> {
    let mut bounds = None;
    let mut bytes = 0;
    for array in arrays {
        if let Some(texts) = array.as_string_opt::<i32>() {
            for text in texts.iter().flatten() {
                push(text.as_bytes(), page)?;
                bytes += text.len();
                widen(&mut bounds, text.as_bytes());
            }
        } else {
            let (keys, entries) = coded(array)?;
            for key in keys.iter().flatten() {
                let text = entries.value(key.as_usize()).as_bytes();
                push(text, page)?;
                bytes += text.len();
                widen(&mut bounds, text);
            }
        }
    }
    Ok((bounds.map(TextBounds::owned), Some(bytes)))
}

pub(super) fn widen<'a>(bounds: &mut Option<TextBounds<'a>>, text: &'a [u8]) {
    match bounds {
        None => *bounds = Some(TextBounds { low: text, high: text }),
        // Ids mostly rise.
        Some(bounds) if text > bounds.high => bounds.high = text,
        Some(bounds) => bounds.low = bounds.low.min(text),
    }
}

/// Appends a text behind its length.
fn push(text: &[u8], into: &mut Vec<u8>) -> Result<()> {
    let len = u32::try_from(text.len()).map_err(|e| Error::internal("a text of 4 GiB").because(e))?;
    into.extend_from_slice(&len.to_le_bytes());
    into.extend_from_slice(text);
    Ok(())
}

/// The texts a row group has, in the order in which they first come.
#[derive(Default)]
struct StringDictionary {
    /// Each behind its length, as the file holds them.
    bytes: Vec<u8>,
    entries: Vec<StringEntry>,
    table: HashTable<u32>,
    hasher: Hasher,
    pages: u32,
    /// Codes of the smallest and the largest text of the page at hand.
    ends: Option<(u32, u32)>,
}

/// Fixed, so that nothing about a run depends on chance.
struct Hasher(RandomState);

impl Default for Hasher {
    fn default() -> Self {
        Self(RandomState::with_seeds(1, 2, 3, 4))
    }
}

/// One text of a dictionary.
struct StringEntry {
    from: usize,
    to: usize,
    /// The last page it is in.
    page: u32,
}

impl StringDictionary {
    fn code(&mut self, text: &[u8]) -> Result<u32> {
        let Self {
            bytes,
            entries,
            table,
            hasher: Hasher(hasher),
            ..
        } = self;
        let of = |code: u32| {
            let entry = entries.get(code.as_usize());
            entry
                .and_then(|entry| bytes.get(entry.from..entry.to))
                // Fallback: never taken, every code of the table has its entry.
                .unwrap_or_default()
        };
        let hash = hasher.hash_one(text);
        if let Some(code) = table.find(hash, |code| is_same(of(*code), text)) {
            return Ok(*code);
        }
        let code = u32::try_from(entries.len()).map_err(|e| Error::internal("too many texts").because(e))?;
        table.insert_unique(hash, code, |code| hasher.hash_one(of(*code)));
        push(text, bytes)?;
        entries.push(StringEntry {
            from: bytes.len() - text.len(),
            to: bytes.len(),
            page: 0,
        });
        Ok(code)
    }

    /// The text of a code.
    fn text(&self, code: u32) -> &[u8] {
        let entry = self.entries.get(code.as_usize());
        let text = entry.and_then(|entry| self.bytes.get(entry.from..entry.to));
        // Fallback: never taken, codes are given to entries only.
        text.unwrap_or_default()
    }

    /// Begins a page.
    fn begin_page(&mut self) {
        self.pages += 1;
        self.ends = None;
    }

    /// Notes that a text is in the page at hand; gives how many bytes it has.
    fn see(&mut self, code: u32) -> usize {
        let page = self.pages;
        let Some(entry) = self.entries.get_mut(code.as_usize()) else {
            return 0;
        };
        let bytes = entry.to - entry.from;
        if std::mem::replace(&mut entry.page, page) != page {
            let text = self.text(code);
            self.ends = Some(match self.ends {
                None => (code, code),
                Some((low, high)) => (
                    if text < self.text(low) { code } else { low },
                    if text > self.text(high) { code } else { high },
                ),
            });
        }
        bytes
    }

    /// Bounds of the texts of the page at hand.
    fn seen(&self) -> Option<PageBounds> {
        self.ends.map(|(low, high)| PageBounds {
            low: self.text(low).to_vec(),
            high: self.text(high).to_vec(),
        })
    }
}

/// A short text that is not above this one.
fn floor(text: &[u8]) -> Vec<u8> {
    cut(text).as_bytes().to_vec()
}

/// A short text that is not below this one; the text itself if there is none.
fn ceiling(text: &[u8]) -> Vec<u8> {
    let head = cut(text);
    if head.len() == text.len() {
        return text.to_vec();
    }
    for (at, last) in head.char_indices().rev() {
        let next = char::from_u32(u32::from(last) + 1).filter(|next| next.len_utf8() == last.len_utf8());
        if let (Some(next), Some(before)) = (next, head.get(..at)) {
            return format!("{before}{next}").into_bytes();
        }
    }
    text.to_vec()
}

/// The characters within the bytes that are kept.
fn cut(text: &[u8]) -> &str {
    let head = text.get(..BOUND_BYTES).unwrap_or(text);
    match std::str::from_utf8(head) {
        Ok(whole) => whole,
        Err(e) => head
            .get(..e.valid_up_to())
            .and_then(|head| std::str::from_utf8(head).ok())
            // Fallback: never taken, the bytes before an error are text.
            .unwrap_or_default(),
    }
}
