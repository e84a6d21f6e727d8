//! All nodes of a slice.

use std::sync::{Mutex, PoisonError};

use super::grid::Grid;
use super::history::History;
use super::slice::{Interval, Shapes, Slice};
use super::tally::{NodeTally, Question, tally};
use crate::error::{Error, Result};

/// Nodes a thread takes at once.
const CHUNK_N: usize = 16;

/// Sweeps every node of a slice on as many threads; `ask` says what is asked of the nth node. Gives the tallies in the
/// order of the nodes: the same ones whatever the threads.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a thread died.
pub fn tally_all<'q>(
    slice: Slice,
    histories: &[History],
    shapes: &Shapes,
    grid: &Grid,
    ask: impl Fn(usize) -> Question<'q> + Sync,
    threads: usize,
) -> Result<Vec<NodeTally>> {
    let mut nodes: Vec<Vec<Interval>> = slice.nodes;
    let work = Mutex::new(nodes.chunks_mut(CHUNK_N).zip(histories.chunks(CHUNK_N)).enumerate());
    let done: Mutex<Vec<(usize, Vec<NodeTally>)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let next = work.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((chunk, (nodes, histories))) = next else { break };
                    let first = chunk * CHUNK_N;
                    let tallies = nodes
                        .iter_mut()
                        .zip(histories)
                        .enumerate()
                        .map(|(nth, (node, history))| {
                            let mut intervals = std::mem::take(node);
                            tally(history, &mut intervals, shapes, grid, ask(first + nth))
                        });
                    let tallies = tallies.collect();
                    done.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((chunk, tallies));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(chunk, _)| *chunk);
    let tallies: Vec<NodeTally> = done.into_iter().flat_map(|(_, tallies)| tallies).collect();
    if tallies.len() != histories.len() {
        return Err(Error::internal("a working thread died"));
    }
    Ok(tallies)
}

/// The most that jobs held of each resource at one time, by node.
pub fn peaks(slice: Slice, shapes: &Shapes) -> Vec<Vec<i64>> {
    let nodes = slice.nodes;
    nodes.iter().map(|intervals| peak(intervals, shapes)).collect()
}

fn peak(intervals: &[Interval], shapes: &Shapes) -> Vec<i64> {
    let width = shapes.width().saturating_sub(1);
    let (mut held, mut most) = (vec![0_i64; width], vec![0_i64; width]);
    // Ends come before beginnings of the same second.
    let mut events: Vec<(u32, bool, u32)> = intervals
        .iter()
        .flat_map(|interval| {
            [
                (interval.start_s, true, interval.shape),
                (interval.end_s, false, interval.shape),
            ]
        })
        .collect();
    events.sort_unstable();
    for (_, is_start, shape) in events {
        let amounts = shapes.amounts(shape).iter();
        for ((held, most), amount) in held.iter_mut().zip(&mut most).zip(amounts) {
            *held = if is_start {
                held.wrapping_add(*amount)
            } else {
                held.wrapping_sub(*amount)
            };
            *most = (*most).max(*held);
        }
    }
    most
}
