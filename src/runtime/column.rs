//! Columns of values: in memory while they are few, in an unnamed temporary file when they are many.
//!
//! A column is written once, from the front, and then read by any number of threads, each with pages of its own. A file that cannot
//! be written is an error. One that cannot be read back ends the process, as memory that is not there does: the values were given
//! away, and nothing can stand for them.

use std::sync::Arc;

use super::column_value::{ByteFields, ColumnValue};
use super::scratch::{Scratch, SpillRange};
use super::sudden_end::without_temporary_file;
use crate::error::Result;
use crate::numbers::Extent;

/// Values of a page: what is read at once.
const PAGE_VALUES: usize = 256;
/// Pages that a reader of any place holds.
const PAGE_N: usize = 8;

/// How many bytes of memory a column may take, or values that are sorted, before a temporary file takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnBudget(pub usize);

impl Default for ColumnBudget {
    /// Some ten thousand jobs.
    fn default() -> Self {
        Self(8 << 20)
    }
}

impl ColumnBudget {
    /// Of each of several things that are made at a time.
    #[must_use]
    pub fn part(self) -> Self {
        Self(self.0 / 4)
    }
}

/// Puts the values of a page behind all that is in a temporary file.
///
/// # Errors
/// As [`Scratch::push`].
pub(super) fn append<T: ColumnValue>(scratch: &mut Scratch, values: &[T], bytes: &mut Vec<u8>) -> Result<SpillRange> {
    bytes.clear();
    for value in values {
        value.encode(bytes);
    }
    scratch.push(bytes)
}

/// Reads so many values of a page, in place of those in `values`.
pub(super) fn load<T: ColumnValue>(scratch: &Scratch, page: SpillRange, value_n: usize, values: &mut Vec<T>) {
    values.clear();
    let Ok(bytes) = scratch.load(page) else {
        without_temporary_file();
    };
    let mut fields = ByteFields::of(&bytes);
    values.extend(std::iter::repeat_with(|| T::decode(&mut fields)).take(value_n));
}

/// Values that are written, one after the other.
#[derive(Debug)]
pub struct ColumnWriter<T> {
    budget: ColumnBudget,
    values: Vec<T>,
    memory_byte_n: usize,
    /// What is no longer in memory.
    file: Option<ColumnFile>,
    len: usize,
    bytes: Vec<u8>,
}

impl<T: ColumnValue> ColumnWriter<T> {
    /// A column without values.
    #[must_use]
    pub fn new(budget: ColumnBudget) -> Self {
        Self {
            budget,
            values: Vec::new(),
            memory_byte_n: 0,
            file: None,
            len: 0,
            bytes: Vec::new(),
        }
    }

    /// Adds a value.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be made or written.
    pub fn push(&mut self, value: T) -> Result<()> {
        self.len += 1;
        if self.file.is_some() {
            self.values.push(value);
            return if self.values.len() == PAGE_VALUES {
                self.spill()
            } else {
                Ok(())
            };
        }
        self.memory_byte_n += value.memory_byte_n();
        self.values.push(value);
        if self.memory_byte_n > self.budget.0 {
            self.file = Some(ColumnFile::default());
            let values = std::mem::take(&mut self.values);
            for value in values {
                self.values.push(value);
                if self.values.len() == PAGE_VALUES {
                    self.spill()?;
                }
            }
        }
        Ok(())
    }

    /// Writes the values at hand as a page.
    fn spill(&mut self) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.pages
            .push(append(&mut file.scratch, &self.values, &mut self.bytes)?);
        self.values.clear();
        Ok(())
    }

    /// The column.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn finish(mut self) -> Result<Column<T>> {
        if !self.values.is_empty() {
            self.spill()?;
        }
        let place = match self.file {
            Some(file) => ColumnPlace::File(Arc::new(file)),
            None => ColumnPlace::Memory(Arc::new(self.values)),
        };
        Ok(Column {
            place,
            len: self.len,
            budget: self.budget,
        })
    }
}

/// Pages of values in a file.
#[derive(Debug, Default)]
struct ColumnFile {
    scratch: Scratch,
    pages: Vec<SpillRange>,
}

/// Where the values of a column are.
#[derive(Clone, Debug)]
enum ColumnPlace<T> {
    Memory(Arc<Vec<T>>),
    File(Arc<ColumnFile>),
}

/// Values by place. A clone has the same values, not others that are equal.
#[derive(Clone, Debug)]
pub struct Column<T> {
    place: ColumnPlace<T>,
    len: usize,
    budget: ColumnBudget,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self {
            place: ColumnPlace::Memory(Arc::new(Vec::new())),
            len: 0,
            budget: ColumnBudget::default(),
        }
    }
}

