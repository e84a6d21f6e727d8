//! What every job is billed of its nodes: charges by one more kind of policy, which the pipeline's `billing` names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use arrow::array::{RecordBatch, UInt32Array};

use super::jobs::{Columns, EVERYTHING, span};
use super::plan::OverheadPlan;
use super::stage::{Asking, Due};
use super::{READ_ROWS, RecordFile, Sweep};
use crate::charge::policy::Subject;
use crate::error::{Error, Result};
use crate::occupancy::billing::BILL_PLACES;
use crate::occupancy::{Grid, History, Interval, LEDGER_N, Resource, Scheme, Shapes, Unit, bill};
use crate::pipeline::Plan;
use crate::schema::batch::{dates, decimals, int, ints, number, text, texts, time, word};
use crate::store::lake::{self, LakeTable};
use crate::store::{Publication, read_table};
use crate::summarise::charges::{RECORDED, job_charges, part};
use crate::time::calendar::Period;
use crate::time::{Calendar, Month};

/// Version of the rules below; a change of what a job is billed is another version.
pub(in crate::pipeline) const VERSION: &str = "1";
/// Pools of the resources of the ledger, and what is counted in them.
pub(super) const POOLS: [(&str, &str); LEDGER_N] = [("core", "core s"), ("memory", "byte s"), ("gpu", "gpu s")];

/// Place of the GPUs.
const GPU: usize = 2;

/// The id of a scheme's policy.
pub(in crate::pipeline) fn policy_id(scheme: Scheme) -> String {
    format!("node-share/{}", scheme.as_str())
}

/// Whether a policy is one of these.
pub(in crate::pipeline) fn is_policy(id: &str) -> bool {
    id.starts_with("node-share/")
}

/// A canonical unit as the options of a policy: its name and its thresholds.
pub(super) fn options(unit: &Unit) -> String {
    let mut text = format!("unit={}", unit.name);
    for (resource, amount) in &unit.thresholds {
        let name = match resource {
            Resource::Core => "core",
            Resource::Memory => "memory_byte",
            Resource::Gpu => "gpu",
            Resource::GpuModel(model) => model,
        };
        // Writing to a string cannot fail.
        let _ = write!(text, " {name}={amount}");
    }
    text
}

/// The rows of `policy`: id, version, options, title, source, pool, unit and text.
pub(in crate::pipeline) fn policies(plan: &Plan) -> Vec<[String; 8]> {
    let Some(overhead) = plan.overhead.as_ref().filter(|overhead| overhead.is_charged) else {
        return Vec::new();
    };
    let shared = match overhead.scheme {
        Scheme::OverheadAware => "(allocated + stranded) / allocated: overhead is the provider's loss",
        Scheme::UsageOnly => "1: all that is not used is the provider's loss",
        Scheme::WholeNode => "(allocated + stranded + overhead) / allocated: jobs share the node",
    };
    let mut rows = Vec::new();
    for unit in &overhead.units {
        for (pool, counted) in POOLS {
            rows.push([
                policy_id(overhead.scheme),
                VERSION.to_owned(),
                options(unit),
                format!("Shares of nodes, {pool}: {}", overhead.scheme.as_str()),
                "Andrijauskas, Sfiligoi, Wuerthwein: Defining a canonical unit for accounting purposes, section 3.3"
                    .to_owned(),
                pool.to_owned(),
                counted.to_owned(),
                format!(
                    "On every node and at every instant the rate of a resource is {shared}. A job is billed what it holds \
                     times the integral of the rate over its life, rounded to 10^-9; what rounding leaves of a node and \
                     period is shared in proportion, so that its jobs pay together what is billable there."
                ),
            ]);
        }
    }
    rows
}

/// A period that charges are told by.
struct Piece {
    period: Period,
    from_s: i64,
    until_s: i64,
    grid: Grid,
}

