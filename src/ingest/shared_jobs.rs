//! Jobs that files of two sites have both: a dump was read for a site it is not of.
//!
//! They are found by the samples that the ledger keeps of files, whatever their bytes: packed, longer, or with a newline more. No record is
//! read again. Jobs are the same where number, start and end agree to the second, as no two clusters have it in more than single jobs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use ahash::AHashSet;
use serde::Serialize;

use crate::dedupe::voided::VoidedJobs;
use crate::ledger::book::InputEntry;
use crate::ledger::{Book, DaySample, Places, Reason};
use crate::numbers::Extent;
use crate::reference::correction::CorrectionTable;
use crate::time::Day;

/// Files that are named to people; a program gets all of them.
const NAMED: usize = 10;

/// How many jobs, and what share of the smaller file, are no coincidence.
const FEW: usize = 3;
const SHARE: u64 = 10;

/// Files of other sites that one job is looked for in at most, where each night has a dump of all nights before.
const OTHERS_MOST: usize = 16;

/// Jobs of a file that files of another site have as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharedJobs {
    /// Site the file was read for.
    pub site: String,
    /// Source of the file.
    pub source: String,
    /// The file read in this run; of two, the later one by source and path.
    pub file: String,
    /// Its id.
    pub file_id: String,
    /// The other site.
    pub of_site: String,
    /// Source of the first of the other files.
    pub of_source: String,
    /// The files of the other site.
    pub of_files: Vec<String>,
    /// Their ids.
    pub of_file_ids: Vec<String>,
    /// How many jobs; about, if `is_estimate`.
    pub job_n: u64,
    /// Of how many of the file.
    pub of_job_n: u64,
    /// Only a sample of the jobs was compared.
    pub is_estimate: bool,
}

/// A file with jobs that count.
struct CountedFile<'a> {
    file_id: &'a Arc<str>,
    input: &'a InputEntry,
    /// The sites in which they do.
    sites: BTreeSet<&'a str>,
    is_fresh: bool,
}

/// A job of the sample of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SampledJob {
    ended: Day,
    hash: u64,
    /// Place of the file.
    file: usize,
}

/// A file, and the sites of other files that have jobs of it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct FileAndSites<'f> {
    file: usize,
    of_sites: &'f BTreeSet<&'f str>,
}

/// The jobs among those of the files `read_now` that files of other sites have too, as far as both count.
pub(crate) fn shared_jobs(
    book: &Book,
    read_now: &[Arc<str>],
    corrections: Option<&CorrectionTable>,
) -> Vec<SharedJobs> {
    let files = counted_files(book, read_now, corrections);
    let mut jobs: Vec<SampledJob> = Vec::new();
    for (file, counted) in files.iter().enumerate() {
        for (ended, sample) in counted.input.sample.days() {
            jobs.extend(sample.hashes.iter().map(|hash| SampledJob {
                ended,
                hash: *hash,
                file,
            }));
        }
    }
    jobs.sort_unstable();
    let mut found: BTreeMap<FileAndSites<'_>, Vec<SampledJob>> = BTreeMap::new();
    for same in jobs.chunk_by(|a, b| (a.ended, a.hash) == (b.ended, b.hash)) {
        for job in same {
            let Some(own) = files.get(job.file).filter(|file| file.is_fresh) else {
                continue;
            };
            let others = same.iter().filter_map(|other| Some((other, files.get(other.file)?)));
            // Of two files of this run, the later one has the jobs of the other.
            let others = others
                .filter(|(other, of)| (!of.is_fresh || other.file < job.file) && own.sites.is_disjoint(&of.sites));
            for (other, of) in others.take(OTHERS_MOST) {
                let place = FileAndSites {
                    file: job.file,
                    of_sites: &of.sites,
                };
                found.entry(place).or_default().push(*other);
            }
        }
    }
    let reports = found.into_iter();
    reports
        .filter_map(|(place, jobs)| report(&files, &place, &jobs))
        .collect()
}

/// The files with jobs that count and are in their sample, on days of which the files `read_now` have jobs; by source and path.
fn counted_files<'a>(
    book: &'a Book,
    read_now: &[Arc<str>],
    corrections: Option<&CorrectionTable>,
) -> Vec<CountedFile<'a>> {
    let fresh: AHashSet<&str> = read_now.iter().map(|file_id| &**file_id).collect();
    let fresh_inputs = fresh.iter().filter_map(|file_id| book.inputs().get(*file_id));
    let days: BTreeSet<Day> = fresh_inputs
        .flat_map(|input| input.sample.days().map(|(day, _)| day))
        .collect();
    let mut voids: BTreeMap<&str, VoidedJobs> = BTreeMap::new();
    let mut files = Vec::new();
    for (file_id, input) in book.inputs() {
        if !input.sample.days().any(|(day, _)| days.contains(&day)) {
            continue;
        }
        let places = book.places(file_id).into_iter().flat_map(Places::keys);
        let counting = places.filter(|place| place.reason == Reason::Job);
        let sites: BTreeSet<&str> = counting.filter_map(|place| place.site.as_deref()).collect();
        let is_void = |site: &'a str, voids: &mut BTreeMap<&'a str, VoidedJobs>| {
            let voided = voids
                .entry(site)
                .or_insert_with(|| VoidedJobs::of_site(corrections, site));
            voided.has_file(file_id)
        };
        let sites: BTreeSet<&str> = sites.into_iter().filter(|site| !is_void(site, &mut voids)).collect();
        if !sites.is_empty() {
            files.push(CountedFile {
                file_id,
                input,
                sites,
                is_fresh: fresh.contains(&**file_id),
            });
        }
    }
    files.sort_by_key(|file| (&file.input.source, file.input.paths.first(), file.file_id));
    files
}

