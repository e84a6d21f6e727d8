//! Charges added up, as `charge_part` has them.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};

use crate::error::Result;
use crate::expr::{GroupMeasure, How, add_up};
use crate::numbers::Part;
use crate::schema::batch::column;
use crate::schema::{self, Dataset};

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

/// Charges added up: one row for each combination of [`KEYS`] of what has a charge, and one of what has none, as a `charge_part`
/// batch.
///
/// # Errors
/// [`crate::error::Kind::Data`] when a sum does not fit.
pub fn part(batches: &[RecordBatch]) -> Result<RecordBatch> {
    charges_added_up(batches, &KEYS, schema::dataset("charge_part")?)
}

/// The column that keeps apart what has no charge: a sum of charges that leaves some of them out would seem complete.
const IS_UNPRICED: &str = "is_unpriced";

/// Charges added up: one row for each combination of `keys` of what has a charge, and behind it one of what has none, as a batch
/// of `dataset`, which has these keys and [`SUMMED`].
///
/// # Errors
/// [`crate::error::Kind::Data`] when a sum does not fit.
pub fn charges_added_up(batches: &[RecordBatch], keys: &[&str], dataset: &Dataset) -> Result<RecordBatch> {
    let column_n = dataset.columns.len();
    let apart = |schema: &SchemaRef| -> SchemaRef {
        let mark = Field::new(IS_UNPRICED, DataType::Boolean, false);
        let fields = schema.fields().iter().cloned().chain([Arc::new(mark)]);
        Arc::new(Schema::new(fields.collect::<Fields>()))
    };
    let marked = batches.iter().map(|batch| {
        let charge = column(batch, "charge")?;
        let mark = (0..charge.len()).map(|row| Some(charge.is_null(row)));
        let mark: ArrayRef = Arc::new(mark.collect::<BooleanArray>());
        let arrays = batch.columns().iter().cloned().chain([mark]);
        Ok(RecordBatch::try_new(apart(batch.schema_ref()), arrays.collect())?)
    });
    let keys: Vec<&str> = keys.iter().copied().chain([IS_UNPRICED]).collect();
    let measures = SUMMED.map(|column| GroupMeasure { column, how: How::Sum });
    let marked = marked.collect::<Result<Vec<_>>>()?;
    let total = add_up(&marked, &keys, &measures, &apart(&dataset.arrow()))?;
    let total = RecordBatch::try_new(dataset.arrow(), total.columns().part(..column_n).to_vec())?;
    dataset.admit(&total)?;
    Ok(total)
}
