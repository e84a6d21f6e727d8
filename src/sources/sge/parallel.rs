//! Jobs of several hosts: the row of a job, and the rows of its tasks on its hosts, put together.
//!
//! Without `accounting_summary` in its parallel environment, a job has a row for every task that was started with `qrsh -inherit`, with
//! the CPU time of that task; its own row has that of its script alone. A task ends, and is logged, at any time before its job, or
//! soon after it. So rows of tasks wait for that of their job, and rows of parallel jobs wait for tasks, within [`HELD_BYTES`].

use std::collections::{BTreeMap, HashMap, HashSet};

use super::columns::{END, HOST, PARALLEL_ENVIRONMENT, PE_TASK, START, SgeRow, TASK};
use super::job::{self, TaskUsage};
use crate::ledger::Reason;
use crate::numbers::{Extent, count_u64, tally};
use crate::sources::lines::{Fold, RawRecord};
use crate::sources::refusal::Refusal;
use crate::sources::truncate::clip;
use crate::sources::{Position, Sink, Work};

/// What rows that wait may come to, with what it takes to find them. Beyond it the oldest jobs wait no longer, then the oldest tasks.
pub(super) const HELD_BYTES: usize = 32 << 20;

/// What it takes to find a row that waits.
const ENTRY_BYTES: usize = 256;

/// Rows of jobs with the same number that wait at a time: a job that is started again has one for each start.
const STARTS_OF_A_JOB: usize = 64;

/// What all rows of a job have in common. The time of submission is none: that of a task is 0, or when it was started.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct JobKey {
    number: i64,
    array_task: i64,
}

/// From when until when, Unix milliseconds; `None` where it is not stated.
#[derive(Clone, Copy)]
struct Span {
    start_ms: Option<i64>,
    end_ms: Option<i64>,
}

impl Span {
    /// Whether both may have run at the same time: tasks of an earlier start of a job did not.
    fn touches(self, other: Self) -> bool {
        let is_before = |end: Option<i64>, start: Option<i64>| end.zip(start).is_some_and(|(end, start)| end < start);
        !is_before(self.end_ms, other.start_ms) && !is_before(other.end_ms, self.start_ms)
    }
}

/// A row that waits.
struct HeldRow {
    bytes: Box<[u8]>,
    at: Position,
    is_cut_off: bool,
    key: JobKey,
    span: Span,
}

impl HeldRow {
    fn raw(&self) -> RawRecord<'_> {
        RawRecord {
            bytes: &self.bytes,
            at: self.at,
            is_cut_off: self.is_cut_off,
        }
    }

    fn byte_n(&self) -> usize {
        self.bytes.len().further(ENTRY_BYTES)
    }
}

/// The row of a task, with what distinguishes it from other tasks of its job.
struct HeldTask {
    row: HeldRow,
    name: String,
}

/// The row of a job, and the tasks found so far.
struct HeldJob {
    row: HeldRow,
    tasks: Vec<HeldRow>,
    names: HashSet<String>,
}

impl HeldJob {
    /// Whether a task is one of this job, and not there yet: a log that is there twice has each twice.
    fn wants(&self, task: &HeldTask) -> bool {
        self.row.span.touches(task.row.span) && !self.names.contains(&task.name)
    }

    fn add(&mut self, task: HeldTask) {
        self.names.insert(task.name);
        self.tasks.push(task.row);
    }

    fn byte_n(&self) -> usize {
        self.tasks
            .iter()
            .fold(self.row.byte_n(), |sum, task| sum.further(task.byte_n()))
    }

