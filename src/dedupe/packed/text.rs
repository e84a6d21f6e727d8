//! Texts as codes of a dictionary where they repeat, as they are where they do not.

use std::sync::Arc;

use ahash::RandomState;
use arrow_array::builder::NullBufferBuilder;
use arrow_array::types::{ArrowDictionaryKeyType, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{Array, ArrayRef, DictionaryArray, PrimitiveArray, StringArray};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use hashbrown::HashTable;

use super::integer::all_valid;
use super::recent_texts::RecentTexts;
use super::zeros::zeros;
use crate::error::{Error, Result};
use crate::numbers::{Extent, Part};
use crate::schema::batch::{codes, plain};
use crate::short_texts::{ShortText, is_same, wide_word};

/// After so many rows it is asked whether texts repeat at all.
const TRIAL_ROWS: usize = 1024;

/// A column of texts under construction; keeps its room from batch to batch.
///
/// Most columns have the same in row after row: that is written down when a row has something else.
pub struct TextWords {
    /// Whether texts are expected to repeat; otherwise the dictionary is the column.
    is_coded: bool,
    /// Whether a text is still looked for among the earlier ones.
    is_sought: bool,
    /// Of the rows before those that have what the last one has.
    codes: Vec<u32>,
    valid: Option<NullBufferBuilder>,
    ends: Vec<i32>,
    bytes: Vec<u8>,
    table: HashTable<u32>,
    hasher: RandomState,
    recent: RecentTexts,
    /// The code of what the last row has.
    last: Option<u32>,
    /// Its text, if it is short and was pushed.
    last_short: Option<ShortText>,
}

impl TextWords {
    /// A column whose texts repeat.
    #[must_use]
    pub fn coded() -> Self {
        Self::new(true)
    }

    /// A column whose texts hardly ever repeat.
    #[must_use]
    pub fn plain() -> Self {
        Self::new(false)
    }

    fn new(is_coded: bool) -> Self {
        Self {
            is_coded,
            is_sought: is_coded,
            codes: Vec::new(),
            valid: None,
            ends: vec![0],
            bytes: Vec::new(),
            table: HashTable::new(),
            // Fixed, so that nothing about a run depends on chance.
            hasher: RandomState::with_seeds(1, 2, 3, 4),
            recent: RecentTexts::default(),
            last: None,
            last_short: None,
        }
    }

    /// Bytes of its distinct texts so far.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Row number `row` has this text or null. Rows come in order, and none is left out.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the texts of one batch exceed 2 GiB.
    #[inline]
    pub fn push(&mut self, row: usize, text: Option<&str>) -> Result<()> {
        if text.is_none() && self.last.is_none() {
            // As most columns of a dialect are in all rows.
            return Ok(());
        }
        self.push_any(row, text)
    }

    #[inline(never)]
    fn push_any(&mut self, row: usize, text: Option<&str>) -> Result<()> {
        match (text, self.last) {
            (None, None) => Ok(()),
            (None, Some(_)) => {
                self.fill(row)?;
                self.last = None;
                Ok(())
            }
            (Some(text), last) => {
                let short = self.is_coded.then(|| ShortText::of(text.as_bytes())).flatten();
                if last.is_some() && self.is_coded && self.is_last(text, short) {
                    return Ok(());
                }
                self.change(row, text, short)
            }
        }
    }

    /// As [`Self::push`], of a text that need not be compared where it is the one before it.
    ///
    /// # Errors
    /// As [`Self::push`].
    #[inline]
    pub fn push_or_repeat(&mut self, row: usize, text: Option<&str>, is_repeated: bool) -> Result<()> {
        if is_repeated && self.is_coded && text.is_some() == self.last.is_some() {
            debug_assert!(
                text.is_none_or(|text| self.is_last(text, ShortText::of(text.as_bytes()))),
                "a text that is marked as repeated"
            );
            return Ok(());
        }
        self.push(row, text)
    }

    /// Row number `row` has another text than the one before it.
    fn change(&mut self, row: usize, text: &str, short: Option<ShortText>) -> Result<()> {
        self.fill(row)?;
        let code = if self.is_coded {
            self.code(row, text, short)?
        } else {
            self.append(text)?
        };
        (self.last, self.last_short) = (Some(code), short);
        Ok(())
    }

    /// Whether a text equals that of the last row, which is not a null.
    #[inline]
    fn is_last(&self, text: &str, short: Option<ShortText>) -> bool {
        if short.is_some() || self.last_short.is_some() {
            return short == self.last_short;
        }
        let last = self.last.map(|code| entry(&self.ends, &self.bytes, code));
        last.is_some_and(|last| is_same(last, text.as_bytes()))
    }

    /// Writes down what the rows before number `row` have.
    #[inline]
    fn fill(&mut self, row: usize) -> Result<()> {
        match (self.last, &self.valid) {
            // What changes in every row, and is never missing: texts as they are were written down when they were pushed.
            (Some(_), None) if !self.is_coded => Ok(()),
            (Some(last), None) if self.codes.len() + 1 == row => {
                self.codes.push(last);
                Ok(())
            }
            _ => self.fill_any(row),
        }
    }

    #[inline(never)]
    fn fill_any(&mut self, row: usize) -> Result<()> {
        let before = if self.is_coded {
            self.codes.len()
        } else {
            // The text of the last row is among them already.
            self.ends.len() - 1 - usize::from(self.last.is_some())
        };
        let new = row.less(before);
        match self.last {
            Some(code) if self.is_coded => {
                if new == 1 {
                    self.codes.push(code);
                } else {
                    self.codes.resize(row, code);
                }
            }
            Some(_) => {}
            None if self.is_coded => self.codes.resize(row, 0),
            None => self.ends.resize(row + 1, self.end()?),
        }
        match (self.last, &mut self.valid) {
            (Some(_), Some(valid)) => valid.append_n_non_nulls(new),
            (None, Some(valid)) => valid.append_n_nulls(new),
            (None, none) if new > 0 => none.insert(all_valid(before)).append_n_nulls(new),
            (Some(_) | None, _) => {}
        }
        Ok(())
    }

    /// The code of a text that row number `row` has.
    fn code(&mut self, row: usize, text: &str, short: Option<ShortText>) -> Result<u32> {
        if !self.is_sought {
            return self.append(text);
        }
        let Some(short) = short else {
            return self.sought_code(row, text);
        };
        if let Some(code) = self.recent.code(short) {
            return Ok(code);
        }
        let code = self.sought_code(row, text)?;
        self.recent.keep(short, code);
        Ok(code)
    }

    /// The code of a text that is looked for among all earlier ones.
    fn sought_code(&mut self, row: usize, text: &str) -> Result<u32> {
        let hash = self.hasher.hash_one(text.as_bytes());
        let (ends, bytes) = (&self.ends, &self.bytes);
        let found = self
            .table
            .find(hash, |code| is_same(entry(ends, bytes, *code), text.as_bytes()));
        if let Some(code) = found {
            return Ok(*code);
        }
        let code = self.append(text)?;
        let (ends, bytes, hasher) = (&self.ends, &self.bytes, &self.hasher);
        self.table
            .insert_unique(hash, code, |code| hasher.hash_one(entry(ends, bytes, *code)));
        // Three new texts in four rows: looking them up costs more than it saves.
        let rows = row + 1;
        self.is_sought = rows < TRIAL_ROWS || self.ends.len() < rows - rows / 4;
        Ok(code)
    }

    fn append(&mut self, text: &str) -> Result<u32> {
        let code = self.ends.len() - 1;
        let text = text.as_bytes();
        if let Some(word) = wide_word(text) {
            // As a whole word, of which the rest is removed: to copy a few bytes takes a call.
            let end = self.bytes.len() + text.len();
            self.bytes.extend_from_slice(&word.to_le_bytes());
            self.bytes.truncate(end);
        } else {
            self.bytes.extend_from_slice(text);
        }
        let end = self.end()?;
        self.ends.push(end);
        u32::try_from(code).map_err(|_| too_much())
    }

    fn end(&self) -> Result<i32> {
        i32::try_from(self.bytes.len()).map_err(|_| too_much())
    }

    /// The packed column of `rows` rows, `None` if it holds only nulls; starts empty.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] never for texts.
    pub fn finish(&mut self, name: &str, rows: usize) -> Result<Option<(Field, ArrayRef)>> {
        let has_values = self.last.is_some() || self.ends.len() > 1;
        let packed = if has_values {
            self.fill(rows)?;
            let nulls = self.valid.take().and_then(|mut valid| valid.finish());
            let offsets = OffsetBuffer::new(ScalarBuffer::from(self.ends.clone()));
            let bytes = Buffer::from(self.bytes.as_slice());
            Some(if self.is_coded {
                coded(name, &self.codes, nulls, StringArray::try_new(offsets, bytes, None)?)?
            } else {
                let texts = StringArray::try_new(offsets, bytes, nulls)?;
                (Field::new(name, DataType::Utf8, true), Arc::new(texts) as ArrayRef)
            })
        } else {
            None
        };
        self.is_sought = self.is_coded;
        self.codes.clear();
        self.valid = None;
        self.ends.truncate(1);
        self.bytes.clear();
        self.table.clear();
        self.recent.clear();
        self.last = None;
        Ok(packed)
    }
}

fn too_much() -> Error {
    Error::internal("the texts of one batch exceed 2 GiB")
}

pub(super) fn entry<'a>(ends: &[i32], bytes: &'a [u8], code: u32) -> &'a [u8] {
    let at = code.as_usize();
    let bound = |at: usize| ends.get(at).map(|end| end.as_usize());
    match (bound(at), bound(at + 1)) {
        (Some(from), Some(to)) => bytes.part(from..to),
        _ => &[],
    }
}

