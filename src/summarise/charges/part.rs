//! Charges added up, as `charge_part` has them.

use arrow_array::RecordBatch;

use crate::error::Result;
use crate::expr::{GroupMeasure, How, add_up};
use crate::schema;

/// Columns of `charge_part` that distinguish rows, in their order.
pub const KEYS: [&str; 18] = [
    "vo",
    "allocation_year",
    "year_s",
    "month",
    "day",
    "pool",
    "policy",
    "policy_version",
    "options",
    "unit",
    "subject",
    "source",
    "cluster",
    "account",
    "view",
    "partition",
    "qos",
    "correction_id",
];

/// Columns of `charge_part` that are added up.
pub const SUMMED: [&str; 6] = [
    "job_n",
    "unpriced_job_n",
    "alloc_core_s",
    "alloc_core_fraction_ms",
    "alloc_gpu_s",
    "charge",
];

/// Charges added up: one row for each combination of [`KEYS`], as a `charge_part` batch.
///
/// # Errors
/// [`crate::error::Kind::Data`] when a sum does not fit.
pub fn part(batches: &[RecordBatch]) -> Result<RecordBatch> {
    let dataset = schema::dataset("charge_part")?;
    let measures = SUMMED.map(|column| GroupMeasure { column, how: How::Sum });
    let total = add_up(batches, &KEYS, &measures, &dataset.arrow())?;
    dataset.admit(&total)?;
    Ok(total)
}
