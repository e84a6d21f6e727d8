//! What waiting jobs add up to.

use crate::time::Day;

/// Why a job waited although it would have fitted, as far as that can be determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Only with nodes that were down or drained.
    Drain,
    /// Only with nodes that were reserved or in maintenance, or were to be before the time limit of the job.
    Reservation,
    /// Nodes that took jobs had room: priorities, limits, features or the scheduler's own pace. The cause itself is unknown.
    Unknown,
}

/// Seconds by cause, in the order of [`Cause`].
pub type ByCause = [i64; 3];

/// A group on a day under one unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueSums {
    /// Jobs that waited.
    pub job_n: i64,
    /// Of these, jobs that would have fitted at some time of the day by their request.
    pub fitting_job_n: i64,
    /// Time they waited, job-seconds.
    pub wait_s: i64,
    /// Of that, with enough of everything free on enough nodes.
    pub vector_s: ByCause,
    /// Of that, with enough units free on enough nodes.
    pub unit_s: ByCause,
    /// Of that, by both, whatever the cause.
    pub both_s: i64,
    /// Seconds in which at least one waiting job would have fitted by its request.
    pub vector_moment_s: i64,
    /// The same by units.
    pub unit_moment_s: i64,
    /// For some of these jobs it cannot be determined whether they would have fitted by their request: no suitable node is
    /// known, or none has a known capacity of everything they request.
    pub is_vector_unknown: bool,
    /// The same by units, and where no unit measures the jobs.
    pub is_unit_unknown: bool,
}

/// What sums about waiting jobs are kept by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueueKey {
    /// The group.
    pub group: usize,
    /// The unit; `None` where no unit measures the job.
    pub unit: Option<usize>,
    /// The local day.
    pub day: Day,
}
