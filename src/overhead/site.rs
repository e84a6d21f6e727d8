//! The months of one site.

use std::collections::BTreeMap;

use arrow::array::RecordBatch;

use super::bill_rows::BillBills;
use super::bill_spill::BillSpill;
use super::bills::Biller;
use super::finding::{FindingKind, FindingRow};
use super::jobs::COLUMNS;
use super::node_inventory::InventoryNode;
use super::node_spill::NodeSpill;
use super::node_units::SiteUnits;
use super::report::OverheadReport;
use super::rows::{self, AskedNode, NodeResult};
use super::stage::{DuePeriod, OverheadStage, SweptSite, stage};
use super::sweep::Sweep;
use crate::config::overhead_plan::OverheadPlan;
use crate::error::{Error, Result};
use crate::numbers::count_u64;
use crate::occupancy::node_totals::tally;
use crate::occupancy::{
    Grid, Interval, OverAllocation, Queue, QueueMachine, Resources, TimeHistograms, each_node, merge, queue,
};
use crate::store::lake::{self, LakeTable};
use crate::time::SecondSpan;
use crate::time::calendar::Period;

/// Bills wait in this part of the memory budget.
const BILLS_SHARE: usize = 3;
/// Totals of nodes wait in this part of it.
const TOTALS_SHARE: usize = 3;
/// The first of the datasets, the rows of which are many.
const OVERHEAD: &str = rows::DATASETS[0];
/// Rows that are made at a time.
const ROWS_N: usize = 1 << 15;

/// Sweeps the months of a site that are due and stages them.
pub(crate) fn publish(
    sweep: &Sweep<'_>,
    overhead: &OverheadPlan,
    resources: &Resources,
    site: SweptSite<'_>,
    due: Vec<DuePeriod>,
    report: &mut OverheadReport,
) -> Result<()> {
    sweep.progress.begin("placing jobs", 0, "files");
    let staged = stage(
        sweep.publication.store(),
        site,
        overhead,
        resources,
        due,
        &COLUMNS,
        |_, _| Ok(()),
    )?;
    let OverheadStage {
        board,
        slices,
        due,
        findings,
        read,
    } = staged;
    sweep.progress.end();
    let units = SiteUnits::of(&board.nodes, overhead, resources);
    let mut machines = Vec::with_capacity(board.nodes.len());
    let mut asked = Vec::with_capacity(board.nodes.len());
    for (number, node) in board.nodes.iter().enumerate() {
        let units = units.node(number)?;
        machines.push(QueueMachine {
            history: &node.history,
            units: &units.numbers,
            thresholds: &units.thresholds,
        });
        asked.push(AskedNode {
            node,
            units: &units.units,
        });
    }
    let mut waiting = Queue {
        pools: board.asks.pools(&board.nodes),
        asks: board.asks.known.clone(),
        waits: Vec::new(),
    };
    sweep.progress.begin("sweeping", count_u64(due.len()), "months");
    let alike = alike(&machines, &board.nodes);
    for (nth, month) in due.into_iter().enumerate() {
        let slice = slices.slice(nth, board.nodes.len())?;
        waiting.waits = slices.waits(nth)?;
        report.month_n += 1;
        report.node_month_n += count_u64(board.nodes.len());
        report.interval_n += count_u64(slice.len());
        report.wait_n += count_u64(waiting.waits.len());
        let grid = Grid::new(&sweep.plan.calendar_zone, slice.from_s(), slice.until_s());
        let queued = queue(slice, &machines, &board.shapes, &grid, &waiting)?;
        let biller = Biller::new(sweep.plan, overhead, month);
        let bills = BillSpill::new(sweep.memory_byte_n / BILLS_SHARE);
        let totals = NodeSpill::new(sweep.memory_byte_n / TOTALS_SHARE);
        let each = |spreads: &mut TimeHistograms, nth: usize, intervals: &[Interval]| {
            let known = || Error::internal("a node of which nothing is known");
            let history = &board.nodes.get(nth).ok_or_else(known)?.history;
            let units = units.node(nth)?;
            bills.add(biller.node(history, intervals, &board.shapes, units))?;
            let question = units.question(overhead);
            let spread = spreads.entry(*alike.get(nth).ok_or_else(known)?).or_default();
            let tally = tally(history, intervals, &board.shapes, &grid, question, spread);
            totals.add(nth, &tally.days)?;
            Ok(tally.findings)
        };
        let (swept, spreads) = each_node(slice, each, sweep.threads)?;
        let spreads = merge(spreads);
        let over = swept.into_iter().collect::<Result<Vec<_>>>()?;
        let mut reported = findings.rows(nth);
        reported.extend(of_nodes(&board.nodes, &units, &over, month.span)?);
        for row in &reported {
            *report.findings.entry(row.kind.as_str().to_owned()).or_default() += 1;
        }
        write_nodes(sweep, site.name, &month.period, &asked, &totals, report.is_from_jobs)?;
        let batches = [
            rows::histogram(&asked, &spreads)?,
            rows::queue(&queued, &board.asks.names, overhead)?,
            rows::shapes(&asked, &spreads)?,
            rows::findings(reported)?,
        ];
        write(sweep, site.name, &month.period, &batches)?;
        if overhead.is_charged {
            let mut bills = BillBills::new(bills, &board.unbilled, &board.without_room, nth);
            let unbilled = bills.publish(sweep, &biller, site.name, site.files, &read)?;
            report.displaced_job_n += unbilled.displaced_n;
            report.beyond_sums_job_n += unbilled.beyond_sums_n;
        }
        sweep.progress.add(1);
    }
    sweep.progress.end();
    Ok(())
}

