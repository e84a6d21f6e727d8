//! The candidates of one day, in slices that fit memory: a day of few rows is one slice, one that is held as a whole
//! comes in slices of so many rows. Of the rows of one job of a larger day that repeat, only the best are merged, the others
//! are stored as superseded rows.

use std::collections::VecDeque;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;

use super::file_order::FileOrder;
use super::keys::RecordKey;
use super::losers::{LoserRuns, SharedScratch};
use super::merge::{Loser, ResolvedRows, resolved};
use super::packed::{gather_sorted, pack};
use super::spill::whole;
use crate::error::{Error, Result};
use crate::runtime::scratch::{PackedBatch, PackedRange, Scratch};
use crate::schema::batch::{id, identity, time};

/// Rows that lost, of all slices together, before they go to disk.
const LOSERS_HELD: usize = 1 << 15;

/// Rows of a slice of a day that is held as a whole, at most: several slices are on their way to be written while one is
/// merged, so that days of many rows would take as much as several of them.
const SLICE_ROWS: usize = 1 << 14;

/// Some candidates of a day.
#[derive(Default)]
pub struct FreshSlice {
    /// The last key that may be in it; `None` for the last slice of the day.
    pub last: Option<RecordKey>,
    /// The rows, sorted, as a gathered batch.
    pub rows: Option<RecordBatch>,
    /// Rows that lost against rows of this slice.
    pub losers: LoserRuns,
}

/// The slices of a day, in order.
pub struct FreshDay {
    slices: VecDeque<WaitingSlice>,
    scratch: Scratch,
}

struct WaitingSlice {
    last: Option<RecordKey>,
    rows: SliceRows,
    losers: LoserRuns,
    held: Vec<Loser>,
}

enum SliceRows {
    Loaded(Option<RecordBatch>),
    Waiting(Vec<PackedRange>),
}

impl FreshDay {
    /// A day that is held as a whole, its rows in the order of `records`.
    pub(super) fn whole(rows: Option<RecordBatch>) -> Self {
        let slice = WaitingSlice {
            last: None,
            rows: SliceRows::Loaded(rows),
            losers: LoserRuns::default(),
            held: Vec::new(),
        };
        Self {
            slices: VecDeque::from([slice]),
            scratch: Scratch::default(),
        }
    }

    /// The next slice; `None` behind the last one.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read back.
    pub fn next_slice(&mut self) -> Result<Option<FreshSlice>> {
        let Some(mut slice) = self.slices.pop_front() else {
            return Ok(None);
        };
        let rows = match slice.rows {
            SliceRows::Loaded(Some(rows)) => {
                if let Some(Cut { row_n, last }) = cut(&rows)? {
                    slice.rows = SliceRows::Loaded(Some(rows.slice(row_n, rows.num_rows() - row_n)));
                    self.slices.push_front(slice);
                    return Ok(Some(FreshSlice {
                        last: Some(last),
                        rows: Some(rows.slice(0, row_n)),
                        losers: LoserRuns::default(),
                    }));
                }
                Some(rows)
            }
            SliceRows::Loaded(None) => None,
            SliceRows::Waiting(ranges) => {
                let mut parts = Vec::with_capacity(ranges.len());
                for range in ranges {
                    parts.push(whole(PackedBatch::load(range, &self.scratch)?.unpack()?)?);
                }
                (!parts.is_empty()).then(|| gather_sorted(&parts)).transpose()?
            }
        };
        slice.losers.settle()?;
        Ok(Some(FreshSlice {
            last: slice.last,
            rows,
            losers: slice.losers,
        }))
    }
}

/// Where rows in order are cut.
struct Cut {
    /// Rows before it.
    row_n: usize,
    /// The last key before it.
    last: RecordKey,
}

/// Where the first of several slices of about equal rows ends; `None` when all rows are in it. Rows of one job are not parted.
fn cut(rows: &RecordBatch) -> Result<Option<Cut>> {
    let slice_n = rows.num_rows().div_ceil(SLICE_ROWS);
    if slice_n < 2 {
        return Ok(None);
    }
    let wanted_row_n = rows.num_rows().div_ceil(slice_n);
    let (instants, ids) = (time(rows, "record_utc")?, id(rows, "record_id")?);
    let key = |row| -> Result<RecordKey> {
        Ok(RecordKey {
            record_ms: instants.value(row),
            record_id: identity(ids, row)?,
        })
    };
    let last = key(wanted_row_n - 1)?;
    for row_n in wanted_row_n..rows.num_rows() {
        if key(row_n)? != last {
            return Ok(Some(Cut { row_n, last }));
        }
    }
    Ok(None)
}

/// Deals the blocks of a day out to its slices.
pub(super) struct Slicing<'a> {
    order: &'a FileOrder,
    /// First keys of all slices but the first.
    cuts: Vec<RecordKey>,
    day: FreshDay,
    held_n: usize,
}

impl<'a> Slicing<'a> {
    pub(super) fn new(cuts: Vec<RecordKey>, order: &'a FileOrder) -> Self {
        let scratch = SharedScratch::default();
        let slice = |last| WaitingSlice {
            last,
            rows: SliceRows::Waiting(Vec::new()),
            losers: LoserRuns::new(&scratch),
            held: Vec::new(),
        };
        let lasts = cuts.iter().map(|cut| Some(cut.before())).chain([None]);
        let slices = lasts.map(slice).collect();
        let scratch = Scratch::default();
        Self {
            order,
            cuts,
            day: FreshDay { slices, scratch },
            held_n: 0,
        }
    }

    /// Takes a block: a gathered batch, sorted, that names its files as the ledger does.
    pub(super) fn add(&mut self, block: &RecordBatch) -> Result<()> {
        let ResolvedRows { rows, losers } = resolved(&[], Some(block), Vec::new(), self.order)?;
        let (instants, ids) = (time(block, "record_utc")?, id(block, "record_id")?);
        let mut keyed = Vec::with_capacity(rows.len());
        for (_, row) in rows {
            let key = RecordKey {
                record_ms: instants.value(row),
                record_id: identity(ids, row)?,
            };
            let row = u32::try_from(row).map_err(|e| Error::internal("too many rows at once").because(e))?;
            keyed.push((self.slice_of(key), row));
        }
        for rows in keyed.chunk_by(|a, b| a.0 == b.0) {
            let Some((at, _)) = rows.first() else { continue };
            let picked: UInt32Array = rows.iter().map(|(_, row)| *row).collect::<Vec<u32>>().into();
            let batch = pack(&take_record_batch(block, &picked)?)?;
            let range = PackedBatch::pack(&batch)?.store(&mut self.day.scratch)?;
            if let Some(SliceRows::Waiting(ranges)) = self.day.slices.get_mut(*at).map(|slice| &mut slice.rows) {
                ranges.push(range);
            }
        }
        self.held_n += losers.len();
        for loser in losers {
            let at = self.slice_of(loser.key());
            if let Some(slice) = self.day.slices.get_mut(at) {
                slice.held.push(loser);
            }
        }
        if self.held_n >= LOSERS_HELD {
            self.store()?;
        }
        Ok(())
    }

    fn slice_of(&self, key: RecordKey) -> usize {
        self.cuts.partition_point(|cut| *cut <= key)
    }

    fn store(&mut self) -> Result<()> {
        self.held_n = 0;
        for slice in &mut self.day.slices {
            slice.losers.push(std::mem::take(&mut slice.held))?;
        }
        Ok(())
    }

    /// All slices.
    pub(super) fn finish(mut self) -> Result<FreshDay> {
        self.store()?;
        Ok(self.day)
    }
}
