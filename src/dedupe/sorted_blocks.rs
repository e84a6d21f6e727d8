//! The candidates of a bucket as blocks for other processes: in one order and cut at fixed numbers of rows, so that the same
//! files give the same bytes whatever the threads, the memory and the order in which pieces were read.

use arrow_array::RecordBatch;

use super::canonical::{canonical, with_versions_in_order};
use super::keys::{KeySample, RecordKey, slice_of};
use super::packed::{GatherPart, GatherRun, gather, gather_sorted, pack};
use super::shared_blocks::listed_place;
use super::spill::Spill;
use crate::error::{Error, Result};
use crate::runtime::scratch::{PackedBatch, PackedRange, Scratch};
use crate::schema::batch::{id, identity, time};
use crate::time::Day;

/// Rows of a block.
const BLOCK_ROWS: usize = 1 << 15;

/// A block of sorted candidates.
pub(crate) struct SortedBlock {
    /// The rows.
    pub(crate) packed: PackedBatch,
    /// Some of their keys.
    pub(crate) keys: KeySample,
    /// How many there are.
    pub(crate) row_n: usize,
}

impl Spill {
    /// Takes the candidates of one bucket, whose files are named by their place in a list, in blocks.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when a temporary file cannot be written or read back, and as `each`.
    pub(crate) fn take_sorted(&self, site: &str, day: Day, each: impl FnMut(SortedBlock) -> Result<()>) -> Result<()> {
        let bucket = self.bucket(site, day)?;
        let mut cutter = BlockCutter {
            parts: Vec::new(),
            row_n: 0,
            each,
        };
        if bucket.is_empty() {
            return Ok(());
        }
        if bucket.bytes() <= self.day_limit() {
            cutter.add(&self.whole_bucket(bucket)?)?;
            return cutter.finish();
        }
        let cuts = bucket.cuts(self.slice_limit())?.keys;
        let mut scratch = Scratch::default();
        let mut slices: Vec<Vec<PackedRange>> = vec![Vec::new(); cuts.len() + 1];
        self.each_block(bucket, |block| {
            let mut first = 0;
            while first < block.num_rows() {
                let nth = slice_at(block, first, &cuts)?;
                let mut end = first + 1;
                while end < block.num_rows() && slice_at(block, end, &cuts)? == nth {
                    end += 1;
                }
                let range = PackedBatch::pack(&pack(&block.slice(first, end - first))?)?.store(&mut scratch)?;
                let slice = slices.get_mut(nth);
                slice.ok_or_else(|| Error::internal("a row of no slice"))?.push(range);
                first = end;
            }
            Ok(())
        })?;
        for ranges in slices {
            let mut parts = Vec::with_capacity(ranges.len());
            for range in ranges {
                parts.push(GatherPart::of(PackedBatch::load(range, &scratch)?.unpack()?)?);
            }
            if !parts.is_empty() {
                cutter.add(&gather_sorted(&parts)?)?;
            }
        }
        cutter.finish()
    }
}

/// The slice a row of a block belongs to.
fn slice_at(block: &RecordBatch, row: usize, cuts: &[RecordKey]) -> Result<usize> {
    let key = RecordKey {
        record_ms: time(block, "record_utc")?.value(row),
        record_id: identity(id(block, "record_id")?, row)?,
    };
    Ok(slice_of(key, cuts))
}

/// Cuts rows in order into blocks.
struct BlockCutter<F> {
    /// Rows that make no block yet.
    parts: Vec<GatherPart>,
    row_n: usize,
    each: F,
}

impl<F: FnMut(SortedBlock) -> Result<()>> BlockCutter<F> {
    /// Takes the rows that follow.
    fn add(&mut self, sorted: &RecordBatch) -> Result<()> {
        // Fallback: never taken, the files of a list are named by their places in it.
        let place = |word: &str| listed_place(word).unwrap_or(usize::MAX);
        let sorted = with_versions_in_order(sorted, place)?;
        self.row_n += sorted.num_rows();
        self.parts.push(GatherPart::of(pack(&sorted)?)?);
        while self.row_n >= BLOCK_ROWS {
            self.cut(BLOCK_ROWS)?;
        }
        Ok(())
    }

    /// Makes a block of the first rows.
    fn cut(&mut self, row_n: usize) -> Result<()> {
        let (mut taken, mut missing) = (Vec::new(), row_n);
        while missing > 0 {
            let part = self.parts.first_mut();
            let part = part.ok_or_else(|| Error::internal("a block of rows that are not there"))?;
            let run = part.runs.first_mut();
            let run = run.ok_or_else(|| Error::internal("a part of no rows"))?;
            let len = run.len.min(missing);
            let first = GatherRun { first: run.first, len };
            taken.push(GatherPart {
                batch: part.batch.clone(),
                runs: vec![first],
            });
            (run.first, run.len) = (run.first + len, run.len - len);
            missing -= len;
            if run.len == 0 {
                self.parts.remove(0);
            }
        }
        self.row_n -= row_n;
        let batch = pack(&canonical(&gather(&taken)?)?)?;
        let packed = PackedBatch::pack(&batch)?;
        let keys = KeySample::of(&[GatherPart::of(batch)?], packed.unpacked_len())?;
        (self.each)(SortedBlock { packed, keys, row_n })
    }

    /// Makes a block of the rest.
    fn finish(mut self) -> Result<()> {
        if self.row_n > 0 { self.cut(self.row_n) } else { Ok(()) }
    }
}