/// For every node the first one with an equal listing and the same units: their time is aggregated together.
fn alike(machines: &[QueueMachine<'_>], nodes: &[InventoryNode]) -> Vec<usize> {
    let mut first = BTreeMap::new();
    let keys = (nodes.iter().zip(machines)).map(|(node, machine)| (&node.cluster, &node.partitions, machine.units));
    let nodes = keys.enumerate().map(|(nth, key)| *first.entry(key).or_insert(nth));
    nodes.collect()
}

/// Findings about the nodes of a month.
fn of_nodes(
    nodes: &[InventoryNode],
    units: &SiteUnits<'_>,
    over: &[Vec<OverAllocation>],
    month: SecondSpan,
) -> Result<Vec<FindingRow>> {
    let mut rows = Vec::new();
    for (number, (node, over)) in nodes.iter().zip(over).enumerate() {
        let row = |kind: FindingKind, resource: usize, start_s: i64, end_s: i64| FindingRow {
            kind,
            cluster: node.cluster.clone(),
            partition: node.partitions.clone(),
            node: Some(node.name.clone()),
            resource: Some(resource),
            start_s,
            end_s,
            used_n: None,
            capacity_n: None,
            job_n: None,
            over: None,
        };
        let unknown = units.node(number)?.unknown.iter();
        rows.extend(unknown.map(|resource| row(FindingKind::CapacityUnknown, *resource, month.start_s, month.end_s)));
        rows.extend(over.iter().map(|found| FindingRow {
            used_n: Some(found.used),
            capacity_n: Some(found.capacity),
            over: Some(found.over),
            ..row(FindingKind::OverAllocated, found.resource, found.from_s, found.until_s)
        }));
    }
    Ok(rows)
}

/// Stages the rows of `overhead`: nodes in the order of their names, a few at a time.
fn write_nodes(
    sweep: &Sweep<'_>,
    site: &str,
    period: &Period,
    asked: &[AskedNode<'_>],
    totals: &NodeSpill,
    is_from_jobs: bool,
) -> Result<()> {
    let path = lake::overhead_path(OVERHEAD, site, period.allocation_year, period.month);
    let mut order: Vec<(usize, &AskedNode<'_>)> = asked.iter().enumerate().collect();
    order.sort_by_key(|(nth, of)| (of.key(), *nth));
    let mut table: Option<LakeTable<'_>> = None;
    let mut swept: Vec<NodeResult<'_>> = Vec::new();
    let mut row_n = 0;
    let mut nodes = order.into_iter().peekable();
    while let Some((nth, of)) = nodes.next() {
        let days = totals.of(nth)?;
        row_n += days.len() * of.units.len().max(1);
        swept.push(NodeResult { asked: *of, days });
        let next = nodes.peek();
        // Nodes of the same name are sorted together.
        if next.is_some_and(|(_, next)| row_n < ROWS_N || next.key() == of.key()) || row_n == 0 {
            continue;
        }
        let batch = rows::overhead(&swept, is_from_jobs)?;
        swept.clear();
        row_n = 0;
        let table = match &mut table {
            Some(table) => table,
            none => none.insert(LakeTable::create(sweep.publication, OVERHEAD, &path)?),
        };
        table.write(&batch)?;
    }
    match table {
        Some(table) => {
            table.finish(&[("gridtally.pipeline".to_owned(), sweep.plan.name.clone())])?;
        }
        None => sweep.publication.remove(&path),
    }
    Ok(())
}

/// Stages the other datasets of a month; what has no rows is taken away.
fn write(sweep: &Sweep<'_>, site: &str, period: &Period, batches: &[RecordBatch]) -> Result<()> {
    for (dataset, batch) in rows::DATASETS.into_iter().skip(1).zip(batches) {
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
