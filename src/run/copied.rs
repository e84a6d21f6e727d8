//! Jobs that inputs hold twice under two identities, in two files or within one: counted, named, and a reason to stop
//! unless the pipeline allows it.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use tracing::warn;

use super::copied_report::{CopiedFile, CopiedReport, NAMED, advice};
use super::moved_report::MovedStarts;
use super::partition::PartitionResult;
use super::partition_context::PartitionContext;
use crate::config::Plan;
use crate::dedupe::copies::{Copied, CopyExtent, TwoDialects, is_zone_shift};
use crate::dedupe::moved_starts::{self, MonthStarts};
use crate::dedupe::shifted::{self, Shifted, ShiftedCopies};
use crate::error::{Error, Kind, Result};
use crate::lake::found::FoundFile;
use crate::numbers::{Extent, tally};
use crate::record::SiteMonth;
use crate::store::lake;
use crate::time::{Day, Month};

/// By what copies differ from the jobs they repeat.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct CopyKind {
    site: String,
    cluster: Option<Arc<str>>,
    of_cluster: Option<Arc<str>>,
    shift_ms: i64,
    dialects: Option<TwoDialects>,
    is_open: bool,
}

impl CopyKind {
    /// Whether nothing differs but that one file has no raw numbers of array tasks and components, or does not name the
    /// cluster: a single job is no coincidence.
    fn is_proof(&self) -> bool {
        let is_of_one_cluster = self.cluster == self.of_cluster || self.cluster.is_none() || self.of_cluster.is_none();
        self.shift_ms == 0 && is_of_one_cluster && self.dialects.is_none()
    }
}

/// What is equal in copies that are reported together.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Alike {
    kind: CopyKind,
    file_id: Arc<str>,
}

/// How many copies, or what share of a file, are no coincidence.
const FEW: u64 = 3;
const MANY: u64 = 50;
const SHARE: u64 = 10;

/// Different durations that speak for copies which no zone explains: tasks of an array may all run as long.
const DIFFERENT_WALLS: usize = 3;

/// Different job numbers that speak for copies in many files: one job may come back each hour.
const DIFFERENT_NUMBERS: usize = 3;

/// Whether so many copies are a large share of so many jobs.
fn is_large_share(copies: CopyExtent, jobs: CopyExtent) -> bool {
    copies.job_n.times(SHARE) >= jobs.job_n
}

/// Whether so many copies among so many jobs of a file are no coincidence.
fn is_alarming(copies: CopyExtent, jobs: CopyExtent) -> bool {
    copies.sample_n >= MANY || copies.sample_n >= FEW && is_large_share(copies, jobs)
}

/// Whether so many copies are reported, although they may be a coincidence.
fn is_notable(copies: CopyExtent, jobs: CopyExtent) -> bool {
    copies.sample_n >= FEW || is_large_share(copies, jobs)
}

/// Copies of one kind in all files of a site that have any.
#[derive(Default)]
struct SiteCopies {
    copies: CopyExtent,
    /// Jobs of these files.
    jobs: CopyExtent,
    files: BTreeSet<Arc<str>>,
    walls: BTreeSet<i64>,
    numbers: BTreeSet<u64>,
}

/// The kinds of copies that are no coincidence over all files of a site, each of which may hold few. What earlier runs took
/// up counts as well: a zone that is wrong in each night's dump is found in the second or third night.
fn alarming_kinds(shifted: &[Shifted]) -> BTreeSet<CopyKind> {
    let mut sums: BTreeMap<CopyKind, SiteCopies> = BTreeMap::new();
    for found in shifted.iter().filter(|found| is_zone_shift(found.copied.shift_ms)) {
        let sum = sums.entry(Alike::of(&found.site, &found.copied).kind).or_default();
        sum.copies.add(found.extent);
        if sum.files.insert(Arc::clone(&found.copied.file_id)) {
            sum.jobs.add(found.of_jobs);
        }
        sum.walls.extend(&found.walls);
        sum.numbers.extend(&found.numbers);
    }
    let is_proven = |sum: &SiteCopies| {
        sum.walls.len() >= DIFFERENT_WALLS
            && sum.numbers.len() >= DIFFERENT_NUMBERS
            && is_large_share(sum.copies, sum.jobs)
    };
    let proven = sums.into_iter().filter(|(_, sum)| is_proven(sum));
    proven.map(|(kind, _)| kind).collect()
}