    /// Gives its rows their outcomes: steps of one job.
    fn read(&self, sink: &mut dyn Sink) {
        let records: Vec<_> = self.tasks.iter().map(|task| task.raw().log_record()).collect();
        sink.rows_read(count_u64(records.len().further(1)));
        let mut usage = TaskUsage::default();
        let mut added = Vec::new();
        for (task, record) in self.tasks.iter().zip(&records) {
            match SgeRow::of(&record.text).and_then(|row| usage.add(&row, record)) {
                Ok(()) => added.push(task),
                Err(refusal) => {
                    usage.is_incomplete = true;
                    task.raw().refuse(&refusal, sink);
                }
            }
        }
        let record = self.row.raw().log_record();
        let read = SgeRow::of(&record.text).and_then(|row| job::take(&row, &record, &usage, sink));
        let Err(refusal) = read else { return };
        self.row.raw().refuse(&refusal, sink);
        for task in added {
            let why = format!("the row of job {} itself is refused", task.key.number);
            task.raw().refuse(&Refusal::new(Reason::StepWithoutJob, why), sink);
        }
    }
}

/// What waits no longer.
enum Complete {
    Job(HeldJob),
    /// A task whose job is not in the file.
    Task(HeldTask),
}

impl Complete {
    fn read(self, sink: &mut dyn Sink) {
        match self {
            Self::Job(job) => job.read(sink),
            Self::Task(task) => {
                sink.rows_read(1);
                let why = format!(
                    "no row of job {} that ran at that time is in the file for its task {:?}",
                    task.row.key.number,
                    clip(&task.name)
                );
                task.row.raw().refuse(&Refusal::new(Reason::StepWithoutJob, why), sink);
            }
        }
    }
}

/// The parallel jobs of a file, as far as they wait. Rows are numbered as they come.
pub(super) struct ParallelJobs {
    jobs: BTreeMap<u64, HeldJob>,
    tasks: BTreeMap<u64, HeldTask>,
    jobs_of: HashMap<JobKey, Vec<u64>>,
    tasks_of: HashMap<JobKey, Vec<u64>>,
    complete: Vec<Complete>,
    next: u64,
    byte_n: usize,
    limit_byte: usize,
}

