//! What a run reports of jobs that are there twice because their start moved while they ran.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::partition::PartitionResult;
use crate::dedupe::moved_starts::{MonthStarts, MovedJobs};
use crate::record::SiteMonth;
use crate::time::Month;

/// The starts of the jobs of all months that were looked at, by site.
#[derive(Default)]
pub(crate) struct MovedStarts(BTreeMap<String, BTreeMap<Month, MonthStarts>>);

/// Jobs of a site with a row without an end, and one of the same submission that starts later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MovedReport {
    /// Site.
    pub site: String,
    /// How many.
    #[serde(flatten)]
    pub jobs: MovedJobs,
}

impl MovedStarts {
    /// Of the partitions that were merged, which do not need them any more.
    pub(crate) fn of(done: &mut [PartitionResult]) -> Self {
        let mut all = Self::default();
        for part in done {
            let starts = std::mem::replace(&mut part.starts, MonthStarts::new(part.month));
            all.add(&SiteMonth::new(part.site.as_str(), part.month), starts);
        }
        all
    }

    /// Takes up a month.
    pub(crate) fn add(&mut self, of: &SiteMonth, starts: MonthStarts) {
        self.0.entry(of.site.clone()).or_default().insert(of.month, starts);
    }

    /// What is found in them.
    pub(crate) fn reports(self) -> Vec<MovedReport> {
        let sites = self.0.into_iter().map(|(site, months)| MovedReport {
            site,
            jobs: MovedJobs::of(months),
        });
        sites.filter(|report| !report.jobs.is_empty()).collect()
    }
}

/// A line for each site.
pub(super) fn moved_text(reports: &[MovedReport]) -> String {
    reports.iter().fold(String::new(), |mut text, MovedReport { site, jobs }| {
        let of_jobs = if jobs.job_n == 1 { "job" } else { "jobs" };
        let first = jobs.first.first().map_or_else(String::new, |job| {
            format!(
                "{} from {} without an end and from {}, record {}",
                job.job_id, job.start, job.later_start, job.record_id
            )
        });
        let _ = writeln!(
            text,
            "  warning: {site}: {} {of_jobs} may count twice, as the start moved after a dump that has no end of it: the first is \
             {first}; a correction (void) of the record takes the row without an end out",
            jobs.job_n
        );
        text
    })
}
