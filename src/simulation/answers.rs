//! What no simulator has: what a schedule comes to in charges, awards, free canonical units and energy, next to what happened.

use super::charged::{LakeCharging, ScheduleCharges};
use super::input::SimulationInput;
use super::lake_source::LakeSource;
use super::moved_records::SimulatedRecords;
use super::node_ledger::{NodeLedger, node_ledgers};
use super::run::Simulation;
use super::shared_kind::SharedKind;
use crate::error::{Error, Kind, Result};
use crate::lake::calendar_fact::rule;
use crate::numbers::Extent;
use crate::simulate::jobs::Jobs;
use crate::simulate::metrics::{AbnormalRule, Interval, JobMeasures};
use crate::simulate::replay::{recorded, started_in_both};
use crate::simulate::schedule::Schedule;
use crate::store::{Manifest, Store};
use crate::time::SecondSpan;

/// Energy of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnergySums {
    /// Jobs whose energy is recorded.
    pub known_n: u64,
    /// Energy of what they ran within the measured span, millijoules; it is spread evenly over a run, and each part is rounded down.
    pub within_mj: i128,
    /// Energy of all they ran, joules.
    pub all_j: i128,
}

/// What happened to the jobs that start under a method: no other is compared.
#[derive(Clone, Debug, Default)]
pub struct RecordedPart {
    /// Their waits.
    pub jobs: JobMeasures,
    /// Their charges and awards.
    pub charged: ScheduleCharges,
    /// Jobs that ran and never start under the method.
    pub never_start_n: u64,
}

/// One schedule.
#[derive(Clone, Debug, Default)]
pub struct ScheduleAnswer {
    /// The method, or `recorded`.
    pub word: &'static str,
    /// Waits of the jobs that start.
    pub jobs: JobMeasures,
    /// Charges and awards; empty where the lake charges nothing.
    pub charged: ScheduleCharges,
    /// What happened to the same jobs.
    pub recorded: RecordedPart,
    /// Nodes; none where the lake lists none.
    pub nodes: Option<NodeLedger>,
    /// Energy.
    pub energy: EnergySums,
}

/// All schedules: what happened, then the methods.
#[derive(Clone, Debug)]
pub struct Answers {
    /// By schedule.
    pub schedules: Vec<ScheduleAnswer>,
    /// The span that nodes and energy are measured in: from the first submission to the last recorded end.
    pub span: SecondSpan,
    /// What somebody who reads the figures must know.
    pub notes: Vec<String>,
}

