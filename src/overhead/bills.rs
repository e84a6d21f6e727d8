//! What every job is billed of its nodes: charges by one more kind of policy, which the pipeline's `billing` names.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::bill::Bill;
use super::bill_spill::PackedBill;
use super::facts::VERSION;
use super::job_amounts::EVERYTHING;
use super::node_units::NodeUnits;
use super::stage::DuePeriod;
use crate::config::Plan;
use crate::config::overhead_plan::OverheadPlan;
use crate::occupancy::{AllocationShapes, Grid, History, Interval, LEDGER_N, Resource, Scheme, Unit, bill};
use crate::record::SiteMonth;
use crate::store::{Publication, lake};
use crate::time::calendar::Period;
use crate::time::{Calendar, SecondSpan, Zone};

/// Pools of the resources of the ledger, and what is counted in them.
pub(crate) const POOLS: [(&str, &str); LEDGER_N] = [("core", "core s"), ("memory", "byte s"), ("gpu", "gpu s")];

/// The id of a scheme's policy.
pub(crate) fn policy_id(scheme: Scheme) -> String {
    format!("node-share/{}", scheme.as_str())
}

/// Whether a policy is one of these.
pub(crate) fn is_policy(id: &str) -> bool {
    id.starts_with("node-share/")
}

/// A canonical unit as the options of a policy: its name and its thresholds.
pub(crate) fn options(unit: &Unit) -> String {
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
pub(crate) fn policies(plan: &Plan) -> Vec<[String; 8]> {
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

/// A period of charges.
pub(crate) struct BillPiece {
    pub(crate) period: Period,
    pub(crate) span: SecondSpan,
    pub(crate) grid: Grid,
}

impl BillPiece {
    /// The pieces of a slice, in order.
    pub(crate) fn of_slice(slice: SecondSpan, calendar: &mut Calendar, zone: &Zone) -> Vec<Self> {
        let mut pieces = Vec::new();
        let mut at_s = slice.start_s;
        while at_s < slice.end_s
            // Fallback: a second beyond the milliseconds of 63 bits is in no period.
            && let Some(period) = calendar.period(at_s.saturating_mul(1000))
        {
            let until_s = (period.until_ms / 1000).min(slice.end_s);
            pieces.push(Self {
                period,
                span: SecondSpan {
                    start_s: at_s,
                    end_s: until_s,
                },
                grid: Grid::new(zone, at_s, until_s),
            });
            at_s = until_s;
        }
        pieces
    }

    /// What runs in it of the intervals of a slice that begins at `slice_from_s`.
    pub(crate) fn part(&self, slice_from_s: i64, intervals: &[Interval]) -> Vec<Interval> {
        let from_s = self.span.start_s - slice_from_s;
        let until_s = self.span.end_s - slice_from_s;
        let mut part: Vec<Interval> = Vec::new();
        for interval in intervals {
            let start_s = i64::from(interval.start_s).max(from_s);
            let end_s = i64::from(interval.end_s).min(until_s);
            if start_s < end_s {
                part.push(Interval {
                    // Fallback: never taken, a slice has 31 bits of seconds, and the part begins within it.
                    start_s: u32::try_from(start_s - from_s).unwrap_or(0),
                    // Fallback: never taken, it ends within the slice as well.
                    end_s: u32::try_from(end_s - from_s).unwrap_or(0),
                    ..*interval
                });
            }
        }
        part
    }
}

/// Bills the nodes of a slice.
pub(crate) struct Biller<'a> {
    pub(crate) overhead: &'a OverheadPlan,
    slice_from_s: i64,
    pub(crate) period: Period,
    pub(crate) pieces: Vec<BillPiece>,
    /// Units in the order of their options: their places in the plan.
    pub(crate) ranks: Vec<usize>,
    pub(crate) calendar: Calendar,
}

impl<'a> Biller<'a> {
    pub(crate) fn new(plan: &'a Plan, overhead: &'a OverheadPlan, due: DuePeriod) -> Self {
        let mut calendar = Calendar::new(plan.calendar_zone.clone(), plan.grain, plan.allocation_year_start);
        let pieces = if overhead.is_charged {
            BillPiece::of_slice(due.span, &mut calendar, &plan.calendar_zone)
        } else {
            Vec::new()
        };
        let mut ranks: Vec<usize> = (0..overhead.units.len()).collect();
        ranks.sort_by_key(|at| overhead.units.get(*at).map(options));
        Self {
            overhead,
            slice_from_s: due.span.start_s,
            period: due.period,
            pieces,
            ranks,
            calendar,
        }
    }

    fn rank(&self, unit: usize) -> u16 {
        let rank = self.ranks.iter().position(|of| *of == unit);
        // Fallback: never taken, a pipeline has fewer units than 16 bits count.
        rank.and_then(|rank| u16::try_from(rank).ok()).unwrap_or(u16::MAX)
    }

    /// What the jobs of a node are billed: a job may have several bills of the same unit and piece.
    pub(crate) fn node(
        &self,
        history: &History,
        intervals: &[Interval],
        shapes: &AllocationShapes,
        units: &NodeUnits<'_>,
    ) -> PackedBill {
        let mut bills = PackedBill::default();
        let unknown = history.known.iter().take(LEDGER_N).enumerate();
        let unknown = unknown.fold(0_u8, |bits, (at, known)| if *known { bits } else { bits | 1 << at });
        for (nth, piece) in (0_u16..).zip(&self.pieces) {
            let part = piece.part(self.slice_from_s, intervals);
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
            for (unit, thresholds) in units.numbers.iter().zip(&units.thresholds) {
                let scheme = self.overhead.scheme;
                let billed = bill(history, &part, shapes, &piece.grid, thresholds, scheme);
                for (interval, billed) in part.iter().zip(billed) {
                    bills.push(&of(interval, *unit, unknown, billed));
                }
            }
            for unit in &units.unknown_units {
                for interval in &part {
                    bills.push(&of(interval, *unit, EVERYTHING, [0; LEDGER_N]));
                }
            }
        }
        bills
    }
}

impl Biller<'_> {
    /// The bills of a job of which nothing is known: by every unit that may be for it.
    pub(crate) fn nothing(&self, tag: u32, held: SecondSpan, partition: Option<&str>) -> Vec<Bill> {
        let mut bills = Vec::new();
        for (rank, unit) in (0_u16..).zip(&self.ranks) {
            let unit = self.overhead.units.get(*unit);
            if unit.is_none_or(|unit| !unit.is_for(partition.as_slice())) {
                continue;
            }
            for (nth, piece) in (0_u16..).zip(&self.pieces) {
                if held.overlaps(piece.span) {
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
}

/// Takes away what jobs are billed in the sites and periods that `is_gone` names.
pub(crate) fn remove(publication: &Publication, is_gone: impl Fn(&str, (crate::time::Day, i64)) -> bool) {
    let paths: BTreeSet<String> = ["job_charges", "charge_part"]
        .into_iter()
        .flat_map(|dataset| publication.paths(dataset))
        .collect();
    for path in paths {
        if let (Some(period), Some(SiteMonth { site, .. })) =
            (lake::parse_bill_path(&path), lake::parse_month_path(&path))
            && is_gone(&site, period)
        {
            publication.remove(&path);
        }
    }
}
