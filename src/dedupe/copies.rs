//! Jobs that two files contain under two identities: one file was printed in another zone, has another name of the cluster,
//! has no raw numbers of array tasks and components, or is of another dialect.
//!
//! Jobs of two dialects are one if their view, number, start, duration and cores are equal: dialects measure the rest
//! differently, and name users differently. Jobs of one dialect agree in number and duration, in user, cores, CPU time and wait where both state them, and their times differ
//! by one constant that zones can differ by; where one of two rows has no end, see [`open_rows`]. Days are compared in order, each with the one before; of large days, a sample by job number. Jobs further apart,
//! and copies within one file, are looked for by [`super::shifted`].

mod open_rows;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use ahash::RandomState;
use arrow_array::{Array as _, RecordBatch, UInt32Array};

use super::file_order::FileOrder;
use super::job_facts::JobFacts;
use super::job_rows::JobRows;
use super::voided::VoidedJobs;
use crate::error::Result;
use crate::numbers::index;
use crate::schema::batch::{ColumnWords, number, words};
use crate::sources::dialect::Dialect;
use crate::time::DAY_MS;
use crate::time::Day;

/// Jobs of a day that are looked at, about.
const SAMPLE: usize = 4096;

/// What the offsets of zones are multiples of, and how far two of them are apart, as far as mistakes go.
const QUARTER_MS: i64 = 900_000;
const SHIFT_MOST_MS: i64 = 14 * 3_600_000;

/// Jobs of one file that another one contains with times that differ by one constant, of another cluster, or in another
/// dialect.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Copied {
    /// The file read in this run; of two, the later one.
    pub file_id: Arc<str>,
    /// Its cluster.
    pub cluster: Option<Arc<str>>,
    /// The cluster of the other file.
    pub of_cluster: Option<Arc<str>>,
    /// Its times less those of the other file.
    pub shift_ms: i64,
    /// The other file.
    pub of_file_id: Arc<str>,
    /// The dialects of the file and of the other one, where they differ.
    pub dialects: Option<TwoDialects>,
    /// One of the two rows of each job has no end, or both have none.
    pub is_open: bool,
}

/// Two dialects that state the same jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TwoDialects {
    /// Of the file.
    pub own: &'static str,
    /// Of the other file.
    pub other: &'static str,
}

/// How many jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyExtent {
    /// That were looked at.
    pub sample_n: u64,
    /// That they stand for.
    pub job_n: u64,
    /// Core seconds of these: a job of the sample has 64 bits of them, and stands for as many as 2^63.
    pub core_s: u128,
}

impl CopyExtent {
    /// Adds another one.
    pub fn add(&mut self, other: Self) {
        self.sample_n += other.sample_n;
        self.job_n += other.job_n;
        self.core_s += other.core_s;
    }
}

/// One job that is looked at.
#[derive(Clone, Copy)]
struct SeenJob {
    /// Of its number and duration.
    key: u64,
    /// Of its number.
    number: u64,
    facts: JobFacts,
    /// Of the job number: in a sample of level `n` its last `n` bits are zero.
    spread: u64,
    start_ms: i64,
    core_s: u64,
    cluster: usize,
    file: usize,
    dialect: Dialect,
    /// Hash of its view.
    view: u64,
    /// It has no end.
    is_open: bool,
    /// By the number it is displayed with, in addition to its raw number.
    is_displayed: bool,
    is_copy: bool,
}

/// A file with jobs that are looked at.
struct SeenFile {
    file_id: Arc<str>,
    rank: u32,
    /// It is read in this run.
    is_fresh: bool,
    /// Its jobs.
    extent: CopyExtent,
}

/// A day, sorted by key.
#[derive(Default)]
struct Looked {
    day: Day,
    level: u32,
    jobs: Vec<SeenJob>,
}

