//! What nodes could still have run under a schedule: the sweep of the node ledger over jobs that were put on nodes.

use crate::error::{Error, Kind, Result};
use crate::numbers::{count_u64, index};
use crate::occupancy::{
    AllocationShapes, CapacityState, Grid, History, Interval, LEDGER_N, NodeLoad, Slices, TimeRange, Visit, sweep,
    tally_all,
};
use crate::overhead::node_inventory::InventoryNode;
use crate::overhead::node_units::SiteUnits;
use crate::runtime::column::Column;
use crate::runtime::sorter::Sorter;
use crate::simulate::schedule::Schedule;
use crate::time::{SecondSpan, Zone};

use super::input::SimulationInput;
use super::lake_source::LakeSource;
use super::ledger_nodes::LedgerNodes;
use super::placement::{Placed, PlacedJob, place};

/// What a canonical unit came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitLedger {
    /// Name of the unit.
    pub unit: String,
    /// Nodes it is for of which the inventory does not state everything that it takes.
    pub unknown_node_n: u64,
    /// What was free on the others.
    free: FreeUnits,
}

impl UnitLedger {
    /// What was free of it; `None` where that is not known of all nodes it is for.
    #[must_use]
    pub fn free(&self) -> Option<&FreeUnits> {
        Some(&self.free).filter(|_| self.unknown_node_n == 0)
    }
}

/// What was free of a canonical unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FreeUnits {
    /// Units times seconds that were free.
    pub unit_s: i128,
    /// Units times threshold, resource-seconds of cores, memory and GPUs.
    pub overhead: [i128; LEDGER_N],
    /// Free and of no use to the unit.
    pub stranded: [i128; LEDGER_N],
}

/// The nodes of a machine under a schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeLedger {
    /// By canonical unit, in the order of the pipeline.
    pub units: Vec<UnitLedger>,
    /// Resource-seconds of cores, memory and GPUs that there are.
    pub capacity: [i128; LEDGER_N],
    /// What jobs were given.
    pub allocated: [i128; LEDGER_N],
    /// Not allocated while nodes were down, drained or reserved, or set aside for the system.
    pub unavailable: [i128; LEDGER_N],
    /// Seconds of nodes that took jobs and had none.
    pub idle_node_s: i128,
    /// Jobs that are in no ledger: under one of the schedules they have no place on the nodes.
    pub without_n: u64,
}

/// Times that jobs are placed again without those that had no place.
const TRIES_N: usize = 8;

/// Bytes of jobs on nodes that are in memory.
const MEMORY_BYTE: usize = 16 << 20;

/// Jobs of a schedule in the order of their starts, as they are put on nodes; those that never start hold nothing.
fn placed_jobs(input: &SimulationInput, source: &LakeSource, schedule: &Schedule) -> Result<Column<PlacedJob>> {
    let unknown = || Error::internal("a job of a lake that the lake does not have");
    let budget = schedule.starts.budget();
    let mut jobs = Sorter::new(budget);
    let mut known_jobs = source.jobs.reader();
    for (place, (job, start)) in (0_u32..).zip(input.trace.jobs.iter().zip(&schedule.starts)) {
        let known = known_jobs.of(&job).ok_or_else(unknown)?;
        let start_s = start.map_or(i64::MAX - job.run_s, |start| start.start_s);
        jobs.push(PlacedJob {
            start_s,
            end_s: start_s + job.run_s,
            place,
            node_n: crate::schema::batch::addend(known.node_n),
            amounts: known.held.clone(),
            reservation: job.reservation,
        })?;
    }
    Column::of(jobs.finish()?, budget)
}

/// Sweeps the nodes of a lake under several schedules of the same jobs, for a span. A job that has no place under one of them is
/// left out of all: their differences are not those of the jobs in them.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when nodes and jobs do not belong together.
pub(crate) fn node_ledgers(
    input: &SimulationInput,
    source: &LakeSource,
    nodes: &LedgerNodes,
    schedules: &[&Schedule],
    span: SecondSpan,
    zone: &Zone,
) -> Result<Vec<NodeLedger>> {
    let mut jobs = Vec::with_capacity(schedules.len());
    for schedule in schedules {
        jobs.push(placed_jobs(input, source, schedule)?);
    }
    let job_n = input.trace.jobs.len();
    let mut is_out = vec![false; job_n];
    for schedule in schedules {
        for (is_out, start) in is_out.iter_mut().zip(&schedule.starts) {
            *is_out |= start.is_none();
        }
    }
    for _ in 0..TRIES_N {
        let placed = jobs.iter().map(|jobs| place(jobs, &is_out, nodes));
        let placed: Vec<Placed> = placed.collect::<Result<_>>()?;
        let without: Vec<u32> = placed
            .iter()
            .flat_map(|placed| placed.without.iter().copied())
            .collect();
        if without.is_empty() {
            let without_n = count_u64(is_out.iter().filter(|is_out| **is_out).count());
            let ledgers = placed.iter().map(|placed| {
                let ledger = node_ledger(source, &nodes.nodes, placed, span, zone)?;
                Ok(NodeLedger {
                    without_n: ledger.without_n + without_n,
                    ..ledger
                })
            });
            return ledgers.collect();
        }
        for place in without {
            if let Some(is_out) = is_out.get_mut(index(place)) {
                *is_out = true;
            }
        }
    }
    Err(Error::new(
        Kind::Data,
        "the nodes of the inventory have no place for the jobs however many are left out: the inventory is not of this cluster",
    ))
}

