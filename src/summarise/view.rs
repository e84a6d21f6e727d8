//! The columns of `records` that `usage` is made of, looked up once per batch.

use arrow::array::{Array, AsArray, BooleanArray, PrimitiveArray, RecordBatch, StringArray};
use arrow::datatypes::{Decimal128Type, Int64Type, TimestampMillisecondType};

use crate::error::{Error, Result};

type Ints = PrimitiveArray<Int64Type>;
type Times = PrimitiveArray<TimestampMillisecondType>;

/// A batch of `records`, seen by the summarise and normalise rooms.
pub struct RecordView<'a> {
    pub(super) record_utc: &'a Times,
    pub(super) start_utc: &'a Times,
    pub(super) end_utc: &'a Times,
    pub(super) wall_s: &'a Ints,
    pub(super) wall_fraction_ms: &'a Ints,
    pub(super) suspended_s: &'a Ints,
    pub(super) cpu_ms: &'a Ints,
    pub(super) alloc_core_n: &'a Ints,
    pub(super) alloc_gpu_n: &'a Ints,
    pub(super) alloc_node_n: &'a Ints,
    pub(super) alloc_billing_n: &'a Ints,
    pub(super) vo: &'a StringArray,
    pub(super) dimensions: [&'a StringArray; 9],
    pub(super) benchmark: &'a StringArray,
    pub(super) benchmark_per_core: &'a PrimitiveArray<Decimal128Type>,
    pub(super) is_cpu_unknown: &'a BooleanArray,
    pub(super) is_core_unknown: &'a BooleanArray,
    pub(super) is_core_assumed: &'a BooleanArray,
}

impl<'a> RecordView<'a> {
    /// Looks the columns up.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the batch is not of `records`.
    pub fn new(batch: &'a RecordBatch) -> Result<Self> {
        let column = |name: &str| {
            batch
                .column_by_name(name)
                .ok_or_else(|| Error::internal(format!("no column {name}")))
        };
        let text = |name: &str| Ok::<_, Error>(column(name)?.as_string::<i32>());
        let int = |name: &str| Ok::<_, Error>(column(name)?.as_primitive::<Int64Type>());
        let time = |name: &str| Ok::<_, Error>(column(name)?.as_primitive::<TimestampMillisecondType>());
        let flag = |name: &str| Ok::<_, Error>(column(name)?.as_boolean());
        let [d0, d1, d2, d3, d4, d5, d6, d7, d8] = super::group::DIMENSIONS;
        Ok(Self {
            record_utc: time("record_utc")?,
            start_utc: time("start_utc")?,
            end_utc: time("end_utc")?,
            wall_s: int("wall_s")?,
            wall_fraction_ms: int("wall_fraction_ms")?,
            suspended_s: int("suspended_s")?,
            cpu_ms: int("cpu_ms")?,
            alloc_core_n: int("alloc_core_n")?,
            alloc_gpu_n: int("alloc_gpu_n")?,
            alloc_node_n: int("alloc_node_n")?,
            alloc_billing_n: int("alloc_billing_n")?,
            vo: text("vo")?,
            dimensions: [
                text(d0)?,
                text(d1)?,
                text(d2)?,
                text(d3)?,
                text(d4)?,
                text(d5)?,
                text(d6)?,
                text(d7)?,
                text(d8)?,
            ],
            benchmark: text("benchmark")?,
            benchmark_per_core: column("benchmark_per_core")?.as_primitive::<Decimal128Type>(),
            is_cpu_unknown: flag("is_cpu_unknown")?,
            is_core_unknown: flag("is_core_unknown")?,
            is_core_assumed: flag("is_core_assumed")?,
        })
    }

    /// Text of a row, `None` when null.
    pub(super) fn word(column: &'a StringArray, row: usize) -> Option<&'a str> {
        column.is_valid(row).then(|| column.value(row))
    }

    /// Number of a row, `None` when null.
    pub(super) fn number<T: arrow::array::ArrowPrimitiveType>(
        column: &PrimitiveArray<T>,
        row: usize,
    ) -> Option<T::Native> {
        column.is_valid(row).then(|| column.value(row))
    }

    /// When the benchmark of a row must hold: its end, or the last moment known of a running job.
    pub(super) fn benchmark_ms(&self, row: usize) -> i64 {
        Self::number(self.end_utc, row).unwrap_or_else(|| self.record_utc.value(row) + self.held_s(row) * 1000)
    }

    /// Wall time plus suspension, seconds: how long nodes, memory and GPUs were held.
    pub(super) fn held_s(&self, row: usize) -> i64 {
        self.wall_s.value(row) + Self::number(self.suspended_s, row).unwrap_or(0)
    }
}
