//! What one job is billed of its nodes, worked out again from the records and listings of the lake.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;

use super::bills::{BillPiece, POOLS, options};
use super::facts::from_fact;
use super::inventories::{InventoryFile, SWEPT, machine_in, periods};
use super::job_spans::{JobColumns, Reach, join, span};
use super::jobs::COLUMNS;
use super::node_inventory::InventoryNode;
use super::node_units::NodeUnits;
use super::record_files::{RecordFile, RecordFiles, with_nodes};
use super::stage::{SweptSite, stage};
use super::sweep::Basis;
use crate::config::overhead_plan::NodesFrom;
use crate::error::{Error, Result};
use crate::lake::calendar_fact::rule;
use crate::occupancy::billing::{BILL_PLACES, RATE_PLACES};
use crate::occupancy::{
    AllocationShapes, BillingShare, Grid, Interval, LEDGER_N, Resources, Scheme, Thresholds, TimeRange, Visit,
    node_bill, rate, shares, sweep,
};
use crate::record::SiteMonth;
use crate::reference::decimal::text as amount;
use crate::schema::batch::id;
use crate::store::Fact;
use crate::store::lake::{parse_month_path, refused_records_path};
use crate::store::{Manifest, Store};
use crate::time::{Calendar, SecondSpan, Zone};

/// The most constant intervals that are listed one by one.
const LISTED_N: usize = 24;

/// What a job is billed under.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OverheadBill {
    /// The options of the unit.
    pub(crate) options: String,
    pub(crate) pool: String,
}

/// The derivation of the bills of a job, in lines.
pub(crate) type OverheadLines = BTreeMap<OverheadBill, Vec<String>>;

/// Works out again what a job of a site is billed; `record` is its one row.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read; [`crate::error::Kind::Data`] when a sum does not fit.
pub(crate) fn explain(store: &Store, manifest: &Manifest, site: &str, record: &RecordBatch) -> Result<OverheadLines> {
    let basis = manifest.facts.get(Fact::OverheadBasis);
    let (Some(basis), Some(held)) = (from_fact::<Basis>(basis), span(&JobColumns::of(record)?, 0)) else {
        return Ok(OverheadLines::new());
    };
    let resources = Resources::of(&basis.overhead.units);
    let inventories = SWEPT.into_iter().flat_map(|dataset| {
        let files = manifest.dataset(dataset);
        files.map(move |file| (dataset, file.path.clone()))
    });
    let files = inventories.map(|(dataset, path)| InventoryFile {
        dataset,
        is_present: basis.listings.contains(&path),
        place: path.clone(),
        path,
    });
    let machine = machine_in(store, files, &resources, &basis.complete)?;
    let sites = record_files(manifest);
    let (Some(files), all_sites) = (sites.get(site), with_nodes(&sites)) else {
        return Ok(OverheadLines::new());
    };
    let spans = files.iter().filter_map(|file| file.reach.span);
    let Some(all) = spans.fold(None, |all, span| Some(join(all, span))) else {
        return Ok(OverheadLines::new());
    };
    let zone = Zone::named(&basis.calendar_timezone)?;
    let mut due = periods(&zone, basis.allocation_year_start, &basis.overhead, all);
    if basis.overhead.nodes == NodesFrom::Inventory {
        due.retain(|due| due.span.overlaps(held));
    }
    let columns: Vec<&str> = COLUMNS.iter().copied().chain(["record_id"]).collect();
    let wanted = id(record, "record_id")?.value(0).to_vec();
    let mut tag = None;
    let machine = (basis.overhead.nodes == NodesFrom::Inventory).then_some(&machine);
    let site = SweptSite {
        name: site,
        all: &all_sites,
        files,
        machine,
    };
    let staged = stage(
        store,
        site,
        &basis.overhead,
        &resources,
        due,
        &columns,
        |batch, first| {
            let ids = id(batch, "record_id")?;
            let found = (first..).zip(ids.iter()).find(|(_, id)| *id == Some(wanted.as_slice()));
            tag = tag.or(found.map(|(tag, _)| tag));
            Ok(())
        },
    )?;
    let (board, slices) = (staged.board, staged.slices);
    let mut calendar = Calendar::new(zone.clone(), rule(&manifest.facts)?.grain, basis.allocation_year_start);
    let mut explanation = Story {
        basis: &basis,
        shapes: &board.shapes,
        tag,
        lines: OverheadLines::new(),
        sums: BTreeMap::new(),
    };
    for nth in 0..slices.len() {
        let slice = slices.slice(nth, board.nodes.len())?;
        let span = SecondSpan {
            start_s: slice.from_s(),
            end_s: slice.until_s(),
        };
        let pieces = BillPiece::of_slice(span, &mut calendar, &zone);
        slice.each_node(|nth, intervals| {
            let is_there = intervals.iter().any(|interval| Some(u64::from(interval.tag)) == tag);
            let Some(node) = board.nodes.get(nth).filter(|_| is_there) else {
                return;
            };
            let units = NodeUnits::of(node, &basis.overhead, &resources);
            for (unit, thresholds) in units.numbers.iter().zip(&units.thresholds) {
                for piece in &pieces {
                    let part = piece.part(span.start_s, intervals);
                    explanation.node(node, *unit, thresholds, &part, &piece.grid);
                }
            }
        })?;
    }
    explanation.end()
}