/// What one job is billed on one node, or on all of them, in one piece and by one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bill {
    tag: u32,
    /// Rank of the unit by its options.
    unit: u16,
    piece: u16,
    /// Resources whose bill is not known, a bit each.
    unknown: u8,
    /// Held, resource-seconds.
    held: [i128; LEDGER_N],
    /// Billed, in units of 10^-9.
    billed: [i128; LEDGER_N],
}

impl Bill {
    fn key(&self) -> (u32, u16, u16) {
        (self.tag, self.unit, self.piece)
    }
}

/// Adds up bills of the same job, unit and piece.
fn add_up(bills: &mut Vec<Bill>) {
    bills.sort_unstable_by_key(Bill::key);
    bills.dedup_by(|next, kept| {
        if next.key() != kept.key() {
            return false;
        }
        kept.unknown |= next.unknown;
        for at in 0..LEDGER_N {
            for (sums, more) in [(&mut kept.held, next.held), (&mut kept.billed, next.billed)] {
                if let (Some(sum), Some(more)) = (sums.get_mut(at), more.get(at)) {
                    *sum += more;
                }
            }
        }
        true
    });
}

/// Bills the nodes of a slice.
pub(super) struct Biller<'a> {
    overhead: &'a OverheadPlan,
    slice_from_s: i64,
    period: Period,
    pieces: Vec<Piece>,
    /// Units in the order of their options: their places in the plan.
    ranks: Vec<usize>,
    calendar: Calendar,
}

impl<'a> Biller<'a> {
    pub(super) fn new(plan: &'a Plan, overhead: &'a OverheadPlan, due: &Due) -> Self {
        let (period, (from_s, until_s)) = *due;
        let mut calendar = Calendar::new(plan.calendar_zone.clone(), plan.grain, plan.allocation_year_start);
        let mut pieces = Vec::new();
        let mut at_s = from_s;
        while overhead.is_charged
            && at_s < until_s
            && let Some(period) = calendar.period(at_s.saturating_mul(1000))
        {
            let until_s = (period.until_ms / 1000).min(until_s);
            pieces.push(Piece {
                period,
                from_s: at_s,
                until_s,
                grid: Grid::new(&plan.calendar_zone, at_s, until_s),
            });
            at_s = until_s;
        }
        let mut ranks: Vec<usize> = (0..overhead.units.len()).collect();
        ranks.sort_by_key(|at| overhead.units.get(*at).map(options));
        Self {
            overhead,
            slice_from_s: from_s,
            period,
            pieces,
            ranks,
            calendar,
        }
    }

    fn rank(&self, unit: usize) -> u16 {
        let rank = self.ranks.iter().position(|of| *of == unit);
        rank.and_then(|rank| u16::try_from(rank).ok()).unwrap_or(u16::MAX)
    }

    /// What the jobs of a node are billed.
    pub(super) fn node(
        &self,
        history: &History,
        intervals: &[Interval],
        shapes: &Shapes,
        asking: &Asking<'_>,
    ) -> Vec<Bill> {
        let mut bills = Vec::new();
        let unknown = history.known.iter().take(LEDGER_N).enumerate();
        let unknown = unknown.fold(0_u8, |bits, (at, known)| if *known { bits } else { bits | 1 << at });
        for (nth, piece) in (0_u16..).zip(&self.pieces) {
            let (from_s, until_s) = (piece.from_s - self.slice_from_s, piece.until_s - self.slice_from_s);
            let mut part: Vec<Interval> = Vec::new();
            for interval in intervals {
                let start_s = i64::from(interval.start_s).max(from_s);
                let end_s = i64::from(interval.end_s).min(until_s);
                if start_s < end_s {
                    part.push(Interval {
                        start_s: u32::try_from(start_s - from_s).unwrap_or(0),
                        end_s: u32::try_from(end_s - from_s).unwrap_or(0),
                        ..*interval
                    });
                }
            }
            let of = |interval: &Interval, unit: usize, unknown: u8, billed: [i128; LEDGER_N]| {
                let mut held = [0; LEDGER_N];
                for (held, amount) in held.iter_mut().zip(shapes.amounts(interval.shape)) {
                    *held = i128::from(*amount) * i128::from(interval.end_s - interval.start_s);
                }
                Bill {
                    tag: interval.tag,
                    unit: self.rank(unit),
                    piece: nth,
                    unknown,
                    held,
                    billed,
                }
            };
            for (unit, thresholds) in asking.numbers.iter().zip(&asking.thresholds) {
                let scheme = self.overhead.scheme;
                let billed = bill(history, &part, shapes, &piece.grid, thresholds, scheme);
                let of_unit = part.iter().zip(billed);
                bills.extend(of_unit.map(|(interval, billed)| of(interval, *unit, unknown, billed)));
            }
            for unit in &asking.unknown_units {
                bills.extend(
                    part.iter()
                        .map(|interval| of(interval, *unit, EVERYTHING, [0; LEDGER_N])),
                );
            }
        }
        add_up(&mut bills);
        bills
    }
}

