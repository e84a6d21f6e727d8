//! A verifier of schedules that knows nothing of how they were made: it has the jobs, the machine and the starts alone.

use std::collections::BTreeMap;

use super::demand::Demand;
use super::job::Job;
use super::machine::Machine;
use super::predecessor::{Predecessor, PredecessorEvent};
use super::schedule::Schedule;
use super::verify_reserved::check_reserved;
use crate::numbers::index;

/// A job of a schedule, as a file of it has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Number of the job.
    pub id: i64,
    /// When it starts.
    pub start_s: i64,
    /// When it ends.
    pub end_s: i64,
    /// How many nodes with the large local storage it takes.
    pub large_node_n: i64,
}

/// What is wrong with a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The jobs do not have this one.
    UnknownJob(i64),
    /// A job is in the schedule more often than in the jobs.
    StartsTwice(i64),
    /// A job is not in the schedule.
    NeverStarts(i64),
    /// A job starts before it is submitted.
    BeforeSubmission(i64),
    /// A job starts before those it waits for have started or ended, and their pauses are over.
    BeforePredecessor(i64),
    /// A job ends earlier or later than its run time states.
    OtherDuration(i64),
    /// From a time on more is used than the machine has.
    OverCapacity {
        /// When.
        at_s: i64,
        /// The kind of resource.
        kind: usize,
        /// How much is used.
        used: i64,
    },
    /// A job starts although less takes jobs then than is used with it.
    OnUnavailable {
        /// When.
        at_s: i64,
        /// The kind of resource.
        kind: usize,
        /// How much is used.
        used: i64,
    },
    /// A job of a reservation starts while that is not in force.
    OutsideReservation(i64),
    /// A job starts in a reservation although less takes its jobs then than they use with it.
    BeyondReservation {
        /// When.
        at_s: i64,
        /// The place of the reservation.
        reservation: u32,
        /// The kind of resource.
        kind: usize,
        /// How much is used.
        used: i64,
    },
    /// The amounts of the schedule are not those of the jobs.
    NotConserved {
        /// The kind of resource.
        kind: usize,
    },
}

/// What was found out about a schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// What is wrong, in the order of jobs, then of time.
    pub violations: Vec<Violation>,
    /// For each kind of resource the most that is used at a time.
    pub peak: Demand,
    /// For each kind of resource, amount times seconds of all placements.
    pub used_s: Vec<i128>,
}

/// The placements of a schedule of these jobs.
#[must_use]
pub fn placements(jobs: &[Job], schedule: &Schedule) -> Vec<Placement> {
    let started = schedule.started(jobs).map(|started| Placement {
        id: started.job.id,
        start_s: started.start.start_s,
        end_s: started.end_s(),
        large_node_n: started.start.large_node_n,
    });
    started.collect()
}

/// Holds placements against jobs and machine: every job once, not before it may start, as long as it runs, and never more at a
/// time than there is. Of jobs with the same number any placement of that number may belong to any.
#[must_use]
pub fn verify(jobs: &[Job], machine: &Machine, placements: &[Placement]) -> Verification {
    let mut found = Verification::default();
    let matched = match_up(jobs, placements, &mut found.violations);
    check_times(jobs, placements, &matched, &mut found.violations);
    sweep(jobs, machine, placements, &matched, &mut found);
    if !machine.reservations().is_empty() {
        check_reserved(jobs, machine, placements, &matched, &mut found.violations);
    }
    for (kind, used_s) in (0..machine.kinds().len()).zip(&found.used_s) {
        let is_large_ssd = machine.ssd().is_some_and(|ssd| ssd.large_kind == kind);
        let stated_s: i128 = jobs
            .iter()
            .map(|job| i128::from(job.need.get(kind)) * i128::from(job.run_s))
            .sum();
        let is_whole = found.violations.is_empty();
        if is_whole && !is_large_ssd && stated_s != *used_s {
            found.violations.push(Violation::NotConserved { kind });
        }
    }
    found
}

