//! Jobs that fairshare cannot count, by reason and by association.

use std::collections::BTreeMap;

use serde::Serialize;
use tracing::warn;

use crate::config::fairshare_plan::FairsharePlan;
use crate::fairshare::AssociationKey;
use crate::numbers::tally;

/// Jobs that cannot be counted, and an example of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UncountedJobs {
    /// By what is not known: how many, and the first job.
    by_reason: BTreeMap<&'static str, (u64, String)>,
    /// How many there are of each account and user.
    by_association: BTreeMap<AssociationKey, u64>,
}

/// The job a reason is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct UncountedJob<'a> {
    pub(super) job_id: Option<&'a str>,
    pub(super) account: Option<&'a str>,
    pub(super) user: Option<&'a str>,
}

impl UncountedJobs {
    pub(super) fn add(&mut self, reason: &'static str, job: UncountedJob<'_>) {
        let name = job.job_id.unwrap_or("without a number");
        let of = self.by_reason.entry(reason).or_insert_with(|| (0, name.to_owned()));
        of.0 += 1;
        if let Some(account) = job.account {
            let key = AssociationKey {
                user: job.user.map(str::to_owned),
                ..AssociationKey::account(account)
            };
            *self.by_association.entry(key).or_default() += 1;
        }
    }

    /// Adds those of another file.
    pub(super) fn append(&mut self, other: Self) {
        for (reason, (job_n, job)) in other.by_reason {
            let of = self.by_reason.entry(reason).or_insert((0, job));
            of.0 += job_n;
        }
        for (key, job_n) in other.by_association {
            *self.by_association.entry(key).or_default() += job_n;
        }
    }

    /// How many there are of an account, or of a user in an account.
    #[must_use]
    pub fn of(&self, key: &AssociationKey) -> u64 {
        let of_any_partition = AssociationKey {
            partition: None,
            ..key.clone()
        };
        tally(self.by_association.get(&of_any_partition).copied())
    }

    /// How many there are by reason.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.by_reason.iter().map(|(reason, (job_n, _))| (*reason, *job_n))
    }

    /// Reports them to people, and for the report of the run.
    pub(super) fn report(self, of: &FairsharePlan, into: &mut Vec<UncountedReport>) {
        for (reason, (job_n, first_job)) in self.by_reason {
            warn!(
                cluster = %of.cluster,
                "fairshare of {}: {job_n} jobs are not counted: {reason} (first: job {first_job})",
                of.cluster
            );
            into.push(UncountedReport {
                site: of.site.clone(),
                cluster: of.cluster.clone(),
                reason,
                job_n,
                first_job,
            });
        }
    }
}

/// Jobs of the days a run computed that the fairshare of a cluster does not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UncountedReport {
    /// Site.
    pub site: String,
    /// Cluster.
    pub cluster: String,
    /// What is not known of them.
    pub reason: &'static str,
    /// How many.
    pub job_n: u64,
    /// Number of the first.
    pub first_job: String,
}
