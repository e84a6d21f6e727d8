//! What a job waits for: starts and ends of other jobs.

use std::collections::{BTreeMap, BTreeSet};

use super::job::Job;
use super::jobs::JobList;
use super::schedule::Schedule;
use crate::numbers::Extent;

/// What must have happened to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredecessorEvent {
    /// It started.
    Start,
    /// It ended.
    End,
}

/// A job that another one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predecessor {
    /// Its number.
    pub id: i64,
    /// What must have happened to it.
    pub event: PredecessorEvent,
    /// How long ago, seconds.
    pub pause_s: i64,
}

/// All that a job waits for; empty by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Predecessors {
    /// The jobs.
    pub each: Vec<Predecessor>,
    /// One of them is enough; otherwise it waits for all.
    pub is_any: bool,
}

impl Predecessors {
    /// The end of one job, and a pause after it, seconds.
    #[must_use]
    pub fn end_of(id: i64, pause_s: i64) -> Self {
        let event = PredecessorEvent::End;
        Self {
            each: vec![Predecessor { id, event, pause_s }],
            is_any: false,
        }
    }

    /// Whether the job waits for no other.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    /// The longest pause, seconds.
    #[must_use]
    pub fn longest_pause_s(&self) -> i64 {
        // Fallback: without a predecessor there is no pause.
        self.each.iter().map(|one| one.pause_s).max().unwrap_or(0)
    }

    /// When the last of these instants allows it, or the first where one is enough; `None` while that is not known.
    fn allowed_s(&self, happened_s: impl Fn(&Predecessor) -> Option<i64>) -> Option<PredecessorTime> {
        let times = self.each.iter().map(|one| {
            Some(PredecessorTime {
                at_s: happened_s(one)? + one.pause_s,
                predecessor: *one,
            })
        });
        if self.is_any {
            times.flatten().min_by_key(|time| time.at_s)
        } else {
            let all: Option<Vec<PredecessorTime>> = times.collect();
            all?.into_iter().max_by_key(|time| time.at_s)
        }
    }
}

/// When a predecessor lets a job go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredecessorTime {
    /// When.
    pub at_s: i64,
    /// The predecessor.
    pub predecessor: Predecessor,
}

/// Which predecessor held a job back in a schedule, and until when: the last one, or the first where one is enough. `None` where
/// nothing did after its submission. Of jobs with the same number the first counts.
#[must_use]
pub fn held_by<'a>(jobs: impl Into<JobList<'a>>, schedule: &Schedule, job: &Job) -> Option<PredecessorTime> {
    let jobs = jobs.into();
    let started = |id: i64| {
        let (place, before) = jobs.iter().enumerate().find(|(_, other)| other.id == id)?;
        let start = schedule.starts.get(place).flatten()?;
        Some((start.start_s, start.start_s + before.run_s))
    };
    let allowed = job.after.allowed_s(|one| {
        let (start_s, end_s) = started(one.id)?;
        Some(match one.event {
            PredecessorEvent::Start => start_s,
            PredecessorEvent::End => end_s,
        })
    });
    allowed.filter(|time| time.at_s > job.submit_s)
}

/// A job that waits for another one.
#[derive(Clone, Copy, Debug)]
struct Dependent {
    job: u32,
    pause_s: i64,
}

/// A job, by place, that may wait from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Released {
    /// The job.
    pub(super) job: u32,
    /// When its last predecessor lets it go, or one of those of which one is enough.
    pub(super) at_s: i64,
}

/// What is left of the predecessors of a job.
#[derive(Clone, Copy, Debug)]
struct OpenWait {
    /// How many must still start or end; `None` where one is enough.
    left_n: Option<usize>,
    /// The latest time of those that did.
    at_s: i64,
}

/// Who waits for which job while a simulation runs.
#[derive(Debug, Default)]
pub(super) struct Dependents {
    of_start: BTreeMap<u32, Vec<Dependent>>,
    of_end: BTreeMap<u32, Vec<Dependent>>,
    open: BTreeMap<u32, OpenWait>,
}

impl Dependents {
    /// Those of jobs; of jobs with the same number the first is waited for.
    pub(super) fn new(jobs: JobList<'_>) -> Self {
        let mut dependents = Self::default();
        let waiting = jobs.dependents();
        if waiting.is_empty() {
            return dependents;
        }
        let named: BTreeSet<i64> = (waiting.values())
            .flat_map(|after| after.each.iter().map(|one| one.id))
            .collect();
        let mut places = BTreeMap::new();
        jobs.each(|place, job| {
            if let (true, Ok(place)) = (named.contains(&job.id), u32::try_from(place)) {
                places.entry(job.id).or_insert(place);
            }
        });
        for (at, after) in &waiting {
            let left_n = (!after.is_any).then_some(after.each.len());
            dependents.open.insert(*at, OpenWait { left_n, at_s: i64::MIN });
            for one in &after.each {
                let Some(before) = places.get(&one.id) else { continue };
                let of = match one.event {
                    PredecessorEvent::Start => &mut dependents.of_start,
                    PredecessorEvent::End => &mut dependents.of_end,
                };
                let dependent = Dependent {
                    job: *at,
                    pause_s: one.pause_s,
                };
                of.entry(*before).or_default().push(dependent);
            }
        }
        dependents
    }

    /// Whether anybody waits for a start.
    pub(super) fn watch_starts(&self) -> bool {
        !self.of_start.is_empty()
    }

    /// Something happened to a job: who need wait no longer, from when on.
    pub(super) fn happened(&mut self, event: PredecessorEvent, job: u32, now_s: i64) -> Vec<Released> {
        let of = match event {
            PredecessorEvent::Start => &mut self.of_start,
            PredecessorEvent::End => &mut self.of_end,
        };
        let mut released = Vec::new();
        for dependent in of.remove(&job).into_iter().flatten() {
            let Some(open) = self.open.get_mut(&dependent.job) else {
                continue;
            };
            let at_s = now_s + dependent.pause_s;
            let Dependent { job, .. } = dependent;
            let Some(left_n) = &mut open.left_n else {
                // A later one may let it go earlier, where its pause is shorter: each does.
                released.push(Released { job, at_s });
                continue;
            };
            open.at_s = open.at_s.max(at_s);
            *left_n = left_n.less(1);
            if *left_n == 0 {
                let at_s = open.at_s;
                released.push(Released { job, at_s });
            }
        }
        released
    }

    /// Whether a job that is released still waited for that.
    pub(super) fn close(&mut self, job: u32) -> bool {
        self.open.remove(&job).is_some()
    }
}
