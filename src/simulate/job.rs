//! A job of a trace, as a scheduler sees it and as it went.

use super::demand::Demand;
use super::predecessor::Predecessors;
use super::trace_change::JobChanges;

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobEnd {
    /// It completed.
    Completed,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// The trace does not state it.
    Unknown,
}

/// One job. Times are whole seconds of the trace's own clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its number in the trace.
    pub id: i64,
    /// When it was submitted.
    pub submit_s: i64,
    /// How long it ran.
    pub run_s: i64,
    /// How long it may run, as requested; at least `run_s` unless the trace's rules state otherwise.
    pub limit_s: i64,
    /// What it requests.
    pub need: Demand,
    /// Gigabytes of local storage it requests on each node.
    pub ssd_gb: i64,
    /// What it waits for besides its submission.
    pub after: Predecessors,
    /// How it ended.
    pub ended: JobEnd,
    /// When it started in the trace, where that is known.
    pub recorded_start_s: Option<i64>,
    /// How long it ran in the trace, where that is longer than `run_s`: it is simulated up to its limit.
    pub recorded_run_s: Option<i64>,
    /// Number of its user, where it is known.
    pub user: Option<i64>,
    /// Number of its group or account, where it is known.
    pub group: Option<i64>,
    /// The reservation it runs in, by its place among those of the machine.
    pub reservation: Option<u32>,
    /// How it differs from what the trace states.
    pub changes: JobChanges,
}

impl Job {
    /// A job that completed, of whose owner nothing is known.
    #[must_use]
    pub fn new(id: i64, submit_s: i64, run_s: i64, limit_s: i64, need: Demand) -> Self {
        Self {
            id,
            submit_s,
            run_s,
            limit_s,
            need,
            ssd_gb: 0,
            after: Predecessors::default(),
            ended: JobEnd::Completed,
            recorded_start_s: None,
            recorded_run_s: None,
            user: None,
            group: None,
            reservation: None,
            changes: JobChanges::default(),
        }
    }

    /// How long it ran in the trace.
    #[must_use]
    pub fn ran_s(&self) -> i64 {
        self.recorded_run_s.map_or(self.run_s, |run_s| run_s)
    }
}
