//! All nodes of a slice.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Mutex, PoisonError};

use super::allocation_shapes::AllocationShapes;
use super::grid::Grid;
use super::history::History;
use super::node_totals::{NodeQuery, NodeTotals, tally};
use super::slice::{Interval, Slice};
use super::time_histogram::TimeHistogram;
use crate::error::{Error, Result};
use crate::numbers::Extent;

/// Does `each` with the number and the intervals of every node of a slice, on as many threads; the results are in the order
/// of the nodes, the same ones whatever the threads. Every thread has a state of its own; who had which nodes depends on
/// chance.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the temporary file of the slice cannot be read, [`crate::error::Kind::Internal`] when a
/// thread died.
pub fn each_node<R: Send, S: Default + Send>(
    slice: Slice<'_>,
    each: impl Fn(&mut S, usize, &[Interval]) -> R + Sync,
    threads: usize,
) -> Result<(Vec<R>, Vec<S>)> {
    let work = Mutex::new(0..slice.group_n());
    let work_on = || -> Result<(Vec<(usize, R)>, S)> {
        let (mut state, mut nodes, mut done) = (S::default(), Vec::new(), Vec::new());
        loop {
            let next = work.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(group) = next else { break };
            slice.group(group, &mut nodes, |nth, intervals| {
                done.push((nth, each(&mut state, nth, intervals)));
            })?;
        }
        Ok((done, state))
    };
    let of_threads = std::thread::scope(|scope| -> Result<Vec<_>> {
        let threads: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work_on)).collect();
        let ends = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        ends.map(|end| end.map_err(|_| Error::internal("a working thread died"))?)
            .collect()
    })?;
    let (mut done, mut states) = (Vec::with_capacity(slice.node_n()), Vec::new());
    for (of_nodes, state) in of_threads {
        done.extend(of_nodes);
        states.push(state);
    }
    done.sort_unstable_by_key(|(nth, _)| *nth);
    Ok((done.into_iter().map(|(_, result)| result).collect(), states))
}

/// Sweeps every node of a slice; `ask` gives the units of the nth node, and its group for spreading. Nodes that
/// are spread together have the same units.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the temporary file of the slice cannot be read, [`crate::error::Kind::Internal`] when a
/// thread died, or there are more nodes than histories.
pub fn tally_all<'q>(
    slice: Slice<'_>,
    histories: &[History],
    shapes: &AllocationShapes,
    grid: &Grid,
    ask: impl Fn(usize) -> (usize, NodeQuery<'q>) + Sync,
    threads: usize,
) -> Result<(Vec<NodeTotals>, TimeHistograms)> {
    let each = |spreads: &mut TimeHistograms, nth: usize, intervals: &[Interval]| {
        let history = histories.get(nth)?;
        let (group, question) = ask(nth);
        let spread = spreads.entry(group).or_default();
        Some(tally(history, intervals, shapes, grid, question, spread))
    };
    let (tallies, spreads) = each_node(slice, each, threads)?;
    let tallies: Option<Vec<NodeTotals>> = tallies.into_iter().collect();
    let tallies = tallies.ok_or_else(|| Error::internal("a node without a history"))?;
    Ok((tallies, merge(spreads)))
}

/// How the time of groups of nodes is spread, by their number.
pub type TimeHistograms = BTreeMap<usize, TimeHistogram>;

/// What several threads spread.
pub fn merge(of_threads: Vec<TimeHistograms>) -> TimeHistograms {
    let mut all = TimeHistograms::new();
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
///
/// # Errors
/// [`crate::error::Kind::Io`] when the temporary file of the slice cannot be read.
pub fn peaks(slice: Slice<'_>, shapes: &AllocationShapes) -> Result<Vec<Vec<i64>>> {
    let mut peaks = Vec::new();
    slice.each_node(|_, intervals| peaks.push(peak(intervals, shapes)))?;
    Ok(peaks)
}

fn peak(intervals: &[Interval], shapes: &AllocationShapes) -> Vec<i64> {
    let width = shapes.width().less(1);
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
