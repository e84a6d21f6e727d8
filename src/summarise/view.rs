//! The columns of `records` that `usage` is made of, looked up once per batch.

use arrow_array::{Array, BooleanArray, Int64Array, RecordBatch, TimestampMillisecondArray};

use super::sums::MeasuredSums;
use crate::error::Result;
use crate::schema::batch::{ColumnWords, addend, flag, int, number, time, words};
use crate::time::DAY_MS;

/// A batch of `records`, seen by the summarise room.
pub struct RecordView<'a> {
    pub(super) record_utc: &'a TimestampMillisecondArray,
    pub(super) start_utc: &'a TimestampMillisecondArray,
    pub(super) end_utc: &'a TimestampMillisecondArray,
    pub(super) wall_s: &'a Int64Array,
    pub(super) wall_fraction_ms: &'a Int64Array,
    pub(super) suspended_s: &'a Int64Array,
    pub(super) cpu_ms: &'a Int64Array,
    pub(super) scaled_cpu_ms: &'a Int64Array,
    pub(super) scaled_wall_ms: &'a Int64Array,
    pub(super) alloc_core_n: &'a Int64Array,
    pub(super) alloc_gpu_n: &'a Int64Array,
    pub(super) alloc_node_n: &'a Int64Array,
    pub(super) alloc_billing_n: &'a Int64Array,
    /// What was measured; `None` when no job of the batch states any.
    pub(super) measured: Option<MeasuredColumns<'a>>,
    pub(super) vo: ColumnWords<'a>,
    pub(super) dimensions: [ColumnWords<'a>; 10],
    pub(super) is_cpu_unknown: Option<&'a BooleanArray>,
    pub(super) is_core_unknown: Option<&'a BooleanArray>,
    pub(super) is_core_assumed: Option<&'a BooleanArray>,
}

impl<'a> RecordView<'a> {
    /// Looks the columns up.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the batch is not of `records`.
    pub fn new(batch: &'a RecordBatch) -> Result<Self> {
        let [d0, d1, d2, d3, d4, d5, d6, d7, d8, d9] = super::group::DIMENSIONS;
        Ok(Self {
            record_utc: time(batch, "record_utc")?,
            start_utc: time(batch, "start_utc")?,
            end_utc: time(batch, "end_utc")?,
            wall_s: int(batch, "wall_s")?,
            wall_fraction_ms: int(batch, "wall_fraction_ms")?,
            suspended_s: int(batch, "suspended_s")?,
            cpu_ms: int(batch, "cpu_ms")?,
            scaled_cpu_ms: int(batch, "scaled_cpu_ms")?,
            scaled_wall_ms: int(batch, "scaled_wall_ms")?,
            alloc_core_n: int(batch, "alloc_core_n")?,
            alloc_gpu_n: int(batch, "alloc_gpu_n")?,
            alloc_node_n: int(batch, "alloc_node_n")?,
            alloc_billing_n: int(batch, "alloc_billing_n")?,
            measured: MeasuredColumns::of(batch)?,
            vo: words(batch, "vo")?,
            dimensions: [
                words(batch, d0)?,
                words(batch, d1)?,
                words(batch, d2)?,
                words(batch, d3)?,
                words(batch, d4)?,
                words(batch, d5)?,
                words(batch, d6)?,
                words(batch, d7)?,
                words(batch, d8)?,
                words(batch, d9)?,
            ],
            is_cpu_unknown: seen(batch, "is_cpu_unknown")?,
            is_core_unknown: seen(batch, "is_core_unknown")?,
            is_core_assumed: seen(batch, "is_core_assumed")?,
        })
    }

    /// When a job began to run, Unix milliseconds; `None` where that is unknown. Where the clock was not set, which gives a start in
    /// the first day of 1970, it is what the end leaves of the time that it ran.
    pub(super) fn start_ms(&self, row: usize) -> Option<i64> {
        let start_ms = number(self.start_utc, row)?;
        if !(0..DAY_MS).contains(&start_ms) {
            return Some(start_ms);
        }
        let ran_from_ms = number(self.end_utc, row).map(|end_ms| end_ms - self.held_s(row) * 1000);
        // A trace whose clock begins at zero has jobs of that day as well: they ran all the time to their end.
        Some(ran_from_ms.map_or(start_ms, |from_ms| start_ms.max(from_ms)))
    }

    /// Wall time plus suspension, seconds: how long nodes, memory and GPUs were held.
    pub(super) fn held_s(&self, row: usize) -> i64 {
        self.wall_s.value(row) + addend(number(self.suspended_s, row))
    }
}

/// A column of flags; `None` when none is set.
fn seen<'a>(batch: &'a RecordBatch, name: &str) -> Result<Option<&'a BooleanArray>> {
    let flags = flag(batch, name)?;
    Ok(flags.has_true().then_some(flags))
}

/// The columns of `records` that hold what was measured of a job: by Jobstats, and energy.
pub(super) struct MeasuredColumns<'a> {
    gpu_busy_ms: &'a Int64Array,
    gpu_stated_ms: &'a Int64Array,
    memory_used_byte: &'a Int64Array,
    memory_total_byte: &'a Int64Array,
    energy_j: &'a Int64Array,
}

impl<'a> MeasuredColumns<'a> {
    /// `None` when no row has a value.
    fn of(batch: &'a RecordBatch) -> Result<Option<Self>> {
        let columns = Self {
            gpu_busy_ms: int(batch, "gpu_busy_ms")?,
            gpu_stated_ms: int(batch, "gpu_stated_ms")?,
            memory_used_byte: int(batch, "jobstats_memory_used_byte")?,
            memory_total_byte: int(batch, "jobstats_memory_total_byte")?,
            energy_j: int(batch, "energy_j")?,
        };
        let has_values = [columns.gpu_stated_ms, columns.memory_total_byte, columns.energy_j]
            .iter()
            .any(|column| column.null_count() < column.len());
        Ok(has_values.then_some(columns))
    }

    /// What was measured of a job that held what it was given for so long, with so much wall time of all cores. Memory times
    /// time is rounded once, half up; what does not fit is beyond what the sums of a month can take. `None` where nothing is stated.
    pub(super) fn sums(&self, row: usize, held_s: i64, alloc_core_s: i64) -> Option<MeasuredSums> {
        let held_mib_s = |byte: i64| {
            let byte_s = i128::from(byte) * i128::from(held_s);
            // Fallback: beyond 63 bits is beyond the budget of a month, which refuses it.
            i64::try_from((byte_s + (1 << 19)) >> 20).unwrap_or(i64::MAX)
        };
        let energy_j = number(self.energy_j, row);
        let measured = MeasuredSums {
            gpu_busy_ms: number(self.gpu_busy_ms, row),
            gpu_stated_ms: number(self.gpu_stated_ms, row),
            memory_used_mib_s: number(self.memory_used_byte, row).map(held_mib_s),
            memory_stated_mib_s: number(self.memory_total_byte, row).map(held_mib_s),
            energy_j,
            energy_stated_core_s: energy_j.map(|_| alloc_core_s),
            ..MeasuredSums::default()
        };
        (!measured.is_empty()).then_some(measured)
    }
}
