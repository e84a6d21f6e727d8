//! What a run reports of jobs whose accepted rows have less than rows that they replaced.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::partition::PartitionResult;
use crate::dedupe::reduced::{ReducedJob, ReducedJobs};

/// Jobs of a site whose accepted rows have less CPU time, or fewer steps, than other rows of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReducedReport {
    /// Site.
    pub site: String,
    /// How many.
    #[serde(flatten)]
    pub jobs: ReducedJobs,
}

/// Those of the partitions that were merged, by site.
pub(crate) fn reduced(done: &[PartitionResult]) -> Vec<ReducedReport> {
    let mut sites: BTreeMap<&str, ReducedJobs> = BTreeMap::new();
    for part in done.iter().filter(|part| !part.reduced.is_empty()) {
        sites.entry(&part.site).or_default().add(part.reduced.clone());
    }
    let reports = sites.into_iter().map(|(site, jobs)| ReducedReport {
        site: site.to_owned(),
        jobs,
    });
    reports.collect()
}

/// Jobs of a site that are named to people; a program gets more.
const NAMED: usize = 3;

/// A line for each site.
pub(super) fn reduced_text(reports: &[ReducedReport]) -> String {
    reports.iter().fold(String::new(), |mut text, ReducedReport { site, jobs }| {
        let first: Vec<String> = jobs.first.iter().take(NAMED).map(ReducedJob::text).collect();
        let (of_jobs, have) = if jobs.job_n == 1 { ("job", "has") } else { ("jobs", "have") };
        let _ = writeln!(
            text,
            "  warning: {site}: {} {of_jobs} {have} less CPU time or fewer steps in the row that counts than in another one: {}; \
             a dump leaves out the steps of a job that ended before its window (sacct -S): begin it where the jobs begin",
            jobs.job_n,
            first.join("; ")
        );
        text
    })
}
