//! The jobs and the machine of a lake.

use std::sync::Arc;

use super::group_limits::limited;
use super::input::SimulationInput;
use super::lake_kind::LakeKind;
use super::lake_machine::{listed_kinds, node_sums};
use super::lake_priorities::lake_priorities;
use super::lake_reservations::{LakeReservations, ListedReservation};
use super::lake_rows::{LakeRows, LakeSelection, RowCounting};
use super::lake_source::LakeSource;
use super::lake_trace::lake_trace;
use super::ledger_nodes::LedgerNodes;
use super::question::{MachineOutages, SimulationQuestion};
use super::reserved_jobs::{FoundReservations, note_jobs, note_listed};
use super::reserved_records::find_by_nodes;
use super::shared_kind::SharedKind;
use crate::config::overhead_plan::{NodesFrom, OverheadPlan};
use crate::error::{Error, Kind, Result};
use crate::occupancy::{PRESETS, Resource, Resources, Scheme, Unit};
use crate::overhead::lake_nodes::{ClusterPlace, LakeNodes, basis, lake_nodes};
use crate::simulate::machine::{CapacityStep, Machine, ResourceKind};
use crate::simulate::reserved_pool::ReservedPool;
use crate::simulate::settings::BaseOrder;
use crate::store::{Manifest, Store};
use crate::time::SecondSpan;

/// The jobs and the machine of a cluster of a lake.
///
/// # Errors
/// [`Kind::Usage`] when several sites or clusters may be meant; [`Kind::Config`] when the machine is unknown or impossible;
/// [`Kind::Data`] when no record can be simulated; [`Kind::Io`].
pub fn lake_input(
    store: &Store,
    manifest: &Manifest,
    selection: &LakeSelection,
    question: &SimulationQuestion,
) -> Result<SimulationInput> {
    let mut remarks = Vec::new();
    let stated = &LakeKind::in_order(&question.machine)?;
    let models = LakeKind::models(stated);
    let overhead = basis(manifest).map_or_else(preset, |basis| basis.overhead);
    let resources = resources(&overhead.units, &models);
    let shared = SharedKind::among(&[stated.as_slice(), &question.added].concat());
    let counting = RowCounting {
        models: &models,
        resources: &resources,
        shared: &shared,
    };
    let mut rows = LakeRows::read(store, manifest, selection, counting)?;
    let place = ClusterPlace {
        site: &rows.site,
        cluster: rows.cluster.as_deref(),
        clusters: &rows.clusters,
    };
    let nodes = lake_nodes(store, manifest, &resources, place)?;
    let span = span(&rows)?;
    let listed = LakeReservations::read(store, manifest, place)?;
    let of_nodes = if stated.is_empty() {
        let asked = ListedMachine {
            rows: &rows,
            nodes: &nodes,
            resources: &resources,
            span,
            reservations: &listed,
        };
        machine_of_nodes(&asked, question.outages, &mut remarks)?
    } else {
        MachineOfNodes {
            kinds: stated.clone(),
            ..MachineOfNodes::default()
        }
    };
    let found = FoundReservations {
        by_nodes_n: find_by_nodes(store, manifest, &mut rows, &of_nodes.whole_reservations)?,
        is_simulated: of_nodes.reservations.is_some(),
    };
    let reservations = crate::absent::entry(of_nodes.reservations.clone());
    let ledger_nodes = stated.is_empty().then(|| match question.outages {
        MachineOutages::None => LedgerNodes::always_up(&nodes.nodes),
        MachineOutages::Recorded => LedgerNodes::reserved(&nodes.nodes, &of_nodes.whole_reservations, &reservations),
    });
    let mut kinds = of_nodes.kinds;
    question.add_shared_to(&mut kinds);
    let lake_kinds = LakeKind::of_machine(&kinds)?;
    question.add_to(&mut kinds)?;
    let machine = Machine::new(kinds)?.with_steps(of_nodes.steps)?;
    let machine = machine.with_reservations(reservations)?;
    note_shared(&rows, &shared, &mut remarks);
    let made = lake_trace(&rows, &lake_kinds, of_nodes.reservations.as_deref())?;
    if made.waiting_n > 0 {
        remarks.push(format!(
            "{} jobs wait for others, by the commands that submitted them",
            made.waiting_n
        ));
    }
    let trace = made.trace.on(&machine)?;
    note_jobs(&rows, &listed, &trace.jobs, found, &mut remarks);
    trace.check_any("records").map_err(|why| why.at("site", &rows.site))?;
    let source = LakeSource {
        site: std::mem::take(&mut rows.site),
        cluster: rows.cluster.take(),
        jobs: made.jobs,
        kinds: lake_kinds,
        nodes,
        ledger_nodes,
        added: question.added.clone(),
        resources,
        overhead,
    };
    let mut input = SimulationInput {
        trace,
        machine,
        multifactor: None,
        limits: None,
        notes: remarks,
        lake: Some(source),
    };
    limited(&question.limits, &mut input)?;
    input.note_outcomes("records");
    question.note_unrequested(&mut input);
    if question.scheduler.base == BaseOrder::Multifactor {
        let priorities = lake_priorities(store, manifest, &question.priorities, &mut input)?;
        input.multifactor = Some(Arc::new(priorities));
    }
    Ok(input)
}

