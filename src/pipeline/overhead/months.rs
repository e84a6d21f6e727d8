//! Slices of time, a month or less each: what runs in them waits on disk until its slice is swept.

use crate::error::Result;
use crate::occupancy::{Slice, Wait};
use crate::scratch::{Scratch, Stretch};
use crate::time::calendar::Period;

/// Jobs on nodes and in queues kept in memory before they go to a temporary file: 20 bytes each.
const MEMORY_N: usize = 8 << 20;
/// Numbers kept of a job on a node.
const WORD_N: usize = 5;
/// Numbers kept of a job that waits.
const WAIT_WORD_N: usize = 3;

/// A slice: a calendar month, or the part of it that lies in one allocation year, as far as it is in the period.
#[derive(Debug)]
pub(super) struct Month {
    /// The month.
    pub(super) period: Period,
    /// First second.
    pub(super) from_s: i64,
    /// The second after the last.
    pub(super) until_s: i64,
    held: Vec<[u32; WORD_N]>,
    held_stored: Vec<Stretch>,
    waits: Vec<[u32; WAIT_WORD_N]>,
    waits_stored: Vec<Stretch>,
}

impl Month {
    /// Seconds from its beginning of what lies in it.
    fn within(&self, (start_s, end_s): (i64, i64)) -> (u32, u32) {
        let relative = |s: i64| u32::try_from(s.clamp(self.from_s, self.until_s) - self.from_s).unwrap_or(u32::MAX);
        (relative(start_s), relative(end_s))
    }
}

fn bytes<const N: usize>(rows: &[[u32; N]]) -> Vec<u8> {
    rows.iter().flatten().flat_map(|word| word.to_le_bytes()).collect()
}

/// Hands what was put away to `add`, row by row.
fn rows<const N: usize>(bytes: &[u8], mut add: impl FnMut([u32; N])) {
    for row in bytes.chunks_exact(N * 4) {
        let (words, _) = row.as_chunks::<4>();
        let mut numbers = [0; N];
        for (number, word) in numbers.iter_mut().zip(words) {
            *number = u32::from_le_bytes(*word);
        }
        add(numbers);
    }
}

/// Slices in the order of time.
#[derive(Debug, Default)]
pub(super) struct Months {
    slices: Vec<Month>,
    in_memory_n: usize,
    scratch: Scratch,
}

impl Months {
    /// Slices for these periods, each with its first second and the one after its last.
    pub(super) fn new(periods: Vec<(Period, (i64, i64))>) -> Self {
        let months = periods.into_iter().map(|(period, (from_s, until_s))| Month {
            period,
            from_s,
            until_s,
            held: Vec::new(),
            held_stored: Vec::new(),
            waits: Vec::new(),
            waits_stored: Vec::new(),
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

    /// Adds a job on a node, known by `tag`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be written.
    pub(super) fn push(&mut self, node: u32, span: (i64, i64), shape: u32, tag: u32) -> Result<()> {
        self.put(span, |month, (start_s, end_s)| {
            month.held.push([node, start_s, end_s, shape, tag]);
        })
    }

    /// Adds a job that waits with an ask.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be written.
    pub(super) fn wait(&mut self, span: (i64, i64), ask: u32) -> Result<()> {
        self.put(span, |month, (start_s, end_s)| month.waits.push([start_s, end_s, ask]))
    }

    /// Puts a row into every slice a time lies in.
    fn put(&mut self, span: (i64, i64), add: impl Fn(&mut Month, (u32, u32))) -> Result<()> {
        let first = self.slices.partition_point(|month| month.until_s <= span.0);
        for month in self.slices.iter_mut().skip(first) {
            if month.from_s >= span.1 {
                break;
            }
            let within = month.within(span);
            add(month, within);
            self.in_memory_n += 1;
        }
        self.store_if_full()
    }

    fn store_if_full(&mut self) -> Result<()> {
        if self.in_memory_n < MEMORY_N {
            return Ok(());
        }
        self.in_memory_n = 0;
        for month in &mut self.slices {
            let (held, waits) = (std::mem::take(&mut month.held), std::mem::take(&mut month.waits));
            if !held.is_empty() {
                month.held_stored.push(self.scratch.push(&bytes(&held))?);
            }
            if !waits.is_empty() {
                month.waits_stored.push(self.scratch.push(&bytes(&waits))?);
            }
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
        let mut add = |[node, start, end, shape, tag]: [u32; WORD_N]| {
            let absolute = |relative: u32| month.from_s + i64::from(relative);
            slice.push(node, (absolute(start), absolute(end)), shape, tag);
        };
        for stretch in &month.held_stored {
            rows(&self.scratch.load(*stretch)?, &mut add);
        }
        month.held.iter().copied().for_each(add);
        Ok(slice)
    }

    /// The jobs that wait in the nth slice, in no particular order.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read.
    pub(super) fn waits(&mut self, nth: usize) -> Result<Vec<Wait>> {
        let Some(month) = self.slices.get(nth) else {
            return Ok(Vec::new());
        };
        let mut waits = Vec::new();
        let mut add = |[start_s, end_s, ask]: [u32; WAIT_WORD_N]| waits.push(Wait { start_s, end_s, ask });
        for stretch in &month.waits_stored {
            rows(&self.scratch.load(*stretch)?, &mut add);
        }
        month.waits.iter().copied().for_each(add);
        Ok(waits)
    }
}
