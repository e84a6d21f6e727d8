//! What was added up, as rows of the published datasets.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};

use super::finding::{FindingRow, RESOURCES};
use super::node_inventory::InventoryNode;
use super::waiting::WaitingLine;
use crate::config::overhead_plan::OverheadPlan;
use crate::error::{Error, Kind, Result};
use crate::occupancy::node_totals::NodeSums;
use crate::occupancy::queue::ByCause;
use crate::occupancy::{Cause, DaySums, LEDGER_N, QueueKey, QueueSums, TimeHistograms, UnitSums};
use crate::schema;
use crate::schema::batch::{dates, decimals, ints, texts, times};
use crate::time::Day;

/// Datasets of this room.
pub(crate) const DATASETS: [&str; 5] = [
    "overhead",
    "overhead_histogram",
    "overhead_queue",
    "overhead_shape",
    "overhead_finding",
];

/// A node and what is asked about it.
#[derive(Clone, Copy)]
pub(crate) struct AskedNode<'a> {
    /// The node.
    pub(crate) node: &'a InventoryNode,
    /// Names of the units that are for it, and whether the capacity of all they name is known; those for which it is
    /// not were left out of the tally.
    pub(crate) units: &'a [(&'a str, bool)],
}

impl<'a> AskedNode<'a> {
    /// By what nodes are sorted in `overhead`.
    pub(crate) fn key(&self) -> (Option<&'a str>, Option<&'a str>, &'a str) {
        let node = self.node;
        (node.cluster.as_deref(), node.partitions.as_deref(), &node.name)
    }
}

/// A node, what was asked about it, and what came of it.
pub(crate) struct NodeResult<'a> {
    /// The question.
    pub(crate) asked: AskedNode<'a>,
    /// The answer, by day.
    pub(crate) days: Vec<DaySums>,
}

fn fit(amount: i128, what: &str, node: &str) -> Result<i64> {
    i64::try_from(amount).map_err(|why| {
        Error::new(
            Kind::Data,
            format!("{what} of node {node} is larger than can be stored"),
        )
        .because(why)
    })
}

/// A row of `overhead`.
struct NodeLine<'a> {
    node: &'a InventoryNode,
    unit: Option<&'a str>,
    day: &'a DaySums,
    of_unit: Option<&'a UnitSums>,
}

/// By what the rows of `overhead` are sorted.
fn place<'l>(line: &'l NodeLine<'_>) -> (Option<&'l str>, Option<&'l str>, &'l str, Option<&'l str>, Day) {
    let node = line.node;
    (
        node.cluster.as_deref(),
        node.partitions.as_deref(),
        &node.name,
        line.unit,
        line.day.day,
    )
}

