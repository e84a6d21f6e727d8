//! Billing that Slurm recorded, held against what a policy makes of the same jobs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;
use serde::Serialize;

use crate::amounts::add;
use crate::charge::amount::whole;
use crate::charge::facts::{Facts, PolicyInputs};
use crate::charge::scope::{OutOfScope, ScopeLeftOut};
use crate::charge::{Tariff, price};
use crate::diagnostics::must_be_known;
use crate::error::{Error, Kind, Result};
use crate::expr::SCALE;
use crate::expr::decimal::parse;
use crate::lake::refused_records::summed_records;
use crate::record::SiteMonth;
use crate::reference::decimal::text as amount;
use crate::schema::batch::{addend, int, number, text, word};
use crate::store::{Manifest, TableRows, lake};

/// Jobs that differ which are named.
const NAMED: usize = 10;

/// Inputs that the billing Slurm recorded stands for.
const RECORDED_AS: [&str; 4] = ["billing", "seconds", "minutes", "hours"];

/// Columns of `records` that are read besides those the policy needs.
const READ: [&str; 5] = ["job_id", "cluster", "partition", "alloc_core_n", "alloc_billing_n"];

/// Cluster and partition.
type BillingPlace = (Option<String>, Option<String>);

/// Jobs of one partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PartitionBilling {
    /// Cluster.
    pub cluster: Option<String>,
    /// Partition.
    pub partition: Option<String>,
    /// Jobs that held something and are in the scope of the policy.
    pub job_n: u64,
    /// Of these: both numbers are the same.
    pub equal_n: u64,
    /// Both are known and differ.
    pub different_n: u64,
    /// Slurm recorded no billing above 0: it leaves out a billing of zero. The policy gives zero as well for those that are equal.
    pub zero_n: u64,
    /// The policy gives no number.
    pub unknown_n: u64,
    /// What Slurm recorded, of all jobs.
    pub recorded: i128,
    /// What the policy gives, of all jobs whose number is known.
    pub recomputed: String,
}

/// One job whose numbers differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Different {
    /// Cluster.
    pub cluster: Option<String>,
    /// Partition.
    pub partition: Option<String>,
    /// Job id.
    pub job_id: String,
    /// What Slurm recorded.
    pub recorded: i64,
    /// What the policy gives.
    pub recomputed: String,
}

/// One job whose billing the policy cannot give.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// Cluster.
    pub cluster: Option<String>,
    /// Partition.
    pub partition: Option<String>,
    /// Job id.
    pub job_id: String,
    /// What Slurm recorded.
    pub recorded: i64,
    /// What is not known.
    pub why: String,
}

/// Recorded against recomputed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BillingComparison {
    /// The policy.
    pub policy: String,
    /// Its value that is compared.
    pub value: String,
    /// By cluster and partition.
    pub partitions: Vec<PartitionBilling>,
    /// The first jobs that differ.
    pub different: Vec<Different>,
    /// The first jobs whose billing the policy cannot give.
    pub unknown: Vec<Unknown>,
    /// Jobs out of its scope, by what keeps them out.
    pub out_of_scope: Vec<ScopeLeftOut>,
    /// The same for people.
    #[serde(skip)]
    left_out: Option<String>,
}

