//! Texts as codes of a dictionary, until there are too many of them.
//!
//! The library's own writer looks every text up anew, whatever codes it had before, and compares every text with the
//! smallest and largest one. Here a text is looked up once per batch that has codes, and compared once per page.

use std::io::Write;

use ahash::RandomState;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::ArrowNativeType;
use hashbrown::HashTable;
use parquet::basic::{Compression, Encoding};
use parquet::data_type::ByteArray;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::ColumnDescPtr;

use super::chunk::{Bounds, Chunk, Facts, Validity};
use super::runs;
use crate::error::{Error, Result};
use crate::schema::batch::codes;

/// A dictionary does not grow beyond this: later pages hold their texts as they are.
const DICTIONARY_BYTES: usize = 1 << 20;

/// Bytes of a bound that are kept.
const BOUND_BYTES: usize = 64;

/// Stands for an entry whose code is not known.
const UNKNOWN: u32 = u32::MAX;

/// Smallest and largest text.
type Ends<'a> = Option<(&'a [u8], &'a [u8])>;

/// A column of texts.
pub(in crate::store) struct Words {
    chunk: Chunk,
    dictionary: Dictionary,
    /// Of the page at hand.
    codes: Vec<u32>,
    /// Codes of the entries of the array at hand.
    known: Vec<u32>,
    pages: u32,
}

impl Words {
    /// An empty column.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a compression no table has.
    pub(super) fn new(column: ColumnDescPtr, compression: Compression) -> Result<Self> {
        Ok(Self {
            chunk: Chunk::new(column, compression)?,
            dictionary: Dictionary::default(),
            codes: Vec::new(),
            known: Vec::new(),
            pages: 0,
        })
    }

    /// Adds a page of all rows of the arrays.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they are no texts.
    pub(super) fn page(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        let validity = Validity::of(arrays);
        let mut page = self.chunk.begin_page(&validity);
        let mut facts = Facts {
            rows: validity.flags.len(),
            nulls: validity.nulls,
            ..Facts::default()
        };
        self.pages += 1;
        if self.dictionary.bytes.len() >= DICTIONARY_BYTES {
            (facts.bounds, facts.text_bytes) = plain(arrays, &mut page)?;
            return self.chunk.add_page(page, Encoding::PLAIN, facts);
        }
        self.codes.clear();
        for array in arrays {
            self.take(array)?;
        }
        let (bounds, text_bytes) = self.dictionary.look(&self.codes, self.pages);
        let owned = |(low, high): (&[u8], &[u8])| (low.to_vec(), high.to_vec());
        (facts.bounds, facts.text_bytes) = (bounds.map(owned), Some(text_bytes));
        let width = runs::width(self.dictionary.entries.len());
        page.push(u8::try_from(width).unwrap_or(u8::MAX));
        runs::codes(&self.codes, width, &mut page);
        self.chunk.add_page(page, Encoding::RLE_DICTIONARY, facts)
    }

    /// Adds the codes of an array.
    fn take(&mut self, array: &ArrayRef) -> Result<()> {
        if array.null_count() == array.len() {
            return Ok(());
        }
        if let Some(texts) = array.as_string_opt::<i32>() {
            let mut last = None;
            for text in texts.iter().flatten() {
                let code = match last {
                    Some((known, code)) if known == text => code,
                    _ => self.dictionary.code(text.as_bytes())?,
                };
                last = Some((text, code));
                self.codes.push(code);
            }
            return Ok(());
        }
        let (keys, entries) = codes(array)?;
        if entries.len() == 1 {
            // Of so many rows it is known what they have.
            let code = self.dictionary.code(entries.value(0).as_bytes())?;
            let n = keys.len() - keys.null_count();
            self.codes.resize(self.codes.len() + n, code);
            return Ok(());
        }
        self.known.clear();
        self.known.resize(entries.len(), UNKNOWN);
        let mut code = |key: u32| {
            let slot = self.known.get_mut(key.as_usize());
            let slot = slot.ok_or_else(|| Error::internal("a code of no entry"))?;
            if *slot == UNKNOWN {
                *slot = self.dictionary.code(entries.value(key.as_usize()).as_bytes())?;
            }
            Ok::<_, Error>(*slot)
        };
        self.codes.reserve(keys.len());
        if keys.null_count() == 0 {
            for key in keys.values() {
                self.codes.push(code(*key)?);
            }
        } else {
            for key in keys.iter().flatten() {
                self.codes.push(code(key)?);
            }
        }
        Ok(())
    }

