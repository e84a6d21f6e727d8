//! The overhead datasets: which of them a run has to make again, and how they are made.
//!
//! A site's months are swept in parallel, each by itself. A month is made again when jobs of the run reach into it, when
//! it is at an edge of what was published, or when nobody has made it; all of them when the settings or the machine
//! changed, and always when the capacity of nodes comes from jobs. Of the records only those files are read that overlap
//! such a month; what each of them spans is remembered by its hash.

pub mod bill;
mod bill_room;
mod bill_rows;
mod bill_spill;
pub(crate) mod bills;
mod check;
mod explain;
pub mod facts;
mod finding;
pub mod inventories;
pub(crate) mod job_amounts;
mod job_findings;
mod job_spans;
mod jobs;
pub(crate) mod lake_nodes;
mod listed_places;
pub mod node_energy;
mod node_history;
pub(crate) mod node_inventory;
mod node_life;
mod node_reservations;
mod node_spill;
pub(crate) mod node_units;
pub mod report;
pub mod sweep;

mod record_batches;
mod record_files;
pub(crate) mod rows;
mod site;
mod stage;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};

use tracing::{info, warn};

use self::job_spans::join;
use self::record_files::{displace, reach_of_touched, record_files, with_nodes};
use crate::config::Plan;
use crate::config::overhead_plan::NodesFrom;
use crate::error::Result;
use crate::lake::new_corrections;
use crate::lake::state::State;
use crate::occupancy::{Resources, Unit};
use crate::overhead::facts::to_fact;
use crate::overhead::inventories::{machine_of, periods};
use crate::overhead::node_inventory::NodeInventory;
use crate::overhead::report::{OverheadReport, UnlistedPartition};
use crate::overhead::stage::{DuePeriod, SweptSite};
use crate::overhead::sweep::{Basis, Sweep, SweepPlace, place, published, remove, settings};
use crate::record::SiteMonth;
use crate::reference::correction::Correction;
use crate::store::Fact;
use crate::time::{Day, SecondSpan};

pub(crate) use check::verify;
pub(crate) use explain::{OverheadBill, OverheadLines, explain};

/// Whether the datasets were made under other settings, or not at all.
pub(crate) fn is_changed(plan: &Plan, state: &State) -> bool {
    settings(plan).as_deref() != state.fact(Fact::Overhead)
}

/// Sites and months of records that a run works on.
type Partitions = BTreeMap<SiteMonth, Vec<Day>>;

/// Stages the datasets that change. `touched` are the sites and months whose records are new; `fresh` are new corrections,
/// by which jobs may have other payers now.
///
/// # Errors
/// [`crate::error::Kind::Config`] when the nodes an inventory lists cannot be determined,
/// [`crate::error::Kind::Data`] when a sum does not fit its column, [`crate::error::Kind::Io`] when the lake cannot be
/// read or written.
pub(crate) fn publish(
    sweep: &Sweep<'_>,
    state: &mut State,
    touched: &Partitions,
    fresh: &[Correction],
    is_rebuild: bool,
) -> Result<Option<OverheadReport>> {
    let published = published(sweep.publication);
    let corrected = new_corrections::touched(sweep.plan, fresh, state);
    let (Some(overhead), Some(settings)) = (&sweep.plan.overhead, settings(sweep.plan)) else {
        withdraw(sweep, state, &published);
        return Ok(None);
    };
    let resources = Resources::of(&overhead.units);
    let (machine, machine_hash, listings) = machine_of(sweep, &resources)?;
    let is_everything = is_rebuild
        || overhead.nodes == NodesFrom::Jobs
        || state.fact(Fact::Overhead) != Some(&settings)
        || state.fact(Fact::OverheadMachine) != Some(&machine_hash);
    if is_everything {
        bills::remove(sweep.publication, |_, _| true);
        report_gone(&machine);
    }
    let mut sites = record_files(sweep, state)?;
    let turned = displace(sweep, state, &mut sites, overhead.is_charged)?;
    let with_nodes = with_nodes(&sites);
    let mut report = OverheadReport {
        is_from_jobs: overhead.nodes == NodesFrom::Jobs,
        ..OverheadReport::default()
    };
    if overhead.nodes == NodesFrom::Inventory {
        report.unlisted_partitions = unlisted_partitions(&overhead.units, &machine);
    }
    for reach in sites.values().flatten().map(|file| &file.reach) {
        report.too_long_job_n += reach.too_long_n;
        let first = &mut report.first_too_long_job;
        *first = first.take().or_else(|| reach.first_too_long.clone());
    }
    let mut kept: BTreeSet<SweepPlace> = BTreeSet::new();
    for site in &with_nodes {
        let Some(files) = sites.get(site) else { continue };
        let of_site: Vec<&SweepPlace> = published.iter().filter(|place| place.site == *site).collect();
        let (zone, year_start) = (&sweep.plan.calendar_zone, sweep.plan.allocation_year_start);
        let spans = stretches(files.iter().filter_map(|file| file.reach.span));
        let periods: BTreeMap<_, _> = (spans.into_iter())
            .flat_map(|span| periods(zone, year_start, overhead, span))
            .map(|due| (due.period, due.span))
            .collect();
        kept.extend(periods.keys().map(|period| place(site, period)));
        let fresh = if is_everything {
            Some(SecondSpan::ALWAYS)
        } else {
            let of_others = files.iter().filter(|file| {
                let has_other_payers = corrected.contains(&SiteMonth::new(site.as_str(), file.month));
                let has_turned = turned.contains(&(site.clone(), file.month.first_day()));
                (overhead.is_charged && has_other_payers) || has_turned || file.has_other_refused
            });
            let spans = of_others.filter_map(|file| file.reach.all());
            spans.fold(reach_of_touched(sweep, site, files, touched)?, |all, span| {
                Some(join(all, span))
            })
        };
        let (first, last) = (of_site.first().copied(), of_site.last().copied());
        let due = periods.into_iter().filter(|(period, span)| {
            let place = place(site, period);
            let is_edge = fresh.is_some() && (first == Some(&place) || last == Some(&place));
            let is_fresh = fresh.is_some_and(|fresh| fresh.overlaps(*span));
            is_fresh || is_edge || !of_site.contains(&&place)
        });
        let due: Vec<_> = due.map(|(period, span)| DuePeriod { period, span }).collect();
        if !due.is_empty() {
            let machine = (overhead.nodes == NodesFrom::Inventory).then_some(&machine);
            let site = SweptSite {
                name: site,
                all: &with_nodes,
                files,
                machine,
            };
            site::publish(sweep, overhead, &resources, site, due, &mut report)?;
        }
    }
    for stale in published.difference(&kept) {
        remove(sweep.publication, stale);
    }
    bills::remove(sweep.publication, |site, (month, year)| {
        !kept.contains(&SweepPlace {
            site: site.to_owned(),
            month,
            allocation_year: year,
        })
    });
    if report.is_from_jobs && report.month_n > 0 {
        let note =
            "overhead: nodes = \"from-jobs\": what nodes have is the most that jobs held at one time, never more";
        info!("{note}");
    }
    let basis = Basis {
        overhead: overhead.clone(),
        calendar_timezone: sweep.plan.calendar_zone.name().to_owned(),
        allocation_year_start: sweep.plan.allocation_year_start,
        listings,
        complete: sweep.plan.complete.clone(),
    };
    state.set_fact(Fact::Overhead, Some(settings));
    state.set_fact(Fact::OverheadMachine, Some(machine_hash));
    state.set_fact(Fact::OverheadBasis, Some(to_fact(&basis)?));
    Ok(Some(report))
}

