//! Texts of several packed columns as one column of codes.

use std::sync::Arc;

use ahash::RandomState;
use arrow_array::builder::{ArrayBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowDictionaryKeyType, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{Array, ArrayRef, DictionaryArray, PrimitiveArray, StringArray, UInt32Array};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::DataType;
use hashbrown::HashTable;

use super::route::Route;
use super::text::entry;
use crate::error::{Error, Result};
use crate::short_texts::is_same;

/// A gathered column of texts.
pub(super) type Coded = DictionaryArray<UInt32Type>;

/// Texts from several packed columns on their way into one gathered column.
pub(super) struct TextGathering {
    rows: usize,
    /// None while all rows have the first entry.
    codes: Vec<u32>,
    entries: StringBuilder,
    /// Entries of columns that have few: many small batches have the same ones.
    table: HashTable<u32>,
    hasher: RandomState,
}

impl TextGathering {
    /// A column of `rows` texts, none of which is known yet, with room for so many `entries` of so many `bytes`.
    pub(super) fn new(rows: usize, entries: usize, bytes: usize) -> Self {
        Self {
            rows,
            codes: Vec::new(),
            entries: StringBuilder::with_capacity(entries, bytes),
            table: HashTable::new(),
            hasher: RandomState::with_seeds(1, 2, 3, 4),
        }
    }

    /// Takes the texts of some rows.
    pub(super) fn take(&mut self, array: &ArrayRef, route: &Route) -> Result<()> {
        match array.data_type() {
            DataType::Utf8 => self.take_texts(array.as_string::<i32>(), route),
            DataType::Dictionary(key, _) => {
                let entries = array
                    .as_any_dictionary()
                    .values()
                    .as_string_opt::<i32>()
                    .ok_or_else(|| Error::internal("a dictionary of no texts"))?;
                match &**key {
                    DataType::UInt8 => self.take_codes(array.as_dictionary::<UInt8Type>().keys(), entries, route),
                    DataType::UInt16 => self.take_codes(array.as_dictionary::<UInt16Type>().keys(), entries, route),
                    DataType::UInt32 => self.take_codes(array.as_dictionary::<UInt32Type>().keys(), entries, route),
                    other => return Err(Error::internal(format!("codes are not packed as {other}"))),
                }
            }
            other => return Err(Error::internal(format!("texts are not packed as {other}"))),
        }
        Ok(())
    }

    fn next_code(&self) -> u32 {
        // Fallback: never taken, Arrow's offsets of 31 bits end before the entries do.
        u32::try_from(self.entries.len()).unwrap_or(u32::MAX)
    }

    fn set(&mut self, place: usize, code: u32) {
        if let Some(slot) = self.codes.get_mut(place) {
            *slot = code;
        }
    }

    /// Rows differ: places without a code of their own have the first one.
    fn differ(&mut self) {
        self.codes.resize(self.rows, 0);
    }

    fn take_texts(&mut self, texts: &StringArray, route: &Route) {
        self.differ();
        for (row, place) in route.pairs() {
            self.set(place, self.next_code());
            self.entries.append_value(texts.value(row));
        }
    }

    fn take_codes<K: ArrowDictionaryKeyType>(&mut self, keys: &PrimitiveArray<K>, entries: &StringArray, route: &Route)
    where
        u32: TryFrom<K::Native>,
    {
        let code = |row: usize| {
            keys.values()
                .get(row)
                // Fallback: a key that is no code finds no entry.
                .map_or(0, |key| u32::try_from(*key).unwrap_or(u32::MAX))
        };
        if entries.len() == 1 {
            // Of a column of one text, nothing has to be set.
            let code = self.shared(entries.value(0));
            if code > 0 {
                self.differ();
                route.pairs().for_each(|(_, place)| self.set(place, code));
            }
            return;
        }
        self.differ();
        if K::DATA_TYPE == DataType::UInt8 {
            let mut known: Vec<Option<u32>> = vec![None; entries.len()];
            for (row, place) in route.pairs() {
                // The code of a null is arbitrary, and may have no entry.
                let at = code(row).as_usize();
                let Some(slot) = known.get_mut(at) else { continue };
                let code = match *slot {
                    Some(code) => code,
                    None => *slot.insert(self.shared(entries.value(at))),
                };
                self.set(place, code);
            }
            return;
        }
        if entries.len() <= route.len() {
            let base = self.next_code();
            for entry in entries {
                // Fallback: entries of a dictionary are not null, as its rows are.
                self.entries.append_value(entry.unwrap_or_default());
            }
            for (row, place) in route.pairs() {
                // Fallback: never taken, codes number entries, which 31 bits do.
                self.set(place, base.saturating_add(code(row)));
            }
            return;
        }
        // A few rows out of many entries: take only what they name.
        for (row, place) in route.pairs() {
            self.set(place, self.next_code());
            let at = code(row).as_usize();
            // The code of a null is arbitrary, and may have no entry.
            self.entries
                .append_value(if at < entries.len() { entries.value(at) } else { "" });
        }
    }

    /// The code of a text that other batches may have as well.
    fn shared(&mut self, text: &str) -> u32 {
        let Self {
            entries, table, hasher, ..
        } = self;
        let of = |code: u32| entry(entries.offsets_slice(), entries.values_slice(), code);
        let hash = hasher.hash_one(text.as_bytes());
        if let Some(code) = table.find(hash, |code| is_same(of(*code), text.as_bytes())) {
            return *code;
        }
        // Fallback: never taken, the offsets of the entries have 31 bits.
        let code = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        table.insert_unique(hash, code, |code| hasher.hash_one(of(*code)));
        entries.append_value(text);
        code
    }

    /// The gathered column. Columns of as many rows that all have one text share their codes: `alike` is the first.
    pub(super) fn finish(mut self, nulls: Option<NullBuffer>, alike: &mut Option<Coded>) -> Result<ArrayRef> {
        if self.entries.is_empty() {
            self.entries.append_value("");
        }
        if self.codes.is_empty() && self.entries.len() == 1 && nulls.is_none() {
            let entries: ArrayRef = Arc::new(self.entries.finish());
            let known = alike.take().filter(|known| known.len() == self.rows);
            let column = match known {
                Some(known) => known.with_values(entries),
                None => DictionaryArray::try_new(vec![0; self.rows].into(), entries)?,
            };
            return Ok(Arc::new(alike.insert(column).clone()));
        }
        self.differ();
        let keys = UInt32Array::new(self.codes.into(), nulls);
        Ok(Arc::new(DictionaryArray::try_new(
            keys,
            Arc::new(self.entries.finish()),
        )?))
    }
}