/// The rows of `overhead`.
///
/// # Errors
/// [`Kind::Data`] when a sum is too large, [`Kind::Internal`] when a batch is not as declared.
pub(crate) fn overhead(asked: &[NodeResult<'_>], is_from_jobs: bool) -> Result<RecordBatch> {
    let mut lines: Vec<NodeLine<'_>> = Vec::new();
    for of in asked {
        for day in &of.days {
            let mut sums = day.units.iter();
            for (unit, is_known) in of.asked.units {
                let of_unit = if *is_known { sums.next() } else { None };
                let (node, unit) = (of.asked.node, Some(*unit));
                lines.push(NodeLine {
                    node,
                    unit,
                    day,
                    of_unit,
                });
            }
            if of.asked.units.is_empty() {
                let (node, unit, of_unit) = (of.asked.node, None, None);
                lines.push(NodeLine {
                    node,
                    unit,
                    day,
                    of_unit,
                });
            }
        }
    }
    lines.sort_by(|a, b| place(a).cmp(&place(b)));
    let mut columns: Vec<ArrayRef> = vec![
        texts(lines.iter().map(|line| line.node.cluster.as_deref())),
        texts(lines.iter().map(|line| line.node.partitions.as_deref())),
        texts(lines.iter().map(|line| Some(&line.node.name))),
        texts(lines.iter().map(|line| line.unit)),
        dates(lines.iter().map(|line| Some(line.day.day))),
        Arc::new(lines.iter().map(|_| Some(is_from_jobs)).collect::<BooleanArray>()),
        ints(lines.iter().map(|line| Some(line.day.node_s))),
        ints(lines.iter().map(|line| Some(line.day.up_s))),
    ];
    let unit_s = lines.iter().map(|line| {
        let unit_s = line
            .of_unit
            .map(|unit| fit(unit.unit_s, "the integral of units", &line.node.name));
        unit_s.transpose()
    });
    columns.push(ints(unit_s.collect::<Result<Vec<_>>>()?));
    for resource in 0..LEDGER_N {
        for measure in MEASURES {
            let values = lines.iter().map(|line| {
                let is_known = line.node.history.known.get(resource).copied().unwrap_or(false);
                let sums = measure(line)?;
                sums.get(resource).copied().filter(|_| is_known)
            });
            if resource == 1 {
                columns.push(decimals(values, 0)?);
            } else {
                let values = values.zip(&lines).map(|(value, line)| {
                    let value = value.map(|value| fit(value, "a sum of resource-seconds", &line.node.name));
                    value.transpose()
                });
                columns.push(ints(values.collect::<Result<Vec<_>>>()?));
            }
        }
    }
    schema::dataset("overhead")?.batch(columns)
}

/// Sums of the ledger in the order of the columns.
const MEASURES: [fn(&NodeLine<'_>) -> Option<NodeSums>; 8] = [
    |line| Some(line.day.capacity),
    |line| Some(line.day.allocated),
    |line| line.of_unit.map(|unit| unit.overhead),
    |line| line.of_unit.map(|unit| unit.stranded),
    |line| Some(line.day.down),
    |line| Some(line.day.reserved),
    |line| Some(line.day.over),
    |line| line.of_unit.map(|unit| unit.billed),
];

/// The key of distributions.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RowGroup {
    cluster: Option<String>,
    partitions: Option<String>,
}

fn group(node: &InventoryNode) -> RowGroup {
    RowGroup {
        cluster: node.cluster.clone(),
        partitions: node.partitions.clone(),
    }
}

/// The rows of `overhead_histogram`; `spreads` are those of nodes that are alike, by the number of one of them.
///
/// # Errors
/// [`Kind::Internal`] when a batch is not as declared.
pub(crate) fn histogram(asked: &[AskedNode<'_>], spreads: &TimeHistograms) -> Result<RecordBatch> {
    let mut sums: BTreeMap<(RowGroup, &str, i64, i64), i64> = BTreeMap::new();
    for (nth, spread) in spreads {
        let Some(of) = asked.get(*nth) else { continue };
        let units = of.units.iter().filter(|(_, known)| *known);
        for ((unit, _), seconds) in units.zip(&spread.units) {
            for ([hour, unit_n, _], time_s) in seconds.iter() {
                *sums.entry((group(of.node), *unit, hour, unit_n)).or_default() += time_s;
            }
        }
    }
    schema::dataset("overhead_histogram")?.batch(vec![
        texts(sums.keys().map(|(group, ..)| group.cluster.as_deref())),
        texts(sums.keys().map(|(group, ..)| group.partitions.as_deref())),
        texts(sums.keys().map(|(_, unit, ..)| Some(*unit))),
        ints(sums.keys().map(|(_, _, hour, _)| Some(*hour))),
        ints(sums.keys().map(|(.., unit_n)| Some(*unit_n))),
        ints(sums.values().map(|time_s| Some(*time_s))),
    ])
}

/// Sums of the queue in the order of the columns; none where it cannot be determined.
const QUEUE_MEASURES: [fn(&QueueSums) -> Option<i64>; 12] = [
    |sums| Some(sums.job_n),
    |sums| by_vector(sums, sums.fitting_job_n),
    |sums| Some(sums.wait_s),
    |sums| by_vector(sums, of_cause(sums.vector_s, Cause::Unknown)),
    |sums| by_vector(sums, of_cause(sums.vector_s, Cause::Reservation)),
    |sums| by_vector(sums, of_cause(sums.vector_s, Cause::Drain)),
    |sums| by_unit(sums, of_cause(sums.unit_s, Cause::Unknown)),
    |sums| by_unit(sums, of_cause(sums.unit_s, Cause::Reservation)),
    |sums| by_unit(sums, of_cause(sums.unit_s, Cause::Drain)),
    |sums| by_vector(sums, sums.both_s).and(by_unit(sums, sums.both_s)),
    |sums| by_vector(sums, sums.vector_moment_s),
    |sums| by_unit(sums, sums.unit_moment_s),
];

fn by_vector(sums: &QueueSums, sum: i64) -> Option<i64> {
    (!sums.is_vector_unknown).then_some(sum)
}

fn by_unit(sums: &QueueSums, sum: i64) -> Option<i64> {
    (!sums.is_unit_unknown).then_some(sum)
}

fn of_cause([drain, reservation, unknown]: ByCause, cause: Cause) -> i64 {
    match cause {
        Cause::Drain => drain,
        Cause::Reservation => reservation,
        Cause::Unknown => unknown,
    }
}

/// The rows of `overhead_queue`; `lines` are where jobs wait.
///
/// # Errors
/// [`Kind::Internal`] when a batch is not as declared.
pub(crate) fn queue(
    sums: &BTreeMap<QueueKey, QueueSums>,
    lines: &[WaitingLine],
    overhead: &OverheadPlan,
) -> Result<RecordBatch> {
    let mut sorted: Vec<_> = sums
        .iter()
        .filter_map(|(key, sums)| {
            let line = lines.get(key.group)?;
            let unit = key
                .unit
                .and_then(|unit| overhead.units.get(unit))
                .map(|unit| unit.name.as_str());
            Some((line.cluster.as_deref(), line.partition.as_deref(), unit, key.day, sums))
        })
        .collect();
    sorted.sort_by_key(|(cluster, partition, unit, day, _)| (*cluster, *partition, *unit, *day));
    let mut columns: Vec<ArrayRef> = vec![
        texts(sorted.iter().map(|row| row.0)),
        texts(sorted.iter().map(|row| row.1)),
        texts(sorted.iter().map(|row| row.2)),
        dates(sorted.iter().map(|row| Some(row.3))),
    ];
    columns.extend(QUEUE_MEASURES.map(|measure| ints(sorted.iter().map(|row| measure(row.4)))));
    schema::dataset("overhead_queue")?.batch(columns)
}

/// The rows of `overhead_shape`; `spreads` as in [`histogram`].
///
/// # Errors
/// [`Kind::Internal`] when a batch is not as declared.
pub(crate) fn shapes(asked: &[AskedNode<'_>], spreads: &TimeHistograms) -> Result<RecordBatch> {
    let mut sums: BTreeMap<(RowGroup, [i64; LEDGER_N]), i64> = BTreeMap::new();
    for (nth, spread) in spreads {
        let Some(of) = asked.get(*nth) else { continue };
        for (shape, time_s) in spread.shapes.iter() {
            *sums.entry((group(of.node), shape)).or_default() += time_s;
        }
    }
    let amount = |at: usize| ints(sums.keys().map(|(_, shape)| shape.get(at).copied()));
    schema::dataset("overhead_shape")?.batch(vec![
        texts(sums.keys().map(|(group, _)| group.cluster.as_deref())),
        texts(sums.keys().map(|(group, _)| group.partitions.as_deref())),
        amount(0),
        amount(1),
        amount(2),
        ints(sums.values().map(|time_s| Some(*time_s))),
    ])
}

fn word(row: &FindingRow) -> Option<&'static str> {
    row.resource.and_then(|at| RESOURCES.get(at).copied())
}

/// By what findings are sorted.
fn finding_place(row: &FindingRow) -> (&str, Option<&str>, Option<&str>, Option<&str>, i64) {
    let (cluster, node) = (row.cluster.as_deref(), row.node.as_deref());
    (row.kind.as_str(), cluster, node, word(row), row.start_s)
}

/// The rows of `overhead_finding`.
///
/// # Errors
/// [`Kind::Internal`] when a batch is not as declared.
pub(crate) fn findings(mut rows: Vec<FindingRow>) -> Result<RecordBatch> {
    rows.sort_by(|a, b| finding_place(a).cmp(&finding_place(b)));
    schema::dataset("overhead_finding")?.batch(vec![
        texts(rows.iter().map(|row| Some(row.kind.as_str()))),
        texts(rows.iter().map(|row| row.cluster.as_deref())),
        texts(rows.iter().map(|row| row.partition.as_deref())),
        texts(rows.iter().map(|row| row.node.as_deref())),
        texts(rows.iter().map(word)),
        times(rows.iter().map(|row| row.start_s.checked_mul(1000))),
        times(rows.iter().map(|row| row.end_s.checked_mul(1000))),
        ints(rows.iter().map(|row| row.used_n)),
        ints(rows.iter().map(|row| row.capacity_n)),
        ints(rows.iter().map(|row| row.job_n)),
        decimals(rows.iter().map(|row| row.over), 0)?,
    ])
}
