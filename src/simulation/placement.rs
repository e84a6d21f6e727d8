//! Jobs put on nodes: a schedule knows amounts alone, and what is free for one more job is known by node.
//!
//! At its start a job takes the first nodes, in the order of their names, that take jobs and have its part of everything free:
//! as many as it had, each an equal part. Where there are not so many it takes what it finds, core by core. A node that is
//! reserved takes the jobs of its reservation alone; these look for a place there first, and others on nodes that are not
//! reserved before they end. A job that does not fit even so has no place and is counted. Real and simulated schedules are
//! placed by the same rule, so that their difference is that of the schedules.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::ledger_nodes::{LedgerNodes, ReservedTime};
use crate::error::Result;
use crate::numbers::index;
use crate::occupancy::{CapacityState, History};
use crate::runtime::column::{Column, ColumnWriter};
use crate::runtime::column_value::{ByteFields, ColumnValue, encode_known, encode_numbers};

/// What a job takes, and when: in the order of starts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PlacedJob {
    /// First second.
    pub(crate) start_s: i64,
    /// The second after the last.
    pub(crate) end_s: i64,
    /// Its place in the list of jobs.
    pub(crate) place: u32,
    /// How many nodes it had.
    pub(crate) node_n: i64,
    /// What it takes, in the order of the resources followed; the first are cores.
    pub(crate) amounts: Vec<i64>,
    /// The reservation it runs in, by place.
    pub(crate) reservation: Option<u32>,
}

impl ColumnValue for PlacedJob {
    fn encode(&self, bytes: &mut Vec<u8>) {
        for number in [self.start_s, self.end_s, self.node_n] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.place.to_le_bytes());
        encode_numbers(&self.amounts, bytes);
        encode_known(self.reservation.map(i64::from), bytes);
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        let [start_s, end_s, node_n] = [(); 3].map(|()| bytes.signed());
        Self {
            start_s,
            end_s,
            node_n,
            place: bytes.number32(),
            amounts: bytes.numbers(),
            reservation: bytes.known().and_then(|place| u32::try_from(place).ok()),
        }
    }

    fn memory_byte_n(&self) -> usize {
        size_of::<Self>() + self.amounts.len() * 8
    }
}

/// Part of a job on a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodePart {
    /// First second of the job.
    pub(crate) start_s: i64,
    /// The second after its last.
    pub(crate) end_s: i64,
    /// Place of the node.
    pub(crate) node: u32,
    /// What it takes there.
    pub(crate) amounts: Vec<i64>,
}

impl ColumnValue for NodePart {
    fn encode(&self, bytes: &mut Vec<u8>) {
        for number in [self.start_s, self.end_s] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.node.to_le_bytes());
        encode_numbers(&self.amounts, bytes);
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        let [start_s, end_s] = [(); 2].map(|()| bytes.signed());
        Self {
            start_s,
            end_s,
            node: bytes.number32(),
            amounts: bytes.numbers(),
        }
    }

    fn memory_byte_n(&self) -> usize {
        size_of::<Self>() + self.amounts.len() * 8
    }
}

/// Jobs on nodes.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    /// Their parts, in the order of starts.
    pub(crate) parts: Column<NodePart>,
    /// Places of jobs without a place on nodes, in the order of starts.
    pub(crate) without: Vec<u32>,
}

/// Which nodes a job may be put on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeChoice {
    /// Those that its reservation has.
    OfReservation,
    /// Those that are not reserved before it ends.
    NotReserved,
    /// All that take it at its start.
    All,
}

/// A node while jobs are placed.
struct OpenNode<'a> {
    history: &'a History,
    reserved: &'a [ReservedTime],
    used: Vec<i64>,
}

impl OpenNode<'_> {
    /// What is free for a job at its start; nothing while the node takes no such job.
    fn free(&self, job: &PlacedJob, choice: NodeChoice) -> Option<Vec<i64>> {
        let segments = &self.history.segments;
        let begun_n = segments.partition_point(|segment| segment.from_s <= job.start_s);
        let (begun, later) = segments.split_at_checked(begun_n)?;
        let segment = begun.last()?;
        let is_own = job.reservation.is_some_and(|pool| {
            let mut times = self.reserved.iter();
            times.any(|time| time.pool == pool && time.span.has(job.start_s))
        });
        let takes_job = match (segment.state, choice) {
            (CapacityState::Down, _) => false,
            (CapacityState::Reserved, _) | (CapacityState::Up, NodeChoice::OfReservation) => is_own,
            (CapacityState::Up, NodeChoice::NotReserved) => {
                let mut meanwhile = later.iter().take_while(|next| next.from_s < job.end_s);
                !meanwhile.any(|next| next.state == CapacityState::Reserved)
            }
            (CapacityState::Up, NodeChoice::All) => true,
        };
        if !takes_job {
            return None;
        }
        let amounts = segment.capacity.iter().zip(&segment.set_aside).zip(&self.used);
        let known = amounts.zip(&self.history.known);
        // What is not known of a node is no limit on it.
        Some(
            known
                .map(|(((has, aside), used), known)| if *known { has - aside - used } else { i64::MAX })
                .collect(),
        )
    }

    /// Whether it is ever reserved.
    fn is_reserved(&self) -> bool {
        let mut segments = self.history.segments.iter();
        segments.any(|segment| segment.state == CapacityState::Reserved)
    }
}

