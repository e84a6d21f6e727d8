//! What jobs of a lake wait for, by the commands that submitted them.
//!
//! The words name jobs by their number: all tasks of it where it is an array. A dependency on a job that is not simulated holds nobody,
//! and neither does one that the record contradicts: the job started before the other had ended. So no circle is left.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ahash::RandomState;

use super::lake_rows::LakeRow;
use super::lake_trace::KeptRow;
use crate::numbers::index;
use crate::record::dependency::{Dependencies, DependencyJob, DependencyKind, DependencyTask};
use crate::runtime::column::{Column, ColumnReader};
use crate::simulate::job::Job;
use crate::simulate::predecessor::{Predecessor, PredecessorEvent, Predecessors};
use crate::simulate::trace::TraceChange;

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
    /// Those of jobs whose numbers are named.
    fn of(rows: &Column<KeptRow>, named: &BTreeSet<u32>) -> Self {
        let mut known = Self::default();
        for (place, KeptRow { row, .. }) in (0_u32..).zip(rows) {
            if let Some((job, task)) = numbers(&row.job_id).filter(|(job, _)| named.contains(job)) {
                known.of_job.entry(job).or_default().push(place);
                if let Some(task) = task {
                    known.of_task.entry((job, task)).or_default().push(place);
                }
            }
            if let Some(raw) = row.raw_job_id.filter(|raw| named.contains(raw)) {
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

/// What jobs wait for by the commands of their rows, by place.
#[derive(Default)]
pub(super) struct FoundDependencies {
    /// Those that wait.
    pub(super) after: BTreeMap<u32, Predecessors>,
    /// How those differ that do not wait as stated.
    pub(super) changes: BTreeMap<u32, Vec<TraceChange>>,
}

/// What jobs wait for by the commands of their rows.
pub(super) fn wait_for_others(rows: &Column<KeptRow>) -> FoundDependencies {
    let mut named = BTreeSet::new();
    for KeptRow { row, .. } in rows {
        let stated = row.dependency.as_deref().and_then(Dependencies::parse);
        let all = stated.iter().flat_map(|stated| &stated.each);
        named.extend(all.filter_map(|dependency| dependency.on.map(|on| on.job)));
    }
    let known = JobNumbers::of(rows, &named);
    let singletons = singletons(rows);
    let mut all = FoundDependencies::default();
    let mut jobs = rows.reader();
    for (place, KeptRow { row, job, .. }) in (0_u32..).zip(rows) {
        // Fallback: text that is no dependency holds nobody; readers store none.
        let Some(stated) = row.dependency.as_deref().and_then(Dependencies::parse) else {
            continue;
        };
        let found = Found::of(&stated, &row, &known, singletons.get(&place));
        let mut changes = Vec::new();
        let after = found.predecessors(&job, &mut jobs, &mut changes);
        if !after.is_empty() {
            all.after.insert(place, after);
        }
        if !changes.is_empty() {
            all.changes.insert(place, changes);
        }
    }
    all
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

    /// What a job waits for.
    fn predecessors(
        &self,
        own: &Job,
        jobs: &mut ColumnReader<'_, KeptRow>,
        changes: &mut Vec<TraceChange>,
    ) -> Predecessors {
        if self.is_incomplete {
            changes.push(TraceChange::UnknownPredecessor);
            if self.is_any {
                return Predecessors::default();
            }
        }
        let mut after = Predecessors {
            each: Vec::with_capacity(self.each.len()),
            is_any: self.is_any,
        };
        let mut is_contradicted = false;
        for one in &self.each {
            match jobs.get(index(one.place)).map(|kept| &kept.job) {
                Some(before) if is_consistent(own, before, one) => after.each.push(Predecessor {
                    id: before.id,
                    event: one.event,
                    pause_s: one.pause_s,
                }),
                _ => is_contradicted = true,
            }
        }
        if is_contradicted && (!self.is_any || after.is_empty()) {
            changes.push(TraceChange::DependencyContradicted);
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
fn singletons(rows: &Column<KeptRow>) -> BTreeMap<u32, Vec<u32>> {
    let is_singleton = |row: &LakeRow| row.dependency.as_deref().is_some_and(|text| text.contains("singleton"));
    let mut groups: BTreeMap<u128, Vec<NamedJob>> = BTreeMap::new();
    for KeptRow { row, .. } in rows {
        if let Some(name) = row.name_key.filter(|_| is_singleton(&row)) {
            groups.entry(name).or_default();
        }
    }
    let mut found = BTreeMap::new();
    if groups.is_empty() {
        return found;
    }
    for (place, KeptRow { row, job, .. }) in (0_u32..).zip(rows) {
        if let Some(group) = row.name_key.and_then(|name| groups.get_mut(&name)) {
            group.push(NamedJob {
                submit_s: row.submit_s,
                id: job.id,
                place,
                is_singleton: is_singleton(&row),
            });
        }
    }
    for mut group in groups.into_values() {
        group.sort_by_key(|job| (job.submit_s, job.id));
        let mut before: Vec<u32> = Vec::new();
        for NamedJob {
            place, is_singleton, ..
        } in group
        {
            if is_singleton {
                found.insert(place, std::mem::replace(&mut before, vec![place]));
            } else {
                before.push(place);
            }
        }
    }
    found
}

/// A job of a user and name of which one job waits until it is alone.
struct NamedJob {
    submit_s: Option<i64>,
    id: i64,
    place: u32,
    is_singleton: bool,
}
