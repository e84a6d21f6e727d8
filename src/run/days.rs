//! A published table, sorted by `record_utc` and `record_id`, taken one day or a part of it at a time.

use arrow_array::RecordBatch;

use crate::dedupe::keys::RecordKey;
use crate::error::{Error, Result};
use crate::schema::batch::{id, identity, time};
use crate::time::DAY_MS;
use crate::time::Day;

type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// Writes the rows of successive days; holds one batch.
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

    /// Rows of `day`, if it is the next one, up to the key `last`; a batch more than `most` of them at most. Whether these
    /// are all up to there.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the table cannot be read.
    pub(crate) fn take(&mut self, day: Day, last: Option<RecordKey>, most: usize) -> Result<(Vec<RecordBatch>, bool)> {
        let (mut taken, mut rows) = (Vec::new(), 0);
        while self.next_day()? == Some(day) {
            if rows >= most {
                return Ok((taken, false));
            }
            let Some(rest) = self.rest.take() else { break };
            let mut until = time(&rest, "record_utc")?
                .values()
                .partition_point(|ms| day_of(*ms) <= day);
            if let Some(last) = last {
                until = until.min(rows_until(&rest, last)?);
            }
            if until > 0 {
                taken.push(rest.slice(0, until));
                rows += until;
            }
            let is_split = until < rest.num_rows();
            self.rest = Some(rest.slice(until, rest.num_rows() - until));
            if is_split {
                break;
            }
        }
        Ok((taken, true))
    }
}

/// How many rows of a sorted batch lie not behind a key.
pub(super) fn rows_until(batch: &RecordBatch, last: RecordKey) -> Result<usize> {
    let instants = time(batch, "record_utc")?.values();
    let before = instants.partition_point(|ms| *ms < last.record_ms);
    let until = instants.partition_point(|ms| *ms <= last.record_ms);
    let ids = id(batch, "record_id")?;
    for row in before..until {
        if identity(ids, row)? > last.record_id {
            return Ok(row);
        }
    }
    Ok(until)
}

/// The key of the last row of a batch.
pub(super) fn last_key(batch: &RecordBatch) -> Result<Option<RecordKey>> {
    let Some(row) = batch.num_rows().checked_sub(1) else {
        return Ok(None);
    };
    Ok(Some(RecordKey {
        record_ms: time(batch, "record_utc")?.value(row),
        record_id: identity(id(batch, "record_id")?, row)?,
    }))
}

fn day_of(ms: i64) -> Day {
    // Fallback: never taken, instants of jobs are before 2200.
    Day::try_from(ms.div_euclid(DAY_MS)).unwrap_or(Day::MAX)
}
