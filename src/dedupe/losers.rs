//! Rows that lost, more of them than memory holds: they wait on disk in sorted runs, and come back merged, held against
//! the accepted rows.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{FixedSizeBinaryArray, Int64Array, RecordBatch, TimestampMillisecondArray, UInt64Array};

use super::history;
use super::keys::RecordKey;
use super::merge::{Loser, outcome};
use crate::error::{Error, Result};
use crate::runtime::scratch::{PackedBatch, PackedRange, Scratch};
use crate::schema::batch::{ColumnWords, id, identity, int, time, uint, words};

/// Rows that come back from disk together.
const BLOCK_ROWS: usize = 2048;
/// Runs that are merged at a time.
const MOST_RUNS: usize = 64;

/// A file that the runs of many slices share.
pub(super) type SharedScratch = Arc<Mutex<Scratch>>;

fn locked(scratch: &SharedScratch) -> MutexGuard<'_, Scratch> {
    scratch.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Loser {
    /// Its place among the records.
    #[must_use]
    pub fn key(&self) -> RecordKey {
        RecordKey {
            record_ms: self.record_ms,
            record_id: self.record_id,
        }
    }

    /// Whether both are the same row of the same file.
    fn is_same_row(&self, other: &Self) -> bool {
        self.place() == other.place()
    }

    fn place(&self) -> (RecordKey, &str, i64) {
        (self.key(), &self.file_id, self.line)
    }
}

/// A sorted run on disk, read block by block.
#[derive(Debug, Default)]
struct LoserRun {
    blocks: VecDeque<PackedRange>,
    held: std::vec::IntoIter<Loser>,
}

impl LoserRun {
    fn push(&mut self, losers: &[Loser], scratch: &SharedScratch) -> Result<()> {
        let packed = PackedBatch::pack(&history::to_batch(losers)?)?;
        self.blocks.push_back(packed.store(&mut locked(scratch))?);
        Ok(())
    }

    fn next(&mut self, scratch: &SharedScratch) -> Result<Option<Loser>> {
        loop {
            if let Some(loser) = self.held.next() {
                return Ok(Some(loser));
            }
            let Some(block) = self.blocks.pop_front() else {
                return Ok(None);
            };
            let packed = PackedBatch::load(block, &locked(scratch))?;
            self.held = history::from_batch(&packed.unpack()?)?.into_iter();
        }
    }
}

/// Rows that lost in one slice of a day; they come back in order.
#[derive(Debug, Default)]
pub struct LoserRuns {
    scratch: SharedScratch,
    runs: Vec<LoserRun>,
    /// The next row of each run, once they are merged.
    heads: BinaryHeap<Reverse<(Loser, usize)>>,
}

impl LoserRuns {
    /// None yet; those to come wait in this file.
    pub(super) fn new(scratch: &SharedScratch) -> Self {
        Self {
            scratch: Arc::clone(scratch),
            ..Self::default()
        }
    }

    /// Whether there are none, and never were.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Puts rows by, in any order.
    pub(super) fn push(&mut self, mut losers: Vec<Loser>) -> Result<()> {
        losers.sort_unstable();
        let mut run = LoserRun::default();
        for block in losers.chunks(BLOCK_ROWS) {
            run.push(block, &self.scratch)?;
        }
        if !losers.is_empty() {
            self.runs.push(run);
        }
        Ok(())
    }

    /// Makes them ready to come back: few runs are left.
    pub(super) fn settle(&mut self) -> Result<()> {
        while self.runs.len() > MOST_RUNS {
            let mut several = Self::new(&self.scratch);
            several.runs = self.runs.drain(..MOST_RUNS).collect();
            several.fill()?;
            let (mut merged, mut block) = (LoserRun::default(), Vec::with_capacity(BLOCK_ROWS));
            while let Some(loser) = several.next_until(None)? {
                block.push(loser);
                if block.len() == BLOCK_ROWS {
                    merged.push(&block, &self.scratch)?;
                    block.clear();
                }
            }
            if !block.is_empty() {
                merged.push(&block, &self.scratch)?;
            }
            self.runs.push(merged);
        }
        self.fill()
    }

    fn fill(&mut self) -> Result<()> {
        for at in 0..self.runs.len() {
            self.advance(at)?;
        }
        Ok(())
    }

    fn advance(&mut self, at: usize) -> Result<()> {
        if let Some(run) = self.runs.get_mut(at)
            && let Some(loser) = run.next(&self.scratch)?
        {
            self.heads.push(Reverse((loser, at)));
        }
        Ok(())
    }