/// The files of records of a lake, by site. Their spans were set when they were swept.
pub(super) fn record_files(manifest: &Manifest) -> RecordFiles {
    let reaches = manifest.facts.get(Fact::OverheadReach);
    // Fallback: a lake without the fact has no files that were swept.
    let reaches: BTreeMap<String, Reach> = from_fact(reaches).unwrap_or_default();
    let mut sites = RecordFiles::new();
    for file in manifest.dataset("records") {
        let (Some(SiteMonth { site, month }), Some(reach)) = (parse_month_path(&file.path), reaches.get(&file.blake3))
        else {
            continue;
        };
        let refused = refused_records_path(&site, month);
        sites.entry(site).or_default().push(RecordFile {
            month,
            path: file.path.clone(),
            place: file.path.clone(),
            reach: reach.clone(),
            refused: manifest.file(&refused).map(|file| file.path.clone()),
            has_other_refused: false,
            is_displaced: false,
        });
    }
    sites
}

/// The printed lines.
struct Story<'a> {
    basis: &'a Basis,
    shapes: &'a AllocationShapes,
    tag: Option<u64>,
    lines: OverheadLines,
    sums: BTreeMap<OverheadBill, i128>,
}

/// A time in which what a job holds of a node is billed at one rate.
#[derive(Clone, Copy, Debug)]
struct AlreadyReported {
    from_s: i64,
    until_s: i64,
    share: BillingShare,
}

/// What a job is billed of a resource of a node in a period of charges, in the places of a bill.
#[derive(Clone, Copy, Debug, Default)]
struct SettledBill {
    /// Its own, rounded down.
    rounded: i128,
    /// What rounding leaves of the node.
    rest: i128,
    /// Its part of that.
    part: i128,
}

/// Keeps the stretches in which intervals of one job run.
struct Listener<'a> {
    thresholds: &'a Thresholds,
    scheme: Scheme,
    tag: Option<u64>,
    shapes: &'a AllocationShapes,
    held: [i64; LEDGER_N],
    free: Vec<i64>,
    /// By resource, with what the job held.
    reported: [Vec<(i64, AlreadyReported)>; LEDGER_N],
}

impl Listener<'_> {
    fn change(&mut self, interval: &Interval, sign: i64) {
        if Some(u64::from(interval.tag)) == self.tag {
            for (held, amount) in self.held.iter_mut().zip(self.shapes.amounts(interval.shape)) {
                *held += sign * amount;
            }
        }
    }
}

impl Visit for Listener<'_> {
    const WANTS_INTERVALS: bool = true;

    fn stretch(&mut self, stretch: &TimeRange<'_>) {
        if self.held == [0; LEDGER_N] {
            return;
        }
        let (_, shares) = shares(stretch, self.thresholds, self.scheme, &mut self.free);
        for ((reported, share), held) in self.reported.iter_mut().zip(shares).zip(self.held) {
            match reported.last_mut() {
                Some((of, last)) if *of == held && last.share == share && last.until_s == stretch.from_s => {
                    last.until_s = stretch.until_s;
                }
                _ => {
                    let (from_s, until_s) = (stretch.from_s, stretch.until_s);
                    reported.push((held, AlreadyReported { from_s, until_s, share }));
                }
            }
        }
    }

    fn starts(&mut self, _: usize, interval: &Interval) {
        self.change(interval, 1);
    }

    fn ends(&mut self, _: usize, interval: &Interval) {
        self.change(interval, -1);
    }
}

fn instant(s: i64) -> String {
    // Fallback: never taken, seconds of a slice are of years that can be written.
    crate::time::instant::instant_text_s(s).unwrap_or_default()
}

