//! Contradictory or incomplete facts about jobs on nodes.

use std::collections::BTreeMap;

use crate::time::SecondSpan;

/// What it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FindingKind {
    /// A job does not state how much it was given.
    AmountUnknown,
    /// The inventory does not state how much a node has.
    CapacityUnknown,
    /// The list of nodes cannot be read.
    NodeListBad,
    /// A job names no node.
    NodeListMissing,
    /// A job names another number of nodes than it has.
    NodeNDiffers,
    /// The sums of a node cannot take a job on it.
    NodeSumLimit,
    /// A job ran on a node no inventory names.
    NodeUnknown,
    /// Jobs held more than there is.
    OverAllocated,
    /// A job that waited does not state what it requested.
    RequestUnknown,
    /// A job held its nodes longer than plausible.
    SpanTooLong,
}

impl FindingKind {
    /// Its word.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::AmountUnknown => "amount_unknown",
            Self::CapacityUnknown => "capacity_unknown",
            Self::NodeListBad => "node_list_bad",
            Self::NodeListMissing => "node_list_missing",
            Self::NodeNDiffers => "node_n_differs",
            Self::NodeSumLimit => "node_sum_limit",
            Self::NodeUnknown => "node_unknown",
            Self::OverAllocated => "over_allocated",
            Self::RequestUnknown => "request_unknown",
            Self::SpanTooLong => "span_too_long",
        }
    }
}

/// Words of the ledger's resources.
pub(crate) const RESOURCES: [&str; 3] = ["core", "memory", "gpu"];

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FindingRow {
    pub(crate) kind: FindingKind,
    pub(crate) cluster: Option<String>,
    pub(crate) partition: Option<String>,
    pub(crate) node: Option<String>,
    /// Place in the ledger.
    pub(crate) resource: Option<usize>,
    pub(crate) start_s: i64,
    pub(crate) end_s: i64,
    pub(crate) used_n: Option<i64>,
    pub(crate) capacity_n: Option<i64>,
    pub(crate) job_n: Option<i64>,
    pub(crate) over: Option<i128>,
}

/// What a finding about a job is of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FindingSubject<'a> {
    pub(crate) kind: FindingKind,
    pub(crate) cluster: Option<&'a str>,
    pub(crate) node: Option<&'a str>,
    /// Place in the ledger.
    pub(crate) resource: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FindingKey {
    kind: FindingKind,
    cluster: Option<String>,
    node: Option<String>,
    /// Place in the ledger.
    resource: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
struct FindingSum {
    span: SecondSpan,
    job_n: i64,
    core_s: i128,
}

/// Findings about jobs, added up by slice, kind, cluster, node and resource.
#[derive(Debug, Default)]
pub(crate) struct OverheadFindings(BTreeMap<usize, BTreeMap<FindingKey, FindingSum>>);

impl OverheadFindings {
    /// Adds a job's part of a slice.
    pub(crate) fn add(&mut self, month: usize, of: FindingSubject<'_>, span: SecondSpan, core_n: i64) {
        let key = FindingKey {
            kind: of.kind,
            cluster: of.cluster.map(str::to_owned),
            node: of.node.map(str::to_owned),
            resource: of.resource,
        };
        let sum = self.0.entry(month).or_default().entry(key).or_insert(FindingSum {
            span,
            job_n: 0,
            core_s: 0,
        });
        sum.span = sum.span.joined(span);
        sum.job_n += 1;
        sum.core_s += i128::from(core_n) * i128::from(span.length_s());
    }

    /// The rows of a slice.
    pub(crate) fn rows(&self, month: usize) -> Vec<FindingRow> {
        let sums = self.0.get(&month).into_iter().flatten();
        let rows = sums.map(|(key, sum)| FindingRow {
            kind: key.kind,
            cluster: key.cluster.clone(),
            partition: None,
            node: key.node.clone(),
            resource: key.resource,
            start_s: sum.span.start_s,
            end_s: sum.span.end_s,
            used_n: None,
            capacity_n: None,
            job_n: Some(sum.job_n),
            over: matches!(
                key.kind,
                FindingKind::NodeListBad
                    | FindingKind::NodeListMissing
                    | FindingKind::NodeSumLimit
                    | FindingKind::NodeUnknown
            )
            .then_some(sum.core_s),
        });
        rows.collect()
    }
}
