//! What the records of a batch are charged, row by row: added to their groups, and put into columns.

use arrow::array::RecordBatch;

use super::columns::ChargeColumns;
use super::groups::{ChargeGroups, StatedRecords};
use super::row::ChargeRow;
use crate::charge::Tariff;
use crate::error::Result;
use crate::time::Calendar;

/// The charges of a batch of records.
pub(super) struct ChargeBatch<'b> {
    records: Vec<&'b RecordBatch>,
    stated: StatedRecords<'b>,
    columns: ChargeColumns,
}

impl<'b> ChargeBatch<'b> {
    /// Begins those of a batch, with room for `row_n` rows.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a column was not read.
    pub(super) fn begin(batch: &'b RecordBatch, row_n: usize, groups: &mut ChargeGroups) -> Result<Self> {
        groups.begin();
        Ok(Self {
            records: vec![batch],
            stated: StatedRecords::of(batch)?,
            columns: ChargeColumns::with_capacity(row_n),
        })
    }

    /// Puts the records under other names behind it.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub(super) fn put_behind(&mut self, renamed: &'b RecordBatch) -> Result<()> {
        self.records.push(renamed);
        self.stated.put_behind(renamed)
    }

    /// Takes rows, and leaves their room.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when a sum does not fit.
    #[inline]
    pub(super) fn take(&mut self, rows: &mut Vec<ChargeRow>, groups: &mut ChargeGroups) -> Result<()> {
        for row in rows.iter() {
            groups.add(row, &self.stated)?;
            self.columns.push(row)?;
        }
        rows.clear();
        Ok(())
    }

    /// The rows of `job_charges`; `None` without any.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when they are not as declared.
    pub(super) fn finish(self, tariffs: &[&Tariff], calendar: &Calendar) -> Result<Option<RecordBatch>> {
        if self.columns.is_empty() {
            return Ok(None);
        }
        self.columns.finish(&self.records, tariffs, calendar).map(Some)
    }
}
