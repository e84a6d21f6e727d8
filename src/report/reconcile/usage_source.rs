//! One account of usage, from a lake or from messages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::amount::Amount;
use super::job::{JobIdentityJob, JobIdentityNames};
use super::lake_jobs::LakeJobs;
use super::level::DifferenceLevel;
use super::stated_jobs::StatedJobs;
use crate::absent;
use crate::error::{Error, Kind, Result};
use crate::report::known_names::KnownNames;
use crate::report::lake::{Lake, Selection};
use crate::report::work_scale::WorkScale;
use crate::time::{Month, Zone};

/// A row below the level of site, VO and month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fine {
    /// The field that distinguishes it from others: name and value.
    pub key: BTreeMap<&'static str, String>,
    /// What it comes to.
    pub amount: Amount,
}

/// Of what the numbers of a cell are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageOrigin {
    /// Single jobs.
    Jobs,
    /// Received sums.
    Sums,
    /// Corrections that add usage.
    Additions,
}

/// A site, VO and month, all spellings of the names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceCell {
    /// By the spelling of site and VO.
    pub spellings: BTreeMap<(String, String), Amount>,
    /// Its rows.
    pub rows: Vec<Fine>,
    /// What of it are received sums.
    pub of_sums: Amount,
    /// What of it corrections added.
    pub added: Amount,
    /// Wall work by [`crate::reference::benchmark::Benchmark::ALL`], in thousandths of a second, where a lake knows it.
    pub scores: [i128; 3],
    /// Durations in it that were rounded to seconds before they were added up.
    pub rounded_n: i128,
}

impl SourceCell {
    /// All of it.
    #[must_use]
    pub fn amount(&self) -> Amount {
        self.spellings.values().fold(Amount::default(), |sum, of| sum.plus(*of))
    }

    /// The spellings under which there is anything: a record of no jobs, as of what was taken back, is none.
    pub fn spelled(&self) -> impl Iterator<Item = &(String, String)> {
        let known = self.spellings.iter();
        known
            .filter(|(_, amount)| **amount != Amount::default())
            .map(|(name, _)| name)
    }

    /// Whether it has received sums.
    #[must_use]
    pub fn has_sums(&self) -> bool {
        self.of_sums != Amount::default()
    }
}

/// What usage of an account is kept by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellKey {
    /// The site in lower case.
    pub site: String,
    /// The VO in lower case.
    pub vo: String,
    /// The month.
    pub month: Month,
}

impl CellKey {
    /// Of a site and a VO as they are spelled.
    #[must_use]
    pub fn new([site, vo]: [&str; 2], month: Month) -> Self {
        Self {
            site: site.to_lowercase(),
            vo: vo.to_lowercase(),
            month,
        }
    }
}

/// First and last end of jobs for which a value was in use, Unix milliseconds; of sums, the whole month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InUse {
    /// First.
    pub from_ms: i64,
    /// Last.
    pub until_ms: i64,
}

impl InUse {
    /// Whether it has an instant.
    #[must_use]
    pub fn has(self, at_ms: i64) -> bool {
        (self.from_ms..=self.until_ms).contains(&at_ms)
    }
}

/// A value in use at a site and submit host, in a month.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LevelKey {
    /// The site in lower case.
    pub site: String,
    /// The submit host in lower case.
    pub submit_host: String,
    /// The value.
    pub level: DifferenceLevel,
    /// The month.
    pub month: Month,
}

/// Where single jobs are read from.
#[derive(Debug)]
pub enum JobStore {
    /// A lake.
    Lake(Box<LakeJobs>),
    /// Messages and XML, all of it in memory.
    Stated(StatedJobs),
}

/// One account.
#[derive(Debug, Default)]
pub struct UsageSource {
    /// What people call it.
    pub name: String,
    /// Usage by site, VO and month.
    pub cells: BTreeMap<CellKey, SourceCell>,
    /// The sizes of all rows together, which bound every sum of some of them.
    pub bound: Amount,
    /// The single jobs, where there are any.
    pub jobs: Option<JobStore>,
    /// Record months that contain the jobs that ended in a month.
    pub held: BTreeMap<Month, BTreeSet<Month>>,
    /// Values per core in use, by site and submit host in lower case.
    pub levels: BTreeMap<LevelKey, InUse>,
    /// Jobs by site in lower case and month, where only their number is stated (sync records).
    pub counts: BTreeMap<(String, Month), i128>,
    /// Sync records that are not compared, because some VOs are requested and they count all of a site.
    pub skipped_count_n: u64,
    /// The rule by which its usage is assigned to months, where known: attribution and zone.
    pub usage_rule: Option<String>,
    /// The sites and VOs it has anything of, in whatever month.
    pub known: KnownNames,
    /// What could not be read of it.
    pub notes: Vec<String>,
}

