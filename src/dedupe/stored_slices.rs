//! A day of more rows than memory holds, in no order: its blocks are read once and stored again by slice. Of the rows of one
//! job that repeat, only the best are merged, the others are stored as superseded rows.

use std::collections::VecDeque;

use arrow_array::{RecordBatch, UInt32Array};
use arrow_select::take::take_record_batch;

use super::file_order::FileOrder;
use super::fresh_slice::FreshSlice;
use super::keys::{RecordKey, slice_of};
use super::losers::{LoserRuns, SharedScratch};
use super::merge::{Loser, ResolvedRows, resolved};
use super::packed::{GatherPart, gather_sorted, pack};
use super::reduced::ReducedJobs;
use crate::error::{Error, Result};
use crate::runtime::scratch::{PackedBatch, PackedRange, Scratch};
use crate::schema::batch::{id, identity, time};

/// Rows that lost, of all slices together, before they go to disk.
const LOSERS_HELD: usize = 1 << 15;

/// Slices of a day on disk, in order.
pub(super) struct StoredSlices {
    slices: VecDeque<StoredSlice>,
    scratch: Scratch,
}

struct StoredSlice {
    last: Option<RecordKey>,
    ranges: Vec<PackedRange>,
    losers: LoserRuns,
    held: Vec<Loser>,
    reduced: ReducedJobs,
}

impl StoredSlices {
    /// The next slice; `None` behind the last one.
    pub(super) fn next_slice(&mut self) -> Result<Option<FreshSlice>> {
        let Some(mut slice) = self.slices.pop_front() else {
            return Ok(None);
        };
        let mut parts = Vec::with_capacity(slice.ranges.len());
        for range in slice.ranges {
            parts.push(GatherPart::of(PackedBatch::load(range, &self.scratch)?.unpack()?)?);
        }
        slice.losers.settle()?;
        Ok(Some(FreshSlice {
            last: slice.last,
            rows: (!parts.is_empty()).then(|| gather_sorted(&parts)).transpose()?,
            losers: slice.losers,
            reduced: slice.reduced,
        }))
    }
}

/// Deals the blocks of a day out to its slices.
pub(super) struct Slicing<'a> {
    order: &'a FileOrder,
    /// First keys of all slices but the first.
    cuts: Vec<RecordKey>,
    day: StoredSlices,
    held_n: usize,
}

impl<'a> Slicing<'a> {
    pub(super) fn new(cuts: Vec<RecordKey>, order: &'a FileOrder) -> Self {
        let scratch = SharedScratch::default();
        let slice = |last| StoredSlice {
            last,
            ranges: Vec::new(),
            losers: LoserRuns::new(&scratch),
            held: Vec::new(),
            reduced: ReducedJobs::default(),
        };
        let lasts = cuts.iter().map(|cut| Some(cut.before())).chain([None]);
        let slices = lasts.map(slice).collect();
        let scratch = Scratch::default();
        Self {
            order,
            cuts,
            day: StoredSlices { slices, scratch },
            held_n: 0,
        }
    }

    /// Takes a block: a gathered batch, sorted, that names its files as the ledger does.
    pub(super) fn add(&mut self, block: &RecordBatch) -> Result<()> {
        let ResolvedRows { rows, losers, reduced } = resolved(&[], Some(block), Vec::new(), self.order)?;
        let (instants, ids) = (time(block, "record_utc")?, id(block, "record_id")?);
        let key_of = |row| -> Result<RecordKey> {
            Ok(RecordKey {
                record_ms: instants.value(row),
                record_id: identity(ids, row)?,
            })
        };
        for job in &reduced {
            let Some((_, row)) = rows.get(job.at).copied() else {
                continue;
            };
            let at = slice_of(key_of(row)?, &self.cuts);
            if let Some(slice) = self.day.slices.get_mut(at) {
                slice
                    .reduced
                    .add(ReducedJobs::of(std::slice::from_ref(job), block, |_| row)?);
            }
        }
        let mut keyed = Vec::with_capacity(rows.len());
        for (_, row) in rows {
            let key = key_of(row)?;
            let row = u32::try_from(row).map_err(|e| Error::internal("too many rows at once").because(e))?;
            keyed.push((slice_of(key, &self.cuts), row));
        }
        for rows in keyed.chunk_by(|a, b| a.0 == b.0) {
            let Some((at, _)) = rows.first() else { continue };
            let picked: UInt32Array = rows.iter().map(|(_, row)| *row).collect::<Vec<u32>>().into();
            let batch = pack(&take_record_batch(block, &picked)?)?;
            let range = PackedBatch::pack(&batch)?.store(&mut self.day.scratch)?;
            if let Some(slice) = self.day.slices.get_mut(*at) {
                slice.ranges.push(range);
            }
        }
        self.held_n += losers.len();
        for loser in losers {
            let at = slice_of(loser.key(), &self.cuts);
            if let Some(slice) = self.day.slices.get_mut(at) {
                slice.held.push(loser);
            }
        }
        if self.held_n >= LOSERS_HELD {
            self.store()?;
        }
        Ok(())
    }

    fn store(&mut self) -> Result<()> {
        self.held_n = 0;
        for slice in &mut self.day.slices {
            slice.losers.push(std::mem::take(&mut slice.held))?;
        }
        Ok(())
    }

    /// All slices.
    pub(super) fn finish(mut self) -> Result<StoredSlices> {
        self.store()?;
        Ok(self.day)
    }
}
