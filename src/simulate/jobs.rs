//! The jobs of a trace in their order: by place, in memory while they are few.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::job::Job;
use super::predecessor::Predecessors;
use crate::error::Result;
use crate::runtime::column::{Column, ColumnBudget, ColumnReader};
use crate::runtime::column_value::{ByteFields, ColumnValue};
use crate::runtime::sorter::{SortedValues, Sorter};

/// Jobs, sorted by submission and number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jobs {
    /// Without what they wait for.
    rows: Column<Job>,
    /// What those wait for that wait for others, by place.
    after: Arc<BTreeMap<u32, Predecessors>>,
}

impl Jobs {
    pub(super) fn new(rows: Column<Job>, mut after: BTreeMap<u32, Predecessors>) -> Self {
        after.retain(|_, after| !after.is_empty());
        Self {
            rows,
            after: Arc::new(after),
        }
    }

    /// The same jobs, each changed, in the same order.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be written.
    pub fn changed(&self, mut change: impl FnMut(&mut Job)) -> Result<Self> {
        let rows = self.rows.iter().map(|mut job| {
            change(&mut job);
            job
        });
        Ok(Self {
            rows: Column::of(rows, self.rows.budget())?,
            after: Arc::clone(&self.after),
        })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The job at a place.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<Job> {
        JobList::from(self).get(place)
    }

    /// The first one.
    #[must_use]
    pub fn first(&self) -> Option<Job> {
        self.get(0)
    }

    /// All, in order.
    #[must_use]
    pub fn iter(&self) -> JobIter<'_> {
        JobList::from(self).iter()
    }

    /// All in memory.
    #[must_use]
    pub fn to_vec(&self) -> Vec<Job> {
        self.iter().collect()
    }
}

impl<'a> IntoIterator for &'a Jobs {
    type Item = Job;
    type IntoIter = JobIter<'a>;

    fn into_iter(self) -> JobIter<'a> {
        self.iter()
    }
}

/// Jobs in order, wherever they are.
#[derive(Clone, Copy, Debug)]
pub enum JobList<'a> {
    /// In memory.
    Slice(&'a [Job]),
    /// Of a trace.
    Stored(&'a Jobs),
}

impl<'a> From<&'a Jobs> for JobList<'a> {
    fn from(jobs: &'a Jobs) -> Self {
        Self::Stored(jobs)
    }
}

impl<'a> From<&'a [Job]> for JobList<'a> {
    fn from(jobs: &'a [Job]) -> Self {
        Self::Slice(jobs)
    }
}

impl<'a> From<&'a Vec<Job>> for JobList<'a> {
    fn from(jobs: &'a Vec<Job>) -> Self {
        Self::Slice(jobs)
    }
}

impl<'a, const N: usize> From<&'a [Job; N]> for JobList<'a> {
    fn from(jobs: &'a [Job; N]) -> Self {
        Self::Slice(jobs)
    }
}

impl<'a> JobList<'a> {
    /// How many there are.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            Self::Slice(jobs) => jobs.len(),
            Self::Stored(jobs) => jobs.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// What may be held in memory of values that are made of them.
    #[must_use]
    pub fn budget(self) -> ColumnBudget {
        match self {
            Self::Slice(_) => ColumnBudget::default(),
            Self::Stored(jobs) => jobs.rows.budget(),
        }
    }

    /// The job at a place.
    #[must_use]
    pub fn get(self, place: usize) -> Option<Job> {
        self.scan().get(place).cloned()
    }

    /// Reads them in order.
    #[must_use]
    pub fn scan(self) -> JobReader<'a> {
        self.read_by(Column::scan)
    }

    /// Reads them in any order.
    #[must_use]
    pub fn reader(self) -> JobReader<'a> {
        self.read_by(Column::reader)
    }

    fn read_by(self, reader: impl Fn(&'a Column<Job>) -> ColumnReader<'a, Job>) -> JobReader<'a> {
        match self {
            Self::Slice(jobs) => JobReader::Slice(jobs),
            Self::Stored(jobs) => JobReader::Stored(Box::new(StoredReader {
                rows: reader(&jobs.rows),
                after: &jobs.after,
                waiting: None,
            })),
        }
    }

    /// All, in order.
    #[must_use]
    pub fn iter(self) -> JobIter<'a> {
        JobIter {
            reader: self.scan(),
            next: 0,
        }
    }

    /// Hands each to `each`, in order, with its place.
    pub fn each(self, mut each: impl FnMut(usize, &Job)) {
        let mut reader = self.scan();
        let mut place = 0;
        while let Some(job) = reader.get(place) {
            each(place, job);
            place += 1;
        }
    }

    /// What those wait for that wait for others, by place.
    #[must_use]
    pub fn dependents(self) -> BTreeMap<u32, Predecessors> {
        match self {
            Self::Slice(jobs) => {
                let all = (0_u32..).zip(jobs).filter(|(_, job)| !job.after.is_empty());
                all.map(|(place, job)| (place, job.after.clone())).collect()
            }
            Self::Stored(jobs) => BTreeMap::clone(&jobs.after),
        }
    }
}

