//! Whether jobs that waited would have fitted: the free resources of all nodes against what is requested, at every
//! instant.
//!
//! Jobs that request the same form a class; time limits distinguish requests where nodes are reserved at some time. A
//! change on a node is held against the classes that wait for such a node at that time, and nothing else is compared: the
//! cost is events times distinct requests, not jobs times instants.

use std::collections::BTreeMap;

mod compare;
mod requests;
mod state;
mod sweep;

use self::requests::Requests;
use self::state::{QueueChange, relative};
use super::allocation_shapes::AllocationShapes;
use super::grid::Grid;
use super::history::History;
use super::queue::sweep::QueueSweep;
use super::slice::Slice;
use super::unit::Thresholds;
use crate::error::Result;
use crate::time::Day;

/// Events sorted at once.
const WINDOW_N: usize = 4 << 20;

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

/// The request of the jobs of one class.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ask {
    /// Which nodes will do; see [`Queue::pools`].
    pub pool: usize,
    /// By what their sums are kept.
    pub group: usize,
    /// Nodes.
    pub node_n: u32,
    /// On each of them at least this much, in the order of the resources followed.
    pub need: Vec<i64>,
    /// The node to itself.
    pub is_exclusive: bool,
    /// How long at most, seconds; `None` where unspecified.
    pub limit_s: Option<i64>,
    /// Units it is measured in, with how many of them it takes on a node.
    pub units: Vec<(usize, i64)>,
}

/// A job that waits, in seconds from the beginning of the slice, half-open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wait {
    /// Eligible.
    pub start_s: u32,
    /// Started, or gave up.
    pub end_s: u32,
    /// Place in [`Queue::asks`].
    pub ask: u32,
}

/// What jobs wait for.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// Distinct requests.
    pub asks: Vec<Ask>,
    /// Nodes by number that will do.
    pub pools: Vec<Vec<u32>>,
}

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

/// A node of a slice: its capacity over time, and the units that apply to it.
#[derive(Clone, Copy, Debug)]
pub struct QueueMachine<'a> {
    /// Its capacity over time.
    pub history: &'a History,
    /// Units that apply to it, by their number.
    pub units: &'a [usize],
    /// Their thresholds, in the same order.
    pub thresholds: &'a [Thresholds],
}

/// Holds the jobs that wait in a slice against what is free in it.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the temporary file of the slice cannot be read.
pub fn queue(
    slice: Slice<'_>,
    machines: &[QueueMachine<'_>],
    shapes: &AllocationShapes,
    grid: &Grid,
    queue: &Queue,
    waits: &[Wait],
) -> Result<BTreeMap<QueueKey, QueueSums>> {
    if waits.is_empty() {
        return Ok(BTreeMap::new());
    }
    let requests = Requests::of(machines, &queue.asks, waits);
    let mut watch = QueueSweep::new(machines, shapes, grid, &queue.pools, &requests);
    let span_s = relative(slice.until_s() - slice.from_s());
    let window_n = (2 * slice.len()).div_ceil(WINDOW_N).max(1);
    // Fallback: more windows than 32 bits count are windows of a second.
    let step_s = span_s / u32::try_from(window_n).unwrap_or(u32::MAX) + 1;
    let mut from_s = 0;
    while from_s < span_s {
        // Fallback: the last window ends with the span.
        let until_s = from_s.saturating_add(step_s).min(span_s);
        let mut changes: Vec<QueueChange> = Vec::new();
        slice.each_job(|node, interval| {
            for (at_s, is_start) in [(interval.start_s, true), (interval.end_s, false)] {
                if from_s <= at_s && at_s < until_s {
                    changes.push(QueueChange {
                        at_s,
                        node,
                        shape: interval.shape,
                        is_start,
                    });
                }
            }
        })?;
        changes.sort_unstable();
        watch.go(&changes, until_s);
        from_s = until_s;
    }
    Ok(watch.end(span_s))
}