impl Story<'_> {
    /// The lines of a node.
    fn node(
        &mut self,
        node: &InventoryNode,
        unit: usize,
        thresholds: &Thresholds,
        intervals: &[Interval],
        grid: &Grid,
    ) {
        let Some(unit) = self.basis.overhead.units.get(unit) else {
            return;
        };
        let mut listener = Listener {
            thresholds,
            scheme: self.basis.overhead.scheme,
            tag: self.tag,
            shapes: self.shapes,
            held: [0; LEDGER_N],
            free: Vec::new(),
            reported: Default::default(),
        };
        sweep(&node.history, intervals, self.shapes, grid, &mut listener);
        let settled = self.settled(node, thresholds, intervals, grid);
        for (((pool, counted), reported), settled) in POOLS.into_iter().zip(listener.reported).zip(settled) {
            let reported: Vec<(i64, AlreadyReported)> = reported.into_iter().filter(|(held, _)| *held > 0).collect();
            if reported.is_empty() {
                continue;
            }
            let what = counted.trim_end_matches(" s");
            let key = OverheadBill {
                options: options(unit),
                pool: pool.to_owned(),
            };
            let lines = self.lines.entry(key.clone()).or_default();
            for (nth, (held, of)) in reported.iter().enumerate() {
                let span_s = of.until_s - of.from_s;
                let share = of.share;
                // Fallback: where nobody uses anything there is no rate, and nobody is billed.
                let rate = rate(share.billable, share.used).unwrap_or(0);
                let billed = rate * i128::from(span_s) * i128::from(*held);
                if nth < LISTED_N {
                    lines.push(format!(
                        "{} {} to {}: {held} of {} {what} held, {} overhead, {} stranded, {} billable of {}: rate {}, \
                         times {held} {what} times {span_s} s = {}",
                        node.name,
                        instant(of.from_s),
                        instant(of.until_s),
                        share.used,
                        share.overhead,
                        share.stranded,
                        share.billable,
                        share.capacity,
                        amount(rate, RATE_PLACES),
                        amount(billed, RATE_PLACES),
                    ));
                }
            }
            if reported.len() > LISTED_N {
                lines.push(format!("{}: {} stretches more", node.name, reported.len() - LISTED_N));
            }
            let shown = |e9| amount(e9, BILL_PLACES);
            if settled.part > 0 {
                lines.push(format!(
                    "{}: rounded down to {BILL_PLACES} places {}; of {} that rounding leaves of the node, its part by what is \
                     billed: {}",
                    node.name,
                    shown(settled.rounded),
                    shown(settled.rest),
                    shown(settled.part),
                ));
            }
            *self.sums.entry(key).or_default() += settled.rounded + settled.part;
        }
    }

    /// What the job is billed on a node in a period of charges, by resource.
    fn settled(
        &self,
        node: &InventoryNode,
        thresholds: &Thresholds,
        intervals: &[Interval],
        grid: &Grid,
    ) -> [SettledBill; LEDGER_N] {
        let scheme = self.basis.overhead.scheme;
        let bill = node_bill(&node.history, intervals, self.shapes, grid, thresholds, scheme);
        let own = |billed: &[[i128; LEDGER_N]]| {
            let mut sums = [0; LEDGER_N];
            let pairs = intervals.iter().zip(billed);
            for (_, billed) in pairs.filter(|(interval, _)| Some(u64::from(interval.tag)) == self.tag) {
                for (sum, billed) in sums.iter_mut().zip(billed) {
                    *sum += billed;
                }
            }
            sums
        };
        let (rest, rounded) = (bill.rest, own(&bill.billed));
        let mut settled = [SettledBill::default(); LEDGER_N];
        let each = settled
            .iter_mut()
            .zip(rest)
            .zip(rounded)
            .zip(own(&bill.shared(intervals)));
        for (((of, rest), rounded), billed) in each {
            *of = SettledBill {
                rounded,
                rest,
                part: billed - rounded,
            };
        }
        settled
    }

    /// The lines, with their sums.
    fn end(mut self) -> Result<OverheadLines> {
        for (key, sum) in self.sums {
            let sum = amount(sum, BILL_PLACES);
            let lines = self.lines.get_mut(&key);
            let lines = lines.ok_or_else(|| Error::internal("a sum of nothing"))?;
            lines.push(format!("sum = {sum}"));
        }
        Ok(self.lines)
    }
}
