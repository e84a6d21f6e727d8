//! The months of one site.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::RecordBatch;

use super::bill_rows::BillBills;
use super::bill_spill::BillSpill;
use super::bills::Biller;
use super::finding::{FindingKind, FindingRow, OverheadFindings};
use super::jobs::{COLUMNS, NodePlacement, SliceJob};
use super::node_inventory::InventoryNode;
use super::node_spill::NodeSpill;
use super::node_units::SiteUnits;
use super::record_files::RecordFile;
use super::report::OverheadReport;
use super::rows::{self, AskedNode, NodeResult};
use super::stage::{DuePeriod, OverheadStage, StagedFile, SweptSite, stage};
use super::sweep::Sweep;
use super::waiting::WaitingLine;
use crate::config::overhead_plan::OverheadPlan;
use crate::error::{Error, Result};
use crate::numbers::count_u64;
use crate::occupancy::node_totals::tally;
use crate::occupancy::{
    AllocationShapes, Grid, Interval, OverAllocation, Queue, QueueMachine, Resources, Slice, Slices, TimeHistograms,
    each_node, merge, queue,
};
use crate::runtime::pool;
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
    sweep.progress.end();
    let OverheadStage {
        board,
        slices,
        due,
        findings,
        read,
    } = staged;
    let NodePlacement {
        nodes,
        shapes,
        asks,
        unbilled,
        without_room,
        ..
    } = board;
    let units = SiteUnits::of(&nodes, overhead, resources);
    let mut machines = Vec::with_capacity(nodes.len());
    let mut asked = Vec::with_capacity(nodes.len());
    for (number, node) in nodes.iter().enumerate() {
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
    // Months are swept in parallel; of a single one its queue and its nodes are.
    let due: Vec<(usize, DuePeriod)> = due.into_iter().enumerate().collect();
    let month_n = sweep.threads.clamp(1, due.len().max(1));
    let months = SiteMonths {
        sweep,
        overhead,
        name: site.name,
        files: site.files,
        read: &read,
        alike: alike(&machines, &nodes),
        machines,
        asked,
        units: &units,
        nodes: &nodes,
        shapes: &shapes,
        slices: &slices,
        findings: &findings,
        unbilled: &unbilled,
        without_room: &without_room,
        queue: Queue {
            pools: asks.pools(&nodes),
            asks: asks.known,
        },
        queue_names: &asks.names,
        threads: (sweep.threads / month_n).max(1),
        memory_byte_n: sweep.memory_byte_n / month_n,
        is_from_jobs: report.is_from_jobs,
    };
    sweep.progress.begin("sweeping", count_u64(due.len()), "months");
    let swept = pool::each(&due, month_n, |(nth, month)| {
        let swept = months.publish(*nth, *month)?;
        sweep.progress.add(1);
        Ok(swept)
    })?;
    sweep.progress.end();
    for month in swept {
        report.add(month);
    }
    Ok(())
}

/// The months of a site, and all that is known of it.
struct SiteMonths<'a> {
    sweep: &'a Sweep<'a>,
    overhead: &'a OverheadPlan,
    /// The site.
    name: &'a str,
    files: &'a [RecordFile],
    read: &'a [StagedFile],
    /// By node: the first one whose time is added up with its own.
    alike: Vec<usize>,
    machines: Vec<QueueMachine<'a>>,
    asked: Vec<AskedNode<'a>>,
    units: &'a SiteUnits<'a>,
    nodes: &'a [InventoryNode],
    shapes: &'a AllocationShapes,
    slices: &'a Slices,
    findings: &'a OverheadFindings,
    unbilled: &'a BTreeMap<u32, u8>,
    without_room: &'a BTreeSet<SliceJob>,
    queue: Queue,
    queue_names: &'a [WaitingLine],
    /// Threads of a month.
    threads: usize,
    /// Bytes of a month kept in memory before they go to a temporary file.
    memory_byte_n: usize,
    is_from_jobs: bool,
}