    /// Ends the column.
    ///
    /// # Errors
    /// As [`Chunk::finish`].
    pub(super) fn finish<W: Write + Send>(self, into: &mut SerializedRowGroupWriter<'_, W>) -> Result<()> {
        let bounds = self.chunk.bounds();
        let (low, high) = (
            bounds.map(|(low, _)| (floor(low), low)),
            bounds.map(|(_, high)| (ceiling(high), high)),
        );
        let is_exact = |bound: &Option<(Vec<u8>, &[u8])>| bound.as_ref().is_none_or(|(cut, whole)| cut == whole);
        let (is_low_exact, is_high_exact) = (is_exact(&low), is_exact(&high));
        let value = |bound: Option<(Vec<u8>, &[u8])>| bound.map(|(cut, _)| ByteArray::from(cut));
        let statistics = ValueStatistics::new(value(low), value(high), None, Some(self.chunk.nulls()), false)
            .with_min_is_exact(is_low_exact)
            .with_max_is_exact(is_high_exact);
        let dictionary = (self.dictionary.bytes, self.dictionary.entries.len());
        self.chunk.finish(
            Some(dictionary),
            Statistics::ByteArray(statistics),
            |(low, high)| (floor(low), ceiling(high)),
            into,
        )
    }
}

/// Appends texts as they are; gives their bounds and how many bytes they have.
fn plain(arrays: &[ArrayRef], page: &mut Vec<u8>) -> Result<(Option<Bounds>, Option<usize>)> {
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
            let (keys, entries) = codes(array)?;
            for key in keys.iter().flatten() {
                let text = entries.value(key.as_usize()).as_bytes();
                push(text, page)?;
                bytes += text.len();
                widen(&mut bounds, text);
            }
        }
    }
    Ok((bounds.map(|(low, high)| (low.to_vec(), high.to_vec())), Some(bytes)))
}

fn widen<'a>(bounds: &mut Ends<'a>, text: &'a [u8]) {
    *bounds = Some(match *bounds {
        None => (text, text),
        Some((low, high)) => (low.min(text), high.max(text)),
    });
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
struct Dictionary {
    /// Each behind its length, as the file holds them.
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    table: HashTable<u32>,
    hasher: Hasher,
}

/// Fixed, so that nothing about a run depends on chance.
struct Hasher(RandomState);

impl Default for Hasher {
    fn default() -> Self {
        Self(RandomState::with_seeds(1, 2, 3, 4))
    }
}

/// One text of a dictionary.
struct Entry {
    from: usize,
    to: usize,
    /// The last page it is in.
    page: u32,
}

impl Dictionary {
    fn code(&mut self, text: &[u8]) -> Result<u32> {
        let Self {
            bytes,
            entries,
            table,
            hasher: Hasher(hasher),
        } = self;
        let of = |code: u32| {
            let entry = entries.get(code.as_usize());
            entry
                .and_then(|entry| bytes.get(entry.from..entry.to))
                .unwrap_or_default()
        };
        let hash = hasher.hash_one(text);
        if let Some(code) = table.find(hash, |code| of(*code) == text) {
            return Ok(*code);
        }
        let code = u32::try_from(entries.len()).map_err(|e| Error::internal("too many texts").because(e))?;
        table.insert_unique(hash, code, |code| hasher.hash_one(of(*code)));
        push(text, bytes)?;
        entries.push(Entry {
            from: bytes.len() - text.len(),
            to: bytes.len(),
            page: 0,
        });
        Ok(code)
    }

    /// Bounds of the texts of a page, and how many bytes they have.
    fn look(&mut self, codes: &[u32], page: u32) -> (Ends<'_>, usize) {
        let mut bounds = None;
        let mut sum = 0;
        let mut last = None;
        for code in codes {
            if let Some((known, bytes)) = last
                && known == *code
            {
                sum += bytes;
                continue;
            }
            let Some(entry) = self.entries.get_mut(code.as_usize()) else {
                continue;
            };
            let bytes = entry.to - entry.from;
            sum += bytes;
            last = Some((*code, bytes));
            if entry.page != page {
                entry.page = page;
                widen(&mut bounds, self.bytes.get(entry.from..entry.to).unwrap_or_default());
            }
        }
        (bounds, sum)
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
            .unwrap_or_default(),
    }
}
