//! A slice of time: which jobs held what on which node.

use std::sync::Mutex;

use super::node_room::{NodeLoad, NodeRoom};
use super::spill_rows::SpillRows;
use crate::error::Result;
use crate::numbers::index;
use crate::runtime::scratch::Scratch;
use crate::time::SecondSpan;

/// Numbers kept of a job on a node.
pub(super) const WORD_N: usize = 5;
/// Numbers kept of a job that waits.
pub(super) const WAIT_WORD_N: usize = 3;
/// Nodes whose jobs are kept together, and are swept by one thread.
const GROUP_N: usize = 16;

/// A job on a node, in seconds from the beginning of the slice, half-open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interval {
    /// First second.
    pub start_s: u32,
    /// The second after the last.
    pub end_s: u32,
    /// What it holds; see [`super::AllocationShapes`].
    pub shape: u32,
    /// What the caller knows it by.
    pub tag: u32,
}

/// A time, and what is known to run in it.
#[derive(Debug)]
pub(super) struct SlicePart {
    pub(super) span: SecondSpan,
    /// Jobs by group of nodes: node, beginning, end, shape, tag.
    groups: Vec<SpillRows<WORD_N>>,
    held_n: usize,
    /// What jobs on nodes came to, by node.
    rooms: Vec<NodeRoom>,
    /// Jobs that wait: beginning, end, ask.
    pub(super) waits: SpillRows<WAIT_WORD_N>,
}

impl SlicePart {
    pub(super) fn new(SecondSpan { start_s, end_s }: SecondSpan) -> Self {
        Self {
            span: SecondSpan {
                start_s,
                // Seconds of a slice have 31 bits.
                // Fallback: a slice that begins at the end of time is empty.
                end_s: end_s.clamp(start_s, start_s.saturating_add(i64::from(i32::MAX))),
            },
            groups: Vec::new(),
            held_n: 0,
            rooms: Vec::new(),
            waits: SpillRows::default(),
        }
    }

    /// A span within it, in seconds from its beginning.
    #[inline]
    pub(super) fn within(&self, held: SecondSpan) -> (u32, u32) {
        let SecondSpan { start_s, end_s } = self.span;
        // Fallback: never taken, a slice has 31 bits of seconds.
        let relative = |s: i64| u32::try_from(s.clamp(start_s, end_s) - start_s).unwrap_or(u32::MAX);
        (relative(held.start_s), relative(held.end_s))
    }

    /// Adds a job on a node.
    #[inline]
    pub(super) fn hold(&mut self, row: [u32; WORD_N]) {
        let [node, ..] = row;
        let group = place(node) / GROUP_N;
        if self.groups.len() <= group {
            self.groups.resize_with(group + 1, SpillRows::default);
        }
        if let Some(group) = self.groups.get_mut(group) {
            group.push(row);
            self.held_n += 1;
        }
    }

    /// Counts what a job holds on a node if there is room for it; whether there was.
    #[inline]
    pub(super) fn admit(&mut self, node: u32, load: NodeLoad) -> bool {
        let node = place(node);
        if self.rooms.len() <= node {
            self.rooms.resize_with(node + 1, NodeRoom::default);
        }
        self.rooms.get_mut(node).is_some_and(|room| room.admit(load))
    }

    /// Puts all rows on disk.
    pub(super) fn store(&mut self, scratch: &mut Scratch) -> Result<()> {
        for group in &mut self.groups {
            group.store(scratch)?;
        }
        self.waits.store(scratch)
    }
}

fn place(node: u32) -> usize {
    index(node)
}

fn of_row([node, start_s, end_s, shape, tag]: [u32; WORD_N]) -> (u32, Interval) {
    let interval = Interval {
        start_s,
        end_s,
        shape,
        tag,
    };
    (node, interval)
}

/// Jobs on nodes from one second to another. They stay where they are, in memory or on disk, until a group of nodes is
/// looked at.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'s> {
    part: &'s SlicePart,
    scratch: &'s Mutex<Scratch>,
    node_n: usize,
}

impl<'s> Slice<'s> {
    pub(super) fn new(part: &'s SlicePart, scratch: &'s Mutex<Scratch>, node_n: usize) -> Self {
        Self { part, scratch, node_n }
    }

    /// First second.
    #[must_use]
    pub fn from_s(self) -> i64 {
        self.part.span.start_s
    }

    /// The second after the last.
    #[must_use]
    pub fn until_s(self) -> i64 {
        self.part.span.end_s
    }

    /// Jobs on nodes in it.
    #[must_use]
    pub fn len(self) -> usize {
        self.part.held_n
    }

    /// Whether nothing runs in it.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.part.held_n == 0
    }

    /// Nodes.
    pub(super) fn node_n(self) -> usize {
        self.node_n
    }

    /// Groups of nodes.
    pub(super) fn group_n(self) -> usize {
        self.node_n.div_ceil(GROUP_N)
    }

    /// Hands the number and the jobs of every node of a group to `each`, in the order of the nodes. `nodes` is scratch.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read.
    pub(super) fn group(
        self,
        group: usize,
        nodes: &mut Vec<Vec<Interval>>,
        mut each: impl FnMut(usize, &[Interval]),
    ) -> Result<()> {
        let first = group * GROUP_N;
        nodes.resize_with(GROUP_N, Vec::new);
        nodes.iter_mut().for_each(Vec::clear);
        if let Some(pile) = self.part.groups.get(group) {
            pile.read(self.scratch, |row| {
                let (node, interval) = of_row(row);
                if let Some(node) = nodes.get_mut(place(node) % GROUP_N) {
                    node.push(interval);
                }
            })?;
        }
        for (nth, node) in (first..self.node_n).zip(nodes) {
            each(nth, node);
        }
        Ok(())
    }

    /// Hands the number and the jobs of every node to `each`, in the order of the nodes.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read.
    pub fn each_node(self, mut each: impl FnMut(usize, &[Interval])) -> Result<()> {
        let mut nodes = Vec::new();
        (0..self.group_n()).try_for_each(|group| self.group(group, &mut nodes, &mut each))
    }

    /// Hands every job with the number of its node to `each`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read.
    pub(super) fn each_job(self, mut each: impl FnMut(u32, Interval)) -> Result<()> {
        self.part.groups.iter().try_for_each(|group| {
            group.read(self.scratch, |row| {
                let (node, interval) = of_row(row);
                each(node, interval);
            })
        })
    }
}