/// A column of codes as wide as they must be.
fn coded(name: &str, codes: &[u32], nulls: Option<NullBuffer>, entries: StringArray) -> Result<(Field, ArrayRef)> {
    let entries: ArrayRef = Arc::new(entries);
    let array = match entries.len() {
        1 => Arc::new(DictionaryArray::<UInt8Type>::try_new(
            zeros(codes.len(), nulls),
            entries,
        )?),
        0..=0x100 => keyed::<UInt8Type>(codes, nulls, entries)?,
        0x101..=0x1_0000 => keyed::<UInt16Type>(codes, nulls, entries)?,
        _ => keyed::<UInt32Type>(codes, nulls, entries)?,
    };
    Ok((Field::new(name, array.data_type().clone(), true), array))
}

fn keyed<K>(codes: &[u32], nulls: Option<NullBuffer>, entries: ArrayRef) -> Result<ArrayRef>
where
    K: ArrowDictionaryKeyType,
    K::Native: TryFrom<u32> + Default,
{
    // Fallback: never taken, the caller chose the width by the number of entries.
    let keys = codes.iter().map(|c| K::Native::try_from(*c).unwrap_or_default());
    let keys: Vec<K::Native> = keys.collect();
    let keys = PrimitiveArray::<K>::new(ScalarBuffer::from(keys), nulls);
    Ok(Arc::new(DictionaryArray::<K>::try_new(keys, entries)?))
}

