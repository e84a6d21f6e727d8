//! What jobs of a lake wait for, by the commands that submitted them.
//!
//! The words name jobs by their number: all tasks of it where it is an array. A dependency on a job that is not simulated holds nobody,
//! and neither does one that the record contradicts: the job started before the other had ended. So no circle is left.

use std::collections::{BTreeMap, HashMap};

use ahash::RandomState;

use super::lake_rows::LakeRow;
use crate::numbers::index;
use crate::record::dependency::{Dependencies, DependencyJob, DependencyKind, DependencyTask};
use crate::simulate::job::Job;
use crate::simulate::predecessor::{Predecessor, PredecessorEvent, Predecessors};
use crate::simulate::trace::{Trace, TraceChange};

/// Seconds of a minute.
const MINUTE_S: i64 = 60;

/// The jobs of a number: by the number of the array, job or leader, and by that of the task.
#[derive(Default)]
struct JobNumbers {
    of_job: HashMap<u32, Vec<u32>, RandomState>,
    of_task: HashMap<(u32, u32), Vec<u32>, RandomState>,
    raw: HashMap<u32, Vec<u32>, RandomState>,
}

/// The number of a job and of its task: `123_4` is task 4 of 123, `123+1` is component 1 of 123.
fn numbers(job_id: &str) -> Option<(u32, Option<u32>)> {
    let end = job_id.find(|letter: char| !letter.is_ascii_digit());
    let (job, rest) = job_id.split_at(end.map_or(job_id.len(), |end| end));
    let task = rest.strip_prefix('_');
    // Fallback: what is no number is not one of a task.
    let task = task.and_then(|task| task.parse().ok());
    // Fallback: a name without a number in front is no job that a dependency names.
    Some((job.parse().ok()?, task))
}

impl JobNumbers {
    fn of(rows: &[&LakeRow]) -> Self {
        let mut known = Self::default();
        for (place, row) in (0_u32..).zip(rows) {
            if let Some((job, task)) = numbers(&row.job_id) {
                known.of_job.entry(job).or_default().push(place);
                if let Some(task) = task {
                    known.of_task.entry((job, task)).or_default().push(place);
                }
            }
            if let Some(raw) = row.raw_job_id {
                known.raw.entry(raw).or_default().push(place);
            }
        }
        known
    }

    /// The places of the jobs that a dependency of a row names.
    fn named(&self, on: DependencyJob, kind: DependencyKind, row: &LakeRow) -> &[u32] {
        let own_task = numbers(&row.job_id).and_then(|(_, task)| task);
        let named_task = match on.task {
            DependencyTask::One(task) => Some(task),
            _ => own_task.filter(|_| kind == DependencyKind::AfterCorr),
        };
        let places = match named_task {
            Some(task) => self.of_task.get(&(on.job, task)),
            None => self.of_job.get(&on.job).or_else(|| self.raw.get(&on.job)),
        };
        places.map_or(&[], Vec::as_slice)
    }
}

/// Makes jobs wait for those that the commands of their rows name; the change of each job that does not is counted. How many wait.
pub(super) fn wait_for_others(rows: &[&LakeRow], jobs: &mut [Job], trace: &mut Trace) -> u64 {
    if rows.iter().all(|row| row.dependency.is_none()) {
        return 0;
    }
    let known = JobNumbers::of(rows);
    let singletons = singletons(rows, jobs);
    let mut waiting_n = 0;
    for (place, row) in (0_u32..).zip(rows) {
        // Fallback: text that is no dependency holds nobody; readers store none.
        let Some(stated) = row.dependency.as_deref().and_then(Dependencies::parse) else {
            continue;
        };
        let found = Found::of(&stated, row, &known, singletons.get(&place));
        let after = found.predecessors(place, jobs, trace);
        waiting_n += u64::from(!after.is_empty());
        if let Some(job) = jobs.get_mut(index(place)) {
            job.after = after;
        }
    }
    waiting_n
}

/// A job that is waited for, by place.
struct FoundPredecessor {
    place: u32,
    event: PredecessorEvent,
    pause_s: i64,
}

/// The jobs that dependencies name.
#[derive(Default)]
struct Found {
    each: Vec<FoundPredecessor>,
    /// One is not simulated, or not known.
    is_incomplete: bool,
    /// One of them is enough.
    is_any: bool,
}

