//! Jobs that inputs hold twice under two identities, in two files or within one: counted, named, and a reason to stop
//! unless the pipeline allows it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;

use tracing::warn;

use super::partition::PartitionResult;
use super::partition_context::PartitionContext;
use crate::config::Plan;
use crate::dedupe::copies::{Copied, CopyExtent};
use crate::dedupe::shifted::{self, Shifted, ShiftedCopies};
use crate::error::{Error, Kind, Result};
use crate::numbers::Extent;
use crate::record::SiteMonth;
use crate::store::lake;
use crate::time::{Day, Month};

/// Jobs of one file of a site that other files contain as well, with times or a cluster that differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CopiedReport {
    /// Site.
    pub site: String,
    /// The file read in this run.
    pub file: String,
    /// The cluster its jobs are of.
    pub cluster: Option<String>,
    /// The files that contain the same jobs.
    pub of_files: Vec<String>,
    /// The cluster they are of there.
    pub of_cluster: Option<String>,
    /// By how much its times are later, seconds; negative where they are earlier.
    pub shift_s: i64,
    /// How many jobs; about, if `is_estimate`.
    pub job_n: u64,
    /// Of how many of the file and site.
    pub of_job_n: u64,
    /// Core hours of these jobs, which would count twice, in tenths; about, if `is_estimate`.
    pub core_hour_tenths: u128,
    /// Where in the file the first of them begins, bytes after decompression; `None` where the whole file is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<u64>,
    /// Where in the file the last of them begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_byte: Option<u64>,
    /// Only a sample of the jobs was compared.
    pub is_estimate: bool,
}

/// What is equal in copies that are reported together.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Alike {
    site: String,
    file_id: Arc<str>,
    cluster: Option<Arc<str>>,
    of_cluster: Option<Arc<str>>,
    shift_ms: i64,
}

impl Alike {
    /// Whether nothing differs but that one file has no raw numbers of array tasks and components: a single job is no
    /// coincidence.
    fn is_renumbered(&self) -> bool {
        self.shift_ms == 0 && self.cluster == self.of_cluster
    }
}

/// How many copies, or what share of a file, are no coincidence.
const FEW: u64 = 3;
const MANY: u64 = 50;
const SHARE: u64 = 10;

/// Different durations that speak for copies which no zone explains: tasks of an array may all run as long.
const DIFFERENT_WALLS: usize = 3;

/// Whether so many copies among so many jobs of a file are no coincidence.
fn is_alarming(copies: CopyExtent, jobs: CopyExtent) -> bool {
    copies.sample_n >= MANY || copies.sample_n >= FEW && copies.job_n.times(SHARE) >= jobs.job_n
}

/// The sites of partitions.
pub(crate) fn site_n(partitions: &BTreeMap<SiteMonth, Vec<Day>>) -> usize {
    let sites: BTreeSet<&str> = partitions.keys().map(|of| of.site.as_str()).collect();
    sites.len()
}

/// The jobs of each site that are there twice in the months that were merged and in those before and after a month with
/// new records.
///
/// # Errors
/// [`Kind::Io`] when an adjoining month cannot be read.
pub(crate) fn shifted(
    context: &PartitionContext<'_>,
    copies: &ShiftedCopies<'_>,
    partitions: &BTreeMap<SiteMonth, Vec<Day>>,
) -> Result<Vec<Shifted>> {
    let mut neighbours: BTreeSet<(&str, Month)> = BTreeSet::new();
    for (SiteMonth { site, month }, _) in partitions.iter().filter(|(_, days)| !days.is_empty()) {
        // Fallback: the first day of all has no month before it, and is none of a job.
        let before = Month::of_day(month.first_day().saturating_sub(1));
        neighbours.extend(
            before
                .into_iter()
                .chain([month.next()])
                .map(|month| (site.as_str(), month)),
        );
    }
    // What is rebuilt is merged from its inputs alone.
    neighbours.retain(|(site, month)| {
        !context.selection.extent.is_rebuild() && !partitions.contains_key(&SiteMonth::new(*site, *month))
    });
    for (site, month) in neighbours {
        let path = lake::month_path("records", site, month);
        let columns = Some(shifted::COLUMNS);
        let Some(batches) = lake::column_batches(context.publication, &path, columns)? else {
            continue;
        };
        for batch in batches {
            copies.add(site, &batch?)?;
        }
    }
    copies.found()
}

