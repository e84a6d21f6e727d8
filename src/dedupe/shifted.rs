//! Jobs that a run finds twice in one site, however far apart in time, in one file or in two, within a month or across its
//! edges.
//!
//! Such jobs agree in number and duration, in user, cores, CPU time and wait where both state them, and all their times
//! differ by one constant. Of each site a sample by job number is held, so that both of two equal jobs are in it or none; its size is bounded.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;

use super::copies::{Copied, CopyExtent};
use super::file_order::FileOrder;
use super::job_facts::JobFacts;
use super::job_rows::JobRows;
use super::voided::VoidedJobs;
use crate::error::Result;
use crate::numbers::{Comparand, tally};
use crate::reference::correction::CorrectionTable;
use crate::schema::batch::int;

/// Columns of `records` that are looked at.
pub const COLUMNS: &[&str] = &[
    "record_id",
    "format",
    "view",
    "cluster",
    "job_id",
    "raw_job_id",
    "user",
    "submit_utc",
    "start_utc",
    "end_utc",
    "wall_s",
    "wall_fraction_ms",
    "cpu_ms",
    "alloc_core_n",
    "file_id",
    "byte_offset",
];

/// Jobs that are held at most, of one site and of all.
const SITE_MOST: usize = 1 << 14;
const ALL_MOST: usize = 1 << 18;
const SITE_LEAST: usize = 256;

/// Jobs that agree in number and duration more often than this come back by themselves, such as one that is requeued every hour.
const TIMES_MOST: usize = 8;

/// The most durations, and the most job numbers, that are counted separately.
const DIFFERENT_MOST: usize = 16;

/// One job that is held.
#[derive(Clone, Copy)]
struct HeldJob {
    /// Of its number and duration.
    key: u64,
    spread: u64,
    facts: JobFacts,
    start_ms: i64,
    wall_s: i64,
    core_s: u64,
    byte_offset: u64,
    file: usize,
    cluster: usize,
}

/// The sample of one site: jobs whose spread number ends in `level` zeros.
#[derive(Default)]
struct SiteSample {
    /// Jobs that corrections take out.
    voided: Arc<VoidedJobs>,
    level: u32,
    jobs: Vec<HeldJob>,
    files: Vec<Arc<str>>,
    file_at: HashMap<Arc<str>, usize>,
    clusters: Vec<Option<Arc<str>>>,
}

/// Jobs of one file that are copies of others by one constant shift.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shifted {
    /// Site.
    pub site: String,
    /// Of which file and by how much; both files may be one.
    pub copied: Copied,
    /// How many.
    pub extent: CopyExtent,
    /// Jobs of the file that were looked at.
    pub of_jobs: CopyExtent,
    /// Where in the file the first and the last of them begin, bytes after decompression.
    pub bytes: (u64, u64),
    /// Its file is read in this run. Copies that the lake has from earlier runs are evidence for those that come later.
    pub is_fresh: bool,
    /// Different durations among them, as far as they are counted: equal ones are no evidence.
    pub walls: BTreeSet<i64>,
    /// Hashes of different job numbers among them, as far as they are counted: one that comes back each hour is no evidence.
    pub numbers: BTreeSet<u64>,
}

/// Takes up the jobs of all months that a run merges, and finds those that are there twice.
pub struct ShiftedCopies<'a> {
    order: &'a FileOrder,
    fresh: &'a BTreeSet<Arc<str>>,
    corrections: Option<&'a CorrectionTable>,
    most: usize,
    sites: Mutex<BTreeMap<String, SiteSample>>,
}

impl<'a> ShiftedCopies<'a> {
    /// For the `fresh` files of a run over so many sites. Jobs that `corrections` take out whole are no copies.
    #[must_use]
    pub fn new(
        order: &'a FileOrder,
        fresh: &'a BTreeSet<Arc<str>>,
        site_n: usize,
        corrections: Option<&'a CorrectionTable>,
    ) -> Self {
        Self {
            order,
            fresh,
            corrections,
            most: (ALL_MOST / site_n.max(1)).clamp(SITE_LEAST, SITE_MOST),
            sites: Mutex::new(BTreeMap::new()),
        }
    }

    fn sites(&self) -> MutexGuard<'_, BTreeMap<String, SiteSample>> {
        // A sample is whole after each job.
        self.sites.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up the jobs of a batch of a site that are in its sample.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a batch is not what the schema declares.
    pub fn add(&self, site: &str, batch: &RecordBatch) -> Result<()> {
        if self.fresh.is_empty() {
            return Ok(());
        }
        let mut sites = self.sites();
        let sample = match sites.get_mut(site) {
            Some(sample) => sample,
            None => sites.entry(site.to_owned()).or_insert(SiteSample {
                voided: Arc::new(VoidedJobs::of_site(self.corrections, site)),
                ..SiteSample::default()
            }),
        };
        sample.add(batch, self.most)
    }

    /// What was found, in the order of sites.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a file no ledger knows.
    pub fn found(&self) -> Result<Vec<Shifted>> {
        let mut found = Vec::new();
        for (site, sample) in &mut *self.sites() {
            found.append(&mut sample.found(site, self.order, self.fresh)?);
        }
        Ok(found)
    }
}