/// Looks for copies among the jobs of one site and month.
pub struct Copies<'a> {
    order: &'a FileOrder,
    fresh: &'a BTreeSet<Arc<str>>,
    /// Files by number.
    files: Vec<SeenFile>,
    file_at: HashMap<Arc<str>, usize, RandomState>,
    clusters: Vec<Option<Arc<str>>>,
    /// Days with new records, in order.
    days: &'a [Day],
    /// Jobs that corrections take out.
    voided: Arc<VoidedJobs>,
    before: Looked,
    /// The day that is looked at, and its rows so far; `None` where it is of no interest.
    today: Option<(Looked, usize)>,
    found: CopyFound,
}

/// What was found.
#[derive(Debug, Default)]
pub struct CopyFound {
    /// Copies.
    pub copied: BTreeMap<Copied, CopyExtent>,
    /// Jobs of the files read in this run.
    pub job_n: BTreeMap<Arc<str>, CopyExtent>,
    /// Jobs of these files that were compared with a row of the same number in another file, where one of the two has no
    /// end.
    pub open_n: BTreeMap<Arc<str>, CopyExtent>,
}

impl<'a> Copies<'a> {
    /// Of the `fresh` files of this run, which have jobs of `days`, against each other and all others; without those that
    /// are `voided`.
    #[must_use]
    pub fn new(order: &'a FileOrder, fresh: &'a BTreeSet<Arc<str>>, days: &'a [Day], voided: VoidedJobs) -> Self {
        Self {
            order,
            fresh,
            files: Vec::new(),
            file_at: HashMap::default(),
            clusters: Vec::new(),
            days,
            voided: Arc::new(voided),
            before: Looked::default(),
            today: None,
            found: CopyFound::default(),
        }
    }

    /// What was found.
    #[must_use]
    pub fn into_found(self) -> CopyFound {
        let fresh = self
            .files
            .into_iter()
            .filter(|file| file.is_fresh && file.extent.sample_n > 0);
        CopyFound {
            job_n: fresh.map(|file| (file.file_id, file.extent)).collect(),
            ..self.found
        }
    }

    /// Begins a day, which comes after all days before it.
    pub fn begin(&mut self, day: Day) {
        let is_of_interest = self.order.file_n() > 1 && is_near(day, self.days);
        let today = Looked {
            day,
            ..Looked::default()
        };
        self.today = is_of_interest.then_some((today, 0));
    }