/// Names the copies that what was merged has, each kind by itself.
///
/// # Errors
/// [`Kind::Data`] when there are any and the pipeline is not configured to keep them.
pub(crate) fn judge(
    plan: &Plan,
    done: &[PartitionResult],
    shifted: Vec<Shifted>,
    paths: &BTreeMap<Arc<str>, Arc<str>>,
    reports: &mut Vec<CopiedReport>,
) -> Result<()> {
    let mut totals: BTreeMap<(&str, &Arc<str>), CopyExtent> = BTreeMap::new();
    let mut found: BTreeMap<Alike, (CopyExtent, BTreeSet<Arc<str>>)> = BTreeMap::new();
    for part in done {
        for (file_id, extent) in &part.copies.job_n {
            totals.entry((&part.site, file_id)).or_default().add(*extent);
        }
        for (copied, extent) in &part.copies.copied {
            let (sum, of) = found.entry(alike(&part.site, copied)).or_default();
            sum.add(*extent);
            of.insert(Arc::clone(&copied.of_file_id));
        }
    }
    let path = |file_id: &Arc<str>| paths.get(file_id).unwrap_or(file_id).to_string();
    let mut reported: BTreeSet<Alike> = BTreeSet::new();
    for (alike, (extent, of)) in found {
        let jobs = totals
            .get(&(alike.site.as_str(), &alike.file_id))
            .copied()
            // Fallback: a file without jobs in these months has an extent of none.
            .unwrap_or_default();
        if !alike.is_renumbered() && !is_alarming(extent, jobs) {
            continue;
        }
        reported.insert(alike.clone());
        reports.push(CopiedReport::new(
            alike,
            extent,
            jobs,
            of.iter().map(path).collect(),
            path,
        ));
    }
    for copies in shifted {
        let alike = alike(&copies.site, &copies.copied);
        let is_proven = copies.wall_n >= DIFFERENT_WALLS && is_alarming(copies.extent, copies.of_jobs);
        if !is_proven || reported.contains(&alike) {
            continue;
        }
        let of = vec![path(&copies.copied.of_file_id)];
        reports.push(CopiedReport {
            first_byte: Some(copies.bytes.0),
            last_byte: Some(copies.bytes.1),
            ..CopiedReport::new(alike, copies.extent, copies.of_jobs, of, path)
        });
    }
    if !reports.is_empty() && !plan.keeps_copies {
        let mut why = "jobs would count twice; nothing was published".to_owned();
        for report in reports.iter().take(NAMED) {
            let _ = write!(why, "\n  {}", report.sentence());
        }
        if let Some(more) = reports.len().checked_sub(NAMED).filter(|more| *more > 0) {
            let files = if more == 1 { "file" } else { "files" };
            let _ = write!(why, "\n  and {more} more such {files}");
        }
        why.push_str(
            "\n  set the timezone the file was printed in or print it again with TZ=UTC, name the cluster as in the other file, \
             print the file again with raw job numbers, or take it out; copied_jobs = \"keep\" in [pipeline] counts such jobs twice",
        );
        return Err(Error::new(Kind::Data, why));
    }
    for report in reports.iter() {
        warn!(
            site = report.site,
            file = report.file,
            job_n = report.job_n,
            shift_s = report.shift_s,
            "{}",
            report.sentence()
        );
    }
    Ok(())
}

/// Files named in an error.
const NAMED: usize = 10;

