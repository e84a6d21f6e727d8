//! Values in order: sorted in memory while they are few, as sorted runs of a temporary file that are merged when they are many.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::column::{ColumnBudget, append, load};
use super::column_value::ColumnValue;
use super::scratch::{Scratch, SpillRange};
use crate::error::Result;
use crate::numbers::Extent;

/// So many runs of one level become one of the next.
const FAN_IN: usize = 64;
/// Values of a run that are read at once while it is merged.
const PAGE_VALUES: usize = 64;

/// Values of a run: sorted, page by page in the file.
#[derive(Clone, Debug, Default)]
struct SortedRun {
    pages: Vec<SpillRange>,
    value_n: usize,
}

impl SortedRun {
    /// Adds a page of values that come after those it has.
    fn append<T: ColumnValue>(&mut self, page: &[T], scratch: &mut Scratch, bytes: &mut Vec<u8>) -> Result<()> {
        self.pages.push(append(scratch, page, bytes)?);
        self.value_n += page.len();
        Ok(())
    }
}

/// Takes values in any order.
#[derive(Debug)]
pub struct Sorter<T> {
    budget: ColumnBudget,
    values: Vec<T>,
    scratch: Scratch,
    memory_byte_n: usize,
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
            scratch: Scratch::default(),
            memory_byte_n: 0,
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
        let mut run = SortedRun::default();
        for page in self.values.chunks(PAGE_VALUES) {
            run.append(page, &mut self.scratch, &mut self.bytes)?;
        }
        self.values.clear();
        self.add_run(run, 0)
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
        let mut merged = SortedRun::default();
        let mut merge: Merge<T> = Merge::of(&self.scratch, runs);
        let mut page = Vec::with_capacity(PAGE_VALUES);
        while let Some(value) = merge.next(&self.scratch) {
            page.push(value);
            if page.len() == PAGE_VALUES {
                merged.append(&page, &mut self.scratch, &mut self.bytes)?;
                page.clear();
            }
        }
        if !page.is_empty() {
            merged.append(&page, &mut self.scratch, &mut self.bytes)?;
        }
        self.add_run(merged, level + 1)
    }

    /// The values in order, equal ones next to each other.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn finish(mut self) -> Result<SortedValues<T>> {
        if self.levels.is_empty() {
            self.values.sort_unstable();
            return Ok(SortedValues(SortedPlace::Memory(self.values.into_iter())));
        }
        if !self.values.is_empty() {
            self.spill()?;
        }
        let merge = Merge::of(&self.scratch, self.levels.into_iter().flatten().collect());
        let scratch = self.scratch;
        Ok(SortedValues(SortedPlace::File { scratch, merge }))
    }
}

/// Values in order.
#[derive(Debug)]
pub struct SortedValues<T>(SortedPlace<T>);

/// Where values in order are.
#[derive(Debug)]
enum SortedPlace<T> {
    Memory(std::vec::IntoIter<T>),
    File { scratch: Scratch, merge: Merge<T> },
}

impl<T: ColumnValue + Ord> Iterator for SortedValues<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match &mut self.0 {
            SortedPlace::Memory(values) => values.next(),
            SortedPlace::File { scratch, merge } => merge.next(scratch),
        }
    }
}

/// Runs while they are merged.
#[derive(Debug)]
struct Merge<T> {
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
    fn next(&mut self, scratch: &Scratch) -> Option<T> {
        if self.values.is_empty() {
            let range = *self.run.pages.get(self.page_n)?;
            let value_n = PAGE_VALUES.min(self.run.value_n.less(self.page_n * PAGE_VALUES));
            load(scratch, range, value_n, &mut self.values);
            self.values.reverse();
            self.page_n += 1;
        }
        self.values.pop()
    }
}

impl<T: ColumnValue + Ord> Merge<T> {
    fn of(scratch: &Scratch, runs: Vec<SortedRun>) -> Self {
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
            if let Some(value) = open.next(scratch) {
                merge.heads.push(Reverse(RunHead { value, run: at }));
            }
            merge.runs.push(open);
        }
        merge
    }

    fn next(&mut self, scratch: &Scratch) -> Option<T> {
        let mut head = self.heads.peek_mut()?;
        let run = head.0.run;
        let next = self.runs.get_mut(run).and_then(|open| open.next(scratch));
        if let Some(value) = next {
            return Some(std::mem::replace(&mut head.0.value, value));
        }
        let Reverse(RunHead { value, .. }) = PeekMut::pop(head);
        Some(value)
    }
}