/// The input files that copies are of.
pub(crate) struct CopiedFiles<'a> {
    /// Paths of all files.
    paths: &'a BTreeMap<Arc<str>, Arc<str>>,
    /// Those that this run read.
    read_now: &'a BTreeSet<Arc<str>>,
    /// Those that are among its inputs.
    found: &'a [FoundFile],
    /// Their ids. Nearly every night has no copies, and none need be worked out.
    present: OnceCell<BTreeSet<Arc<str>>>,
}

impl<'a> CopiedFiles<'a> {
    /// Of the `paths` of all files, those that this run read, and those `found` among its inputs.
    pub(crate) fn new(
        paths: &'a BTreeMap<Arc<str>, Arc<str>>,
        read_now: &'a BTreeSet<Arc<str>>,
        found: &'a [FoundFile],
    ) -> Self {
        Self {
            paths,
            read_now,
            found,
            present: OnceCell::new(),
        }
    }

    fn is_present(&self, file_id: &Arc<str>) -> bool {
        let ids = || self.found.iter().filter_map(FoundFile::file_id).collect();
        self.read_now.contains(file_id) || self.present.get_or_init(ids).contains(file_id)
    }

    fn named(&self, file_id: &Arc<str>) -> CopiedFile {
        CopiedFile {
            // Fallback: a file that no ledger knows has no other name than its id.
            path: self.paths.get(file_id).unwrap_or(file_id).to_string(),
            file_id: file_id.to_string(),
            is_gone: !self.is_present(file_id),
        }
    }
}

/// Jobs by site and file.
type FileExtents<'a> = BTreeMap<SiteFile<'a>, CopyExtent>;

/// A file, and a site of its jobs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SiteFile<'a> {
    site: &'a str,
    file_id: &'a str,
}

impl<'a> SiteFile<'a> {
    fn new(site: &'a str, file_id: &'a str) -> Self {
        Self { site, file_id }
    }
}

/// Copies of one kind in one file.
#[derive(Default)]
struct FoundCopies {
    extent: CopyExtent,
    /// The files that contain the same jobs.
    of_file_ids: BTreeSet<Arc<str>>,
}

/// The kinds of copies of which one row has no end that are no coincidence over all files of a site with any: most of the
/// jobs that were compared are copies.
fn alarming_open_kinds(found: &BTreeMap<Alike, FoundCopies>, compared: &FileExtents<'_>) -> BTreeSet<CopyKind> {
    let mut sums: BTreeMap<&CopyKind, SiteCopies> = BTreeMap::new();
    for (Alike { kind, file_id }, copies) in found.iter().filter(|(alike, _)| alike.kind.is_open) {
        let sum = sums.entry(kind).or_default();
        sum.copies.add(copies.extent);
        sum.jobs
            .add(tally(compared.get(&SiteFile::new(&kind.site, file_id)).copied()));
    }
    let is_proven = |sum: &SiteCopies| sum.copies.sample_n >= FEW && sum.copies.job_n.times(2) >= sum.jobs.job_n;
    let proven = sums.into_iter().filter(|(_, sum)| is_proven(sum));
    proven.map(|(kind, _)| kind.clone()).collect()
}

/// The sites of partitions.
pub(crate) fn site_n(partitions: &BTreeMap<SiteMonth, Vec<Day>>) -> usize {
    let sites: BTreeSet<&str> = partitions.keys().map(|of| of.site.as_str()).collect();
    sites.len()
}

/// The jobs of each site that are there twice in the months that were merged and in those before and after a month with
/// new records. Adds when the jobs of adjoining months started.
///
/// # Errors
/// [`Kind::Io`] when an adjoining month cannot be read.
pub(crate) fn shifted(
    context: &PartitionContext<'_>,
    copies: &ShiftedCopies<'_>,
    starts: &mut MovedStarts,
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
    let columns = [shifted::COLUMNS, moved_starts::COLUMNS].concat();
    for (site, month) in neighbours {
        let path = lake::month_path("records", site, month);
        let Some(batches) = lake::column_batches(context.publication, &path, Some(&columns))? else {
            continue;
        };
        let mut of_month = MonthStarts::new(month);
        for batch in batches {
            let batch = batch?;
            copies.add(site, &batch)?;
            of_month.add(&batch, context.fresh)?;
        }
        starts.add(&SiteMonth::new(site, month), of_month);
    }
    copies.found()
}

