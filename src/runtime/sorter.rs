//! Values in order: sorted in memory while they are few, as sorted runs of a temporary file that are merged when they are many.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;

use super::column::{ColumnBudget, PageRange, append, load, temporary};
use super::column_value::ColumnValue;
use crate::error::Result;
use crate::numbers::Extent;

/// So many runs of one level become one of the next.
const FAN_IN: usize = 64;
/// Values of a run that are read at once while it is merged.
const PAGE_VALUES: usize = 64;

/// Values of a run: sorted, page by page in the file.
#[derive(Clone, Debug, Default)]
struct SortedRun {
    from: u64,
    /// Where each page ends.
    ends: Vec<u64>,
    value_n: usize,
}

/// Takes values in any order.
#[derive(Debug)]
pub struct Sorter<T> {
    budget: ColumnBudget,
    values: Vec<T>,
    file: Option<File>,
    memory_byte_n: usize,
    /// Bytes in the file.
    end: u64,
    /// Runs by how often they were merged.
    levels: Vec<Vec<SortedRun>>,
    bytes: Vec<u8>,
}

impl<T: ColumnValue + Ord> Sorter<T> {
    /// Without values.
    #[must_use]
    pub fn new(budget: ColumnBudget) -> Self {
        Self {
            budget,
            values: Vec::new(),
            file: None,
            memory_byte_n: 0,
            end: 0,
            levels: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Adds a value.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be made or written.
    pub fn push(&mut self, value: T) -> Result<()> {
        self.memory_byte_n += value.memory_byte_n();
        if self.memory_byte_n > self.budget.0 && !self.values.is_empty() {
            self.spill()?;
            self.memory_byte_n = value.memory_byte_n();
        }
        self.values.push(value);
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        self.values.sort_unstable();
        if self.file.is_none() {
            self.file = Some(temporary()?);
        }
        let values = std::mem::take(&mut self.values);
        let mut run = self.run();
        for page in values.chunks(PAGE_VALUES) {
            self.append(page, &mut run)?;
        }
        self.values = values;
        self.values.clear();
        self.add_run(run, 0)
    }

    /// A run behind all others.
    fn run(&self) -> SortedRun {
        SortedRun {
            from: self.end,
            ..SortedRun::default()
        }
    }

    fn append(&mut self, page: &[T], run: &mut SortedRun) -> Result<()> {
        if let Some(file) = &self.file {
            self.end += append(file, page, &mut self.bytes)?;
            run.ends.push(self.end);
            run.value_n += page.len();
        }
        Ok(())
    }

    fn add_run(&mut self, run: SortedRun, level: usize) -> Result<()> {
        if self.levels.len() <= level {
            self.levels.push(Vec::new());
        }
        let Some(runs) = self.levels.get_mut(level) else {
            return Ok(());
        };
        runs.push(run);
        if runs.len() < FAN_IN {
            return Ok(());
        }
        let runs = std::mem::take(runs);
        let Some(file) = self.file.as_ref().map(File::try_clone).transpose()? else {
            return Ok(());
        };
        let mut merged = self.run();
        let mut merge: Merge<T> = Merge::of(&file, runs);
        let mut page = Vec::with_capacity(PAGE_VALUES);
        while let Some(value) = merge.next(&file) {
            page.push(value);
            if page.len() == PAGE_VALUES {
                self.append(&page, &mut merged)?;
                page.clear();
            }
        }
        if !page.is_empty() {
            self.append(&page, &mut merged)?;
        }
        self.add_run(merged, level + 1)
    }

    /// The values in order, equal ones next to each other.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn finish(mut self) -> Result<SortedValues<T>> {
        if self.file.is_none() {
            self.values.sort_unstable();
            return Ok(SortedValues::Memory(self.values.into_iter()));
        }
        if !self.values.is_empty() {
            self.spill()?;
        }
        self.values = Vec::new();
        let runs: Vec<SortedRun> = self.levels.into_iter().flatten().collect();
        Ok(match self.file {
            Some(file) => {
                let merge = Merge::of(&file, runs);
                SortedValues::File { file, merge }
            }
            None => SortedValues::Memory(Vec::new().into_iter()),
        })
    }
}

/// Values in order.
#[derive(Debug)]
pub enum SortedValues<T> {
    /// Of memory.
    Memory(std::vec::IntoIter<T>),
    /// Of runs in a file.
    File {
        /// The file.
        file: File,
        /// The runs.
        merge: Merge<T>,
    },
}

impl<T: ColumnValue + Ord> Iterator for SortedValues<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match self {
            Self::Memory(values) => values.next(),
            Self::File { file, merge } => merge.next(file),
        }
    }
}

/// Runs while they are merged.
#[derive(Debug)]
pub struct Merge<T> {
    runs: Vec<OpenRun<T>>,
    /// The next value of each run, by the place of the run.
    heads: BinaryHeap<Reverse<RunHead<T>>>,
}

/// The next value of a run.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RunHead<T> {
    value: T,
    run: usize,
}

/// A run that is read.
#[derive(Debug)]
struct OpenRun<T> {
    run: SortedRun,
    /// Pages that were read.
    page_n: usize,
    /// Values that were read, the next one last.
    values: Vec<T>,
}

impl<T: ColumnValue> OpenRun<T> {
    fn next(&mut self, file: &File) -> Option<T> {
        if self.values.is_empty() {
            let until = *self.run.ends.get(self.page_n)?;
            let before = self.page_n.checked_sub(1).and_then(|at| self.run.ends.get(at));
            let range = PageRange {
                from: before.map_or(self.run.from, |end| *end),
                until,
            };
            let value_n = PAGE_VALUES.min(self.run.value_n.less(self.page_n * PAGE_VALUES));
            load(file, range, value_n, &mut self.values);
            self.values.reverse();
            self.page_n += 1;
        }
        self.values.pop()
    }
}

impl<T: ColumnValue + Ord> Merge<T> {
    fn of(file: &File, runs: Vec<SortedRun>) -> Self {
        let mut merge = Self {
            runs: Vec::with_capacity(runs.len()),
            heads: BinaryHeap::with_capacity(runs.len()),
        };
        for (at, run) in runs.into_iter().enumerate() {
            let mut open = OpenRun {
                run,
                page_n: 0,
                values: Vec::new(),
            };
            if let Some(value) = open.next(file) {
                merge.heads.push(Reverse(RunHead { value, run: at }));
            }
            merge.runs.push(open);
        }
        merge
    }

    fn next(&mut self, file: &File) -> Option<T> {
        let mut head = self.heads.peek_mut()?;
        let run = head.0.run;
        let next = self.runs.get_mut(run).and_then(|open| open.next(file));
        if let Some(value) = next {
            return Some(std::mem::replace(&mut head.0.value, value));
        }
        let Reverse(RunHead { value, .. }) = PeekMut::pop(head);
        Some(value)
    }
}
