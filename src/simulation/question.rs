//! What is simulated: jobs, the machine, and the scheduler.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::group_limits::{LimitRequest, limited};
use super::input::SimulationInput;
use super::log_priorities::log_priorities;
use super::shared_kind::{BURST_BUFFER, SharedKind};
use super::stated_priorities::StatedPriorities;
use crate::error::{Error, Kind, Result};
use crate::simulate::jobs::JobList;
use crate::simulate::machine::{Machine, ResourceKind};
use crate::simulate::settings::{BaseOrder, Settings};
use crate::simulate::swf::SwfLog;
use crate::simulate::trace::{SwfRules, Trace};
use crate::simulate::window::WindowSettings;
use crate::simulate::window::decide::Tradeoff;
use crate::simulate::window::method::Method;
use crate::simulate::workload::{
    BurstBufferPool, LARGE_SSD_GB, SMALL_SSD_GB, TB_GB, Workload, WorkloadDraw, WorkloadKinds,
};

/// What the machine is given as for nodes with the large local storage.
const LARGE_SSD: &str = "large_ssd_nodes";
/// The largest request of burst buffer that the paper states for its logs, gigabytes.
const MOST_BURST_BUFFER_GB: i64 = 285 * TB_GB;

/// Which time is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum MeasuredTime {
    /// From the first submission to the last end.
    #[default]
    Whole,
    /// From the first submission to the last, without half a month at each end, in which the machine fills and empties.
    Inner,
}

/// What becomes of the times in which nodes of a lake took no jobs, or only those of a reservation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum MachineOutages {
    /// They take none in the simulation either, or only those.
    #[default]
    Recorded,
    /// All nodes take jobs at all times.
    None,
}

/// What is simulated.
#[derive(Clone, Debug)]
pub struct SimulationQuestion {
    /// Kinds of resources; none takes the number of processors of the log's header, or the nodes of the lake's inventory.
    pub machine: Vec<ResourceKind>,
    /// What is added to it.
    pub added: Vec<ResourceKind>,
    /// What becomes of outages.
    pub outages: MachineOutages,
    /// How jobs are made of lines.
    pub rules: SwfRules,
    /// The methods, in the order of the report.
    pub methods: Vec<Method>,
    /// The scheduler, without a window.
    pub scheduler: Settings,
    /// What is stated of priorities, for the order of them.
    pub priorities: StatedPriorities,
    /// Limits of users, accounts, partitions and QOS.
    pub limits: Vec<LimitRequest>,
    /// The window of those that have one.
    pub window: WindowSettings,
    /// When one point of a front replaces another.
    pub decision: Tradeoff,
    /// Requests that are drawn for the jobs.
    pub workload: Option<Workload>,
    /// What drawn requests and random searches depend on.
    pub seed: u64,
    /// Which time is measured.
    pub measured: MeasuredTime,
}

impl SimulationQuestion {
    /// The jobs and the machine of a log.
    ///
    /// # Errors
    /// [`Kind::Config`] when the machine is unknown or impossible, or the workload cannot be drawn; [`Kind::Data`] when the
    /// log has no job.
    pub fn input(&self, log: &SwfLog) -> Result<SimulationInput> {
        let mut notes = Vec::new();
        let machine = self.machine(log, &mut notes)?;
        let mut trace = Trace::of_swf(log, self.rules)?;
        if trace.jobs.is_empty() {
            let why = match log.problems.first() {
                Some(problem) => format!(
                    "the log has no job that can be simulated; line {}: {}",
                    problem.line, problem.reason
                ),
                None => "the log has no job that can be simulated".to_owned(),
            };
            return Err(Error::new(Kind::Data, why));
        }
        if log.has_burst_buffer() && machine.kind(BURST_BUFFER) != Some(1) {
            notes.push(format!(
                "the burst buffer that jobs of the log request is ignored: add --machine {BURST_BUFFER}=N"
            ));
            trace.jobs = trace.jobs.changed(|job| job.need = job.need.with(1, 0))?;
        }
        if let Some(workload) = self.workload {
            self.draw(workload, &mut trace, &machine, &mut notes)?;
        }
        let trace = trace.on(&machine)?;
        trace.check_any("lines")?;
        let mut input = SimulationInput {
            trace,
            machine,
            multifactor: None,
            limits: None,
            notes,
            lake: None,
        };
        limited(&self.limits, &mut input)?;
        input.note_outcomes("lines");
        self.note_unrequested(&mut input);
        if self.scheduler.base == BaseOrder::Multifactor {
            input.multifactor = Some(Arc::new(log_priorities(&self.priorities, &mut input)?));
        }
        let notes = &mut input.notes;
        for problem in log.problems.iter().take(3) {
            notes.push(format!("line {} is not read: {}", problem.line, problem.reason));
        }
        if log.unread_column_n > 0 {
            notes.push(format!(
                "column 19 of {} lines is not read: where it is the requested burst buffer in GB, the header states it by `; BurstBuffer: GB`",
                log.unread_column_n
            ));
        }
        if log.fraction_n > 0 {
            notes.push(format!(
                "{} numbers with a fraction were cut to whole ones",
                log.fraction_n
            ));
        }
        Ok(input)
    }

