//! Billing that Slurm recorded of charged jobs, under policies that read it.
//!
//! Slurm leaves out a TRES of zero, so that a job without a billing was billed zero where other jobs of its cluster have one. Where
//! none has, billing was not recorded, and a policy that reads it charges zero.

use arrow_array::Array;

use super::charged_jobs::ChargedJobs;
use crate::charge::Tariff;
use crate::charge::policy::Subject;
use crate::schema::batch::ColumnWords;

/// Name of the input.
const BILLING: &str = "billing";

/// Charged jobs of one cluster whose billing is known, under a policy that reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BillingUse {
    /// Site.
    pub site: String,
    /// Cluster; empty when unknown.
    pub cluster: String,
    /// Jobs.
    pub job_n: u64,
    /// Of these: with a billing above 0.
    pub billed_job_n: u64,
    /// Of these: with a charge other than 0.
    pub charged_job_n: u64,
}

impl BillingUse {
    /// Adds what is counted of the same cluster.
    pub fn add(&mut self, other: &Self) {
        self.job_n += other.job_n;
        self.billed_job_n += other.billed_job_n;
        self.charged_job_n += other.charged_job_n;
    }
}

/// Whether a tariff is for jobs and reads their billing.
pub(super) fn is_read_by(tariff: &Tariff) -> bool {
    tariff.policy.subject == Subject::Jobs && tariff.policy.reads().contains(BILLING)
}

/// The billing of a batch of jobs of a site.
pub(super) struct BatchBilling<'b> {
    pub(super) site: &'b str,
    pub(super) clusters: ColumnWords<'b>,
    pub(super) jobs: &'b ChargedJobs<'b>,
}

impl BatchBilling<'_> {
    /// Counts a job that a tariff charges, where its charge and its billing are known and it ran.
    pub(super) fn count(&self, nth: usize, job: usize, uses: &mut Vec<BillingUse>) {
        let billing = self.jobs.facts.number(BILLING).filter(|billing| billing.is_valid(job));
        let (Some(billing), Some(charge)) = (billing, self.jobs.charge(nth, job)) else {
            return;
        };
        if self.jobs.facts.never_ran(job) {
            return;
        }
        let cluster = self.clusters.value(job);
        let counts = BillingUse {
            job_n: 1,
            billed_job_n: u64::from(billing.value(job) > 0),
            charged_job_n: u64::from(charge != 0),
            ..BillingUse::default()
        };
        if let Some(known) = uses.iter_mut().find(|known| known.cluster == cluster) {
            return known.add(&counts);
        }
        uses.push(BillingUse {
            site: self.site.to_owned(),
            cluster: cluster.to_owned(),
            ..counts
        });
    }
}
