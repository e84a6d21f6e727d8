//! A verifier of schedules that knows nothing of how they were made: it has the jobs, the machine and the starts alone.

use std::collections::{BTreeMap, BTreeSet};

use super::demand::Demand;
use super::job::Job;
use super::jobs::JobList;
use super::machine::Machine;
use super::predecessor::{Predecessor, PredecessorEvent};
use super::schedule::{Schedule, StartedJob};
use super::use_change::UseChange;
use super::verify_reserved::ReservedCheck;
use crate::error::Result;
use crate::numbers::index;
use crate::runtime::sorter::{SortedValues, Sorter};

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

impl Placement {
    fn of(started: &StartedJob) -> Self {
        Self {
            id: started.job.id,
            start_s: started.start.start_s,
            end_s: started.end_s(),
            large_node_n: started.start.large_node_n,
        }
    }
}

/// The placements of a schedule of these jobs.
#[must_use]
pub fn placements<'a>(jobs: impl Into<JobList<'a>>, schedule: &'a Schedule) -> Vec<Placement> {
    let started = schedule.started(jobs);
    started.map(|started| Placement::of(&started)).collect()
}

/// Holds placements against jobs and machine: every job once, not before it may start, as long as it runs, and never more at a
/// time than there is. Of jobs with the same number any placement of that number may belong to any. All are in memory.
///
/// # Errors
/// As [`verify_schedule`].
pub fn verify(jobs: &[Job], machine: &Machine, placements: &[Placement]) -> Result<Verification> {
    let mut violations = Vec::new();
    let matched = match_up(jobs, placements, &mut violations);
    let mut check = PlacementCheck::new(jobs.into(), machine);
    check.has_violation = !violations.is_empty();
    for placement in placements {
        check.know(placement);
    }
    let mut note = |violation| violations.push(violation);
    for (placement, place) in placements.iter().zip(&matched) {
        if let Some(job) = place.and_then(|place| jobs.get(index(place))) {
            check.add(job, placement, &mut note)?;
        }
    }
    let found = check.finish(jobs.into(), &mut note)?;
    Ok(Verification { violations, ..found })
}

/// What was found out about the schedule of a trace, whose starts belong to their jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleCheck {
    /// The first of what is wrong, but for jobs that never start.
    pub first: Option<Violation>,
    /// Jobs that never start.
    pub never_n: u64,
    /// Starts before the submission of their job, and starts before what it waits for.
    pub too_early_n: u64,
}

/// Holds a schedule against its jobs and the machine as [`verify`] does. What it takes of memory does not grow with the jobs, but
/// with those that wait for others.
///
/// # Errors
/// [`crate::error::Kind::Io`] when many starts cannot be put into a temporary file.
pub fn verify_schedule<'a>(
    jobs: impl Into<JobList<'a>>,
    machine: &Machine,
    schedule: &'a Schedule,
) -> Result<ScheduleCheck> {
    let jobs = jobs.into();
    let mut check = PlacementCheck::new(jobs, machine);
    for started in schedule.started(jobs) {
        check.know(&Placement::of(&started));
    }
    let mut found = ScheduleCheck::default();
    for start in &schedule.starts {
        found.never_n += u64::from(start.is_none());
    }
    check.has_violation = found.never_n > 0;
    let mut note = |violation: Violation| {
        let is_early = matches!(
            violation,
            Violation::BeforeSubmission(_) | Violation::BeforePredecessor(_)
        );
        found.too_early_n += u64::from(is_early);
        found.first.get_or_insert(violation);
    };
    for started in schedule.started(jobs) {
        check.add(&started.job, &Placement::of(&started), &mut note)?;
    }
    check.finish(jobs, &mut note)?;
    Ok(found)
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

/// Placements while they are held against their jobs.
struct PlacementCheck<'a> {
    machine: &'a Machine,
    /// Jobs that others wait for.
    named: BTreeSet<i64>,
    /// The first placement of each of those.
    first: BTreeMap<i64, Placement>,
    changes: Sorter<UseChange>,
    /// What is reserved, where anything is.
    reserved: Option<ReservedCheck<'a>>,
    has_violation: bool,
}