    fn machine(&self, log: &SwfLog, notes: &mut Vec<String>) -> Result<Machine> {
        let mut kinds = self.machine.clone();
        let large = kinds.iter().position(|kind| kind.name == LARGE_SSD);
        let large = large.map(|at| kinds.remove(at));
        if kinds.is_empty() {
            let stated = log.header.max_procs.or(log.header.max_nodes);
            let Some(capacity) = stated.filter(|capacity| *capacity > 0) else {
                return Err(Error::config(
                    "the header of the log states neither MaxProcs nor MaxNodes: state the machine, such as --machine processors=100",
                ));
            };
            notes.push(format!("the machine has the {capacity} processors of the header"));
            kinds.push(ResourceKind {
                name: "processors".to_owned(),
                capacity,
            });
        }
        self.add_to(&mut kinds)?;
        if let Some(other) = kinds.iter().skip(1).find(|kind| kind.name != BURST_BUFFER) {
            return Err(Error::config(format!(
                "no job of such a log requests {}: the kinds are the processors, under any name, {BURST_BUFFER} and {LARGE_SSD}",
                other.name
            )));
        }
        let machine = Machine::new(kinds)?;
        let has_ssd = self
            .workload
            .is_some_and(|workload| workload.small_ssd_per_million().is_some());
        let large_n = match large {
            Some(large) => large.capacity,
            None if has_ssd => machine.capacity().first() / 2,
            None => return Ok(machine),
        };
        machine.with_ssd(large_n, SMALL_SSD_GB, LARGE_SSD_GB)
    }

    /// Notes the kinds of resources that the question states and no job requests: they limit nothing.
    pub(super) fn note_unrequested(&self, input: &mut SimulationInput) {
        let stated: BTreeSet<&str> = (self.machine.iter().chain(&self.added))
            .map(|kind| kind.name.as_str())
            .collect();
        for name in stated {
            let kind = input.machine.kind(name).filter(|kind| *kind > 0);
            let is_requested = |kind: usize| input.trace.jobs.iter().any(|job| job.need.get(kind) > 0);
            if kind.is_some_and(|kind| !is_requested(kind)) {
                input
                    .notes
                    .push(format!("no job requests {name}: it is no limit of any of them"));
            }
        }
    }

    /// Gives a machine the kinds that the question adds and a cluster has as a whole, with nothing of them yet.
    pub(super) fn add_shared_to(&self, kinds: &mut Vec<ResourceKind>) {
        for added in &self.added {
            let is_there = kinds.iter().any(|kind| kind.name == added.name);
            if !is_there && SharedKind::named(&added.name).is_some() {
                kinds.push(ResourceKind {
                    name: added.name.clone(),
                    capacity: 0,
                });
            }
        }
    }

    /// Adds to a machine what the question adds.
    ///
    /// # Errors
    /// [`Kind::Config`] for a kind that the machine does not have.
    pub(super) fn add_to(&self, kinds: &mut [ResourceKind]) -> Result<()> {
        let names: Vec<String> = kinds.iter().map(|kind| kind.name.clone()).collect();
        for added in &self.added {
            let Some(kind) = kinds.iter_mut().find(|kind| kind.name == added.name) else {
                let why = format!(
                    "nothing can be added to {}: the machine has {}; state it by --machine {}=N",
                    added.name,
                    names.join(", "),
                    added.name
                );
                return Err(Error::config(why));
            };
            crate::amounts::add(&mut kind.capacity, added.capacity, "machine")?;
        }
        Ok(())
    }

    pub(super) fn draw(
        &self,
        workload: Workload,
        trace: &mut Trace,
        machine: &Machine,
        notes: &mut Vec<String>,
    ) -> Result<()> {
        let Some(burst_buffer) = machine.kind(BURST_BUFFER).filter(|kind| *kind > 0) else {
            return Err(Error::config(format!(
                "the workload {} needs burst buffer: add --machine {BURST_BUFFER}=N",
                workload.word()
            )));
        };
        let mut stated = Vec::new();
        JobList::from(&trace.jobs).each(|_, job| {
            // What is not requested is above no amount, and never drawn.
            stated.extend(Some(job.need.get(burst_buffer)).filter(|gb| *gb > 0));
        });
        let pool = if stated.is_empty() {
            let most_gb = MOST_BURST_BUFFER_GB.min(machine.capacity().get(burst_buffer));
            notes.push(format!(
                "no job of the log requests burst buffer: requests of {} are drawn log-uniformly, from {} to {most_gb} GB",
                workload.word(),
                workload.burst_buffer_above_gb() + 1
            ));
            BurstBufferPool::LogUniform { most_gb }
        } else {
            BurstBufferPool::Requests(stated)
        };
        let kinds = WorkloadKinds {
            burst_buffer,
            large_ssd: machine.ssd().map(|ssd| ssd.large_kind),
        };
        let draw = WorkloadDraw::new(workload, &pool, kinds, self.seed)?;
        trace.jobs = trace.jobs.changed(|job| draw.give(job))?;
        Ok(())
    }

    /// The settings of a method.
    #[must_use]
    pub fn settings(&self, method: Method, input: &SimulationInput) -> Settings {
        let machine = &input.machine;
        let like = WindowSettings {
            second: machine.kind(BURST_BUFFER).map(|_| BURST_BUFFER.to_owned()),
            ..self.window.clone()
        };
        Settings {
            multifactor: input.multifactor.clone(),
            limits: input.limits.clone(),
            window: method.window(machine.ssd().is_some(), self.decision, &like),
            ..self.scheduler.clone()
        }
    }
}