/// Units for partitions that no listing has: they are for no node.
fn unlisted_partitions(units: &[Unit], machine: &NodeInventory) -> Vec<UnlistedPartition> {
    let listed = machine.partitions();
    let partitions = units
        .iter()
        .flat_map(|unit| unit.partitions.iter().map(move |name| (unit, name)));
    partitions
        .filter(|(_, name)| !listed.contains(name.as_str()))
        .map(|(unit, name)| UnlistedPartition {
            unit: unit.name.clone(),
            partition: name.clone(),
        })
        .collect()
}

/// Takes away what was published of overhead, for a pipeline that has none any more.
fn withdraw(sweep: &Sweep<'_>, state: &mut State, published: &BTreeSet<SweepPlace>) {
    for place in published {
        remove(sweep.publication, place);
    }
    bills::remove(sweep.publication, |_, _| true);
    for fact in [
        Fact::Overhead,
        Fact::OverheadMachine,
        Fact::OverheadBasis,
        Fact::OverheadReach,
        Fact::OverheadDisplaced,
    ] {
        state.set_fact(fact, None);
    }
}

/// Reports the nodes that are no longer counted, because listings do not name them.
fn report_gone(machine: &NodeInventory) {
    let gone = machine.gone();
    let Some(first) = gone.first() else { return };
    // Fallback: never taken, the instants of listings can be written.
    let since = crate::time::instant::instant_text_s(first.since_s).unwrap_or_default();
    let cluster = first.cluster.as_deref().unwrap_or("the cluster");
    warn!(
        node_n = gone.len(),
        "overhead: {} nodes that later listings do not name are counted until then (first: {} of {cluster} until {since}); \
         if listings name only some of the nodes, set complete = false in their [[inventory]]",
        gone.len(),
        first.node,
    );
}

/// The time that these spans cover, in stretches. A pause in which a site has no jobs is part of one; years without any
/// are none of its months.
fn stretches(spans: impl Iterator<Item = SecondSpan>) -> Vec<SecondSpan> {
    const PAUSE_S: i64 = 2 * 366 * 86_400;
    let mut spans: Vec<SecondSpan> = spans.collect();
    spans.sort_unstable();
    let mut found: Vec<SecondSpan> = Vec::new();
    for span in spans {
        match found.last_mut() {
            // Fallback: spans are sorted, and a difference at the end of the type is no pause.
            Some(last) if span.start_s.saturating_sub(last.end_s) <= PAUSE_S => *last = last.joined(span),
            _ => found.push(span),
        }
    }
    found
}