/// The place of the job of each placement, where there is one.
fn match_up(jobs: &[Job], placements: &[Placement], violations: &mut Vec<Violation>) -> Vec<Option<u32>> {
    let mut places: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
    for (at, job) in (0..).zip(jobs) {
        places.entry(job.id).or_default().push(at);
    }
    for same in places.values_mut() {
        same.reverse();
    }
    let mut matched = Vec::with_capacity(placements.len());
    for placement in placements {
        let same = places.get_mut(&placement.id);
        let place = match same {
            None => {
                violations.push(Violation::UnknownJob(placement.id));
                None
            }
            Some(same) => {
                // Of several the one that ran as long, else the first.
                let length_s = placement.end_s - placement.start_s;
                let at = same.iter().rposition(|place| jobs[index(*place)].run_s == length_s);
                match at {
                    Some(at) => Some(same.remove(at)),
                    None => same.pop(),
                }
            }
        };
        if place.is_none() && places.contains_key(&placement.id) {
            violations.push(Violation::StartsTwice(placement.id));
        }
        matched.push(place);
    }
    let missing = places.iter().filter(|(_, left)| !left.is_empty());
    violations.extend(missing.map(|(id, _)| Violation::NeverStarts(*id)));
    matched
}

fn check_times(jobs: &[Job], placements: &[Placement], matched: &[Option<u32>], violations: &mut Vec<Violation>) {
    let mut first = BTreeMap::new();
    for placement in placements {
        first.entry(placement.id).or_insert(placement);
    }
    for (placement, place) in placements.iter().zip(matched) {
        let Some(job) = place.and_then(|place| jobs.get(index(place))) else {
            continue;
        };
        if placement.start_s < job.submit_s {
            violations.push(Violation::BeforeSubmission(job.id));
        }
        let is_over = |one: &Predecessor| {
            let before = first.get(&one.id);
            let since_s = before.map(|before| match one.event {
                PredecessorEvent::Start => before.start_s,
                PredecessorEvent::End => before.end_s,
            });
            since_s.is_none_or(|since_s| since_s + one.pause_s <= placement.start_s)
        };
        let mut all = job.after.each.iter();
        let is_allowed = if job.after.is_any {
            all.len() == 0 || all.any(is_over)
        } else {
            all.all(is_over)
        };
        if !is_allowed {
            violations.push(Violation::BeforePredecessor(job.id));
        }
        if placement.end_s - placement.start_s != job.run_s {
            violations.push(Violation::OtherDuration(job.id));
        }
    }
}

/// An amount that is taken or given back; what is given back comes first in a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    at_s: i64,
    is_start: bool,
    amounts: Demand,
}

fn sweep(jobs: &[Job], machine: &Machine, placements: &[Placement], matched: &[Option<u32>], found: &mut Verification) {
    let mut changes = Vec::with_capacity(placements.len() * 2);
    for (placement, place) in placements.iter().zip(matched) {
        let Some(job) = place.and_then(|place| jobs.get(index(place))) else {
            continue;
        };
        let amounts = match machine.ssd() {
            Some(ssd) => job.need.with(ssd.large_kind, placement.large_node_n),
            None => job.need,
        };
        if placement.end_s > placement.start_s {
            changes.extend(
                [(placement.start_s, true), (placement.end_s, false)].map(|(at_s, is_start)| Change {
                    at_s,
                    is_start,
                    amounts,
                }),
            );
        }
    }
    changes.sort_unstable();
    let kind_n = machine.kinds().len();
    found.used_s = vec![0; kind_n];
    let mut used = Demand::NOTHING;
    let mut is_over = vec![false; kind_n];
    let mut started = Demand::NOTHING;
    let mut before_s = changes.first().map_or(0, |change| change.at_s);
    for (at, change) in changes.iter().enumerate() {
        for (sum, used) in found.used_s.iter_mut().zip(used.amounts()) {
            *sum += i128::from(used) * i128::from(change.at_s - before_s);
        }
        before_s = change.at_s;
        if change.is_start {
            used.add(&change.amounts);
            started.add(&change.amounts);
        } else {
            used.take(&change.amounts);
        }
        if changes.get(at + 1).is_some_and(|next| next.at_s == change.at_s) {
            continue;
        }
        let available = machine.capacity().without(&machine.unavailable_at(change.at_s));
        let started_now = std::mem::take(&mut started);
        for (kind, over) in is_over.iter_mut().enumerate() {
            let now = used.get(kind);
            if now > found.peak.get(kind) {
                found.peak = found.peak.with(kind, now);
            }
            let was_over = std::mem::replace(over, now > machine.capacity().get(kind));
            if *over && !was_over {
                found.violations.push(Violation::OverCapacity {
                    at_s: change.at_s,
                    kind,
                    used: now,
                });
            }
            // Jobs that ran before an outage stay; none may be added. What is reserved is held apart, by its own check.
            let is_one = machine.reservations().is_empty();
            if is_one && !*over && started_now.get(kind) > 0 && now > available.get(kind) {
                found.violations.push(Violation::OnUnavailable {
                    at_s: change.at_s,
                    kind,
                    used: now,
                });
            }
        }
    }
}