/// Names the copies that what was merged has, each kind by itself: `reports` are those that are certain, `possible` those
/// that are too few to be.
///
/// # Errors
/// [`Kind::Data`] when some are certain and the pipeline is not configured to keep them.
pub(crate) fn judge(
    plan: &Plan,
    done: &[PartitionResult],
    shifted: Vec<Shifted>,
    files: &CopiedFiles<'_>,
    reports: &mut Vec<CopiedReport>,
    possible: &mut Vec<CopiedReport>,
) -> Result<()> {
    let mut totals = FileExtents::new();
    let mut compared = FileExtents::new();
    let mut found: BTreeMap<Alike, FoundCopies> = BTreeMap::new();
    for part in done {
        for (sums, extents) in [(&mut totals, &part.copies.job_n), (&mut compared, &part.copies.open_n)] {
            for (file_id, extent) in extents {
                let sum = sums.entry(SiteFile::new(&part.site, file_id)).or_default();
                sum.add(*extent);
            }
        }
        for (copied, extent) in &part.copies.copied {
            let copies = found.entry(Alike::of(&part.site, copied)).or_default();
            copies.extent.add(*extent);
            copies.of_file_ids.insert(Arc::clone(&copied.of_file_id));
        }
    }
    let mut alarming = alarming_kinds(&shifted);
    alarming.append(&mut alarming_open_kinds(&found, &compared));
    let mut reported: BTreeSet<Alike> = BTreeSet::new();
    for (alike, FoundCopies { extent, of_file_ids }) in found {
        let jobs = totals
            .get(&SiteFile::new(&alike.kind.site, &alike.file_id))
            .copied()
            // Fallback: a file without jobs in these months has an extent of none.
            .unwrap_or_default();
        let is_many = !alike.kind.is_open && is_alarming(extent, jobs);
        let is_certain =
            alike.kind.dialects.is_none() && (alike.kind.is_proof() || is_many || alarming.contains(&alike.kind));
        if !is_certain && !alike.kind.is_open && !is_notable(extent, jobs) {
            continue;
        }
        reported.insert(alike.clone());
        let report = alike.report(extent, jobs, &of_file_ids, files);
        if is_certain {
            reports.push(report);
        } else {
            possible.push(report);
        }
    }
    for copies in shifted.into_iter().filter(|copies| copies.is_fresh) {
        let alike = Alike::of(&copies.site, &copies.copied);
        let is_proven = copies.walls.len() >= DIFFERENT_WALLS && is_alarming(copies.extent, copies.of_jobs);
        if !is_proven && !alarming.contains(&alike.kind) || reported.contains(&alike) {
            continue;
        }
        let of_file_ids = BTreeSet::from([Arc::clone(&copies.copied.of_file_id)]);
        reports.push(CopiedReport {
            first_byte: Some(copies.bytes.0),
            last_byte: Some(copies.bytes.1),
            ..alike.report(copies.extent, copies.of_jobs, &of_file_ids, files)
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
        why.push_str(&advice(reports));
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

impl Alike {
    fn of(site: &str, copied: &Copied) -> Self {
        Self {
            kind: CopyKind {
                site: site.to_owned(),
                cluster: copied.cluster.clone(),
                of_cluster: copied.of_cluster.clone(),
                shift_ms: copied.shift_ms,
                dialects: copied.dialects,
                is_open: copied.is_open,
            },
            file_id: Arc::clone(&copied.file_id),
        }
    }

    /// Its report, of so many of the jobs of its file.
    fn report(
        self,
        copies: CopyExtent,
        jobs: CopyExtent,
        of_file_ids: &BTreeSet<Arc<str>>,
        files: &CopiedFiles<'_>,
    ) -> CopiedReport {
        let file = files.named(&self.file_id);
        let of: Vec<CopiedFile> = of_file_ids.iter().map(|file_id| files.named(file_id)).collect();
        let CopyKind {
            site,
            cluster,
            of_cluster,
            shift_ms,
            dialects,
            is_open,
        } = self.kind;
        CopiedReport {
            site,
            file: file.path,
            file_id: file.file_id,
            cluster: cluster.as_deref().map(str::to_owned),
            of_files: of.iter().map(|of| of.path.clone()).collect(),
            of_gone: of.into_iter().filter(|of| of.is_gone).collect(),
            is_within: of_file_ids.iter().all(|of| *of == self.file_id),
            of_cluster: of_cluster.as_deref().map(str::to_owned),
            format: dialects.map(|dialects| dialects.own),
            of_format: dialects.map(|dialects| dialects.other),
            shift_s: shift_ms / 1000,
            job_n: copies.job_n,
            of_job_n: jobs.job_n,
            core_hour_tenths: copies.core_s / 360,
            first_byte: None,
            last_byte: None,
            is_open,
            is_estimate: copies.job_n != copies.sample_n || jobs.job_n != jobs.sample_n,
        }
    }
}
