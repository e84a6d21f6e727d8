//! The months of one site.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::RecordBatch;

use super::finding::{Findings, Kind, Row};
use super::jobs::{Board, COLUMNS};
use super::machine::{Machine, Node};
use super::months::Months;
use super::plan::OverheadPlan;
use super::rows::{self, Asked};
use super::{OverheadReport, READ_ROWS, RecordFile, Sweep};
use crate::error::Result;
use crate::occupancy::{Grid, History, Question, Resources, Thresholds, peaks, tally_all};
use crate::store::lake::{self, LakeTable};
use crate::store::read_table;
use crate::time::calendar::Period;

/// Sweeps the months of a site that are due and stages them. Without a machine the jobs say what nodes have.
pub(super) fn publish(
    sweep: &Sweep<'_>,
    overhead: &OverheadPlan,
    resources: &Resources,
    (site, sites): (&str, &BTreeSet<String>),
    (files, machine): (&[RecordFile], Option<&Machine>),
    due: Vec<(Period, (i64, i64))>,
    report: &mut OverheadReport,
) -> Result<()> {
    let mut months = Months::new(due);
    let mut findings = Findings::default();
    let mut board = Board::new(machines(machine, (site, sites), files)?, resources);
    sweep.progress.begin("placing jobs", 0, "files");
    for file in files {
        let is_needed = file
            .reach
            .span
            .is_some_and(|span| months.overlaps(span).next().is_some());
        if !is_needed && !file.reach.clusters.is_empty() {
            continue;
        }
        for batch in read_table(sweep.store.reader(&file.place)?, Some(&COLUMNS), READ_ROWS)? {
            board.add(&batch?, &mut months, &mut findings)?;
        }
        sweep.progress.add(1);
    }
    sweep.progress.end();
    if machine.is_none() {
        capacity_from_jobs(&mut board, &mut months)?;
    }
    let asked_of: Vec<Asking<'_>> = board
        .nodes
        .iter()
        .map(|node| Asking::of(node, overhead, resources))
        .collect();
    sweep
        .progress
        .begin("sweeping", u64::try_from(months.len()).unwrap_or(0), "months");
    let histories: Vec<History> = board.nodes.iter().map(|node| node.history.clone()).collect();
    for nth in 0..months.len() {
        let slice = months.slice(nth, board.nodes.len())?;
        report.month_n += 1;
        report.node_month_n += u64::try_from(board.nodes.len()).unwrap_or(0);
        report.interval_n += u64::try_from(slice.len()).unwrap_or(0);
        let grid = Grid::new(&sweep.plan.calendar_zone, slice.from_s(), slice.until_s());
        let ask = |nth: usize| Question {
            units: asked_of.get(nth).map_or(&[], |asking| &asking.thresholds),
            scheme: overhead.scheme,
        };
        let tallies = tally_all(slice, &histories, &board.shapes, &grid, ask, sweep.threads)?;
        let asked: Vec<Asked<'_>> = board
            .nodes
            .iter()
            .zip(&asked_of)
            .zip(tallies)
            .map(|((node, asking), tally)| Asked {
                node,
                units: asking.units.clone(),
                tally,
            })
            .collect();
        let mut told = findings.rows(nth);
        if let Some(month) = months.iter().nth(nth) {
            told.extend(of_nodes(&asked, &asked_of, (month.from_s, month.until_s)));
            for row in &told {
                *report.findings.entry(row.kind.as_str().to_owned()).or_default() += 1;
            }
            let batches = [
                rows::overhead(&asked, report.is_from_jobs)?,
                rows::histogram(&asked)?,
                rows::shapes(&asked)?,
                rows::findings(told)?,
            ];
            write(sweep, site, &month.period, &batches)?;
        }
        sweep.progress.add(1);
    }
    sweep.progress.end();
    Ok(())
}

/// What is said of every cluster of a site that has jobs which name their nodes.
fn machines(
    machine: Option<&Machine>,
    (site, sites): (&str, &BTreeSet<String>),
    files: &[RecordFile],
) -> Result<BTreeMap<Option<String>, Option<Machine>>> {
    let clusters: BTreeSet<&Option<String>> = files.iter().flat_map(|file| &file.reach.clusters).collect();
    let named: BTreeSet<String> = clusters.iter().copied().flatten().cloned().collect();
    let mut machines = BTreeMap::new();
    for cluster in clusters {
        let of = match machine {
            Some(machine) => Some(machine.of((site, sites), (cluster.as_deref(), &named))?),
            None => None,
        };
        machines.insert(cluster.clone(), of);
    }
    Ok(machines)
}

