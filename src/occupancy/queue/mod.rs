//! Whether jobs that waited would have fitted: the free resources of all nodes against what is requested, at every
//! instant.
//!
//! Jobs that request the same form a class; time limits distinguish requests where nodes are reserved at some time. A
//! change on a node is held against the classes that wait for such a node at that time, all at once, and nothing else is
//! compared: the cost is events times distinct requests, not jobs times instants.

use std::collections::BTreeMap;

mod ask;
mod board;
mod compare;
mod machine;
mod requests;
mod state;
mod sums;
mod sweep;

use self::requests::Requests;
use self::state::{QueueChange, relative};
use super::allocation_shapes::AllocationShapes;
use super::grid::Grid;
use super::queue::sweep::QueueSweep;
use super::slice::Slice;
use crate::error::Result;

pub use self::ask::{Ask, Queue, Wait};
pub use self::machine::QueueMachine;
pub use self::sums::{ByCause, Cause, QueueKey, QueueSums};

/// Events sorted at once.
const WINDOW_N: usize = 4 << 20;

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