impl UsageSource {
    /// Opens an account: a lake, or a file or folder of messages or XML records. `source` takes one source of a lake alone.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when there is neither; [`Kind::Io`] when it cannot be read; [`Kind::Data`] when messages are none.
    pub fn open(path: &str, source: Option<&str>, selection: &Selection, scale: WorkScale) -> Result<Self> {
        let is_lake = path.contains("://") || Path::new(path).join("manifest.json").exists();
        let mut side = if is_lake {
            Self::of_lake(Lake::open(path)?, source, selection, scale)?
        } else if source.is_some() {
            return Err(Error::new(
                Kind::Usage,
                format!("{path} is not a lake, and has no sources"),
            ));
        } else {
            Self::of_files(Path::new(path), selection, scale)?
        };
        side.name = source.map_or_else(|| path.to_owned(), |source| format!("{path} ({source})"));
        if side.skipped_count_n > 0 {
            let note = format!(
                "{}: sync records count all jobs of a site, whatever their VO: {} are not compared with --vo",
                side.name, side.skipped_count_n
            );
            side.notes.push(note);
        }
        Ok(side)
    }

    /// Adds the jobs that a sync record counts at a site, unless only some VOs are requested.
    pub(super) fn add_count(&mut self, site: &str, month: Month, job_n: i128, selection: &Selection) {
        if selection.vos.is_empty() {
            *self.counts.entry((site.to_lowercase(), month)).or_default() += job_n;
        } else {
            self.skipped_count_n += 1;
        }
    }

    /// Whether nothing but numbers of jobs is known.
    #[must_use]
    pub fn is_counts_alone(&self) -> bool {
        self.cells.is_empty() && (!self.counts.is_empty() || self.skipped_count_n > 0)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// [`Kind::Data`] naming the sum of this account that is too large.
    pub fn add(&mut self, [site, vo]: [&str; 2], month: Month, row: Fine, origin: UsageOrigin) -> Result<()> {
        self.bound.add_size(row.amount)?;
        let key = CellKey::new([site, vo], month);
        let cell = self.cells.entry(key).or_default();
        let sum = cell.spellings.entry((site.to_owned(), vo.to_owned())).or_default();
        *sum = sum.plus(row.amount);
        match origin {
            UsageOrigin::Jobs => {}
            UsageOrigin::Sums => cell.of_sums = cell.of_sums.plus(row.amount),
            UsageOrigin::Additions => cell.added = cell.added.plus(row.amount),
        }
        cell.rows.push(row);
        Ok(())
    }

    /// Whether there is no usage in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.values().all(|cell| cell.amount() == Amount::default())
    }

    /// Whether work is known of anything in it; that of nothing is.
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.is_empty() || self.cells.values().any(|cell| cell.amount().has_work())
    }

    /// Whether cores are known of anything in it; those of nothing are.
    #[must_use]
    pub fn has_cores(&self) -> bool {
        if self.is_empty() {
            return true;
        }
        let mut rows = self.cells.values().flat_map(|cell| &cell.rows);
        rows.any(|row| row.key.get("cores").is_some_and(|cores| cores != "0"))
    }

    /// The single jobs that ended in a month or near its edges; none where there are none.
    ///
    /// # Errors
    /// [`Kind::Io`] when they cannot be read.
    pub fn month(&self, month: Month, names: &mut JobIdentityNames) -> Result<Vec<JobIdentityJob>> {
        match &self.jobs {
            Some(JobStore::Lake(jobs)) => {
                let held = absent::entry(self.held.get(&month).cloned());
                jobs.month(month, &held, names)
            }
            Some(JobStore::Stated(jobs)) => Ok(jobs.month(month, names)),
            None => Ok(Vec::new()),
        }
    }

    /// The name of an input file by its id.
    #[must_use]
    pub fn file_name<'s>(&'s self, id: &'s str) -> &'s str {
        match &self.jobs {
            Some(JobStore::Lake(jobs)) => jobs.files.get(id).map_or(id, |file| file.path.as_str()),
            _ => id,
        }
    }

    /// Content hash of an input file by its id, where it is known.
    #[must_use]
    pub fn file_hash(&self, id: &str) -> Option<&str> {
        match &self.jobs {
            Some(JobStore::Lake(jobs)) => jobs.files.get(id).map(|file| file.blake3.as_str()),
            _ => None,
        }
    }

    /// Whether it has read a file of this content, where that is known, or one of this name; `None` where it is not known.
    #[must_use]
    pub fn has_read(&self, blake3: Option<&str>, path: &str) -> Option<bool> {
        let name = |path: &str| path.rsplit_once('/').map_or(path, |(_, name)| name).to_owned();
        match &self.jobs {
            Some(JobStore::Lake(jobs)) => {
                let mut files = jobs.files.values();
                Some(files.any(|file| Some(file.blake3.as_str()) == blake3 || name(&file.path) == name(path)))
            }
            _ => None,
        }
    }

    /// The zone in which its months and days are cut, where known.
    #[must_use]
    pub fn zone(&self) -> Option<Zone> {
        match &self.jobs {
            Some(JobStore::Lake(jobs)) => jobs.zone(),
            _ => None,
        }
    }
}