/// The bills of a slice.
pub(super) struct Bills<'a> {
    bills: Vec<Bill>,
    unbilled: &'a BTreeMap<u32, u8>,
}

/// Columns of `job_charges` that are worked out, one value a row.
#[derive(Default)]
struct Rows {
    record: Vec<u32>,
    pool: Vec<usize>,
    unit: Vec<usize>,
    piece: Vec<usize>,
    counts: Vec<bool>,
    core_s: Vec<i128>,
    gpu_s: Vec<i128>,
    charge: Vec<Option<i128>>,
    why: Vec<Option<&'static str>>,
}

const WHY_JOB: &str = "its nodes, or what it was given on them, cannot be told";
const WHY_NODE: &str = "what its node has is not known";

impl<'a> Bills<'a> {
    /// Those of all nodes, and the jobs that cannot be billed.
    pub(super) fn new(of_nodes: Vec<Vec<Bill>>, unbilled: &'a BTreeMap<u32, u8>) -> Self {
        let mut bills: Vec<Bill> = of_nodes.into_iter().flatten().collect();
        add_up(&mut bills);
        Self { bills, unbilled }
    }

    /// Stages what the jobs are charged, in the order of the records they were read from.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be read or written.
    pub(super) fn publish(
        &self,
        sweep: &Sweep<'_>,
        biller: &Biller<'_>,
        site: &str,
        (files, bases): (&[RecordFile], &[(usize, u64)]),
    ) -> Result<()> {
        let place = (biller.period.month, biller.period.allocation_year);
        remove(sweep.publication, |of, period| of == site && period == place);
        let (Some(first), Some(last)) = (biller.pieces.first(), biller.pieces.last()) else {
            return Ok(());
        };
        let columns: Vec<&str> = RECORDED.iter().copied().chain(TOLD).collect();
        let provenance = [("gridtally.pipeline".to_owned(), sweep.plan.name.clone())];
        let mut parts = Vec::new();
        for (nth, base) in bases {
            let Some(file) = files.get(*nth) else { continue };
            let mut spans = [file.reach.span, file.reach.loose].into_iter().flatten();
            if !spans.any(|(start_s, end_s)| start_s < last.until_s && first.from_s < end_s) {
                continue;
            }
            let path = lake::bill_path("job_charges", site, file.month, place);
            let mut table: Option<LakeTable<'_>> = None;
            let mut tag = *base;
            for batch in read_table(sweep.store.reader(&file.place)?, Some(&columns), READ_ROWS)? {
                let batch = batch?;
                let rows = self.rows(&batch, tag, biller)?;
                tag += u64::try_from(batch.num_rows()).unwrap_or(0);
                if rows.record.is_empty() {
                    continue;
                }
                let charged = biller.batch(&batch, &rows)?;
                parts.push(part(std::slice::from_ref(&charged))?);
                let table = match &mut table {
                    Some(table) => table,
                    none => none.insert(LakeTable::create(sweep.publication, "job_charges", &path)?),
                };
                table.write(&charged)?;
            }
            if let Some(table) = table {
                table.finish(&provenance)?;
            }
        }
        if let Some(month) = Month::of_day(place.0).filter(|_| !parts.is_empty()) {
            let path = lake::bill_path("charge_part", site, month, place);
            let mut table = LakeTable::create(sweep.publication, "charge_part", &path)?;
            table.write(&part(&parts)?)?;
            table.finish(&provenance)?;
        }
        Ok(())
    }