impl SiteSample {
    fn add(&mut self, batch: &RecordBatch, most: usize) -> Result<()> {
        let offsets = int(batch, "byte_offset")?;
        let voided = Arc::clone(&self.voided);
        let mut rows = JobRows::new(batch, &voided)?;
        for row in 0..batch.num_rows() {
            let Some(job) = rows.numbered_job(row, self.level) else {
                continue;
            };
            let job = HeldJob {
                key: job.key,
                facts: job.facts,
                spread: job.spread,
                start_ms: job.start_ms,
                wall_s: job.wall_s,
                core_s: job.core_s,
                byte_offset: offsets.value(row).unsigned_abs(),
                file: self.file(job.file_id),
                cluster: self.cluster(job.cluster),
            };
            self.jobs.push(job);
            while self.jobs.len() > most && self.level < u64::BITS {
                self.level += 1;
                self.jobs.retain(|job| job.spread.trailing_zeros() >= self.level);
            }
        }
        Ok(())
    }

    fn file(&mut self, file_id: &str) -> usize {
        // Rows of one file come together.
        if let Some(last) = self.jobs.last()
            && self.files.get(last.file).is_some_and(|known| **known == *file_id)
        {
            return last.file;
        }
        if let Some(at) = self.file_at.get(file_id) {
            return *at;
        }
        let file_id: Arc<str> = Arc::from(file_id);
        self.files.push(Arc::clone(&file_id));
        self.file_at.insert(file_id, self.files.len() - 1);
        self.files.len() - 1
    }

    fn cluster(&mut self, name: Option<&str>) -> usize {
        let known = self.clusters.iter().position(|known| known.as_deref() == name);
        known.unwrap_or_else(|| {
            self.clusters.push(name.map(Arc::from));
            self.clusters.len() - 1
        })
    }

    fn found(&mut self, site: &str, order: &FileOrder, fresh: &BTreeSet<Arc<str>>) -> Result<Vec<Shifted>> {
        let ranks: Result<Vec<(bool, u32)>> = (self.files.iter())
            .map(|file_id| Ok((fresh.contains(file_id), order.rank(file_id)?)))
            .collect();
        let ranks = ranks?;
        let rank = |job: &HeldJob| tally(ranks.get(job.file).copied());
        let arrived = |job: &HeldJob| (rank(job), job.byte_offset);
        let mut job_n: BTreeMap<usize, CopyExtent> = BTreeMap::new();
        for job in &self.jobs {
            let extent = CopyExtent::of_level(self.level, job.core_s);
            job_n.entry(job.file).or_default().add(extent);
        }
        self.jobs.sort_unstable_by_key(|job| (job.key, arrived(job)));
        let mut found: BTreeMap<(usize, usize, usize, usize, i64), Evidence> = BTreeMap::new();
        for group in self.jobs.chunk_by(|a, b| a.key == b.key) {
            if group.len() > TIMES_MOST {
                continue;
            }
            for (at, copy) in group.iter().enumerate() {
                let Some(of) = group.iter().take(at).find(|of| of.facts.agree_with(copy.facts)) else {
                    continue;
                };
                let shift_ms = copy.start_ms.difference_to_compare(of.start_ms);
                if shift_ms != 0 || copy.cluster != of.cluster {
                    let place = (copy.file, of.file, copy.cluster, of.cluster, shift_ms);
                    found.entry(place).or_default().add(copy, self.level);
                }
            }
        }
        let name = |at: usize| self.clusters.get(at).cloned().flatten();
        let shifted = found
            .into_iter()
            .filter_map(|((file, of_file, cluster, of_cluster, shift_ms), evidence)| {
                Some(Shifted {
                    site: site.to_owned(),
                    copied: Copied {
                        file_id: Arc::clone(self.files.get(file)?),
                        cluster: name(cluster),
                        of_cluster: name(of_cluster),
                        shift_ms,
                        of_file_id: Arc::clone(self.files.get(of_file)?),
                        dialects: None,
                        is_open: false,
                    },
                    extent: evidence.extent,
                    of_jobs: tally(job_n.get(&file).copied()),
                    bytes: evidence.bytes?,
                    is_fresh: tally(ranks.get(file).copied()).0,
                    walls: evidence.walls,
                    numbers: evidence.numbers,
                })
            });
        Ok(shifted.collect())
    }
}

/// What speaks for one shift.
#[derive(Default)]
struct Evidence {
    extent: CopyExtent,
    walls: BTreeSet<i64>,
    numbers: BTreeSet<u64>,
    bytes: Option<(u64, u64)>,
}

impl Evidence {
    fn add(&mut self, copy: &HeldJob, level: u32) {
        self.extent.add(CopyExtent::of_level(level, copy.core_s));
        if self.walls.len() < DIFFERENT_MOST {
            self.walls.insert(copy.wall_s);
        }
        if self.numbers.len() < DIFFERENT_MOST {
            self.numbers.insert(copy.spread);
        }
        let at = copy.byte_offset;
        self.bytes = Some(self.bytes.map_or((at, at), |(from, to)| (from.min(at), to.max(at))));
    }
}
