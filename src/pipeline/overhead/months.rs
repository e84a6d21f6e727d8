//! Slices of time, a month or less each: what runs in them waits on disk until its slice is swept.

use crate::error::Result;
use crate::occupancy::Slice;
use crate::scratch::{Scratch, Stretch};
use crate::time::calendar::Period;

/// Jobs on nodes kept in memory before they go to a temporary file: 16 bytes each.
const MEMORY_N: usize = 16 << 20;
/// Numbers kept of a job on a node.
const WORD_N: usize = 4;

/// A slice: a calendar month, or the part of it that lies in one allocation year, as far as it is in the period.
#[derive(Debug)]
pub(super) struct Month {
    /// The month.
    pub(super) period: Period,
    /// First second.
    pub(super) from_s: i64,
    /// The second after the last.
    pub(super) until_s: i64,
    waiting: Vec<[u32; WORD_N]>,
    stored: Vec<Stretch>,
}

/// Slices in the order of time.
#[derive(Debug, Default)]
pub(super) struct Months {
    slices: Vec<Month>,
    waiting_n: usize,
    scratch: Scratch,
}

impl Months {
    /// Slices for these periods, each with its first second and the one after its last.
    pub(super) fn new(periods: Vec<(Period, (i64, i64))>) -> Self {
        let months = periods.into_iter().map(|(period, (from_s, until_s))| Month {
            period,
            from_s,
            until_s,
            waiting: Vec::new(),
            stored: Vec::new(),
        });
        Self {
            slices: months.collect(),
            ..Self::default()
        }
    }

    /// They.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Month> {
        self.slices.iter()
    }

    /// How many.
    pub(super) fn len(&self) -> usize {
        self.slices.len()
    }

    /// The slices a time lies in, with what of it does.
    pub(super) fn overlaps(&self, (start_s, end_s): (i64, i64)) -> impl Iterator<Item = (usize, (i64, i64))> + '_ {
        let first = self.slices.partition_point(|month| month.until_s <= start_s);
        let rest = self.slices.iter().enumerate().skip(first);
        let within = rest.take_while(move |(_, month)| month.from_s < end_s);
        within.map(move |(nth, month)| (nth, (start_s.max(month.from_s), end_s.min(month.until_s))))
    }

    /// Adds a job on a node.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be written.
    pub(super) fn push(&mut self, node: u32, (start_s, end_s): (i64, i64), shape: u32) -> Result<()> {
        let first = self.slices.partition_point(|month| month.until_s <= start_s);
        for month in self.slices.iter_mut().skip(first) {
            if month.from_s >= end_s {
                break;
            }
            let relative = |s: i64| u32::try_from(s - month.from_s).unwrap_or(u32::MAX);
            let (start, end) = (start_s.max(month.from_s), end_s.min(month.until_s));
            month.waiting.push([node, relative(start), relative(end), shape]);
            self.waiting_n += 1;
        }
        if self.waiting_n >= MEMORY_N {
            self.store()?;
        }
        Ok(())
    }

    fn store(&mut self) -> Result<()> {
        self.waiting_n = 0;
        for month in &mut self.slices {
            let waiting = std::mem::take(&mut month.waiting);
            if waiting.is_empty() {
                continue;
            }
            let bytes: Vec<u8> = waiting.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
            month.stored.push(self.scratch.push(&bytes)?);
        }
        Ok(())
    }

    /// The nth slice with all that runs in it, of as many nodes. It can be asked for again.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read.
    pub(super) fn slice(&mut self, nth: usize, node_n: usize) -> Result<Slice> {
        let Some(month) = self.slices.get(nth) else {
            return Ok(Slice::new(0, 0, node_n));
        };
        let mut slice = Slice::new(month.from_s, month.until_s, node_n);
        let mut add = |[node, start, end, shape]: [u32; WORD_N]| {
            let absolute = |relative: u32| month.from_s + i64::from(relative);
            slice.push(node, (absolute(start), absolute(end)), shape, 0);
        };
        for stretch in &month.stored {
            let bytes = self.scratch.load(*stretch)?;
            let (rows, _) = bytes.as_chunks::<{ WORD_N * 4 }>();
            for row in rows {
                let (words, _) = row.as_chunks::<4>();
                let mut numbers = [0; WORD_N];
                for (number, word) in numbers.iter_mut().zip(words) {
                    *number = u32::from_le_bytes(*word);
                }
                add(numbers);
            }
        }
        month.waiting.iter().copied().for_each(add);
        Ok(slice)
    }
}