/// Compares the billing Slurm recorded for the jobs of a lake with that of a policy. Jobs without an allocation are left
/// out: nothing was billed. A job with one and without billing was billed zero, which Slurm does not print. Where a cluster
/// is named, only its jobs are compared.
///
/// # Errors
/// [`Kind::NoInput`] when there is no lake; [`Kind::Usage`] when the policy does not set which value is billing, or no job
/// is of the cluster.
pub fn compare(output: &str, tariff: &Tariff, cluster: Option<&str>) -> Result<BillingComparison> {
    let policy = &tariff.policy;
    let Some(value) = &policy.billing_is else {
        let message = format!(
            "{} has no billing_is: it does not set which value is Slurm's billing",
            policy.name()
        );
        return Err(Error::new(Kind::Usage, message));
    };
    let (store, manifest) = Manifest::open(output)?;
    let needs = policy.needs();
    let columns: BTreeSet<&str> = Facts::columns(&needs).into_iter().chain(READ).collect();
    let columns: Vec<&str> = columns.into_iter().collect();
    let mut sums: BTreeMap<BillingPlace, (PartitionBilling, i128)> = BTreeMap::new();
    let (mut different, mut unknown) = (Vec::new(), Vec::new());
    let mut out_of_scope = OutOfScope::default();
    let mut known_clusters = BTreeSet::new();
    let wanted = TableRows::of_columns(&columns, 65_536);
    for file in manifest.dataset("records") {
        let Some(SiteMonth { site, .. }) = lake::parse_month_path(&file.path) else {
            continue;
        };
        for batch in summed_records(&store, &manifest, &file.path, &wanted)? {
            let batch = batch?;
            let batch = match cluster {
                Some(cluster) => of_cluster(&batch, cluster, &mut known_clusters)?,
                None => batch,
            };
            let facts = Facts::of_records(&batch, &site, &needs)?;
            let priced = price(policy, &tariff.options, &facts, true)?;
            out_of_scope.add(policy, &facts, &priced.kept_out)?;
            let (recorded, cores) = (int(&batch, "alloc_billing_n")?, int(&batch, "alloc_core_n")?);
            let (clusters, partitions) = (text(&batch, "cluster")?, text(&batch, "partition")?);
            let jobs = text(&batch, "job_id")?;
            let own = |column, row| word(column, row).map(str::to_owned);
            for row in 0..batch.num_rows() {
                let is_held = recorded.is_valid(row) || number(cores, row).is_some_and(|cores| cores > 0);
                if priced.is_in_scope.get(row) != Some(&true) || !is_held || facts.never_ran(row) {
                    continue;
                }
                let place = (own(clusters, row), own(partitions, row));
                let (sum, recomputed_sum) = sums.entry(place).or_default();
                let reported = priced.value(row, value);
                let recomputed = reported.as_deref().and_then(parse);
                let billed = addend(number(recorded, row));
                sum.job_n += 1;
                sum.zero_n += u64::from(billed == 0);
                sum.recorded += i128::from(billed);
                // What has no price is counted as unknown.
                add(recomputed_sum, addend(recomputed), "recomputed")?;
                let is_equal = recomputed == Some(whole(billed));
                sum.equal_n += u64::from(is_equal);
                sum.different_n += u64::from(recomputed.is_some() && !is_equal);
                sum.unknown_n += u64::from(recomputed.is_none());
                match reported {
                    Some(recomputed) if !is_equal && different.len() < NAMED => different.push(Different {
                        cluster: own(clusters, row),
                        partition: own(partitions, row),
                        job_id: jobs.value(row).to_owned(),
                        recorded: billed,
                        recomputed,
                    }),
                    None if unknown.len() < NAMED => unknown.push(Unknown {
                        cluster: own(clusters, row),
                        partition: own(partitions, row),
                        job_id: jobs.value(row).to_owned(),
                        recorded: billed,
                        // What Slurm recorded is held against the value, and no part of it.
                        why: facts.why_unpriced(&PolicyInputs::new(policy, &RECORDED_AS), row),
                    }),
                    _ => {}
                }
            }
        }
    }
    if let Some(cluster) = cluster {
        must_be_known("the lake has", "cluster", cluster, &known_clusters)?;
    }
    let partitions = sums
        .into_iter()
        .map(|((cluster, partition), (sum, recomputed))| PartitionBilling {
            cluster,
            partition,
            recomputed: amount(recomputed, SCALE),
            ..sum
        });
    Ok(BillingComparison {
        policy: policy.name(),
        value: value.clone(),
        partitions: partitions.collect(),
        different,
        unknown,
        out_of_scope: out_of_scope.rows(policy),
        left_out: out_of_scope.text(policy),
    })
}

/// The jobs of one cluster; notes the clusters of all.
fn of_cluster(batch: &RecordBatch, cluster: &str, known: &mut BTreeSet<String>) -> Result<RecordBatch> {
    let clusters = text(batch, "cluster")?;
    let named = (0..batch.num_rows()).map(|row| word(clusters, row));
    for name in named.clone().flatten() {
        if !known.contains(name) {
            known.insert(name.to_owned());
        }
    }
    let is_of: BooleanArray = named.map(|name| Some(name == Some(cluster))).collect();
    Ok(filter_record_batch(batch, &is_of)?)
}

impl BillingComparison {
    /// Whether every job has the billing the policy gives it.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.partitions.iter().all(|sum| sum.equal_n == sum.job_n)
    }

    /// Jobs whose billing is another than the policy gives them.
    #[must_use]
    pub fn different_n(&self) -> u64 {
        self.partitions.iter().map(|sum| sum.different_n).sum()
    }

    /// Jobs whose billing the policy cannot give.
    #[must_use]
    pub fn unknown_n(&self) -> u64 {
        self.partitions.iter().map(|sum| sum.unknown_n).sum()
    }

    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!(
            "billing as Slurm recorded it, and {} of {}\n\n{:<16} {:<16} {:>10} {:>10} {:>10} {:>10} {:>10} {:>16} {:>16}\n",
            self.value,
            self.policy,
            "cluster",
            "partition",
            "jobs",
            "equal",
            "different",
            "unknown",
            "none",
            "recorded",
            "recomputed"
        );
        let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "-".to_owned());
        for sum in &self.partitions {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{:<16} {:<16} {:>10} {:>10} {:>10} {:>10} {:>10} {:>16} {:>16}",
                name(&sum.cluster),
                name(&sum.partition),
                sum.job_n,
                sum.equal_n,
                sum.different_n,
                sum.unknown_n,
                sum.zero_n,
                sum.recorded,
                sum.recomputed
            );
        }
        let _ = writeln!(text, "\nnone: Slurm recorded no billing above 0, which it leaves out.");
        if let Some(left_out) = &self.left_out {
            let _ = writeln!(text, "{left_out}");
        }
        for job in &self.different {
            let _ = writeln!(
                text,
                "job {} of {} {}: recorded {}, recomputed {}",
                job.job_id,
                name(&job.cluster),
                name(&job.partition),
                job.recorded,
                job.recomputed
            );
        }
        for job in &self.unknown {
            let _ = writeln!(
                text,
                "job {} of {} {}: recorded {}, recomputed unknown: {}",
                job.job_id,
                name(&job.cluster),
                name(&job.partition),
                job.recorded,
                job.why
            );
        }
        text
    }
}