/// The report of jobs that were found in files of one other site; `None` where they may be a coincidence.
fn report(files: &[CountedFile<'_>], place: &FileAndSites<'_>, jobs: &[SampledJob]) -> Option<SharedJobs> {
    let own = files.get(place.file)?;
    let of: BTreeSet<usize> = jobs.iter().map(|job| job.file).collect();
    let of: Vec<&CountedFile<'_>> = of.into_iter().filter_map(|file| files.get(file)).collect();
    let (mut job_n, mut is_estimate, mut compared) = (0, false, 0_usize);
    // By the other file: how many of its jobs they are.
    let mut of_other: BTreeMap<usize, u64> = BTreeMap::new();
    for day_jobs in by_day(jobs).values() {
        let ended = day_jobs.first()?.ended;
        let own_day = own.input.sample.day(ended)?;
        let mut least_level = u32::MAX;
        let mut hashes: BTreeSet<u64> = BTreeSet::new();
        let mut by_other: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for job in day_jobs {
            let other_day = day_of(files, job)?;
            least_level = least_level.min(other_day.level);
            hashes.insert(job.hash);
            by_other.entry(job.file).or_default().push(job.hash);
        }
        compared += hashes.len();
        let hashes: Vec<u64> = hashes.into_iter().collect();
        job_n += own_day.stands_for(&hashes, least_level);
        is_estimate |= own_day.level.max(least_level) > 0;
        for (other, hashes) in by_other {
            let other_day = files.get(other)?.input.sample.day(ended)?;
            *of_other.entry(other).or_default() += other_day.stands_for(&hashes, own_day.level);
        }
    }
    let of_job_n = own.input.sample.job_n();
    let is_share = |jobs: u64, all: u64| jobs.times(SHARE) >= all;
    let is_share_of_other = of_other.iter().any(|(other, jobs)| {
        files
            .get(*other)
            .is_some_and(|of| is_share(*jobs, of.input.sample.job_n()))
    });
    if compared < FEW || !(is_share(job_n, of_job_n) || is_share_of_other) {
        return None;
    }
    let sites = |sites: &BTreeSet<&str>| sites.iter().copied().collect::<Vec<_>>().join(", ");
    Some(SharedJobs {
        site: sites(&own.sites),
        source: own.input.source.clone(),
        file: own.path(),
        file_id: own.file_id.to_string(),
        of_site: sites(place.of_sites),
        of_source: of.first()?.input.source.clone(),
        of_files: of.iter().map(|of| of.path()).collect(),
        of_file_ids: of.iter().map(|of| of.file_id.to_string()).collect(),
        job_n,
        of_job_n,
        is_estimate,
    })
}

/// Jobs by the day on which they ended.
fn by_day(jobs: &[SampledJob]) -> BTreeMap<Day, Vec<SampledJob>> {
    let mut days: BTreeMap<Day, Vec<SampledJob>> = BTreeMap::new();
    for job in jobs {
        days.entry(job.ended).or_default().push(*job);
    }
    days
}

/// The sample of the day of a job in its file.
fn day_of<'f>(files: &'f [CountedFile<'_>], job: &SampledJob) -> Option<&'f DaySample> {
    files.get(job.file)?.input.sample.day(job.ended)
}

impl CountedFile<'_> {
    fn path(&self) -> String {
        // Fallback: never taken, a file was found under some path.
        self.input.paths.first().map_or_else(String::new, ToString::to_string)
    }
}

impl SharedJobs {
    /// Whether it is of these two files.
    pub(crate) fn is_of(&self, one: &str, other: &str) -> bool {
        let is_of = |file_id: &str, of: &str| self.file_id == file_id && self.of_file_ids.iter().any(|id| id == of);
        is_of(one, other) || is_of(other, one)
    }

    /// It in a sentence.
    fn sentence(&self) -> String {
        let about = if self.is_estimate { "about " } else { "" };
        let Self {
            site,
            source,
            file,
            file_id,
            of_site,
            of_source,
            job_n,
            of_job_n,
            ..
        } = self;
        // Fallback: never empty, the report is of such files.
        let first = self.of_files.first().map_or("another file", String::as_str);
        let more = match self.of_files.len() {
            0 | 1 => String::new(),
            2 => " and 1 more file".to_owned(),
            n => format!(" and {} more files", n.less(1)),
        };
        // Fallback: never empty, as above.
        let of_file_id = self.of_file_ids.first().map_or("", String::as_str);
        format!(
            "{file} of source {source}: {about}{job_n} of {of_job_n} jobs of {site} are in {first}{more} of source {of_source} with \
             the same number, start and end, and count as jobs of {of_site} too (file_id {file_id} and {of_file_id})"
        )
    }
}

/// What to do about them.
const ADVICE: &str = "    where a file is in the wrong source, void its jobs by a correction with action void and its file_id, or run \
                      into a new lake without it\n";

/// A line for each file and other site, and what to do.
pub(crate) fn shared_text(reports: &[SharedJobs]) -> String {
    let mut text = String::new();
    for report in reports.iter().take(NAMED) {
        let _ = writeln!(text, "  counted twice: {}", report.sentence());
    }
    if let Some(more) = reports.len().checked_sub(NAMED).filter(|more| *more > 0) {
        let _ = writeln!(
            text,
            "  counted twice: further files with jobs of files of another site: {more}"
        );
    }
    if !reports.is_empty() {
        text.push_str(ADVICE);
    }
    text
}
