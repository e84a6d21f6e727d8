//! Slices of time one behind the other: what runs in them waits in memory and on disk until its slice is swept.

use std::ops::Range;
use std::sync::Mutex;

use super::node_room::NodeLoad;
use super::queue::Wait;
use super::slice::{Slice, SlicePart, WAIT_WORD_N, WORD_N};
use super::spill_rows::SpillRows;
use crate::error::{Error, Result};
use crate::runtime::scratch::Scratch;
use crate::time::SecondSpan;

/// Bytes of jobs on nodes and in queues that are kept in memory before they go to a temporary file: some 5 million jobs.
const MEMORY_BYTE: usize = 96 << 20;

/// Slices in the order of time, which do not overlap.
#[derive(Debug)]
pub struct Slices {
    parts: Vec<SlicePart>,
    /// Place of the part the last job ran in: the next one likely does.
    last: usize,
    memory_byte: usize,
    in_memory_byte: usize,
    scratch: Mutex<Scratch>,
}

impl Slices {
    /// Slices of at most 68 years.
    #[must_use]
    pub fn new(spans: impl IntoIterator<Item = SecondSpan>) -> Self {
        Self {
            parts: spans.into_iter().map(SlicePart::new).collect(),
            last: 0,
            memory_byte: MEMORY_BYTE,
            in_memory_byte: 0,
            scratch: Mutex::default(),
        }
    }

    /// The same that keep no more than so many bytes of jobs in memory.
    #[must_use]
    pub fn within(self, memory_byte: usize) -> Self {
        Self { memory_byte, ..self }
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

    /// The slices a span touches, with its part in each.
    pub fn overlaps(&self, span: SecondSpan) -> impl Iterator<Item = (usize, SecondSpan)> + '_ {
        let reached = self.reached(span);
        let parts = self.parts.iter().enumerate().take(reached.end).skip(reached.start);
        parts.map(move |(nth, part)| (nth, span.within(part.span)))
    }

    /// Indices of the slices a span touches.
    fn reached(&self, span: SecondSpan) -> Range<usize> {
        let first = self.parts.partition_point(|part| part.span.end_s <= span.start_s);
        first..self.parts.partition_point(|part| part.span.start_s < span.end_s)
    }

    /// Counts what a job holds on a node in every slice a span touches; gives the slices in which the node has no room for
    /// it, and in which it must not be added.
    #[inline]
    pub fn admit(&mut self, node: u32, span: SecondSpan, load: NodeLoad) -> Vec<usize> {
        let reached = if span.is_empty() { 0..0 } else { self.reached_next(span) };
        let first = reached.start;
        // Fallback: never taken, what a span reaches are places of the parts.
        let parts = self.parts.get_mut(reached).unwrap_or_default().iter_mut();
        let without_room = (first..)
            .zip(parts)
            .filter_map(|(nth, part)| (!part.admit(node, load)).then_some(nth));
        without_room.collect()
    }

    /// Adds the parts of a job on a node, identified by `tag`, to their slices; none when it touches none.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be written.
    #[inline]
    pub fn push(&mut self, node: u32, span: SecondSpan, shape: u32, tag: u32) -> Result<()> {
        self.put(span, SpillRows::<WORD_N>::ROW_BYTE, |part, (start_s, end_s)| {
            part.hold([node, start_s, end_s, shape, tag]);
        })
    }

    /// Adds a job that waits with an ask.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be written.
    pub fn wait(&mut self, span: SecondSpan, ask: u32) -> Result<()> {
        self.put(span, SpillRows::<WAIT_WORD_N>::ROW_BYTE, |part, (start_s, end_s)| {
            part.waits.push([start_s, end_s, ask]);
        })
    }

    /// Indices of the slices a span touches, which are likely those of the span before.
    #[inline]
    fn reached_next(&mut self, span: SecondSpan) -> Range<usize> {
        let reached = match self.parts.get(self.last) {
            Some(last) if last.span.encloses(span) => self.last..self.last + 1,
            _ => self.reached(span),
        };
        if !reached.is_empty() {
            self.last = reached.start;
        }
        reached
    }

    /// Puts a row into every slice a span touches.
    #[inline]
    fn put(&mut self, span: SecondSpan, row_byte: usize, add: impl Fn(&mut SlicePart, (u32, u32))) -> Result<()> {
        if span.is_empty() {
            return Ok(());
        }
        let reached = self.reached_next(span);
        // Fallback: never taken, as above the reached places are those of parts.
        for part in self.parts.get_mut(reached).unwrap_or_default() {
            let within = part.within(span);
            add(part, within);
            self.in_memory_byte += row_byte;
        }
        if self.in_memory_byte >= self.memory_byte {
            self.store()?;
        }
        Ok(())
    }

    #[cold]
    fn store(&mut self) -> Result<()> {
        self.in_memory_byte = 0;
        let scratch = self.scratch.get_mut();
        let scratch = scratch.map_err(|_| Error::internal("who read the temporary file died"))?;
        for part in &mut self.parts {
            part.store(scratch)?;
        }
        Ok(())
    }

    /// The nth slice with all that runs in it, of as many nodes. It can be read again.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when there is none.
    pub fn slice(&self, nth: usize, node_n: usize) -> Result<Slice<'_>> {
        let part = self.parts.get(nth);
        let part = part.ok_or_else(|| Error::internal("a slice that does not exist was requested"))?;
        Ok(Slice::new(part, &self.scratch, node_n))
    }

    /// The jobs that wait in the nth slice, in no particular order.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read.
    pub fn waits(&self, nth: usize) -> Result<Vec<Wait>> {
        let mut waits = Vec::new();
        if let Some(part) = self.parts.get(nth) {
            part.waits.read(&self.scratch, |[start_s, end_s, ask]| {
                waits.push(Wait { start_s, end_s, ask });
            })?;
        }
        Ok(waits)
    }
}
