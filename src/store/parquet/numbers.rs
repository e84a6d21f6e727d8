//! Integers, instants, dates and short decimals as codes of a dictionary. A row group has fewer rows than a dictionary may have entries.

use std::io::Write;
use std::sync::Arc;

use ahash::RandomState;
use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Decimal128Type};
use arrow_array::{Array, ArrayRef, Int64Array};
use arrow_buffer::ArrowNativeType;
use hashbrown::HashTable;
use parquet::basic::{Compression, Encoding, Type};
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::ColumnDescPtr;

use super::chunk::{Chunk, ChunkFacts, ChunkPlace, DictionaryBytes, PageBounds, Validity};
use super::deltas::values;
use super::page_buffers::PageBuffers;
use super::runs;
use crate::error::{Error, Result};

/// Numbers whose codes are at hand.
const NEAR: usize = 256;

/// How wide numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberWidth {
    /// 32 bits: days and decimals of few digits.
    Short,
    /// 64 bits.
    Long,
}

impl NumberWidth {
    fn store(self, value: i64) -> Vec<u8> {
        match self {
            Self::Short => short(value).to_le_bytes().to_vec(),
            Self::Long => value.to_le_bytes().to_vec(),
        }
    }
}

/// A number of a column of 32 bits.
fn short(value: i64) -> i32 {
    // Fallback: never taken, numbers of such a column were widened from 32 bits.
    i32::try_from(value).unwrap_or_default()
}

/// A column of numbers.
pub(in crate::store) struct NumberColumn {
    chunk: Chunk,
    width: NumberWidth,
    dictionary: NumberDictionary,
    pages: u32,
}

impl NumberColumn {
    /// An empty column.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a compression no table has.
    pub(super) fn new(column: ColumnDescPtr, compression: Compression) -> Result<Self> {
        let width = if column.physical_type() == Type::INT32 {
            NumberWidth::Short
        } else {
            NumberWidth::Long
        };
        Ok(Self {
            chunk: Chunk::new(column, compression)?,
            width,
            dictionary: NumberDictionary::new(),
            pages: 0,
        })
    }

    /// Adds a page of all rows of the arrays.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they are no numbers.
    pub(super) fn page(&mut self, arrays: &[ArrayRef], bench: &mut PageBuffers) -> Result<()> {
        let arrays = &arrays.iter().map(as_long).collect::<Result<Vec<_>>>()?;
        let validity = Validity::of(arrays);
        self.chunk.begin_page(&validity, bench);
        self.pages += 1;
        let PageBuffers { codes, page, .. } = bench;
        let only = if validity.nulls == 0 { only(arrays)? } else { None };
        let bounds = if let Some(value) = only {
            let code = self.dictionary.code(value);
            let width = self.begin_codes(page)?;
            runs::alike(code, validity.rows, width, page);
            Some((value, value))
        } else {
            codes.clear();
            codes.reserve(validity.rows);
            for array in arrays {
                self.take(array, codes)?;
            }
            let width = self.begin_codes(page)?;
            runs::codes(codes, width, page);
            self.dictionary.look(codes, self.pages)
        };
        let facts = ChunkFacts {
            rows: validity.rows,
            nulls: validity.nulls,
            bounds: bounds.map(|(low, high)| PageBounds {
                low: ranked(low).to_vec(),
                high: ranked(high).to_vec(),
            }),
            text_bytes: None,
        };
        self.chunk.add_page(bench, Encoding::RLE_DICTIONARY, facts)
    }

    /// Appends how many bits distinguish codes, and gives it.
    fn begin_codes(&self, page: &mut Vec<u8>) -> Result<u32> {
        let entry_n = self.dictionary.entries.len();
        u32::try_from(entry_n).map_err(|why| Error::internal("too many numbers").because(why))?;
        Ok(runs::begin_codes(entry_n, page))
    }