impl<'a> PlacementCheck<'a> {
    fn new(jobs: JobList<'_>, machine: &'a Machine) -> Self {
        let waiting = jobs.dependents();
        let named = waiting.values().flat_map(|after| after.each.iter().map(|one| one.id));
        let has_reservations = !machine.reservations().is_empty();
        Self {
            machine,
            named: named.collect(),
            first: BTreeMap::new(),
            changes: Sorter::new(jobs.budget().part()),
            reserved: has_reservations.then(|| ReservedCheck::new(machine, jobs.budget().part())),
            has_violation: false,
        }
    }

    /// All placements are known before the first is added.
    fn know(&mut self, placement: &Placement) {
        if self.named.contains(&placement.id) {
            self.first.entry(placement.id).or_insert(*placement);
        }
    }

    fn add(&mut self, job: &Job, placement: &Placement, note: &mut impl FnMut(Violation)) -> Result<()> {
        let is_over = |one: &Predecessor| {
            let before = self.first.get(&one.id);
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
        let wrong = [
            (placement.start_s < job.submit_s).then_some(Violation::BeforeSubmission(job.id)),
            (!is_allowed).then_some(Violation::BeforePredecessor(job.id)),
            (placement.end_s - placement.start_s != job.run_s).then_some(Violation::OtherDuration(job.id)),
        ];
        for violation in wrong.into_iter().flatten() {
            self.has_violation = true;
            note(violation);
        }
        if let Some(reserved) = &mut self.reserved
            && let Some(violation) = reserved.add(job, placement)?
        {
            self.has_violation = true;
            note(violation);
        }
        if placement.end_s <= placement.start_s {
            return Ok(());
        }
        let amounts = match self.machine.ssd() {
            Some(ssd) => job.need.with(ssd.large_kind, placement.large_node_n),
            None => job.need,
        };
        for (at_s, is_start) in [(placement.start_s, true), (placement.end_s, false)] {
            self.changes.push(UseChange {
                at_s,
                is_start,
                amounts,
            })?;
        }
        Ok(())
    }

    /// What is used at every time, and whether the jobs have all of it.
    fn finish(self, jobs: JobList<'_>, note: &mut impl FnMut(Violation)) -> Result<Verification> {
        let mut is_whole = !self.has_violation;
        let mut note_any = |violation| {
            is_whole = false;
            note(violation);
        };
        let found = sweep(self.changes.finish()?, self.machine, &mut note_any);
        if let Some(reserved) = self.reserved {
            reserved.finish(&mut note_any)?;
        }
        let mut stated_s = vec![0_i128; self.machine.kinds().len()];
        jobs.each(|_, job| {
            for (sum, amount) in stated_s.iter_mut().zip(job.need.amounts()) {
                *sum += i128::from(amount) * i128::from(job.run_s);
            }
        });
        for (kind, (used_s, stated_s)) in found.used_s.iter().zip(&stated_s).enumerate() {
            let is_large_ssd = self.machine.ssd().is_some_and(|ssd| ssd.large_kind == kind);
            if is_whole && !is_large_ssd && stated_s != used_s {
                is_whole = false;
                note(Violation::NotConserved { kind });
            }
        }
        Ok(found)
    }
}

fn sweep(changes: SortedValues<UseChange>, machine: &Machine, note: &mut impl FnMut(Violation)) -> Verification {
    let kind_n = machine.kinds().len();
    let mut found = Verification {
        used_s: vec![0; kind_n],
        ..Verification::default()
    };
    let mut used = Demand::NOTHING;
    let mut is_over = vec![false; kind_n];
    let mut started = Demand::NOTHING;
    let mut changes = changes.peekable();
    let mut before_s = changes.peek().map_or(0, |change| change.at_s);
    while let Some(change) = changes.next() {
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
        if changes.peek().is_some_and(|next| next.at_s == change.at_s) {
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
                note(Violation::OverCapacity {
                    at_s: change.at_s,
                    kind,
                    used: now,
                });
            }
            // Jobs that ran before an outage stay; none may be added. What is reserved is held apart, by its own check.
            let is_one = machine.reservations().is_empty();
            if is_one && !*over && started_now.get(kind) > 0 && now > available.get(kind) {
                note(Violation::OnUnavailable {
                    at_s: change.at_s,
                    kind,
                    used: now,
                });
            }
        }
    }
    found
}
