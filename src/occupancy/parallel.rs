//! All nodes of a slice.

use std::sync::{Mutex, PoisonError};

use super::grid::Grid;
use super::history::History;
use super::slice::{Interval, Shapes, Slice};
use super::tally::{NodeTally, Question, tally};
use crate::error::{Error, Result};

/// Nodes a thread takes at once.
const CHUNK_N: usize = 16;

/// Does `each` with the number and the intervals of every node of a slice, on as many threads; the results are in the order
/// of the nodes, the same ones whatever the threads. The intervals of a node are gone when it is done.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a thread died.
pub fn each_node<R: Send>(
    slice: Slice,
    each: impl Fn(usize, &mut Vec<Interval>) -> R + Sync,
    threads: usize,
) -> Result<Vec<R>> {
    let mut nodes: Vec<Vec<Interval>> = slice.nodes;
    let node_n = nodes.len();
    let work = Mutex::new(nodes.chunks_mut(CHUNK_N).enumerate());
    let done: Mutex<Vec<(usize, Vec<R>)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let next = work.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((chunk, nodes)) = next else { break };
                    let first = chunk * CHUNK_N;
                    let of = nodes.iter_mut().enumerate();
                    let results = of.map(|(nth, node)| each(first + nth, &mut std::mem::take(node)));
                    let results = results.collect();
                    done.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((chunk, results));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(chunk, _)| *chunk);
    let results: Vec<R> = done.into_iter().flat_map(|(_, results)| results).collect();
    if results.len() != node_n {
        return Err(Error::internal("a working thread died"));
    }
    Ok(results)
}

/// Sweeps every node of a slice; `ask` says what is asked of the nth node.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a thread died, or there are more nodes than histories.
pub fn tally_all<'q>(
    slice: Slice,
    histories: &[History],
    shapes: &Shapes,
    grid: &Grid,
    ask: impl Fn(usize) -> Question<'q> + Sync,
    threads: usize,
) -> Result<Vec<NodeTally>> {
    let each = |nth: usize, intervals: &mut Vec<Interval>| {
        let history = histories.get(nth)?;
        Some(tally(history, intervals, shapes, grid, ask(nth)))
    };
    let tallies = each_node(slice, each, threads)?;
    let tallies: Option<Vec<NodeTally>> = tallies.into_iter().collect();
    tallies.ok_or_else(|| Error::internal("a node without a history"))
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