/// A packed column of one text.
///
/// # Errors
/// [`crate::error::Kind::Internal`] never for texts.
pub fn constant(name: &str, text: &str, rows: usize) -> Result<(Field, ArrayRef)> {
    coded(name, &vec![0; rows], None, StringArray::from_iter_values([text]))
}

/// Packs a gathered column of texts; `None` if it holds only nulls.
pub(super) fn pack(name: &str, gathered: &ArrayRef) -> Result<Option<(Field, ArrayRef)>> {
    let (keys, entries) = codes(gathered)?;
    if keys.null_count() == keys.len() {
        return Ok(None);
    }
    if entries.len() >= keys.len() {
        let texts = plain(gathered)?;
        return Ok(Some((Field::new(name, DataType::Utf8, true), texts)));
    }
    let mut words = TextWords::coded();
    let mut known: Vec<Option<u32>> = vec![None; entries.len()];
    for row in 0..keys.len() {
        if keys.is_null(row) {
            words.push(row, None)?;
            continue;
        }
        // The first row of an entry looks it up, the others know its code.
        let at = keys.value(row).as_usize();
        let slot = known.get_mut(at).ok_or_else(|| Error::internal("a code of no entry"))?;
        if let Some(code) = *slot {
            words.push_code(row, code)?;
        } else {
            words.push(row, Some(entries.value(at)))?;
            *slot = words.last;
        }
    }
    words.finish(name, keys.len())
}

impl TextWords {
    fn push_code(&mut self, row: usize, code: u32) -> Result<()> {
        if self.last != Some(code) {
            self.fill(row)?;
            (self.last, self.last_short) = (Some(code), None);
        }
        Ok(())
    }
}