impl<T: ColumnValue> Column<T> {
    /// The column of some values.
    ///
    /// # Errors
    /// As [`ColumnWriter::push`].
    pub fn of(values: impl IntoIterator<Item = T>, budget: ColumnBudget) -> Result<Self> {
        let mut writer = ColumnWriter::new(budget);
        for value in values {
            writer.push(value)?;
        }
        writer.finish()
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What it was written with, and what is made of it takes as well.
    #[must_use]
    pub fn budget(&self) -> ColumnBudget {
        self.budget
    }

    /// The value at a place. Who needs many takes a [`Self::reader`].
    #[must_use]
    pub fn get(&self, place: usize) -> Option<T> {
        ColumnReader::new(self, 1).get(place).cloned()
    }

    /// The first value.
    #[must_use]
    pub fn first(&self) -> Option<T> {
        self.get(0)
    }

    /// All values, in order.
    #[must_use]
    pub fn iter(&self) -> ColumnIter<'_, T> {
        ColumnIter {
            reader: ColumnReader::new(self, 1),
            next: 0,
        }
    }

    /// Reads values in order, each by reference.
    #[must_use]
    pub fn scan(&self) -> ColumnReader<'_, T> {
        ColumnReader::new(self, 1)
    }

    /// Reads values in any order; of places that are near each other a page is held.
    #[must_use]
    pub fn reader(&self) -> ColumnReader<'_, T> {
        ColumnReader::new(self, PAGE_N)
    }

    /// All values in memory.
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        self.iter().collect()
    }
}

/// Values that are in memory already stay there.
impl<T> From<Vec<T>> for Column<T> {
    fn from(values: Vec<T>) -> Self {
        Self {
            len: values.len(),
            place: ColumnPlace::Memory(Arc::new(values)),
            budget: ColumnBudget::default(),
        }
    }
}

impl<T: ColumnValue + PartialEq> PartialEq for Column<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<T: ColumnValue + Eq> Eq for Column<T> {}

impl<'a, T: ColumnValue> IntoIterator for &'a Column<T> {
    type Item = T;
    type IntoIter = ColumnIter<'a, T>;

    fn into_iter(self) -> ColumnIter<'a, T> {
        self.iter()
    }
}

/// The values of a column in order.
#[derive(Debug)]
pub struct ColumnIter<'a, T> {
    reader: ColumnReader<'a, T>,
    next: usize,
}

impl<T: ColumnValue> Iterator for ColumnIter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let value = self.reader.get(self.next)?.clone();
        self.next += 1;
        Some(value)
    }
}

/// A part of a column that was read.
#[derive(Debug)]
struct ColumnPage<T> {
    nth: usize,
    /// When it was used last.
    used: u64,
    values: Vec<T>,
}

/// Reads a column, with pages of its own.
#[derive(Debug)]
pub struct ColumnReader<'a, T> {
    column: &'a Column<T>,
    pages: Vec<ColumnPage<T>>,
    /// Where the page is that was used last.
    current: usize,
    most_n: usize,
    clock: u64,
}

impl<'a, T: ColumnValue> ColumnReader<'a, T> {
    fn new(column: &'a Column<T>, most_n: usize) -> Self {
        Self {
            column,
            pages: Vec::new(),
            current: 0,
            most_n,
            clock: 0,
        }
    }

    /// The value at a place.
    #[inline]
    pub fn get(&mut self, place: usize) -> Option<&T> {
        match &self.column.place {
            ColumnPlace::Memory(values) => values.get(place),
            ColumnPlace::File(file) => self.of_file(file, place),
        }
    }

    fn of_file(&mut self, file: &ColumnFile, place: usize) -> Option<&T> {
        let (nth, within) = (place / PAGE_VALUES, place % PAGE_VALUES);
        if self.pages.get(self.current).is_none_or(|page| page.nth != nth) {
            if place >= self.column.len {
                return None;
            }
            self.clock += 1;
            let known = self.pages.iter().position(|page| page.nth == nth);
            self.current = if let Some(at) = known { at } else { self.load(file, nth) };
            if let Some(page) = self.pages.get_mut(self.current) {
                page.used = self.clock;
            }
        }
        self.pages.get(self.current)?.values.get(within)
    }

    /// Reads a page in place of the one that was not used for longest; where it is then.
    fn load(&mut self, file: &ColumnFile, nth: usize) -> usize {
        let oldest = (0..self.pages.len()).min_by_key(|at| self.pages.get(*at).map(|page| page.used));
        let at = if let Some(at) = oldest.filter(|_| self.pages.len() >= self.most_n) {
            at
        } else {
            self.pages.push(ColumnPage {
                nth,
                used: 0,
                values: Vec::new(),
            });
            self.pages.len() - 1
        };
        if let Some(page) = self.pages.get_mut(at) {
            page.nth = nth;
            let value_n = PAGE_VALUES.min(self.column.len.less(nth * PAGE_VALUES));
            match file.pages.get(nth) {
                Some(range) => load(&file.scratch, *range, value_n, &mut page.values),
                None => page.values.clear(),
            }
        }
        at
    }
}
