//! What the records of a batch are charged, row by row: added to their groups, and put into columns.

use std::sync::Arc;

use arrow_array::RecordBatch;

use super::columns::ChargeColumns;
use super::groups::{ChargeGroups, StatedRecords};
use super::row::{ChargeFigures, ChargeRow};
use crate::charge::Tariff;
use crate::error::Result;
use crate::time::Calendar;

/// As many rows wait for their columns.
const WAITING: usize = 256;

/// The charges of a batch of records.
pub(super) struct ChargeBatch<'b> {
    records: Vec<&'b RecordBatch>,
    stated: StatedRecords<'b>,
    columns: ChargeColumns,
    /// Rows that are not in the columns yet: several at once are put into a column in a fraction of the time.
    waiting: Vec<ChargeFigures>,
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
            waiting: Vec::with_capacity(WAITING),
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

    /// Adds a row that no correction made.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when a sum does not fit.
    #[inline]
    pub(super) fn add(&mut self, figures: ChargeFigures, groups: &mut ChargeGroups) -> Result<()> {
        self.waiting.push(figures);
        if self.waiting.len() < WAITING {
            return Ok(());
        }
        self.settle(groups)
    }

    /// Notes why the row that is added next has no charge.
    pub(super) fn note_why_unpriced(&mut self, why: Arc<str>) {
        let row = self.columns.row_n() + self.waiting.len();
        self.columns.note_why_unpriced(row, why);
    }

    /// Adds the rows that wait to their groups and to the columns.
    fn settle(&mut self, groups: &mut ChargeGroups) -> Result<()> {
        for figures in &self.waiting {
            groups.add(figures, None, &self.stated)?;
        }
        self.columns.extend(&self.waiting)?;
        self.waiting.clear();
        Ok(())
    }

    /// Takes rows, and leaves their room.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub(super) fn take(&mut self, rows: &mut Vec<ChargeRow>, groups: &mut ChargeGroups) -> Result<()> {
        self.settle(groups)?;
        for row in rows.drain(..) {
            groups.add(&row.figures, row.correction_id.as_deref(), &self.stated)?;
            let nth = self.columns.row_n();
            if let Some(why) = row.why_unpriced {
                self.columns.note_why_unpriced(nth, why);
            }
            if let Some(id) = row.correction_id {
                self.columns.note_correction_id(nth, id);
            }
            self.columns.extend(&[row.figures])?;
        }
        Ok(())
    }

    /// The rows of `job_charges`; `None` without any.
    ///
    /// # Errors
    /// As [`Self::add`]; [`crate::error::Kind::Internal`] when they are not as declared.
    pub(super) fn finish(
        mut self,
        groups: &mut ChargeGroups,
        tariffs: &[&Tariff],
        calendar: &Calendar,
    ) -> Result<Option<RecordBatch>> {
        self.settle(groups)?;
        if self.columns.row_n() == 0 {
            return Ok(None);
        }
        self.columns.finish(&self.records, tariffs, calendar).map(Some)
    }
}