/// Notes burst buffer and licences of jobs that are no limit, since the machine is not stated to have them.
fn note_shared(rows: &LakeRows, shared: &[SharedKind], remarks: &mut Vec<String>) {
    let has_licenses = shared.iter().any(|kind| matches!(kind, SharedKind::License(_)));
    let has_buffer = shared.iter().any(|kind| !matches!(kind, SharedKind::License(_)));
    let [buffer_n, license_n] = rows.shared_n;
    for (job_n, is_counted, what, kind) in [
        (buffer_n, has_buffer, "burst buffer", "burst_buffer_gb=N"),
        (license_n, has_licenses, "licences", "licenses:NAME=N"),
    ] {
        if job_n > 0 && !is_counted {
            remarks.push(format!(
                "{job_n} jobs had {what}, which is no limit here: add --add {kind}"
            ));
        }
    }
}

/// Canonical units where the pipeline of a lake names none: a core with its memory, as the paper suggests.
fn preset() -> OverheadPlan {
    let units = PRESETS.iter().take(1).map(|(name, thresholds)| Unit {
        name: (*name).to_owned(),
        thresholds: thresholds.to_vec(),
        partitions: Vec::new(),
    });
    OverheadPlan {
        nodes: NodesFrom::Inventory,
        period: None,
        scheme: Scheme::default(),
        is_charged: false,
        units: units.collect(),
    }
}

/// What is followed of nodes: what canonical units and the machine name.
fn resources(units: &[Unit], models: &[String]) -> Resources {
    let mut units = units.to_vec();
    units.extend(models.iter().map(|model| Unit {
        name: model.clone(),
        thresholds: vec![(Resource::GpuModel(model.clone()), 1)],
        partitions: Vec::new(),
    }));
    Resources::of(&units)
}

/// From the first submission to the last end.
fn span(rows: &LakeRows) -> Result<SecondSpan> {
    let (mut first_s, mut last_s) = (None, None);
    for row in &rows.rows {
        first_s = first_s.into_iter().chain(row.submit_s).chain(row.start_s).min();
        last_s = last_s.max(row.end_s);
    }
    match (first_s, last_s) {
        (Some(first), Some(last)) if first < last => Ok(SecondSpan {
            start_s: first,
            end_s: last,
        }),
        _ => Err(Error::new(
            Kind::Data,
            "no record of the selection has a start and an end: there is nothing to simulate",
        )),
    }
}

/// What the machine of an inventory is made of.
struct ListedMachine<'a> {
    rows: &'a LakeRows,
    nodes: &'a LakeNodes,
    resources: &'a Resources,
    span: SecondSpan,
    reservations: &'a LakeReservations,
}

/// A machine as it is taken from a lake.
#[derive(Default)]
struct MachineOfNodes {
    kinds: Vec<ResourceKind>,
    steps: Vec<CapacityStep>,
    /// `None` where none is simulated.
    reservations: Option<Vec<ReservedPool>>,
    /// The listed times of those that have whole nodes.
    whole_reservations: Vec<ListedReservation>,
}

/// The machine that the nodes of the inventory make.
fn machine_of_nodes(
    asked: &ListedMachine<'_>,
    outages: MachineOutages,
    remarks: &mut Vec<String>,
) -> Result<MachineOfNodes> {
    let ListedMachine {
        rows,
        nodes,
        resources,
        span,
        reservations,
    } = *asked;
    let mut kinds = listed_kinds(nodes, resources, span)?;
    // What no job states is no limit for any.
    let is_stated = |kind: &ResourceKind| match kind.name.as_str() {
        "memory_mib" => rows.rows.iter().any(|row| row.memory_mib.is_some()),
        _ => true,
    };
    kinds.retain(is_stated);
    if kinds.first().is_none_or(|kind| kind.name != "cores") {
        return Err(Error::config(
            "the lake has no inventory of the nodes of this cluster: state the machine, such as --machine cores=1024, or \
             add an [[inventory]] to its pipeline",
        ));
    }
    let lake_kinds = LakeKind::of_machine(&kinds)?;
    let mut sums = node_sums(nodes, resources, &lake_kinds, &[], span, &reservations.listed)?;
    let amounts: Vec<String> = kinds
        .iter()
        .map(|kind| format!("{} {}", kind.capacity, kind.name))
        .collect();
    remarks.push(format!(
        "the machine is that of the inventory: {} nodes with {}",
        nodes.nodes.len(),
        amounts.join(", ")
    ));
    if nodes.overlapping_event_n > 0 {
        remarks.push(format!(
            "{} events of nodes begin before an earlier event of the same node has ended: what is down twice is down once",
            nodes.overlapping_event_n
        ));
    }
    let mut machine = MachineOfNodes {
        kinds,
        ..MachineOfNodes::default()
    };
    if outages == MachineOutages::None {
        if !sums.steps.is_empty() {
            remarks.push(format!(
                "{} times in which nodes took no jobs are left out: all take jobs at all times",
                sums.outage_n
            ));
        }
        return Ok(machine);
    }
    let has_outages = sums.outage_n > 0 || sums.reservations.is_empty();
    if has_outages && !sums.steps.is_empty() {
        let later = match sums.later_outage_n {
            0 => String::new(),
            later_n => format!(", {later_n} of them after the last recorded end"),
        };
        remarks.push(format!(
            "nodes took no jobs {} times{later} (down, drained, reserved): no job starts on them then",
            sums.outage_n
        ));
    }
    note_listed(reservations, &sums, remarks);
    machine.steps = std::mem::take(&mut sums.steps);
    machine.whole_reservations = sums.whole_reservations;
    machine.reservations = Some(sums.reservations);
    Ok(machine)
}