    /// The rows of a batch of records, of which the first has this number.
    fn rows(&self, batch: &RecordBatch, tag: u64, biller: &Biller<'_>) -> Result<Rows> {
        let columns = Columns::of(batch)?;
        let (end, partition) = (time(batch, "end_utc")?, text(batch, "partition")?);
        let gpu = int(batch, "alloc_gpu_n")?;
        let mut rows = Rows::default();
        for (row, tag) in (0..batch.num_rows()).zip(tag..) {
            let tag = u32::try_from(tag).map_err(|why| Error::internal("too many jobs").because(why))?;
            let Some(held) = span(&columns, row) else { continue };
            let unbilled = self.unbilled.get(&tag).copied().unwrap_or(0);
            // Jobs without GPUs do not mention them.
            let has_gpu = number(gpu, row).unwrap_or(0) > 0;
            let from = self.bills.partition_point(|bill| bill.tag < tag);
            let of_job = self.bills.iter().skip(from).take_while(|bill| bill.tag == tag);
            let of_job: Vec<Bill> = if unbilled == EVERYTHING {
                biller.nothing(tag, held, word(partition, row))
            } else {
                of_job.copied().collect()
            };
            for bill in of_job {
                let piece = biller.pieces.get(usize::from(bill.piece));
                let is_end = piece.zip(number(end, row)).is_some_and(|(piece, end_ms)| {
                    let last_s = (end_ms - 1).div_euclid(1000);
                    piece.from_s <= last_s && last_s < piece.until_s
                });
                let [core_s, _, gpu_s] = bill.held;
                for (at, (billed, held)) in bill.billed.into_iter().zip(bill.held).enumerate() {
                    let (is_of_job, is_of_node) = (unbilled >> at & 1 == 1, bill.unknown >> at & 1 == 1);
                    // A job that holds none of it is not charged for it.
                    let is_none = held == 0 && (!is_of_job || (at == GPU && !has_gpu));
                    if is_none {
                        continue;
                    }
                    let why = match (is_of_job, is_of_node) {
                        (true, _) => Some(WHY_JOB),
                        (_, true) => Some(WHY_NODE),
                        _ => None,
                    };
                    rows.record.push(u32::try_from(row).unwrap_or(u32::MAX));
                    rows.pool.push(at);
                    rows.unit.push(bill.unit.into());
                    rows.piece.push(bill.piece.into());
                    rows.counts.push(is_end);
                    rows.core_s.push(core_s);
                    rows.gpu_s.push(gpu_s);
                    rows.charge.push(why.is_none().then_some(billed));
                    rows.why.push(why);
                }
            }
        }
        Ok(rows)
    }
}

/// Columns of `records` that say when and where a job ran and are no columns of `job_charges`.
const TOLD: [&str; 8] = [
    "alloc_gpu_n",
    "submit_utc",
    "eligible_utc",
    "start_utc",
    "end_utc",
    "wall_s",
    "suspended_s",
    "node_list",
];

