//! A day of many rows whose blocks hardly overlap in time, as those of dumps in order do: each block is loaded for the first
//! slice with rows of it, and dropped behind the last one.

use super::dealt::Dealt;
use super::fresh_slice::FreshSlice;
use super::keys::{DayCuts, RecordKey, slice_of};
use super::packed::{self, GatherPart, GatherRun, WaitingBatch};
use super::spill::{Spill, SpillBucket, SpillPlace};
use crate::error::{Error, Result};
use crate::numbers::{Extent, index};

/// The blocks of a day, slice by slice.
pub(super) struct DayBlocks<'a> {
    spill: &'a Spill,
    /// First keys of all slices but the first.
    cuts: Vec<RecordKey>,
    /// Blocks that were not needed so far, the first one last.
    waiting: Vec<SpillPlace>,
    held: Vec<DealtRows>,
    /// The slice that comes next.
    nth: usize,
}

impl<'a> DayBlocks<'a> {
    /// Of a bucket that is cut there.
    pub(super) fn new(spill: &'a Spill, bucket: SpillBucket, cuts: Vec<RecordKey>) -> Result<Self> {
        let SpillBucket {
            blocks,
            places: mut waiting,
        } = bucket;
        waiting.sort_by_key(|place| std::cmp::Reverse(place.keys.first()));
        let parts = blocks.into_iter().flat_map(|block| block.parts);
        let held = parts.map(|part| DealtRows::new(&part, &cuts)).collect::<Result<_>>()?;
        Ok(Self {
            spill,
            cuts,
            waiting,
            held,
            nth: 0,
        })
    }

    /// The bytes that the blocks of a bucket take which are loaded at the same time, at most: about, because where their last
    /// rows are is known about.
    pub(super) fn most_loaded_byte_n(bucket: &SpillBucket, cuts: &DayCuts) -> usize {
        let slice = |key: Option<RecordKey>| key.map_or(0, |key| slice_of(key, &cuts.keys));
        let mut changes = Vec::with_capacity(2 * bucket.places.len());
        for place in &bucket.places {
            let bytes = place.loaded_byte_n();
            changes.push((slice(place.keys.first()), true, bytes));
            changes.push((slice(place.keys.last()).further(1), false, bytes));
        }
        // What is dropped before a slice makes room for what is loaded for it.
        changes.sort_unstable();
        let (mut loaded, mut most) = (0_usize, 0);
        for (_, is_loaded, bytes) in changes {
            loaded = if is_loaded {
                loaded.further(bytes)
            } else {
                loaded.less(bytes)
            };
            most = most.max(loaded);
        }
        most
    }

    /// The next slice; `None` behind the last one.
    pub(super) fn next_slice(&mut self) -> Result<Option<FreshSlice>> {
        let (nth, cut) = (self.nth, self.cuts.get(self.nth).copied());
        if nth > self.cuts.len() {
            return Ok(None);
        }
        self.nth += 1;
        let is_near = |place: &mut SpillPlace| cut.is_none_or(|cut| place.keys.first().is_none_or(|first| first < cut));
        while let Some(place) = self.waiting.pop_if(is_near) {
            let part = self.spill.load(&place)?;
            let rows = DealtRows::new(&part, &self.cuts)?;
            if rows.slices.has_any_before(nth) {
                return Err(Error::internal("a block has rows before its first key"));
            }
            self.held.push(rows);
        }
        let parts: Vec<GatherPart> = self.held.iter().filter_map(|rows| rows.of_slice(nth)).collect();
        self.held.retain(|rows| rows.slices.has_any_behind(nth));
        Ok(Some(FreshSlice {
            last: cut.map(RecordKey::before),
            rows: (!parts.is_empty()).then(|| self.spill.gathered(&parts)).transpose()?,
            ..FreshSlice::default()
        }))
    }
}

/// Rows of a waiting batch, dealt out to the slices of a day.
struct DealtRows {
    batch: WaitingBatch,
    slices: Dealt<u32>,
}

impl DealtRows {
    fn new(part: &GatherPart, cuts: &[RecordKey]) -> Result<Self> {
        let (instants, ids) = packed::keys(std::slice::from_ref(part))?;
        let keys = instants.into_iter().zip(ids);
        let slices: Vec<usize> = keys
            .map(|(record_ms, record_id)| slice_of(RecordKey { record_ms, record_id }, cuts))
            .collect();
        let of_runs = part.runs.iter().flat_map(|run| run.first..run.first + run.len);
        let rows = of_runs.map(u32::try_from).collect::<std::result::Result<Vec<u32>, _>>();
        let rows = rows.map_err(|why| Error::internal("too many rows at once").because(why))?;
        Ok(Self {
            batch: part.batch.clone(),
            slices: Dealt::new(&rows, slices.iter().copied(), cuts.len() + 1),
        })
    }

    /// The rows of a slice; `None` where it has none.
    fn of_slice(&self, nth: usize) -> Option<GatherPart> {
        let mut runs: Vec<GatherRun> = Vec::new();
        for row in self.slices.group(nth) {
            let row = index(*row);
            match runs.last_mut() {
                Some(run) if run.first + run.len == row => run.len += 1,
                _ => runs.push(GatherRun { first: row, len: 1 }),
            }
        }
        let batch = || self.batch.clone();
        (!runs.is_empty()).then(|| GatherPart { batch: batch(), runs })
    }
}