    /// Looks at some jobs of the day.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a batch is not what the schema declares.
    pub fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let Some((mut today, rows_before)) = self.today.take() else {
            return Ok(());
        };
        let row_n = rows_before + batch.num_rows();
        let level = (row_n / SAMPLE).checked_ilog2().map_or(0, |level| level + 1);
        if level > today.level {
            today.level = level;
            today.jobs.retain(|job| is_in_sample(job, level));
        }
        self.sample(batch, level, &mut today.jobs)?;
        self.today = Some((today, row_n));
        Ok(())
    }

    /// Ends the day: its jobs are compared among each other and with those of the day before.
    pub fn end(&mut self) {
        let Some((mut today, _)) = self.today.take() else {
            return;
        };
        today.jobs.sort_unstable_by_key(|job| job.key);
        for job in today.jobs.iter().filter(|job| !job.is_displayed) {
            if let Some(file) = self.files.get_mut(job.file) {
                file.extent.add(CopyExtent::of_level(today.level, job.core_s));
            }
        }
        let mut before = std::mem::take(&mut self.before);
        if before.day.checked_add(1) != Some(today.day) {
            before.jobs.clear();
        }
        self.compare(&mut before, &mut today);
        self.compare_open(&mut before, &mut today);
        self.before = today;
    }

    /// Takes up the jobs of a batch whose number is in the sample.
    fn sample(&mut self, batch: &RecordBatch, level: u32, into: &mut Vec<SeenJob>) -> Result<()> {
        let voided = Arc::clone(&self.voided);
        let mut rows = JobRows::new(batch, &voided)?;
        let (mut files, mut cluster) = (BatchFiles::of(batch)?, None);
        for row in 0..batch.num_rows() {
            let numbered = [(rows.job(row, level), false), (rows.displayed(row, level), true)];
            for (job, is_displayed) in numbered {
                let Some(job) = job else { continue };
                into.push(SeenJob {
                    key: job.key,
                    number: job.number,
                    facts: job.facts,
                    spread: job.spread,
                    start_ms: job.start_ms,
                    core_s: job.core_s,
                    cluster: self.cluster(job.cluster, &mut cluster),
                    file: files.number(row, || self.file(job.file_id))?,
                    dialect: job.dialect,
                    view: job.view,
                    is_open: job.is_open,
                    is_displayed,
                    is_copy: false,
                });
            }
        }
        Ok(())
    }

    /// The number of a cluster; `last` is that of the row before.
    fn cluster(&mut self, name: Option<&str>, last: &mut Option<usize>) -> usize {
        let is = |at: &usize| self.clusters.get(*at).is_some_and(|known| known.as_deref() == name);
        let known = last.filter(is).or_else(|| (0..self.clusters.len()).find(is));
        let at = known.unwrap_or_else(|| {
            self.clusters.push(name.map(Arc::from));
            self.clusters.len() - 1
        });
        *last = Some(at);
        at
    }

    /// The number of a file.
    fn file(&mut self, file_id: &str) -> Result<usize> {
        if let Some(at) = self.file_at.get(file_id) {
            return Ok(*at);
        }
        let file = SeenFile {
            file_id: Arc::from(file_id),
            rank: self.order.rank(file_id)?,
            is_fresh: self.fresh.contains(file_id),
            extent: CopyExtent::default(),
        };
        self.file_at.insert(Arc::clone(&file.file_id), self.files.len());
        self.files.push(file);
        Ok(self.files.len() - 1)
    }

    /// Compares the jobs of a day among each other and with those of the day before.
    fn compare(&mut self, before: &mut Looked, today: &mut Looked) {
        let level = before.level.max(today.level);
        let mut earlier = before.jobs.as_mut_slice();
        for group in today.jobs.chunk_by_mut(|a, b| a.key == b.key) {
            let Some(key) = group.first().map(|job| job.key) else {
                continue;
            };
            let from = earlier.partition_point(|job| job.key < key);
            let (_, rest) = std::mem::take(&mut earlier).split_at_mut(from);
            let until = rest.partition_point(|job| job.key == key);
            let (same, rest) = rest.split_at_mut(until);
            earlier = rest;
            if group.len() + same.len() < 2 {
                continue;
            }
            // A job that one file contains twice was run again, such as one that is requeued every hour.
            let mut files: Vec<usize> = group.iter().chain(&*same).map(|job| job.file).collect();
            files.sort_unstable();
            if files.windows(2).any(|two| two.first() == two.last()) {
                continue;
            }
            let mut rest = group;
            while let Some((job, behind)) = rest.split_first_mut() {
                for other in behind.iter_mut() {
                    self.weigh(job, other, today.level);
                }
                for other in same.iter_mut().filter(|other| is_in_sample(other, level)) {
                    if is_in_sample(job, level) {
                        self.weigh(job, other, level);
                    }
                }
                rest = behind;
            }
        }
    }

    /// Counts the newer of two jobs if it is a copy of the other.
    fn weigh(&mut self, one: &mut SeenJob, other: &mut SeenJob, level: u32) {
        let rank = |job: &SeenJob| self.files.get(job.file).map(|file| (file.is_fresh, file.rank));
        let (copy, of) = if rank(one) > rank(other) {
            (one, other)
        } else {
            (other, one)
        };
        let Some(file) = self.files.get(copy.file) else { return };
        let shift_ms = copy.start_ms - of.start_ms;
        // Two jobs with raw numbers are compared by these.
        let is_compared = !(copy.is_displayed && of.is_displayed);
        let is_shifted_or_renamed = copy.dialect.has_job_numbers()
            && of.dialect.has_job_numbers()
            && (shift_ms != 0 || copy.cluster != of.cluster || copy.is_displayed != of.is_displayed)
            && is_zone_shift(shift_ms)
            && copy.facts.agree_with(of.facts);
        let is_of_two_dialects = !is_shifted_or_renamed
            && copy.dialect != of.dialect
            && (shift_ms, copy.view) == (0, of.view)
            && copy.facts.agree_in_cores(of.facts);
        let is_same = is_shifted_or_renamed || is_of_two_dialects;
        if !is_compared || !file.is_fresh || copy.is_copy || !is_same {
            return;
        }
        let Some(copied) = self.copied(copy, of) else { return };
        copy.is_copy = true;
        let dialects = is_of_two_dialects.then(|| TwoDialects {
            own: copy.dialect.as_str(),
            other: of.dialect.as_str(),
        });
        let copied = Copied { dialects, ..copied };
        self.found
            .copied
            .entry(copied)
            .or_default()
            .add(CopyExtent::of_level(level, copy.core_s));
    }

    /// By what a copy of one dialect, with an end, differs from the job it repeats.
    fn copied(&self, copy: &SeenJob, of: &SeenJob) -> Option<Copied> {
        let file_id = |job: &SeenJob| Some(Arc::clone(&self.files.get(job.file)?.file_id));
        let cluster = |job: &SeenJob| self.clusters.get(job.cluster).cloned().flatten();
        Some(Copied {
            file_id: file_id(copy)?,
            cluster: cluster(copy),
            of_cluster: cluster(of),
            shift_ms: copy.start_ms - of.start_ms,
            of_file_id: file_id(of)?,
            dialects: None,
            is_open: false,
        })
    }
}