/// What is known of the nodes of a month when all are swept.
struct SweptNodes {
    /// Finds of over-allocation by node.
    over: Vec<Vec<OverAllocation>>,
    spreads: TimeHistograms,
}

impl SiteMonths<'_> {
    /// Sweeps the nth month and stages it.
    fn publish(&self, nth: usize, month: DuePeriod) -> Result<OverheadReport> {
        let (sweep, overhead) = (self.sweep, self.overhead);
        let slice = self.slices.slice(nth, self.nodes.len())?;
        let waits = self.slices.waits(nth)?;
        let mut report = OverheadReport {
            month_n: 1,
            node_month_n: count_u64(self.nodes.len()),
            interval_n: count_u64(slice.len()),
            wait_n: count_u64(waits.len()),
            ..OverheadReport::default()
        };
        let grid = Grid::new(&sweep.plan.calendar_zone, slice.from_s(), slice.until_s());
        let biller = Biller::new(sweep.plan, overhead, month);
        let bills = BillSpill::new(self.memory_byte_n / BILLS_SHARE);
        let totals = NodeSpill::new(self.memory_byte_n / TOTALS_SHARE);
        let queued = || queue(slice, &self.machines, self.shapes, &grid, &self.queue, &waits);
        let (queued, swept) = if self.threads > 1 {
            std::thread::scope(|scope| {
                let queued = scope.spawn(queued);
                let swept = self.sweep_nodes(slice, &grid, &biller, &bills, &totals);
                let dead = |_| Err(Error::internal("a working thread died"));
                (queued.join().unwrap_or_else(dead), swept)
            })
        } else {
            (queued(), self.sweep_nodes(slice, &grid, &biller, &bills, &totals))
        };
        let (queued, SweptNodes { over, spreads }) = (queued?, swept?);
        drop(waits);
        let mut reported = self.findings.rows(nth);
        reported.extend(of_nodes(self.nodes, self.units, &over, month.span)?);
        for row in &reported {
            *report.findings.entry(row.kind.as_str().to_owned()).or_default() += 1;
        }
        write_nodes(sweep, self.name, &month.period, &self.asked, &totals, self.is_from_jobs)?;
        let batches = [
            rows::histogram(&self.asked, &spreads)?,
            rows::queue(&queued, self.queue_names, overhead)?,
            rows::shapes(&self.asked, &spreads)?,
            rows::findings(reported)?,
        ];
        write(sweep, self.name, &month.period, &batches)?;
        if overhead.is_charged {
            let mut bills = BillBills::new(bills, self.unbilled, self.without_room, nth);
            let unbilled = bills.publish(sweep, &biller, self.name, self.files, self.read)?;
            report.displaced_job_n += unbilled.displaced_n;
            report.beyond_sums_job_n += unbilled.beyond_sums_n;
        }
        Ok(report)
    }

    /// Adds up the nodes of a month, and bills them.
    fn sweep_nodes(
        &self,
        slice: Slice<'_>,
        grid: &Grid,
        biller: &Biller<'_>,
        bills: &BillSpill,
        totals: &NodeSpill,
    ) -> Result<SweptNodes> {
        let each = |spreads: &mut TimeHistograms, nth: usize, intervals: &[Interval]| {
            let known = || Error::internal("a node of which nothing is known");
            let history = &self.nodes.get(nth).ok_or_else(known)?.history;
            let units = self.units.node(nth)?;
            if self.overhead.is_charged {
                bills.add(biller.node(history, intervals, self.shapes, units))?;
            }
            let question = units.question(self.overhead);
            let spread = spreads.entry(*self.alike.get(nth).ok_or_else(known)?).or_default();
            let tally = tally(history, intervals, self.shapes, grid, question, spread);
            totals.add(nth, &tally.days)?;
            Ok(tally.findings)
        };
        let (swept, spreads) = each_node(slice, each, self.threads)?;
        Ok(SweptNodes {
            over: swept.into_iter().collect::<Result<Vec<_>>>()?,
            spreads: merge(spreads),
        })
    }
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