/// Takes the most that jobs held at one time for what a node has. A resource no job on it told of is not known, but GPUs:
/// a node whose jobs have none is taken to have none.
fn capacity_from_jobs(board: &mut Board, months: &mut Months) -> Result<()> {
    for nth in 0..months.len() {
        let most = peaks(months.slice(nth, board.nodes.len())?, &board.shapes);
        for (node, most) in board.nodes.iter_mut().zip(most) {
            let Some(segment) = node.history.segments.first_mut() else {
                continue;
            };
            for (has, most) in segment.capacity.iter_mut().zip(most) {
                *has = (*has).max(most);
            }
        }
    }
    for node in &mut board.nodes {
        let Some(segment) = node.history.segments.first() else {
            continue;
        };
        for (at, (known, has)) in node.history.known.iter_mut().zip(&segment.capacity).enumerate() {
            *known = *has > 0 || at >= 2;
        }
    }
    Ok(())
}

/// What is asked of a node.
struct Asking<'a> {
    /// Units that are for it, and whether all they name is known.
    units: Vec<(&'a str, bool)>,
    /// Of those for which it is.
    thresholds: Vec<Thresholds>,
    /// Places of the resources that are named and not known.
    unknown: BTreeSet<usize>,
}

impl<'a> Asking<'a> {
    fn of(node: &Node, overhead: &'a OverheadPlan, resources: &Resources) -> Self {
        let known = &node.history.known;
        let mut asking = Self {
            units: Vec::new(),
            thresholds: Vec::new(),
            unknown: BTreeSet::new(),
        };
        for unit in overhead
            .units
            .iter()
            .filter(|unit| unit.is_for(&node.partition_names()))
        {
            let thresholds = unit.thresholds(resources);
            let is_known = thresholds.is_known(known);
            asking.units.push((&unit.name, is_known));
            let named = thresholds.iter().zip(known).enumerate();
            asking.unknown.extend(
                named
                    .filter(|(_, (threshold, known))| threshold.is_some() && !**known)
                    .map(|(at, _)| at),
            );
            if is_known {
                asking.thresholds.push(thresholds);
            }
        }
        asking
    }
}

/// Findings about the nodes of a month.
fn of_nodes(asked: &[Asked<'_>], asked_of: &[Asking<'_>], (from_s, until_s): (i64, i64)) -> Vec<Row> {
    let mut rows = Vec::new();
    for (of, asking) in asked.iter().zip(asked_of) {
        let row = |kind: Kind, resource: usize, start_s: i64, end_s: i64| Row {
            kind,
            cluster: of.node.cluster.clone(),
            partition: of.node.partitions.clone(),
            node: Some(of.node.name.clone()),
            resource: Some(resource),
            start_s,
            end_s,
            used_n: None,
            capacity_n: None,
            job_n: None,
            over: None,
        };
        rows.extend(
            asking
                .unknown
                .iter()
                .map(|resource| row(Kind::CapacityUnknown, *resource, from_s, until_s)),
        );
        rows.extend(of.tally.findings.iter().map(|found| Row {
            used_n: Some(found.used),
            capacity_n: Some(found.capacity),
            over: Some(found.over),
            ..row(Kind::OverAllocated, found.resource, found.from_s, found.until_s)
        }));
    }
    rows
}

/// Stages the datasets of a month; what has no rows is taken away.
fn write(sweep: &Sweep<'_>, site: &str, period: &Period, batches: &[RecordBatch]) -> Result<()> {
    for (dataset, batch) in rows::DATASETS.into_iter().zip(batches) {
        let path = lake::overhead_path(dataset, site, period.allocation_year, period.month);
        if batch.num_rows() == 0 {
            sweep.publication.remove(&path);
            continue;
        }
        let mut table = LakeTable::create(sweep.publication, dataset, &path)?;
        table.write(batch)?;
        table.finish(&[("gridtally.pipeline".to_owned(), sweep.plan.name.clone())])?;
    }
    Ok(())
}
