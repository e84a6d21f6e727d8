//! Jobs of a listing of a queue that wait no longer, as the records of a lake state: they have started since, or ended
//! without a start. What they use is known better from their records.

use std::collections::{BTreeSet, HashMap};

use super::array_tasks::ArrayTasks;
use super::lake::Lake;
use super::pending_use::VIEW;
use crate::error::Result;
use crate::schema::batch::{number, text, time, word};
use crate::time::{DAY_MS, Day, Month};

/// The jobs of one listing of the queue of a cluster, by what their records name them.
pub(super) struct ListedQueue {
    site: String,
    /// `None` where the listing states no cluster: it is that of every job of the site.
    cluster: Option<String>,
    as_of_ms: i64,
    /// Places of jobs by their number.
    jobs: HashMap<String, usize>,
    /// Places and tasks of the rows of arrays, by the number of the array.
    arrays: HashMap<String, Vec<ListedTasks>>,
    left: LeftJobs,
}

/// Tasks of an array that one row lists.
struct ListedTasks {
    place: usize,
    tasks: ArrayTasks,
}

/// Which jobs of a listing wait no longer.
#[derive(Clone, Debug, Default)]
pub(super) struct LeftJobs {
    jobs: BTreeSet<usize>,
    tasks: HashMap<usize, BTreeSet<u32>>,
}

impl LeftJobs {
    /// Of the tasks of the job at a place of the listing, those that still wait.
    pub(super) fn waiting_n(&self, place: usize, task_n: u32) -> u32 {
        if self.jobs.contains(&place) {
            return 0;
        }
        let left = self.tasks.get(&place).map_or(0, BTreeSet::len);
        // Fallback: more than all tasks of a row cannot have left it.
        u32::try_from(left).map_or(0, |left| task_n.saturating_sub(left))
    }
}

impl ListedQueue {
    /// A listing without jobs.
    pub(super) fn new(site: &str, cluster: Option<&str>, as_of_ms: i64) -> Self {
        Self {
            site: site.to_owned(),
            cluster: cluster.map(str::to_owned),
            as_of_ms,
            jobs: HashMap::new(),
            arrays: HashMap::new(),
            left: LeftJobs::default(),
        }
    }

    /// Adds the job at a place.
    pub(super) fn add(&mut self, place: usize, job_id: &str) {
        self.jobs.insert(job_id.to_owned(), place);
    }

    /// Adds the tasks of an array at a place.
    pub(super) fn add_tasks(&mut self, place: usize, array_job_id: &str, tasks: ArrayTasks) {
        let rows = self.arrays.entry(array_job_id.to_owned()).or_default();
        rows.push(ListedTasks { place, tasks });
    }

    /// The jobs that have left the queue by the end of a day.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the records cannot be read.
    pub(super) fn left(mut self, lake: &Lake, on: Day) -> Result<LeftJobs> {
        const COLUMNS: [&str; 6] = ["view", "cluster", "job_id", "raw_job_id", "start_utc", "end_utc"];
        if self.jobs.is_empty() && self.arrays.is_empty() {
            return Ok(self.left);
        }
        let first = Month::of_ms(self.as_of_ms);
        for (site, month, path) in lake.months("records")? {
            // A record is of no month before it starts.
            if site != self.site || first.is_none_or(|first| month < first) {
                continue;
            }
            for batch in lake.batches(&path, Some(&COLUMNS))? {
                let batch = batch?;
                let (view, cluster) = (text(&batch, "view")?, text(&batch, "cluster")?);
                let (job_id, raw_id) = (text(&batch, "job_id")?, text(&batch, "raw_job_id")?);
                let (start, end) = (time(&batch, "start_utc")?, time(&batch, "end_utc")?);
                for row in 0..batch.num_rows() {
                    let left_ms = number(start, row).or_else(|| number(end, row));
                    let is_since = left_ms
                        .is_some_and(|left_ms| self.as_of_ms <= left_ms && left_ms.div_euclid(DAY_MS) <= i64::from(on));
                    let is_here = self.cluster.is_none() || self.cluster.as_deref() == word(cluster, row);
                    if is_since && is_here && word(view, row) == Some(VIEW) {
                        self.leave(job_id.value(row), word(raw_id, row));
                    }
                }
            }
        }
        Ok(self.left)
    }

    /// Notes that the job of a record waits no longer.
    fn leave(&mut self, job_id: &str, raw_id: Option<&str>) {
        for id in raw_id.into_iter().chain([job_id]) {
            self.left.jobs.extend(self.jobs.get(id));
        }
        let task = job_id.split_once('_');
        let Some((array, task)) = task.and_then(|(array, task)| Some((array, task.parse().ok()?))) else {
            return;
        };
        for row in self
            .arrays
            .get(array)
            .into_iter()
            .flatten()
            .filter(|row| row.tasks.has(task))
        {
            self.left.tasks.entry(row.place).or_default().insert(task);
        }
    }
}
