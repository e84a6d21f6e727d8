//! Jobs that two files tell of under two identities: counted, named, and a reason to stop unless the pipeline allows it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;

use super::partition::PartitionResult;
use crate::config::Plan;
use crate::dedupe::copies::{Copied, CopyExtent};
use crate::error::{Error, Kind, Result};
use crate::runtime::progress::Progress;

/// Jobs of one file of a site that other files tell of as well, with times or a cluster that differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CopiedReport {
    /// Site.
    pub site: String,
    /// The file read in this run.
    pub file: String,
    /// The cluster its jobs are of.
    pub cluster: Option<String>,
    /// The files that tell of the same jobs.
    pub of_files: Vec<String>,
    /// The cluster they are of there.
    pub of_cluster: Option<String>,
    /// By how much its times are later, seconds; negative where they are earlier.
    pub shift_s: i64,
    /// How many jobs; about, if `is_estimate`.
    pub job_n: u64,
    /// Of how many of the file and site.
    pub of_job_n: u64,
    /// Only a sample of the jobs was compared.
    pub is_estimate: bool,
}

/// What is equal in copies that are told of together.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Alike {
    site: String,
    file_id: Arc<str>,
    cluster: Option<Arc<str>>,
    of_cluster: Option<Arc<str>>,
    shift_ms: i64,
}

/// Whether so many copies among so many jobs of a file are no coincidence.
fn is_alarming(copies: CopyExtent, jobs: CopyExtent) -> bool {
    const FEW: u64 = 3;
    const MANY: u64 = 50;
    const SHARE: u64 = 10;
    copies.sample_n >= MANY || copies.sample_n >= FEW && copies.job_n.saturating_mul(SHARE) >= jobs.job_n
}

/// Names the copies that what was merged has, each kind by itself.
///
/// # Errors
/// [`Kind::Data`] when there are any and the pipeline does not say that they are kept.
pub(crate) fn judge(
    plan: &Plan,
    done: &[PartitionResult],
    paths: &BTreeMap<Arc<str>, String>,
    reports: &mut Vec<CopiedReport>,
    progress: &dyn Progress,
) -> Result<()> {
    let mut told: BTreeMap<(&str, &Arc<str>), CopyExtent> = BTreeMap::new();
    let mut found: BTreeMap<Alike, (CopyExtent, BTreeSet<Arc<str>>)> = BTreeMap::new();
    for part in done {
        for (file_id, extent) in &part.copies.job_n {
            told.entry((&part.site, file_id)).or_default().add(*extent);
        }
        for (copied, extent) in &part.copies.copied {
            let (sum, of) = found.entry(alike(&part.site, copied)).or_default();
            sum.add(*extent);
            of.insert(Arc::clone(&copied.of_file_id));
        }
    }
    let path = |file_id: &Arc<str>| paths.get(file_id).map_or_else(|| file_id.to_string(), String::clone);
    for (alike, (extent, of)) in found {
        let jobs = told
            .get(&(alike.site.as_str(), &alike.file_id))
            .copied()
            .unwrap_or_default();
        if !is_alarming(extent, jobs) {
            continue;
        }
        reports.push(CopiedReport {
            file: path(&alike.file_id),
            cluster: alike.cluster.as_deref().map(str::to_owned),
            of_files: of.iter().map(path).collect(),
            of_cluster: alike.of_cluster.as_deref().map(str::to_owned),
            shift_s: alike.shift_ms / 1000,
            job_n: extent.job_n,
            of_job_n: jobs.job_n,
            is_estimate: extent.job_n != extent.sample_n || jobs.job_n != jobs.sample_n,
            site: alike.site,
        });
    }
    if !reports.is_empty() && !plan.keeps_copies {
        let mut why = "jobs would count twice; nothing was published".to_owned();
        for report in reports.iter().take(NAMED) {
            let _ = write!(why, "\n  {}", report.sentence());
        }
        if reports.len() > NAMED {
            let _ = write!(why, "\n  and {} more such files", reports.len() - NAMED);
        }
        why.push_str(
            "\n  set the timezone the file was printed in, print it again with TZ=UTC, or take it out; copied_jobs = \
             \"keep\" in [pipeline] counts such jobs twice",
        );
        return Err(Error::new(Kind::Data, why));
    }
    for report in reports.iter() {
        progress.note(&report.sentence());
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
    /// It in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let about = if self.is_estimate { "about " } else { "" };
        let (first, more) = match self.of_files.as_slice() {
            [] => ("another file", String::new()),
            [only] => (only.as_str(), String::new()),
            [first, more @ ..] => (first.as_str(), format!(" and {} more files", more.len())),
        };
        let mut how = String::new();
        if self.shift_s != 0 {
            let minute = self.shift_s.unsigned_abs() / 60;
            let word = if self.shift_s > 0 { "earlier" } else { "later" };
            let _ = write!(how, ", {}:{:02} h {word} there", minute / 60, minute % 60);
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
        format!(
            "{}: {about}{} of {} jobs of {} are in {first}{more} with the same number, user, duration and cores{how}",
            self.file, self.job_n, self.of_job_n, self.site
        )
    }
}