    /// Adds the codes of an array.
    fn take(&mut self, array: &ArrayRef, codes: &mut Vec<u32>) -> Result<()> {
        let values = values(array)?;
        match array.nulls() {
            None => {
                codes.extend(values.iter().map(|value| self.dictionary.code(*value)));
            }
            Some(nulls) if nulls.null_count() == values.len() => {}
            Some(nulls) => {
                for (value, is_valid) in values.iter().zip(nulls) {
                    if is_valid {
                        codes.push(self.dictionary.code(*value));
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends the column.
    ///
    /// # Errors
    /// As [`Chunk::finish`].
    pub(super) fn finish<W: Write + Send>(self, into: ChunkPlace<'_, '_, W>) -> Result<()> {
        let (entries, width) = (self.dictionary.entries, self.width);
        let dictionary = DictionaryBytes {
            entries: entries.iter().flat_map(|entry| width.store(entry.value)).collect(),
            entry_n: entries.len(),
        };
        finish(self.chunk, Some(dictionary), width, into)
    }
}

/// Numbers of 64 bits.
fn as_long(array: &ArrayRef) -> Result<ArrayRef> {
    if let Some(days) = array.as_primitive_opt::<Date32Type>() {
        let days: Int64Array = days.unary(i64::from);
        return Ok(Arc::new(days));
    }
    let Some(decimals) = array.as_primitive_opt::<Decimal128Type>() else {
        return Ok(Arc::clone(array));
    };
    let long: Result<Int64Array, _> = if decimals.null_count() == 0 {
        let long = decimals.values().iter().map(|decimal| i64::try_from(*decimal));
        long.collect::<Result<Vec<_>, _>>().map(Int64Array::from)
    } else {
        let long = decimals.iter().map(|decimal| decimal.map(i64::try_from).transpose());
        long.collect()
    };
    let long = long.map_err(|why| Error::internal("a decimal has more digits than its column").because(why))?;
    Ok(Arc::new(long))
}

/// The value of all rows of arrays without nulls, if it is one.
fn only(arrays: &[ArrayRef]) -> Result<Option<i64>> {
    let mut only = None;
    for array in arrays {
        let values = values(array)?;
        let Some(first) = only.or(values.first().copied()) else {
            continue;
        };
        only = Some(first);
        // As many at a time as a processor compares at once.
        let differ = |values: &[i64]| values.iter().fold(0, |differ, value| differ | (value ^ first)) != 0;
        if values.chunks(64).any(differ) {
            return Ok(None);
        }
    }
    Ok(only)
}

/// Ends a chunk of numbers of 64 bits whose bounds are [`ranked`].
///
/// # Errors
/// As [`Chunk::finish`].
pub(super) fn finish_long<W: Write + Send>(chunk: Chunk, into: ChunkPlace<'_, '_, W>) -> Result<()> {
    finish(chunk, None, NumberWidth::Long, into)
}

fn finish<W: Write + Send>(
    chunk: Chunk,
    dictionary: Option<DictionaryBytes>,
    width: NumberWidth,
    into: ChunkPlace<'_, '_, W>,
) -> Result<()> {
    let bounds = chunk.bounds();
    let (low, high) = (
        bounds.map(|(low, _)| unranked(low)),
        bounds.map(|(_, high)| unranked(high)),
    );
    let null_n = Some(chunk.nulls());
    let statistics = match width {
        NumberWidth::Short => Statistics::Int32(
            ValueStatistics::new(low.map(short), high.map(short), None, null_n, false)
                .with_backwards_compatible_min_max(true),
        ),
        NumberWidth::Long => Statistics::Int64(
            ValueStatistics::new(low, high, None, null_n, false).with_backwards_compatible_min_max(true),
        ),
    };
    chunk.finish(
        dictionary,
        statistics,
        |bounds| {
            let stored = |bound: &[u8]| width.store(unranked(bound));
            PageBounds {
                low: stored(&bounds.low),
                high: stored(&bounds.high),
            }
        },
        into,
    )
}

/// Bytes that compare as the numbers do.
pub(super) fn ranked(value: i64) -> [u8; 8] {
    (value ^ i64::MIN).to_be_bytes()
}

fn unranked(bytes: &[u8]) -> i64 {
    bytes
        .first_chunk()
        .map_or(0, |bytes| i64::from_be_bytes(*bytes) ^ i64::MIN)
}

/// The numbers a row group has, in the order in which they first come.
struct NumberDictionary {
    entries: Vec<NumberEntry>,
    table: HashTable<u32>,
    hasher: RandomState,
    /// Numbers that came last, by a byte of their own, with their codes: most columns have few.
    near: [Option<(i64, u32)>; NEAR],
}

struct NumberEntry {
    value: i64,
    /// The last page it is in.
    page: u32,
}

impl NumberDictionary {
    fn new() -> Self {
        Self {
            entries: Vec::new(),
            table: HashTable::new(),
            // Fixed, so that nothing about a run depends on chance.
            hasher: RandomState::with_seeds(1, 2, 3, 4),
            near: [None; NEAR],
        }
    }

    /// The code of a number.
    #[inline]
    fn code(&mut self, value: i64) -> u32 {
        // The golden ratio spreads neighbours and multiples of anything.
        let [.., place] = value.wrapping_mul(-7_046_029_254_386_353_131).to_le_bytes();
        if let Some(Some((near, code))) = self.near.get(usize::from(place))
            && *near == value
        {
            return *code;
        }
        let code = self.look_up(value);
        if let Some(near) = self.near.get_mut(usize::from(place)) {
            *near = Some((value, code));
        }
        code
    }

    fn look_up(&mut self, value: i64) -> u32 {
        let Self {
            entries, table, hasher, ..
        } = self;
        let of = |code: u32| entries.get(code.as_usize()).map(|entry| entry.value);
        let hash = hasher.hash_one(value);
        if let Some(code) = table.find(hash, |code| of(*code) == Some(value)) {
            return *code;
        }
        // Fallback: a column of more numbers is refused before its codes are written.
        let code = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        // Fallback: never taken, every code of the table has its number.
        table.insert_unique(hash, code, |code| hasher.hash_one(of(*code).unwrap_or(0)));
        entries.push(NumberEntry { value, page: 0 });
        code
    }

    /// Bounds of the numbers of a page.
    fn look(&mut self, codes: &[u32], page: u32) -> Option<(i64, i64)> {
        let mut bounds = None;
        let mut last = None;
        for code in codes {
            if last.replace(*code) == Some(*code) {
                continue;
            }
            let Some(entry) = self.entries.get_mut(code.as_usize()) else {
                continue;
            };
            if entry.page != page {
                entry.page = page;
                let value = entry.value;
                bounds = Some(bounds.map_or((value, value), |(low, high): (i64, i64)| {
                    (low.min(value), high.max(value))
                }));
            }
        }
        bounds
    }
}
