//! A published table, sorted by `record_utc`, taken one day at a time.

use arrow::array::RecordBatch;

use crate::error::{Error, Result};
use crate::schema::batch::time;
use crate::time::DAY_MS;
use crate::time::Day;

type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// Hands out the rows of successive days; holds one batch.
pub(crate) struct DayBatches {
    batches: Option<Batches>,
    rest: Option<RecordBatch>,
}

impl DayBatches {
    /// From the batches of a table, if there is one.
    #[must_use]
    pub(crate) fn new(batches: Option<Batches>) -> Self {
        Self { batches, rest: None }
    }

    /// The next day that has rows.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the table cannot be read.
    pub(crate) fn next_day(&mut self) -> Result<Option<Day>> {
        while self.rest.as_ref().is_none_or(|rest| rest.num_rows() == 0) {
            match self.batches.as_mut().and_then(Iterator::next) {
                Some(batch) => self.rest = Some(batch?),
                None => return Ok(None),
            }
        }
        let rest = self.rest.as_ref().ok_or_else(|| Error::internal("no rest"))?;
        Ok(Some(day_of(time(rest, "record_utc")?.value(0))))
    }

    /// The rows of `day`, if it is the next one.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the table cannot be read.
    pub(crate) fn take(&mut self, day: Day) -> Result<Vec<RecordBatch>> {
        let mut taken = Vec::new();
        while self.next_day()? == Some(day) {
            let Some(rest) = self.rest.take() else { break };
            let until = time(&rest, "record_utc")?
                .values()
                .partition_point(|ms| day_of(*ms) <= day);
            taken.push(rest.slice(0, until));
            self.rest = Some(rest.slice(until, rest.num_rows() - until));
        }
        Ok(taken)
    }
}

fn day_of(ms: i64) -> Day {
    Day::try_from(ms.div_euclid(DAY_MS)).unwrap_or(Day::MAX)
}
