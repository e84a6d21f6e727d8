//! Jobs that are there twice because their start moved while they ran: a row without an end, and another one of the same
//! cluster, number and submission that starts later.
//!
//! The start is part of the identity of a job, for runs of one job follow each other under one number. Slurm sets the start of
//! a job again when its nodes have been powered up, and in the hour that a change of clocks repeats only the length of a job
//! that has ended decides when it started. Of an earlier run of the job that has ended, the row has an end.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use ahash::RandomState;
use arrow_array::{Array, RecordBatch};
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::Result;
use crate::numbers::{Comparand, count_u64};
use crate::schema::batch::{id, identity, number, time, words};
use crate::time::instant::second_text;
use crate::time::{DAY_MS, Month};

/// Columns of `records` that are looked at.
pub const COLUMNS: &[&str] = &[
    "record_id",
    "cluster",
    "job_id",
    "raw_job_id",
    "submit_utc",
    "start_utc",
    "end_utc",
    "file_id",
];

/// Jobs that are named; the others are counted.
const NAMED: usize = 10;

/// A job without an end.
#[derive(Clone, Debug)]
struct OpenJob {
    job_id: String,
    record_id: u128,
    start_ms: i64,
    is_fresh: bool,
}

/// Jobs without an end by cluster, number and submission.
type OpenJobs = HashMap<u64, OpenJob, RandomState>;

/// When a job started.
#[derive(Clone, Copy, Debug)]
struct StartedJob {
    /// Of its cluster, number and submission.
    key: u64,
    start_ms: i64,
    is_fresh: bool,
}

/// The starts of the jobs of one site and month, which come in the order of their starts.
#[derive(Debug)]
pub struct MonthStarts {
    begin_ms: i64,
    open: OpenJobs,
    /// Submissions of these.
    submits_ms: HashSet<i64, RandomState>,
    /// Jobs that were submitted in an earlier month, in which they may have a row without an end.
    waited: Vec<StartedJob>,
    moved: Vec<MovedJob>,
}

impl MonthStarts {
    /// Of a month of which no job was seen.
    #[must_use]
    pub fn new(month: Month) -> Self {
        Self {
            begin_ms: i64::from(month.first_day()).product_to_compare(DAY_MS),
            open: HashMap::default(),
            submits_ms: HashSet::default(),
            waited: Vec::new(),
            moved: Vec::new(),
        }
    }

    /// Looks at some jobs; `fresh` are the files that this run read.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a batch is not what the schema declares.
    pub fn add(&mut self, batch: &RecordBatch, fresh: &BTreeSet<Arc<str>>) -> Result<()> {
        let (submits, starts) = (time(batch, "submit_utc")?, time(batch, "start_utc")?);
        let (ends, record_ids) = (time(batch, "end_utc")?, id(batch, "record_id")?);
        let (clusters, files) = (words(batch, "cluster")?, words(batch, "file_id")?);
        let (job_ids, raw_ids) = (words(batch, "job_id")?, words(batch, "raw_job_id")?);
        for row in 0..batch.num_rows() {
            let (Some(submit_ms), Some(start_ms)) = (number(submits, row), number(starts, row)) else {
                continue;
            };
            let is_open = ends.is_null(row);
            let has_waited = submit_ms < self.begin_ms;
            if !is_open && !has_waited && !self.submits_ms.contains(&submit_ms) {
                continue;
            }
            let job_id = raw_ids.get(row).unwrap_or_else(|| job_ids.value(row));
            let cluster = xxh3_64_with_seed(clusters.value(row).as_bytes(), submit_ms.cast_unsigned());
            let job = StartedJob {
                key: xxh3_64_with_seed(job_id.as_bytes(), cluster),
                start_ms,
                is_fresh: fresh.contains(files.value(row)),
            };
            self.moved.extend(job.take_moved(&mut self.open));
            if is_open {
                let record_id = identity(record_ids, row)?;
                let open = OpenJob {
                    job_id: job_ids.value(row).to_owned(),
                    record_id,
                    start_ms,
                    is_fresh: job.is_fresh,
                };
                self.open.insert(job.key, open);
                self.submits_ms.insert(submit_ms);
            }
            if has_waited {
                self.waited.push(job);
            }
        }
        Ok(())
    }
}

impl StartedJob {
    /// Takes out the row without an end of a job that starts later by this one; `None` where there is none, or an earlier run
    /// found both rows.
    fn take_moved(self, open: &mut OpenJobs) -> Option<MovedJob> {
        open.get(&self.key).filter(|open| open.start_ms < self.start_ms)?;
        let open = open.remove(&self.key)?;
        if !open.is_fresh && !self.is_fresh {
            return None;
        }
        // Instants of jobs are within the calendar, and so have a text.
        Some(MovedJob {
            start: second_text(open.start_ms)?,
            job_id: open.job_id,
            record_id: format!("{:032x}", open.record_id),
            later_start: second_text(self.start_ms)?,
        })
    }
}

/// A job with a row without an end, and one that starts later.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct MovedJob {
    /// Start of the row without an end.
    pub start: String,
    /// Its number.
    pub job_id: String,
    /// Record of the row without an end.
    pub record_id: String,
    /// Start of the other row.
    pub later_start: String,
}

/// Such jobs of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MovedJobs {
    /// How many.
    pub job_n: u64,
    /// The first of them.
    pub first: Vec<MovedJob>,
}

impl MovedJobs {
    /// Of months of one site.
    #[must_use]
    pub fn of(months: BTreeMap<Month, MonthStarts>) -> Self {
        let mut open = OpenJobs::default();
        let mut moved: Vec<MovedJob> = Vec::new();
        for mut month in months.into_values() {
            moved.append(&mut month.moved);
            let waited = month.waited.into_iter();
            moved.extend(waited.filter_map(|job| job.take_moved(&mut open)));
            open.extend(month.open);
        }
        moved.sort_unstable();
        let job_n = count_u64(moved.len());
        moved.truncate(NAMED);
        Self { job_n, first: moved }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.job_n == 0
    }
}
