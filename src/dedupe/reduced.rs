//! Jobs whose accepted row has less than a row it replaced: a dump leaves out steps that ended before its window, and with
//! them their CPU time.

use arrow_array::RecordBatch;
use serde::Serialize;

use crate::error::Result;
use crate::schema::batch::words;

/// Jobs that are named; the others are counted.
const NAMED: usize = 10;

/// By how much CPU times of one job differ that were printed with and without fractions of a second.
const FRACTION_MS: i64 = 1000;

/// What a row of a job has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RowAmounts {
    /// CPU time, milliseconds; negative where it is unknown.
    pub cpu_ms: i64,
    /// Steps.
    pub step_n: i64,
}

impl RowAmounts {
    /// The larger of each.
    pub(super) fn most(self, other: Self) -> Self {
        Self {
            cpu_ms: self.cpu_ms.max(other.cpu_ms),
            step_n: self.step_n.max(other.step_n),
        }
    }

    /// Whether a row with these, of the same job, would have lost something.
    pub(super) fn is_less_than(self, most: Self) -> bool {
        most.step_n > self.step_n || most.cpu_ms - self.cpu_ms >= FRACTION_MS
    }

    /// It in words.
    fn text(self) -> String {
        let steps = if self.step_n == 1 { "step" } else { "steps" };
        let Self { cpu_ms, step_n } = self;
        if cpu_ms < 0 {
            return format!("unknown CPU time and {step_n} {steps}");
        }
        let (cpu_s, fraction_ms) = (cpu_ms / 1000, cpu_ms % 1000);
        format!("{cpu_s}.{fraction_ms:03} s of CPU time and {step_n} {steps}")
    }
}

/// A row of a batch that was accepted although it has less than another one of its job.
pub(super) struct ReducedRow {
    /// Its place among the accepted rows.
    pub(super) at: usize,
    pub(super) accepted: RowAmounts,
    pub(super) most: RowAmounts,
}

/// A job whose accepted row has less than another one of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReducedJob {
    /// Its number.
    pub job_id: String,
    /// What the accepted row has.
    pub accepted: RowAmounts,
    /// The most that a row which was not accepted has, of each.
    pub most: RowAmounts,
}

impl ReducedJob {
    /// It in words.
    pub(crate) fn text(&self) -> String {
        format!(
            "{} with {}, before {}",
            self.job_id,
            self.accepted.text(),
            self.most.text()
        )
    }
}

/// Jobs whose accepted rows have less than others of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReducedJobs {
    /// How many; of a day of more rows than memory holds, one may count more than once.
    pub job_n: u64,
    /// The first of them.
    pub first: Vec<ReducedJob>,
}

impl ReducedJobs {
    /// The jobs of some of the accepted rows; `row_of` is the place in the batch of the row accepted as such.
    pub(super) fn of(rows: &[ReducedRow], batch: &RecordBatch, row_of: impl Fn(usize) -> usize) -> Result<Self> {
        let mut jobs = Self::default();
        if rows.is_empty() {
            return Ok(jobs);
        }
        let job_ids = words(batch, "job_id")?;
        for row in rows {
            jobs.job_n += 1;
            if jobs.first.len() < NAMED {
                jobs.first.push(ReducedJob {
                    job_id: job_ids.value(row_of(row.at)).to_owned(),
                    accepted: row.accepted,
                    most: row.most,
                });
            }
        }
        Ok(jobs)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.job_n == 0
    }

    /// Adds those that come after these.
    pub(crate) fn add(&mut self, other: Self) {
        self.job_n += other.job_n;
        let room = NAMED - self.first.len().min(NAMED);
        self.first.extend(other.first.into_iter().take(room));
    }
}
