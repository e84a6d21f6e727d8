//! All nodes of a slice.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Mutex, PoisonError};

use super::grid::Grid;
use super::history::History;
use super::slice::{Interval, Shapes, Slice};
use super::spread::Spread;
use super::tally::{NodeTally, Question, tally};
use crate::error::{Error, Result};

/// Nodes a thread takes at once.
const CHUNK_N: usize = 16;

/// Does `each` with the number and the intervals of every node of a slice, on as many threads; the results are in the order
/// of the nodes, the same ones whatever the threads. The intervals of a node are gone when it is done. Every thread has a
/// state of its own; who had which nodes depends on chance.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a thread died.
pub fn each_node<R: Send, S: Default + Send>(
    slice: Slice,
    each: impl Fn(&mut S, usize, &[Interval]) -> R + Sync,
    threads: usize,
) -> Result<(Vec<R>, Vec<S>)> {
    let mut nodes: Vec<Vec<Interval>> = slice.nodes;
    let node_n = nodes.len();
    let work = Mutex::new(nodes.chunks_mut(CHUNK_N).enumerate());
    let done: Mutex<Vec<(usize, Vec<R>)>> = Mutex::default();
    let states: Mutex<Vec<S>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                let mut state = S::default();
                loop {
                    let next = work.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((chunk, nodes)) = next else { break };
                    let of = (chunk * CHUNK_N..).zip(nodes);
                    let results = of.map(|(nth, node)| each(&mut state, nth, &std::mem::take(node)));
                    let results = results.collect();
                    done.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((chunk, results));
                }
                states.lock().unwrap_or_else(PoisonError::into_inner).push(state);
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(chunk, _)| *chunk);
    let results: Vec<R> = done.into_iter().flat_map(|(_, results)| results).collect();
    if results.len() != node_n {
        return Err(Error::internal("a working thread died"));
    }
    Ok((results, states.into_inner().unwrap_or_else(PoisonError::into_inner)))
}

/// Sweeps every node of a slice; `ask` says what is asked of the nth node, and with which others it is spread. Nodes that
/// are spread together are asked for the same units.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a thread died, or there are more nodes than histories.
pub fn tally_all<'q>(
    slice: Slice,
    histories: &[History],
    shapes: &Shapes,
    grid: &Grid,
    ask: impl Fn(usize) -> (usize, Question<'q>) + Sync,
    threads: usize,
) -> Result<(Vec<NodeTally>, Spreads)> {
    let each = |spreads: &mut Spreads, nth: usize, intervals: &[Interval]| {
        let history = histories.get(nth)?;
        let (group, question) = ask(nth);
        let spread = spreads.entry(group).or_default();
        Some(tally(history, intervals, shapes, grid, question, spread))
    };
    let (tallies, spreads) = each_node(slice, each, threads)?;
    let tallies: Option<Vec<NodeTally>> = tallies.into_iter().collect();
    let tallies = tallies.ok_or_else(|| Error::internal("a node without a history"))?;
    Ok((tallies, merge(spreads)))
}

/// How the time of groups of nodes is spread, by their number.
pub type Spreads = BTreeMap<usize, Spread>;

/// What several threads spread.
pub fn merge(of_threads: Vec<Spreads>) -> Spreads {
    let mut all = Spreads::new();
    for (group, spread) in of_threads.into_iter().flatten() {
        match all.entry(group) {
            Entry::Vacant(free) => {
                free.insert(spread);
            }
            Entry::Occupied(mut taken) => taken.get_mut().merge(&spread),
        }
    }
    all
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
