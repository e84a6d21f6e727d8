//! What a run reports of overhead.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

/// A canonical unit for a partition that no listing has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UnlistedPartition {
    /// Name of the unit.
    pub unit: String,
    /// Partition.
    pub partition: String,
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OverheadReport {
    /// Months of sites that were swept.
    pub month_n: u64,
    /// Nodes swept in them, each counted once per month.
    pub node_month_n: u64,
    /// Jobs on nodes in them, each counted once per node and month.
    pub interval_n: u64,
    /// Jobs that waited in them, each counted once per month.
    pub wait_n: u64,
    /// Jobs in them that are billed nothing, because summaries of the same site, month and view count in their place;
    /// each counted once per month.
    pub displaced_job_n: u64,
    /// Jobs in them that are billed nothing, because the sums of the month cannot take them; each counted once per month.
    pub beyond_sums_job_n: u64,
    /// Jobs left out because they held their nodes for more than five years.
    pub too_long_job_n: u64,
    /// The first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_too_long_job: Option<String>,
    /// Units for partitions that no listing has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlisted_partitions: Vec<UnlistedPartition>,
    /// Findings by kind.
    pub findings: BTreeMap<String, u64>,
    /// The capacity of nodes is unknown: the most that jobs held is used.
    pub is_from_jobs: bool,
}

impl OverheadReport {
    /// Whether there is anything to report.
    pub(crate) fn has_changes(&self) -> bool {
        self.month_n + self.too_long_job_n > 0 || !self.unlisted_partitions.is_empty()
    }

    /// Adds what was done of one month.
    pub(crate) fn add(&mut self, month: Self) {
        self.month_n += month.month_n;
        self.node_month_n += month.node_month_n;
        self.interval_n += month.interval_n;
        self.wait_n += month.wait_n;
        self.displaced_job_n += month.displaced_job_n;
        self.beyond_sums_job_n += month.beyond_sums_job_n;
        for (kind, row_n) in month.findings {
            *self.findings.entry(kind).or_default() += row_n;
        }
    }

    /// The report for people.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "  overhead: {} months swept, {} jobs on nodes (once for each node), {} in queues{}\n",
            self.month_n,
            self.interval_n,
            self.wait_n,
            if self.is_from_jobs {
                ", nodes as large as the most that jobs held at one time"
            } else {
                ""
            }
        );
        if self.displaced_job_n > 0 {
            let job_n = self.displaced_job_n;
            let _ = writeln!(
                text,
                "  {job_n:>12} jobs on nodes billed nothing: summaries count in their place"
            );
        }
        if self.beyond_sums_job_n > 0 {
            let job_n = self.beyond_sums_job_n;
            let _ = writeln!(
                text,
                "  {job_n:>12} jobs on nodes billed nothing: the sums of the month cannot take them"
            );
        }
        if let Some(job_id) = &self.first_too_long_job {
            let job_n = self.too_long_job_n;
            let _ = writeln!(
                text,
                "  {job_n:>12} jobs left out: more than five years on their nodes (first: job {job_id})"
            );
        }
        for UnlistedPartition { unit, partition } in &self.unlisted_partitions {
            let _ = writeln!(
                text,
                "  overhead: the unit {unit} is for the partition {partition}, which no listing has"
            );
        }
        for (kind, row_n) in &self.findings {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {row_n:>12} overhead findings: {kind}");
        }
        text
    }
}
