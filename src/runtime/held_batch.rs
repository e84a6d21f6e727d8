//! A batch that waits in memory, packed where it is large.

use arrow::array::RecordBatch;

use super::scratch::PackedBatch;
use crate::error::Result;

/// Batches of so few rows take less as they are.
const FEW_ROWS: usize = 64;

/// A batch that is wanted again, later.
#[derive(Debug)]
pub(crate) struct HeldBatch(Held);

#[derive(Debug)]
enum Held {
    Few(RecordBatch),
    Packed(PackedBatch),
}

impl HeldBatch {
    /// Holds a batch.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when Arrow cannot write it.
    pub(crate) fn new(batch: RecordBatch) -> Result<Self> {
        Ok(Self(if batch.num_rows() <= FEW_ROWS {
            Held::Few(batch)
        } else {
            Held::Packed(PackedBatch::pack(&batch)?)
        }))
    }

    /// The batch.
    ///
    /// # Errors
    /// As [`PackedBatch::unpack`].
    pub(crate) fn batch(&self) -> Result<RecordBatch> {
        match &self.0 {
            Held::Few(batch) => Ok(batch.clone()),
            Held::Packed(packed) => packed.unpack(),
        }
    }
}
