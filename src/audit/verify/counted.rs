//! The rows of a lake as its files have them.

use std::collections::BTreeMap;

use arrow_array::{Array, RecordBatch};

use super::totals::VerifiedTotals;
use crate::amounts;
use crate::error::Result;
use crate::lake::counted_records::UncountedRecords;
use crate::ledger::{Outcome, Reason, RowReasons};
use crate::numbers::stored_u64;
use crate::schema::batch::{id, int, number, text, time};
use crate::time::Month;

/// Rows by file and reason.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct FileReasons(BTreeMap<(String, Reason), u64>);

impl FileReasons {
    /// Adds rows of a file.
    pub(super) fn add(&mut self, file_id: &str, reason: Reason, row_n: u64) {
        *self.0.entry((file_id.to_owned(), reason)).or_default() += row_n;
    }
}

impl std::fmt::Debug for FileReasons {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Where rows are counted, as far as that is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CountedPlace {
    pub(super) site: Option<String>,
    pub(super) month: Option<Month>,
}

/// Rows of `records` and `history` by place, file and reason, as the files have them.
pub(super) type CountedRecords = BTreeMap<CountedPlace, FileReasons>;

/// Counts the jobs of `records`, and adds those up that count.
pub(super) fn count_records(
    batch: &RecordBatch,
    uncounted: UncountedRecords<'_>,
    counts_running: bool,
    of: &mut FileReasons,
    totals: &mut VerifiedTotals,
) -> Result<()> {
    let (files, ids) = (text(batch, "file_id")?, id(batch, "record_id")?);
    let (end, steps, view) = (time(batch, "end_utc")?, int(batch, "step_n")?, text(batch, "view")?);
    let (wall, cores, cpu) = (
        int(batch, "wall_s")?,
        int(batch, "alloc_core_n")?,
        int(batch, "cpu_ms")?,
    );
    for row in 0..batch.num_rows() {
        let step_n = stored_u64(steps.value(row), "step_n")?;
        let mut add = |reason: Reason, n: u64| {
            if n > 0 {
                of.add(files.value(row), reason, n);
            }
        };
        if let Some(reason) = uncounted.reason(ids.value(row), view.value(row)) {
            add(reason, 1 + step_n);
            continue;
        }
        add(Reason::Job, 1);
        add(Reason::Step, step_n);
        if end.is_null(row) && !counts_running {
            continue;
        }
        let value = |column| number(column, row).map_or(0, i128::from);
        totals.job_n += i128::from(end.is_valid(row));
        totals.wall_s += value(wall);
        // A product of two numbers of 63 bits has 126.
        amounts::add(&mut totals.alloc_core_s, value(wall) * value(cores), "alloc_core_s")?;
        totals.cpu_ms += value(cpu);
    }
    Ok(())
}

/// Counts the versions of jobs that do not count.
pub(super) fn count_history(batch: &RecordBatch, of: &mut FileReasons) -> Result<()> {
    let (files, outcome) = (text(batch, "file_id")?, text(batch, "outcome")?);
    let steps = int(batch, "step_n")?;
    for row in 0..batch.num_rows() {
        let outcome = Outcome::parse(outcome.value(row)).unwrap_or(Outcome::Superseded);
        let RowReasons { job, step } = Reason::of_rows(outcome);
        of.add(files.value(row), job, 1);
        let step_n = stored_u64(steps.value(row), "step_n")?;
        if step_n > 0 {
            of.add(files.value(row), step, step_n);
        }
    }
    Ok(())
}