fn alike(site: &str, copied: &Copied) -> Alike {
    Alike {
        site: site.to_owned(),
        file_id: Arc::clone(&copied.file_id),
        cluster: copied.cluster.clone(),
        of_cluster: copied.of_cluster.clone(),
        shift_ms: copied.shift_ms,
    }
}

/// A line for each.
pub(crate) fn copied_text(reports: &[CopiedReport]) -> String {
    reports.iter().fold(String::new(), |mut text, report| {
        let _ = writeln!(text, "  counted twice: {}", report.sentence());
        text
    })
}

impl CopiedReport {
    fn new(
        alike: Alike,
        copies: CopyExtent,
        jobs: CopyExtent,
        of_files: Vec<String>,
        path: impl Fn(&Arc<str>) -> String,
    ) -> Self {
        Self {
            file: path(&alike.file_id),
            cluster: alike.cluster.as_deref().map(str::to_owned),
            of_files,
            of_cluster: alike.of_cluster.as_deref().map(str::to_owned),
            shift_s: alike.shift_ms / 1000,
            job_n: copies.job_n,
            of_job_n: jobs.job_n,
            core_hour_tenths: copies.core_s / 360,
            first_byte: None,
            last_byte: None,
            is_estimate: copies.job_n != copies.sample_n || jobs.job_n != jobs.sample_n,
            site: alike.site,
        }
    }

    /// It in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let about = if self.is_estimate { "about " } else { "" };
        let (first, more) = match self.of_files.as_slice() {
            [] => ("another file", String::new()),
            [only] if *only == self.file => ("the same file once more", String::new()),
            [only] => (only.as_str(), String::new()),
            [first, _] => (first.as_str(), " and 1 more file".to_owned()),
            [first, more @ ..] => (first.as_str(), format!(" and {} more files", more.len())),
        };
        let mut how = String::new();
        if self.shift_s != 0 {
            let word = if self.shift_s > 0 { "earlier" } else { "later" };
            let _ = write!(how, ", {} {word} there", duration(self.shift_s.unsigned_abs()));
        }
        if self.cluster != self.of_cluster {
            let name = |cluster: &Option<String>| cluster.clone().unwrap_or_else(|| "without a name".to_owned());
            let _ = write!(
                how,
                ", of cluster {} there and {} here",
                name(&self.of_cluster),
                name(&self.cluster)
            );
        }
        if self.shift_s == 0 && self.cluster == self.of_cluster && self.first_byte.is_none() {
            how.push_str(", and one of the two files has no raw job numbers");
        }
        let cluster = self
            .cluster
            .as_ref()
            .map_or_else(String::new, |name| format!(", cluster {name},"));
        let core_hours = match self.core_hour_tenths {
            0 => "core hours below 0.1 or unknown".to_owned(),
            tenths => format!("{about}{}.{} core hours", tenths / 10, tenths % 10),
        };
        let place = match (self.first_byte, self.last_byte) {
            (Some(first), Some(last)) => format!(" (bytes {first} to {last})"),
            _ => String::new(),
        };
        format!(
            "{}{place}: {about}{} of {} jobs of {}{cluster} are in {first}{more} with the same number and duration, and the \
             same user and cores as far as both state them{how}; {core_hours}",
            self.file, self.job_n, self.of_job_n, self.site,
        )
    }
}

/// A span of time as people read it: days where it is longer than zones are apart.
fn duration(seconds: u64) -> String {
    const DAY_S: u64 = 86_400;
    let (days, rest) = (seconds / DAY_S, seconds % DAY_S);
    let clock = format!("{}:{:02}", rest / 3600, rest / 60 % 60);
    let clock = match rest % 60 {
        0 => format!("{clock} h"),
        second => format!("{clock}:{second:02} h"),
    };
    match days {
        0 => clock,
        days => format!("{days} d {clock}"),
    }
}