    /// The next row, if it is not after `last`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read back.
    pub fn next_until(&mut self, last: Option<RecordKey>) -> Result<Option<Loser>> {
        let is_beyond = |loser: &Loser| last.is_some_and(|last| loser.key() > last);
        if self.heads.peek().is_none_or(|Reverse((loser, _))| is_beyond(loser)) {
            return Ok(None);
        }
        let Some(Reverse((loser, at))) = self.heads.pop() else {
            return Ok(None);
        };
        self.advance(at)?;
        Ok(Some(loser))
    }
}

/// The accepted rows, walked in step with those that lost.
pub struct WinnerWalk<'a> {
    instants: &'a TimestampMillisecondArray,
    ids: &'a FixedSizeBinaryArray,
    files: ColumnWords<'a>,
    lines: &'a Int64Array,
    hashes: &'a UInt64Array,
    row: usize,
}

impl<'a> WinnerWalk<'a> {
    /// Over accepted rows, sorted.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they are not what the schema declares.
    pub fn new(winners: &'a RecordBatch) -> Result<Self> {
        Ok(Self {
            instants: time(winners, "record_utc")?,
            ids: id(winners, "record_id")?,
            files: words(winners, "file_id")?,
            lines: int(winners, "line")?,
            hashes: uint(winners, "content_hash")?,
            row: 0,
        })
    }

    /// Settles what becomes of a row: false for the accepted row itself.
    fn settle(&mut self, loser: &mut Loser) -> Result<bool> {
        let lost = || Error::internal("history knows a job that records has lost");
        let key = loser.key();
        loop {
            if self.row >= self.instants.len() {
                return Err(lost());
            }
            let winner = RecordKey {
                record_ms: self.instants.value(self.row),
                record_id: identity(self.ids, self.row)?,
            };
            match winner.cmp(&key) {
                std::cmp::Ordering::Less => self.row += 1,
                std::cmp::Ordering::Equal => break,
                std::cmp::Ordering::Greater => return Err(lost()),
            }
        }
        loser.outcome = outcome(loser.content_hash, self.hashes.value(self.row));
        Ok(*loser.file_id != *self.files.value(self.row) || loser.line != self.lines.value(self.row))
    }
}

/// Where losers come from: those of earlier runs, those of this run that wait on disk, and those of the piece at hand.
pub struct LoserSources<K, S> {
    known: K,
    waiting: S,
    own: std::vec::IntoIter<Loser>,
    heads: [Option<Loser>; 3],
    is_begun: bool,
}

impl<K, S> LoserSources<K, S>
where
    K: FnMut() -> Result<Option<Loser>>,
    S: FnMut() -> Result<Option<Loser>>,
{
    /// Each source in order.
    #[must_use]
    pub fn new(known: K, waiting: S, own: Vec<Loser>) -> Self {
        Self {
            known,
            waiting,
            own: own.into_iter(),
            heads: [None, None, None],
            is_begun: false,
        }
    }

    fn next_of(&mut self, source: usize) -> Result<Option<Loser>> {
        match source {
            0 => (self.known)(),
            1 => (self.waiting)(),
            _ => Ok(self.own.next()),
        }
    }

    /// The next row in order, and whether it lost in an earlier run, which comes first of equal ones.
    fn next(&mut self) -> Result<Option<(Loser, bool)>> {
        if !self.is_begun {
            self.is_begun = true;
            for source in 0..self.heads.len() {
                let head = self.next_of(source)?;
                if let Some(slot) = self.heads.get_mut(source) {
                    *slot = head;
                }
            }
        }
        let heads = self.heads.iter().enumerate();
        let least = heads
            .filter_map(|(at, head)| Some((head.as_ref()?.place(), at)))
            .min()
            .map(|(_, at)| at);
        let Some(at) = least else { return Ok(None) };
        let next = self.next_of(at)?;
        let head = self.heads.get_mut(at).and_then(|head| std::mem::replace(head, next));
        Ok(head.map(|loser| (loser, at == 0)))
    }

    /// All of them in order, each row once and none that is accepted, at most `most` at a time, with what becomes of them.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when one is of no accepted job, [`crate::error::Kind::Io`] when a source cannot be
    /// read, and as `take`.
    pub fn settle(
        mut self,
        mut winners: WinnerWalk<'_>,
        most: usize,
        take: &mut dyn FnMut(&[Loser]) -> Result<()>,
    ) -> Result<()> {
        let mut chunk: Vec<Loser> = Vec::new();
        let mut last: Option<Loser> = None;
        while let Some((mut loser, is_known)) = self.next()? {
            let is_loser = winners.settle(&mut loser)?;
            let is_again = last.as_ref().is_some_and(|last| last.is_same_row(&loser));
            if is_again || !(is_known || is_loser) {
                continue;
            }
            if chunk.len() >= most {
                take(&chunk)?;
                chunk.clear();
            }
            last = Some(loser.clone());
            chunk.push(loser);
        }
        take(&chunk)
    }
}