/// The numbers of the files of a batch by their codes: rows of many small files alternate.
struct BatchFiles<'b> {
    codes: Option<&'b UInt32Array>,
    by_code: Vec<Option<usize>>,
}

impl<'b> BatchFiles<'b> {
    fn of(batch: &'b RecordBatch) -> Result<Self> {
        let (codes, file_n) = match words(batch, "file_id")? {
            ColumnWords::Coded(codes, names) => (Some(codes), names.len()),
            ColumnWords::Plain(_) => (None, 0),
        };
        Ok(Self {
            codes,
            by_code: vec![None; file_n],
        })
    }

    /// The number of the file of a row, which is looked up once for each code.
    fn number(&mut self, row: usize, look_up: impl FnOnce() -> Result<usize>) -> Result<usize> {
        let code = self.codes.and_then(|codes| number(codes, row)).map(index);
        match code.and_then(|code| self.by_code.get_mut(code)) {
            Some(Some(known)) => Ok(*known),
            Some(none) => Ok(*none.insert(look_up()?)),
            None => look_up(),
        }
    }
}

impl CopyExtent {
    /// One job of a sample, with its core seconds.
    pub(super) fn of_level(level: u32, core_s: u64) -> Self {
        let job_n = 1 << level.min(63);
        Self {
            sample_n: 1,
            job_n,
            core_s: u128::from(core_s) * u128::from(job_n),
        }
    }
}

/// Whether two zones can differ by so much.
pub fn is_zone_shift(shift_ms: i64) -> bool {
    shift_ms.abs() <= SHIFT_MOST_MS && shift_ms % QUARTER_MS == 0
}

fn is_in_sample(job: &SeenJob, level: u32) -> bool {
    job.spread.trailing_zeros() >= level
}

/// Days that must be compared for the new records of `fresh`, in order: their own days and the neighbouring ones.
fn is_near(day: Day, fresh: &[Day]) -> bool {
    // Fallback: the days of jobs end in 2200, long before the type.
    let from = fresh.partition_point(|fresh| fresh.saturating_add(1) < day);
    // Fallback: no job has the last day of the type, as above.
    fresh.get(from).is_some_and(|fresh| *fresh <= day.saturating_add(1))
}

const _: () = assert!(SHIFT_MOST_MS < DAY_MS);