impl Biller<'_> {
    /// The bills of a job of which nothing is known: by every unit that may be for it.
    fn nothing(&self, tag: u32, (start_s, end_s): (i64, i64), partition: Option<&str>) -> Vec<Bill> {
        let mut bills = Vec::new();
        for (rank, unit) in (0_u16..).zip(&self.ranks) {
            let unit = self.overhead.units.get(*unit);
            if unit.is_none_or(|unit| !unit.is_for(partition.as_slice())) {
                continue;
            }
            for (nth, piece) in (0_u16..).zip(&self.pieces) {
                if start_s < piece.until_s && piece.from_s < end_s {
                    bills.push(Bill {
                        tag,
                        unit: rank,
                        piece: nth,
                        unknown: EVERYTHING,
                        held: [0; LEDGER_N],
                        billed: [0; LEDGER_N],
                    });
                }
            }
        }
        bills
    }

    fn batch(&self, records: &RecordBatch, rows: &Rows) -> Result<RecordBatch> {
        let unit = |rank: &usize| {
            let unit = self.ranks.get(*rank).and_then(|at| self.overhead.units.get(*at));
            unit.map(options)
        };
        let pieces = || {
            rows.piece
                .iter()
                .map(|nth| self.pieces.get(*nth).map(|piece| &piece.period))
        };
        let pools = || rows.pool.iter().map(|at| POOLS.get(*at));
        let id = policy_id(self.overhead.scheme);
        let every = |text: &str| texts(rows.record.iter().map(|_| Some(text)));
        let count = |is_priced: bool| {
            let rows = rows.counts.iter().zip(&rows.charge);
            ints(rows.map(|(is_end, charge)| Some(i64::from(*is_end && charge.is_some() == is_priced))))
        };
        let amount = |amounts: &[i128]| {
            let amounts = amounts.iter().map(|amount| i64::try_from(*amount).ok());
            amounts.collect::<Option<Vec<i64>>>()
        };
        let too_large = || Error::new(crate::error::Kind::Data, "what a job held is larger than can be stored");
        let core_s = amount(&rows.core_s).ok_or_else(too_large)?;
        let gpu_s = amount(&rows.gpu_s).ok_or_else(too_large)?;
        let places = i8::try_from(BILL_PLACES).unwrap_or(0);
        let made = [
            ("subject", every(Subject::Jobs.as_str())),
            ("pool", texts(pools().map(|pool| pool.map(|pool| pool.0)))),
            ("policy", every(&id)),
            ("policy_version", every(VERSION)),
            ("options", texts(rows.unit.iter().map(unit))),
            ("unit", texts(pools().map(|pool| pool.map(|pool| pool.1)))),
            (
                "allocation_year",
                ints(pieces().map(|period| period.map(|period| period.allocation_year))),
            ),
            (
                "year_s",
                ints(pieces().map(|period| self.calendar.year_s(period?.allocation_year))),
            ),
            ("month", dates(pieces().map(|period| period.map(|period| period.month)))),
            ("day", dates(pieces().map(|period| period?.day))),
            ("job_n", count(true)),
            ("unpriced_job_n", count(false)),
            ("alloc_core_s", ints(core_s.into_iter().map(Some))),
            ("alloc_gpu_s", ints(gpu_s.into_iter().map(Some))),
            ("charge", decimals(rows.charge.iter().copied(), places)?),
            ("why_unpriced", texts(rows.why.iter().copied())),
            ("correction_id", texts(rows.why.iter().map(|_| None::<&str>))),
        ];
        job_charges(&[records], &UInt32Array::from(rows.record.clone()), &made)
    }
}

/// Takes away what jobs are billed in the sites and periods that `is_gone` names.
pub(super) fn remove(publication: &Publication, is_gone: impl Fn(&str, (crate::time::Day, i64)) -> bool) {
    let paths: BTreeSet<String> = ["job_charges", "charge_part"]
        .into_iter()
        .flat_map(|dataset| publication.paths(dataset))
        .collect();
    for path in paths {
        if let (Some(period), Some((site, _))) = (lake::parse_bill_path(&path), lake::parse_month_path(&path))
            && is_gone(&site, period)
        {
            publication.remove(&path);
        }
    }
}