/// Reads jobs by place.
#[derive(Debug)]
pub enum JobReader<'a> {
    /// Of memory.
    Slice(&'a [Job]),
    /// Of a trace.
    Stored(Box<StoredReader<'a>>),
}

/// Reads the jobs of a trace.
#[derive(Debug)]
pub struct StoredReader<'a> {
    rows: ColumnReader<'a, Job>,
    after: &'a BTreeMap<u32, Predecessors>,
    /// The job with what it waits for that was read last.
    waiting: Option<Job>,
}

impl JobReader<'_> {
    /// The job at a place.
    #[inline]
    pub fn get(&mut self, place: usize) -> Option<&Job> {
        match self {
            Self::Slice(jobs) => jobs.get(place),
            Self::Stored(stored) => stored.get(place),
        }
    }
}

impl StoredReader<'_> {
    #[inline]
    fn get(&mut self, place: usize) -> Option<&Job> {
        if self.after.is_empty() {
            return self.rows.get(place);
        }
        match u32::try_from(place).ok().and_then(|place| self.after.get(&place)) {
            None => self.rows.get(place),
            Some(after) => {
                let job = self.rows.get(place)?.clone();
                Some(self.waiting.insert(Job {
                    after: after.clone(),
                    ..job
                }))
            }
        }
    }
}

/// Jobs in order.
#[derive(Debug)]
pub struct JobIter<'a> {
    reader: JobReader<'a>,
    next: usize,
}

impl Iterator for JobIter<'_> {
    type Item = Job;

    fn next(&mut self) -> Option<Job> {
        let job = self.reader.get(self.next)?.clone();
        self.next += 1;
        Some(job)
    }
}

/// A job with how many were taken before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TakenJob {
    pub(super) job: Job,
    pub(super) nth: u64,
}

impl TakenJob {
    fn order(&self) -> impl Ord + use<> {
        let Job {
            id,
            submit_s,
            run_s,
            need,
            ..
        } = &self.job;
        (*submit_s, *id, *run_s, *need, self.nth)
    }
}

impl Ord for TakenJob {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for TakenJob {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl ColumnValue for TakenJob {
    fn encode(&self, bytes: &mut Vec<u8>) {
        self.job.encode(bytes);
        bytes.extend_from_slice(&self.nth.to_le_bytes());
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        Self {
            job: Job::decode(bytes),
            nth: bytes.number64(),
        }
    }
}

/// Takes jobs in any order.
#[derive(Debug)]
pub struct JobSorter {
    jobs: Sorter<TakenJob>,
    after: BTreeMap<u64, Predecessors>,
    job_n: u64,
    budget: ColumnBudget,
}

impl JobSorter {
    /// Without jobs.
    #[must_use]
    pub fn new(budget: ColumnBudget) -> Self {
        Self {
            jobs: Sorter::new(budget),
            after: BTreeMap::new(),
            job_n: 0,
            budget,
        }
    }

    /// Adds a job.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be made or written.
    pub fn push(&mut self, mut job: Job) -> Result<()> {
        let after = std::mem::take(&mut job.after);
        if !after.is_empty() {
            self.after.insert(self.job_n, after);
        }
        self.jobs.push(TakenJob { job, nth: self.job_n })?;
        self.job_n += 1;
        Ok(())
    }

    pub(super) fn finish(self) -> Result<TakenJobs> {
        Ok(TakenJobs {
            jobs: self.jobs.finish()?,
            after: self.after,
            budget: self.budget,
        })
    }
}

/// Jobs that were taken, in order.
pub(super) struct TakenJobs {
    pub(super) jobs: SortedValues<TakenJob>,
    /// What they wait for, by the number they were taken with.
    pub(super) after: BTreeMap<u64, Predecessors>,
    pub(super) budget: ColumnBudget,
}
