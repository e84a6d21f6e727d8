//! The report of a run about its policies: the number of charged jobs, and the reasons for the others.

use std::collections::BTreeMap;

use serde::Serialize;

use super::partition::PartitionResult;
use super::run_report::RunReport;
use crate::summarise::charges::{BillingUse, ChargeTally};

/// Jobs of the months a run built, under one policy with its options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PolicyReport {
    /// Id of the policy.
    pub policy: String,
    /// Its version.
    pub version: String,
    /// Options chosen, as name=value; empty when it has none.
    pub options: String,
    /// Jobs charged.
    pub job_n: u64,
    /// Jobs whose charge is unknown.
    pub unpriced_job_n: u64,
    /// Jobs out of its scope, by the column of the scope that keeps them out; `when` is its condition.
    pub out_of_scope: BTreeMap<String, u64>,
    /// Jobs in its scope that ran when it did not hold.
    pub out_of_date_n: u64,
    /// Of the jobs whose charge is unknown, those of which a number does not fit.
    pub misfit_job_n: u64,
    /// The first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_misfit: Option<String>,
    /// Clusters of which the policy reads a billing that no charged job has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_billing: Vec<WithoutBilling>,
}

/// A cluster whose charged jobs have no billing above 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WithoutBilling {
    /// Site.
    pub site: String,
    /// Cluster; empty when unknown.
    pub cluster: String,
    /// Charged jobs.
    pub job_n: u64,
}

/// What a correction adds and a policy cannot charge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnpricedCorrection {
    /// Id of the correction.
    pub correction_id: String,
    /// Id and version of the policy.
    pub policy: String,
    /// What is not known.
    pub why: String,
}

impl UnpricedCorrection {
    /// For people.
    pub(crate) fn text(&self) -> String {
        format!(
            "correction {}: its charge under {} is unknown: {}",
            self.correction_id, self.policy, self.why
        )
    }
}

impl PolicyReport {
    fn of(tally: ChargeTally) -> Self {
        let [policy, version, options] = tally.policy;
        let has_options = !options.is_empty();
        Self {
            policy,
            version,
            options,
            job_n: tally.job_n,
            unpriced_job_n: tally.unpriced_job_n,
            out_of_scope: tally.out_of_scope,
            out_of_date_n: tally.out_of_date_n,
            misfit_job_n: tally.misfit_job_n,
            first_misfit: tally.first_misfit,
            without_billing: without_billing(&tally.billing, has_options),
        }
    }

    /// For people: clusters whose jobs it charges by a billing that was not recorded.
    pub(crate) fn billing_warnings(&self) -> impl Iterator<Item = String> {
        self.without_billing.iter().map(|of| {
            format!(
                "{} {} reads billing, and none of the {} jobs it charges of {} {} has any: Slurm leaves out a billing of 0, so 0 \
                 is taken; check that TRESBillingWeights are set and that dumps have billing among the allocated TRES",
                self.policy, self.version, of.job_n, of.site, of.cluster
            )
        })
    }

    /// For people: how many jobs it charged, and what became of the others.
    pub(crate) fn text(&self) -> String {
        let mut others = Vec::new();
        if self.unpriced_job_n > 0 {
            others.push(format!("charge unknown for {}", self.unpriced_job_n));
        }
        if let Some(job_id) = &self.first_misfit {
            let job_n = self.misfit_job_n;
            others.push(format!(
                "of them {job_n} because a number does not fit (first: job {job_id})"
            ));
        }
        let out_of_scope_n: u64 = self.out_of_scope.values().sum();
        if out_of_scope_n > 0 {
            let columns = self.out_of_scope.iter();
            let columns: Vec<String> = columns.map(|(column, n)| format!("{column} {n}")).collect();
            others.push(format!("out of its scope {out_of_scope_n} (by {})", columns.join(", ")));
        }
        if self.out_of_date_n > 0 {
            others.push(format!("outside its dates {}", self.out_of_date_n));
        }
        let name = [self.policy.as_str(), &self.version, &self.options];
        let name: Vec<&str> = name.into_iter().filter(|part| !part.is_empty()).collect();
        others.insert(0, format!("{}: {} jobs charged", name.join(" "), self.job_n));
        others.join(", ")
    }
}

/// Clusters of which no job has a billing above 0. Where the policy has options and a job has a charge, this may come from elsewhere,
/// such as weights that an option selects.
fn without_billing(uses: &[BillingUse], has_options: bool) -> Vec<WithoutBilling> {
    let is_zero = |of: &&BillingUse| of.billed_job_n == 0 && (of.charged_job_n == 0 || !has_options);
    let without = uses.iter().filter(is_zero);
    let without = without.map(|of| WithoutBilling {
        site: of.site.clone(),
        cluster: of.cluster.clone(),
        job_n: of.job_n,
    });
    without.collect()
}

/// Puts into the report what partitions counted, with additions that a policy cannot charge.
pub(crate) fn count(done: &[PartitionResult], report: &mut RunReport) {
    let mut policies: BTreeMap<&[String; 3], ChargeTally> = BTreeMap::new();
    for done in done {
        let (tallies, additions) = &done.tallies;
        for tally in tallies {
            let sum = policies.entry(&tally.policy).or_insert_with(|| ChargeTally {
                policy: tally.policy.clone(),
                ..ChargeTally::default()
            });
            sum.add(tally);
        }
        for addition in additions {
            report.unpriced_corrections.push(UnpricedCorrection {
                correction_id: addition.correction_id.clone(),
                policy: addition.policy.clone(),
                why: addition.why.clone(),
            });
        }
    }
    report.policies = policies.into_values().map(PolicyReport::of).collect();
}