impl ParallelJobs {
    /// None yet, and no more than so many bytes of them at a time.
    pub(super) fn new(limit_byte: usize) -> Self {
        Self {
            jobs: BTreeMap::new(),
            tasks: BTreeMap::new(),
            jobs_of: HashMap::new(),
            tasks_of: HashMap::new(),
            complete: Vec::new(),
            next: 0,
            byte_n: 0,
            limit_byte,
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn add_task(&mut self, task: HeldTask) {
        self.byte_n = self.byte_n.further(task.row.byte_n());
        let starts = self.jobs_of.get(&task.row.key);
        let wanting = starts
            .into_iter()
            .flatten()
            .find(|n| self.jobs.get(n).is_some_and(|job| job.wants(&task)));
        if let Some(job) = wanting.copied().and_then(|n| self.jobs.get_mut(&n)) {
            job.add(task);
            return;
        }
        let n = self.number();
        self.tasks_of.entry(task.row.key).or_default().push(n);
        self.tasks.insert(n, task);
    }

    fn add_job(&mut self, row: HeldRow) {
        self.byte_n = self.byte_n.further(row.byte_n());
        let key = row.key;
        let mut job = HeldJob {
            row,
            tasks: Vec::new(),
            names: HashSet::new(),
        };
        if let Some(mut waiting) = self.tasks_of.remove(&key) {
            waiting.retain(|n| {
                let is_wanted = self.tasks.get(n).is_some_and(|task| job.wants(task));
                if let Some(task) = is_wanted.then(|| self.tasks.remove(n)).flatten() {
                    job.add(task);
                }
                !is_wanted
            });
            if !waiting.is_empty() {
                self.tasks_of.insert(key, waiting);
            }
        }
        let n = self.number();
        let starts = self.jobs_of.entry(key).or_default();
        starts.push(n);
        let oldest = starts.first().copied().filter(|_| starts.len() > STARTS_OF_A_JOB);
        self.jobs.insert(n, job);
        if let Some(oldest) = oldest {
            self.complete_job(oldest);
        }
    }

    fn complete_job(&mut self, n: u64) {
        if let Some(job) = self.jobs.remove(&n) {
            forget(&mut self.jobs_of, job.row.key, n);
            self.byte_n = self.byte_n.less(job.byte_n());
            self.complete.push(Complete::Job(job));
        }
    }

    fn complete_task(&mut self, n: u64) {
        if let Some(task) = self.tasks.remove(&n) {
            forget(&mut self.tasks_of, task.row.key, n);
            self.byte_n = self.byte_n.less(task.row.byte_n());
            self.complete.push(Complete::Task(task));
        }
    }

    fn keep_within_limit(&mut self) {
        while self.byte_n > self.limit_byte {
            let (job, task) = (self.jobs.keys().next(), self.tasks.keys().next());
            match (job.copied(), task.copied()) {
                (Some(job), _) => self.complete_job(job),
                (None, Some(task)) => self.complete_task(task),
                (None, None) => return,
            }
        }
    }
}

/// Takes the number of a row out of those of its job.
fn forget(numbers_of: &mut HashMap<JobKey, Vec<u64>>, key: JobKey, n: u64) {
    if let Some(numbers) = numbers_of.get_mut(&key) {
        numbers.retain(|of_key| *of_key != n);
        if numbers.is_empty() {
            numbers_of.remove(&key);
        }
    }
}

/// Whether a row is one of a parallel environment. Most rows of most files are not, so it is seen in their bytes.
fn is_parallel(line: &[u8]) -> bool {
    let mut colons = memchr::memchr_iter(b':', line);
    let bounds = colons.nth(PARALLEL_ENVIRONMENT - 1).zip(colons.next());
    let name = bounds.and_then(|(before, behind)| line.get(before + 1..behind));
    name.is_some_and(|name| !name.trim_ascii().is_empty() && name != b"NONE" && !line.starts_with(b"#"))
}

/// A row of a parallel job, or of a task of one, that is to wait; `None` for one of a job that did not run. A refusal is found again where
/// the row is.
fn held(record: &RawRecord<'_>) -> Result<Option<Held>, Refusal> {
    let read = record.log_record();
    let row = SgeRow::of(&read.text)?;
    let span = Span {
        start_ms: row.time_ms(START)?,
        end_ms: row.time_ms(END)?,
    };
    let held = HeldRow {
        bytes: record.bytes.into(),
        at: record.at,
        is_cut_off: record.is_cut_off,
        key: JobKey {
            number: row.number,
            array_task: row.whole(TASK)?,
        },
        span,
    };
    Ok(match row.name(PE_TASK) {
        Some(task) => Some(Held::Task(HeldTask {
            // Tasks are numbered on each host of its own.
            name: format!("{task} on {}", tally(row.name(HOST))),
            row: held,
        })),
        None => span.end_ms.map(|_| Held::Job(held)),
    })
}

/// One of the two kinds of rows that wait.
enum Held {
    Job(HeldRow),
    Task(HeldTask),
}

impl Fold for ParallelJobs {
    fn keeps(&mut self, record: &RawRecord<'_>) -> bool {
        if !is_parallel(record.bytes) {
            return false;
        }
        match held(record) {
            Ok(Some(Held::Job(row))) => self.add_job(row),
            Ok(Some(Held::Task(task))) => self.add_task(task),
            Ok(None) | Err(_) => return false,
        }
        self.keep_within_limit();
        true
    }

    fn complete(&mut self, is_ended: bool) -> Option<Work> {
        if is_ended {
            self.complete
                .extend(std::mem::take(&mut self.jobs).into_values().map(Complete::Job));
            self.complete
                .extend(std::mem::take(&mut self.tasks).into_values().map(Complete::Task));
        }
        let complete = std::mem::take(&mut self.complete);
        (!complete.is_empty()).then(|| {
            let work = move |sink: &mut dyn Sink| complete.into_iter().for_each(|complete| complete.read(sink));
            Box::new(work) as Work
        })
    }
}