impl Answers {
    /// Works them out for a simulation of jobs of a lake.
    ///
    /// # Errors
    /// [`Kind::Usage`] for jobs of a log; [`Kind::Data`] when a sum does not fit, or the lake does not state its calendar;
    /// [`Kind::Io`].
    pub fn of(store: &Store, manifest: &Manifest, simulation: &Simulation) -> Result<Self> {
        let input = &simulation.input;
        let Some(source) = &input.lake else {
            let why = "charges, awards, overhead and energy are of jobs of a lake: a log states none of them";
            return Err(Error::new(Kind::Usage, why));
        };
        let jobs = &input.trace.jobs;
        let before = recorded(jobs)?.schedule;
        let Interval { from_s, until_s } = Interval::whole(jobs, &before);
        let span = SecondSpan {
            start_s: from_s,
            end_s: until_s,
        };
        let mut schedules: Vec<(&'static str, &Schedule)> = vec![("recorded", &before)];
        let simulated = simulation.runs.iter().filter(|run| run.word != "recorded");
        schedules.extend(simulated.map(|run| (run.word, &run.schedule)));
        let mut notes = Vec::new();
        let only: Vec<&Schedule> = schedules.iter().map(|(_, schedule)| *schedule).collect();
        let parts = only.iter().map(|schedule| started_part(&before, schedule));
        let parts: Vec<Option<Schedule>> = parts.collect::<Result<_>>()?;
        let mut charged = if let Some(charging) = LakeCharging::of(store, manifest)? {
            notes.extend(charging.unreadable().iter().cloned());
            let records = SimulatedRecords::new(store, manifest, source, jobs)?;
            let all: Vec<&Schedule> = only.iter().copied().chain(parts.iter().flatten()).collect();
            charging.charge(&records, &source.site, &all)?
        } else {
            notes.push("the lake charges nothing: there are no charges to compare".to_owned());
            vec![ScheduleCharges::default(); only.len()]
        };
        let of_parts = charged.split_off(only.len());
        let zone = rule(&manifest.facts)?.zone;
        let listed = source.ledger_nodes.as_ref().filter(|listed| !listed.nodes.is_empty());
        let ledgers = match listed {
            None => vec![None; only.len()],
            Some(listed) => {
                let ledgers = node_ledgers(input, source, listed, &only, span, &zone)?;
                ledgers.into_iter().map(Some).collect()
            }
        };
        notes.extend(nodes_note(source));
        let without_n = ledgers
            .iter()
            .flatten()
            .map(|ledger: &NodeLedger| ledger.without_n)
            .max();
        if let Some(without_n) = without_n.filter(|n| *n > 0) {
            notes.push(format!(
                "{without_n} jobs have no place on the nodes of the inventory under one of the schedules: they are in no node ledger"
            ));
        }
        notes.extend(unknown_units(ledgers.iter().flatten().next()));
        let all = RecordedPart {
            jobs: measures(jobs, &before),
            charged: crate::absent::entry(charged.first().cloned()),
            never_start_n: 0,
        };
        let mut of_parts = of_parts.into_iter();
        let recorded = parts.iter().map(|part| match part {
            None => all.clone(),
            Some(part) => {
                let of_part = measures(jobs, part);
                RecordedPart {
                    never_start_n: all.jobs.job_n.less(of_part.job_n),
                    jobs: of_part,
                    charged: crate::absent::entry(of_parts.next()),
                }
            }
        });
        let mut answers = Vec::with_capacity(schedules.len());
        let found = schedules.into_iter().zip(charged).zip(ledgers).zip(recorded);
        for ((((word, schedule), charged), ledger), recorded) in found {
            answers.push(ScheduleAnswer {
                word,
                jobs: measures(jobs, schedule),
                charged,
                recorded,
                nodes: ledger,
                energy: energy(input, schedule, span),
            });
        }
        Ok(Self {
            schedules: answers,
            span,
            notes,
        })
    }
}

/// Notes where the nodes are not those of the machine.
fn nodes_note(source: &LakeSource) -> Option<String> {
    if source.nodes.nodes.is_empty() {
        return Some("the lake lists no nodes: free canonical units are not known".to_owned());
    }
    if source.ledger_nodes.is_none() {
        let why = "the machine is stated, and has no nodes: free canonical units are not known (they are of the nodes of the inventory, \
                   without --machine)";
        return Some(why.to_owned());
    }
    let added = source
        .added
        .iter()
        .filter(|kind| SharedKind::named(&kind.name).is_none());
    let added: Vec<String> = added.map(|kind| format!("{} {}", kind.capacity, kind.name)).collect();
    (!added.is_empty()).then(|| {
        format!(
            "free canonical units and idle nodes are of the nodes of the inventory: what is added ({}) is on none of them",
            added.join(", ")
        )
    })
}

/// Notes the canonical units of which it is not known how many were free; nodes are the same under all schedules.
fn unknown_units(ledger: Option<&NodeLedger>) -> Vec<String> {
    let units = ledger.into_iter().flat_map(|ledger| &ledger.units);
    let unknown = units.filter(|unit| unit.unknown_node_n > 0).map(|unit| {
        format!(
            "free units of {} are not known: of {} nodes the inventory does not state everything that such a unit takes",
            unit.unit, unit.unknown_node_n
        )
    });
    unknown.collect()
}

/// The recorded schedule with those jobs alone that start under another one; `None` where all do.
fn started_part(recorded: &Schedule, schedule: &Schedule) -> Result<Option<Schedule>> {
    let mut pairs = recorded.starts.iter().zip(&schedule.starts);
    if pairs.all(|(was, would)| was.is_none() || would.is_some()) {
        return Ok(None);
    }
    started_in_both(recorded, schedule).map(Some)
}

fn measures(jobs: &Jobs, schedule: &Schedule) -> JobMeasures {
    let mut sums = JobMeasures::default();
    for started in schedule.started(jobs) {
        sums.add(&started, &AbnormalRule::default());
    }
    sums
}

fn energy(input: &SimulationInput, schedule: &Schedule, span: SecondSpan) -> EnergySums {
    let mut sums = EnergySums::default();
    let Some(source) = &input.lake else { return sums };
    let mut jobs = source.jobs.reader();
    for started in schedule.started(&input.trace.jobs) {
        let energy_j = jobs.of(&started.job).and_then(|job| job.energy_j);
        let Some(energy_j) = energy_j.filter(|_| started.job.run_s > 0) else {
            continue;
        };
        let from_s = started.start.start_s.max(span.start_s);
        let within_s = (started.end_s().min(span.end_s) - from_s).max(0);
        sums.known_n += 1;
        sums.all_j += i128::from(energy_j);
        sums.within_mj += i128::from(energy_j) * 1000 * i128::from(within_s) / i128::from(started.job.run_s);
    }
    sums
}