/// Puts jobs, in the order of starts, on nodes, but for those that are left out.
///
/// # Errors
/// [`crate::error::Kind::Io`] when many parts cannot be put into a temporary file.
pub(crate) fn place(jobs: &Column<PlacedJob>, is_left_out: &[bool], nodes: &LedgerNodes) -> Result<Placed> {
    let width = nodes.nodes.first().map_or(0, |node| node.history.known.len());
    let each = nodes.nodes.iter().zip(&nodes.reserved);
    let mut nodes: Vec<OpenNode<'_>> = each
        .map(|(node, reserved)| OpenNode {
            history: &node.history,
            reserved,
            used: vec![0; width],
        })
        .collect();
    let has_reserved = nodes.iter().any(OpenNode::is_reserved);
    let mut parts = ColumnWriter::new(jobs.budget());
    let mut without = Vec::new();
    let mut ends: BinaryHeap<Reverse<PartEnd>> = BinaryHeap::new();
    let mut part_n = 0_u64;
    for job in jobs {
        if is_left_out.get(index(job.place)) == Some(&true) {
            continue;
        }
        while let Some(end) = ends.peek_mut() {
            if end.0.part.end_s > job.start_s {
                break;
            }
            let Reverse(end) = PeekMut::pop(end);
            give_back(&mut nodes, &end.part);
        }
        let first = match job.reservation {
            Some(_) => Some(NodeChoice::OfReservation),
            None => has_reserved.then_some(NodeChoice::NotReserved),
        };
        let mut choices = first.into_iter().chain([NodeChoice::All]);
        let own = choices.find_map(|choice| share_out(&job, &nodes, choice));
        let Some(own) = own else {
            without.push(job.place);
            continue;
        };
        for part in own {
            if let Some(node) = nodes.get_mut(index(part.node)) {
                for (used, amount) in node.used.iter_mut().zip(&part.amounts) {
                    *used += amount;
                }
            }
            parts.push(part.clone())?;
            ends.push(Reverse(PartEnd {
                end_s: part.end_s,
                nth: part_n,
                part,
            }));
            part_n += 1;
        }
    }
    Ok(Placed {
        parts: parts.finish()?,
        without,
    })
}

/// When a part ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PartEnd {
    end_s: i64,
    nth: u64,
    part: NodePart,
}

fn give_back(nodes: &mut [OpenNode<'_>], part: &NodePart) {
    if let Some(node) = nodes.get_mut(index(part.node)) {
        for (used, amount) in node.used.iter_mut().zip(&part.amounts) {
            *used -= amount;
        }
    }
}

/// The parts of a job on nodes of a choice; `None` when there is no place for it.
fn share_out(job: &PlacedJob, nodes: &[OpenNode<'_>], choice: NodeChoice) -> Option<Vec<NodePart>> {
    let node_n = job.node_n.max(1);
    let equal = |nth: i64| -> Vec<i64> {
        let part = |amount: &i64| amount / node_n + i64::from(nth < amount % node_n);
        job.amounts.iter().map(part).collect()
    };
    let mut parts = Vec::new();
    let mut wanted = equal(0);
    for (node, open) in (0_u32..).zip(nodes) {
        let Some(free) = open.free(job, choice) else { continue };
        if wanted.iter().zip(&free).any(|(wanted, free)| wanted > free) {
            continue;
        }
        parts.push(NodePart {
            start_s: job.start_s,
            end_s: job.end_s,
            node,
            amounts: wanted,
        });
        let nth = crate::numbers::count_i64(parts.len());
        if nth == node_n {
            return Some(parts);
        }
        wanted = equal(nth);
    }
    core_by_core(job, nodes, choice)
}

/// Takes cores where they are free, with their part of everything else.
fn core_by_core(job: &PlacedJob, nodes: &[OpenNode<'_>], choice: NodeChoice) -> Option<Vec<NodePart>> {
    let core_n = job.amounts.first().copied().filter(|core_n| *core_n > 0)?;
    let mut parts = Vec::new();
    let mut taken_n = 0;
    // What so many of its cores come with.
    let until = |cores: i64, amount: i64| {
        let share = i128::from(amount) * i128::from(cores) / i128::from(core_n);
        // Fallback: never taken, a part of an amount is no more than it.
        i64::try_from(share).unwrap_or(amount)
    };
    for (node, open) in (0_u32..).zip(nodes) {
        let Some(free) = open.free(job, choice) else { continue };
        let fits = |cores: i64| {
            let parts = job.amounts.iter().zip(&free);
            parts
                .into_iter()
                .all(|(amount, free)| until(taken_n + cores, *amount) - until(taken_n, *amount) <= *free)
        };
        let most_n = free.first().copied().map_or(0, |free| free.min(core_n - taken_n));
        // The most cores that fit, by halves: more cores come with more of everything.
        let (mut low, mut high) = (0, most_n.max(0));
        while low < high {
            let middle = low + (high - low + 1) / 2;
            if fits(middle) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        if low == 0 {
            continue;
        }
        let amounts = job
            .amounts
            .iter()
            .map(|amount| until(taken_n + low, *amount) - until(taken_n, *amount));
        parts.push(NodePart {
            start_s: job.start_s,
            end_s: job.end_s,
            node,
            amounts: amounts.collect(),
        });
        taken_n += low;
        if taken_n == core_n {
            return Some(parts);
        }
    }
    None
}