impl Found {
    fn of(stated: &Dependencies, row: &LakeRow, known: &JobNumbers, before: Option<&Vec<u32>>) -> Self {
        let mut found = Self {
            is_any: stated.is_any,
            ..Self::default()
        };
        for dependency in &stated.each {
            let (event, pause_minute) = match (dependency.kind, dependency.on) {
                (DependencyKind::Expand, _) => continue,
                (DependencyKind::After, Some(on)) => (PredecessorEvent::Start, on.delay_minute),
                _ => (PredecessorEvent::End, 0),
            };
            let places = match dependency.on {
                Some(on) => known.named(on, dependency.kind, row),
                None => before.map_or(&[][..], Vec::as_slice),
            };
            // A singleton may have no job before it, but not one of several that are enough: which of them let it go is not known.
            found.is_incomplete |= match dependency.on {
                Some(_) => places.is_empty(),
                None => before.is_none() || stated.is_any,
            };
            found.each.extend(places.iter().map(|place| FoundPredecessor {
                place: *place,
                event,
                pause_s: i64::from(pause_minute) * MINUTE_S,
            }));
        }
        found
    }

    /// What the job at a place waits for.
    fn predecessors(&self, place: u32, jobs: &[Job], trace: &mut Trace) -> Predecessors {
        if self.is_incomplete {
            trace.change(TraceChange::UnknownPredecessor);
            if self.is_any {
                return Predecessors::default();
            }
        }
        let Some(own) = jobs.get(index(place)) else {
            return Predecessors::default();
        };
        let mut after = Predecessors {
            each: Vec::with_capacity(self.each.len()),
            is_any: self.is_any,
        };
        let mut is_contradicted = false;
        for one in &self.each {
            match jobs.get(index(one.place)) {
                Some(before) if is_consistent(own, before, one) => after.each.push(Predecessor {
                    id: before.id,
                    event: one.event,
                    pause_s: one.pause_s,
                }),
                _ => is_contradicted = true,
            }
        }
        if is_contradicted && (!self.is_any || after.is_empty()) {
            trace.change(TraceChange::DependencyContradicted);
        }
        if after.is_empty() {
            Predecessors::default()
        } else {
            after
        }
    }
}

/// Whether a job started, as recorded, when the other had started or ended, and its pause was over.
fn is_consistent(own: &Job, before: &Job, one: &FoundPredecessor) -> bool {
    let (Some(start_s), Some(before_s)) = (own.recorded_start_s, before.recorded_start_s) else {
        return false;
    };
    let allowed_s = match one.event {
        PredecessorEvent::Start => before_s + one.pause_s,
        PredecessorEvent::End => before_s + before.run_s,
    };
    // Of two that started in one second the one with the smaller number was first.
    allowed_s < start_s || allowed_s == start_s && (before_s < start_s || before.id < own.id)
}

/// For each job that waits until it is alone: the jobs of its user and name that were submitted before it and after the last such job,
/// and that one, which waits for all before it. Jobs without a known user or name are not among them.
fn singletons(rows: &[&LakeRow], jobs: &[Job]) -> BTreeMap<u32, Vec<u32>> {
    let is_singleton = |row: &LakeRow| row.dependency.as_deref().is_some_and(|text| text.contains("singleton"));
    let mut groups: BTreeMap<u128, Vec<u32>> = BTreeMap::new();
    for name in rows
        .iter()
        .filter(|row| is_singleton(row))
        .filter_map(|row| row.name_key)
    {
        groups.entry(name).or_default();
    }
    let mut found = BTreeMap::new();
    if groups.is_empty() {
        return found;
    }
    for (place, row) in (0_u32..).zip(rows) {
        if let Some(group) = row.name_key.and_then(|name| groups.get_mut(&name)) {
            group.push(place);
        }
    }
    for mut group in groups.into_values() {
        group.sort_by_key(|place| {
            let row = rows.get(index(*place));
            let id = jobs.get(index(*place)).map(|job| job.id);
            (row.and_then(|row| row.submit_s), id)
        });
        let mut before: Vec<u32> = Vec::new();
        for place in group {
            if rows.get(index(place)).is_some_and(|row| is_singleton(row)) {
                found.insert(place, std::mem::replace(&mut before, vec![place]));
            } else {
                before.push(place);
            }
        }
    }
    found
}