fn node_ledger(
    source: &LakeSource,
    nodes: &[InventoryNode],
    placed: &Placed,
    span: SecondSpan,
    zone: &Zone,
) -> Result<NodeLedger> {
    let mut ledger = NodeLedger::default();
    let mut shapes = AllocationShapes::new(source.resources.width());
    let mut slices = Slices::new([span]).within(MEMORY_BYTE);
    for part in &placed.parts {
        let held = SecondSpan {
            start_s: part.start_s.max(span.start_s),
            end_s: part.end_s.min(span.end_s),
        };
        if held.is_empty() {
            continue;
        }
        let shape = shapes.number(&part.amounts, false);
        let shape = shape.ok_or_else(|| Error::internal("more different shapes of jobs than can be distinguished"))?;
        if slices.admit(part.node, held, NodeLoad::of(&part.amounts)).is_empty() {
            slices.push(part.node, held, shape, 0)?;
        } else {
            ledger.without_n += 1;
        }
    }
    let slice = slices.slice(0, nodes.len())?;
    let grid = Grid::new(zone, slice.from_s(), slice.until_s());
    let units = SiteUnits::of(nodes, &source.overhead, &source.resources);
    let mut of_node = Vec::with_capacity(nodes.len());
    for nth in 0..nodes.len() {
        of_node.push(units.node(nth)?);
    }
    let owned: Vec<History> = nodes.iter().map(|node| node.history.clone()).collect();
    let unasked = crate::occupancy::NodeQuery {
        units: &[],
        scheme: source.overhead.scheme,
    };
    let ask = |nth: usize| {
        let query = of_node
            .get(nth)
            .map_or(unasked, |units| units.question(&source.overhead));
        (nth, query)
    };
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    let (totals, _) = tally_all(slice, &owned, &shapes, &grid, ask, threads)?;
    ledger.units = (source.overhead.units.iter())
        .map(|unit| UnitLedger {
            unit: unit.name.clone(),
            ..UnitLedger::default()
        })
        .collect();
    for (totals, units) in totals.iter().zip(&of_node) {
        for number in &units.unknown_units {
            if let Some(unit) = ledger.units.get_mut(*number) {
                unit.unknown_node_n += 1;
            }
        }
        for day in &totals.days {
            add(&mut ledger.capacity, &day.capacity);
            add(&mut ledger.allocated, &day.allocated);
            add(&mut ledger.unavailable, &day.down);
            add(&mut ledger.unavailable, &day.reserved);
            for (number, sums) in units.numbers.iter().zip(&day.units) {
                if let Some(unit) = ledger.units.get_mut(*number) {
                    unit.free.unit_s += sums.unit_s;
                    add(&mut unit.free.overhead, &sums.overhead);
                    add(&mut unit.free.stranded, &sums.stranded);
                }
            }
        }
    }
    let mut idle = IdleTime::default();
    slice.each_node(|nth, intervals| {
        if let Some(history) = owned.get(nth) {
            sweep(history, intervals, &shapes, &grid, &mut idle);
        }
    })?;
    ledger.idle_node_s = idle.node_s;
    Ok(ledger)
}

/// Sums of a node stay far within 128 bits: amounts have 50 bits and a slice 31 bits of seconds.
fn add(sums: &mut [i128; LEDGER_N], more: &[i128; LEDGER_N]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}

/// Time in which a node takes jobs and has none.
#[derive(Default)]
struct IdleTime {
    node_s: i128,
}

impl Visit for IdleTime {
    const WANTS_INTERVALS: bool = false;

    fn stretch(&mut self, stretch: &TimeRange<'_>) {
        let is_idle = stretch.used.iter().all(|used| *used == 0);
        if stretch.state == CapacityState::Up && is_idle && stretch.capacity.iter().any(|has| *has > 0) {
            self.node_s += i128::from(stretch.until_s - stretch.from_s);
        }
    }

    fn starts(&mut self, _nth: usize, _interval: &Interval) {}
}
