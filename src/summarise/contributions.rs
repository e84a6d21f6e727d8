//! Contributions of many months added up by the expression engine.

use arrow_array::RecordBatch;

use super::group::DIMENSIONS;
use super::sums::summed_columns;
use crate::error::Result;
use crate::expr::{GroupMeasure, How, add_up};
use crate::schema;

/// New rows that are held before they are added up.
const HELD_ROWS: usize = 32_768;

/// `usage_part` rows of one site, held as they come and added up now and then, so that memory follows the number of
/// groups and not that of months.
#[derive(Debug, Default)]
pub struct Contributions {
    batches: Vec<RecordBatch>,
    rows: usize,
    added_up: usize,
}

impl Contributions {
    /// Adds a `usage_part` batch.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn add(&mut self, batch: RecordBatch) -> Result<()> {
        self.rows += batch.num_rows();
        self.batches.push(batch);
        // Half as many again as the last time left: groups that do not repeat are not added up over and over.
        if self.rows > self.added_up + HELD_ROWS.max(self.added_up / 2) {
            let total = total(&self.batches)?;
            self.rows = total.num_rows();
            self.added_up = self.rows;
            self.batches = vec![total];
        }
        Ok(())
    }

    /// One row per key as a `usage_part` batch, in the order of [`super::group::Key`].
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when a sum does not fit its column; [`crate::error::Kind::Internal`] when a batch was
    /// not a `usage_part`.
    pub fn finish(self) -> Result<RecordBatch> {
        total(&self.batches)
    }
}

fn total(batches: &[RecordBatch]) -> Result<RecordBatch> {
    let dataset = schema::dataset("usage_part")?;
    let mut keys = vec!["vo", "allocation_year", "month", "day"];
    keys.extend(DIMENSIONS);
    keys.push("correction_id");
    let sums = summed_columns();
    let mut measures: Vec<GroupMeasure<'_>> = sums.map(|column| GroupMeasure { column, how: How::Sum }).collect();
    measures.push(GroupMeasure {
        column: "earliest_end_utc",
        how: How::Min,
    });
    measures.push(GroupMeasure {
        column: "latest_end_utc",
        how: How::Max,
    });
    let total = add_up(batches, &keys, &measures, &dataset.arrow())?;
    dataset.admit(&total)?;
    Ok(total)
}
