//! The candidates of one day, in slices that fit memory: a day of few rows is one slice, one that is held as a whole
//! comes in slices of so many rows, and a larger one is gathered or stored slice by slice.

use arrow_array::RecordBatch;

use super::day_blocks::DayBlocks;
use super::file_order::FileOrder;
use super::fresh_slice::FreshSlice;
use super::keys::RecordKey;
use super::spill::Spill;
use super::stored_slices::{Slicing, StoredSlices};
use crate::error::Result;
use crate::schema::batch::{id, identity, time};
use crate::time::Day;

/// Rows of a slice of a day that is held as a whole, at most: several slices are on their way to be written while one is
/// merged, so that days of many rows would take as much as several of them.
const SLICE_ROWS: usize = 1 << 14;

/// The slices of a day, in order.
pub struct FreshDay<'a>(DayRows<'a>);

/// What they are made of.
enum DayRows<'a> {
    /// Rows in the order of `records`, held as a whole; `None` where no row is left.
    Whole(Option<RecordBatch>),
    /// Gathered from the blocks that have rows of a slice.
    Blocks(DayBlocks<'a>),
    /// Stored slice by slice.
    Stored(StoredSlices),
    /// All were returned.
    Ended,
}

impl FreshDay<'_> {
    /// The next slice; `None` behind the last one.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read back.
    pub fn next_slice(&mut self) -> Result<Option<FreshSlice>> {
        let rows = match &mut self.0 {
            DayRows::Blocks(blocks) => return blocks.next_slice(),
            DayRows::Stored(slices) => return slices.next_slice(),
            DayRows::Ended => return Ok(None),
            DayRows::Whole(rows) => rows.take(),
        };
        let cut = rows.as_ref().map(cut).transpose()?.flatten();
        Ok(Some(if let (Some(Cut { row_n, last }), Some(rows)) = (cut, &rows) {
            self.0 = DayRows::Whole(Some(rows.slice(row_n, rows.num_rows() - row_n)));
            FreshSlice {
                last: Some(last),
                rows: Some(rows.slice(0, row_n)),
                ..FreshSlice::default()
            }
        } else {
            self.0 = DayRows::Ended;
            FreshSlice {
                rows,
                ..FreshSlice::default()
            }
        }))
    }
}

impl Spill {
    /// Takes the candidates of one bucket, sorted as `records` is. Memory is given back as soon as the last bucket of a
    /// segment is taken.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read back.
    pub fn take<'a>(&'a self, site: &str, day: Day, order: &FileOrder) -> Result<FreshDay<'a>> {
        let bucket = self.bucket(site, day)?;
        if bucket.is_empty() {
            return Ok(FreshDay(DayRows::Whole(None)));
        }
        if bucket.bytes() <= self.day_limit() {
            return Ok(FreshDay(DayRows::Whole(Some(self.whole_bucket(bucket)?))));
        }
        let cuts = bucket.cuts(self.slice_limit())?;
        // Of the rows of one job that repeat too often, only the best are merged.
        let is_even = cuts.most_bytes <= self.day_limit();
        if is_even && DayBlocks::most_loaded_byte_n(&bucket, &cuts) <= self.day_limit() {
            let blocks = DayBlocks::new(self, bucket, cuts.keys)?;
            return Ok(FreshDay(DayRows::Blocks(blocks)));
        }
        let mut slicing = Slicing::new(cuts.keys, order);
        self.each_block(bucket, |block| slicing.add(block))?;
        Ok(FreshDay(DayRows::Stored(slicing.finish()?)))
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
