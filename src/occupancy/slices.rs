//! Slices of time one behind the other: what runs in them waits on disk until its slice is swept.

use std::ops::Range;

use super::queue::Wait;
use super::slice::{Interval, Slice, end};
use crate::error::Result;
use crate::scratch::{Scratch, Stretch};

/// Jobs on nodes and in queues kept in memory before they go to a temporary file: 20 bytes each.
const MEMORY_N: usize = 8 << 20;
/// Numbers kept of a job on a node.
const WORD_N: usize = 5;
/// Numbers kept of a job that waits.
const WAIT_WORD_N: usize = 3;
/// Jobs put away and read back at once.
const PIECE_N: usize = 1 << 16;

/// A time, and what is known to run in it.
#[derive(Debug)]
struct Part {
    from_s: i64,
    until_s: i64,
    held: Pile<WORD_N>,
    /// How many of them by node.
    held_n: Vec<u32>,
    waits: Pile<WAIT_WORD_N>,
}

impl Part {
    /// Seconds from its beginning of what lies in it.
    fn within(&self, (start_s, end_s): (i64, i64)) -> (u32, u32) {
        let relative = |s: i64| u32::try_from(s.clamp(self.from_s, self.until_s) - self.from_s).unwrap_or(u32::MAX);
        (relative(start_s), relative(end_s))
    }
}

/// Rows of numbers, the first of them on disk.
#[derive(Debug, Default)]
struct Pile<const N: usize> {
    stored: Vec<Stretch>,
    /// Pieces of the full size, so that rows that came are not moved when more of them do.
    full: Vec<Vec<[u32; N]>>,
    open: Vec<[u32; N]>,
}

impl<const N: usize> Pile<N> {
    fn push(&mut self, row: [u32; N]) {
        if self.open.len() >= PIECE_N {
            let next = Vec::with_capacity(PIECE_N);
            self.full.push(std::mem::replace(&mut self.open, next));
        }
        self.open.push(row);
    }

    fn store(&mut self, scratch: &mut Scratch) -> Result<()> {
        let last = std::mem::take(&mut self.open);
        let pieces = std::mem::take(&mut self.full).into_iter().chain([last]);
        let mut bytes = Vec::new();
        for piece in pieces.filter(|piece| !piece.is_empty()) {
            bytes.resize(piece.len() * N * 4, 0);
            let words = piece.as_flattened();
            for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
                place.copy_from_slice(&word.to_le_bytes());
            }
            self.stored.push(scratch.push(&bytes)?);
        }
        Ok(())
    }

    /// Hands all rows to `each`, in the order they came.
    fn read(&self, scratch: &mut Scratch, mut each: impl FnMut([u32; N])) -> Result<()> {
        for stretch in &self.stored {
            for row in scratch.load(*stretch)?.chunks_exact(N * 4) {
                let mut numbers = [0; N];
                for (number, word) in numbers.iter_mut().zip(row.as_chunks::<4>().0) {
                    *number = u32::from_le_bytes(*word);
                }
                each(numbers);
            }
        }
        let pieces = self.full.iter().chain([&self.open]);
        pieces.flatten().copied().for_each(each);
        Ok(())
    }
}

/// Slices in the order of time, which do not overlap.
#[derive(Debug, Default)]
pub struct Slices {
    parts: Vec<Part>,
    in_memory_n: usize,
    scratch: Scratch,
}

impl Slices {
    /// Slices from one second to another, half-open, of at most 68 years.
    #[must_use]
    pub fn new(spans: impl IntoIterator<Item = (i64, i64)>) -> Self {
        let parts = spans.into_iter().map(|(from_s, until_s)| Part {
            from_s,
            until_s: end(from_s, until_s),
            held: Pile::default(),
            held_n: Vec::new(),
            waits: Pile::default(),
        });
        Self {
            parts: parts.collect(),
            ..Self::default()
        }
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The slices a time lies in, with what of it does.
    pub fn overlaps(&self, (start_s, end_s): (i64, i64)) -> impl Iterator<Item = (usize, (i64, i64))> + '_ {
        let reached = self.reached((start_s, end_s));
        let parts = self.parts.iter().enumerate().take(reached.end).skip(reached.start);
        parts.map(move |(nth, part)| (nth, (start_s.max(part.from_s), end_s.min(part.until_s))))
    }

    /// Places of the slices a time lies in.
    fn reached(&self, (start_s, end_s): (i64, i64)) -> Range<usize> {
        let first = self.parts.partition_point(|part| part.until_s <= start_s);
        first..self.parts.partition_point(|part| part.from_s < end_s)
    }

    /// Adds a job on a node, known by `tag`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be written.
    pub fn push(&mut self, node: u32, span: (i64, i64), shape: u32, tag: u32) -> Result<()> {
        let at = usize::try_from(node).unwrap_or(usize::MAX);
        self.put(span, |part, (start_s, end_s)| {
            if part.held_n.len() <= at {
                part.held_n.resize(at + 1, 0);
            }
            if let Some(held_n) = part.held_n.get_mut(at) {
                *held_n += 1;
            }
            part.held.push([node, start_s, end_s, shape, tag]);
        })
    }

    /// Adds a job that waits with an ask.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be written.
    pub fn wait(&mut self, span: (i64, i64), ask: u32) -> Result<()> {
        self.put(span, |part, (start_s, end_s)| part.waits.push([start_s, end_s, ask]))
    }

    /// Puts a row into every slice a time lies in.
    fn put(&mut self, span: (i64, i64), add: impl Fn(&mut Part, (u32, u32))) -> Result<()> {
        let reached = self.reached(span);
        for part in self.parts.get_mut(reached).unwrap_or_default() {
            let within = part.within(span);
            add(part, within);
            self.in_memory_n += 1;
        }
        self.store_if_full()
    }

    fn store_if_full(&mut self) -> Result<()> {
        if self.in_memory_n < MEMORY_N {
            return Ok(());
        }
        self.in_memory_n = 0;
        for part in &mut self.parts {
            part.held.store(&mut self.scratch)?;
            part.waits.store(&mut self.scratch)?;
        }
        Ok(())
    }

    /// The nth slice with all that runs in it, of as many nodes. It can be asked for again.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read.
    pub fn slice(&mut self, nth: usize, node_n: usize) -> Result<Slice> {
        let Some(part) = self.parts.get(nth) else {
            return Ok(Slice::new(0, 0, node_n));
        };
        let mut slice = Slice::new(part.from_s, part.until_s, node_n);
        slice.reserve(&part.held_n);
        part.held
            .read(&mut self.scratch, |[node, start_s, end_s, shape, tag]| {
                slice.add(
                    node,
                    Interval {
                        start_s,
                        end_s,
                        shape,
                        tag,
                    },
                );
            })?;
        Ok(slice)
    }

    /// The jobs that wait in the nth slice, in no particular order.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read.
    pub fn waits(&mut self, nth: usize) -> Result<Vec<Wait>> {
        let mut waits = Vec::new();
        if let Some(part) = self.parts.get(nth) {
            part.waits.read(&mut self.scratch, |[start_s, end_s, ask]| {
                waits.push(Wait { start_s, end_s, ask });
            })?;
        }
        Ok(waits)
    }
}
