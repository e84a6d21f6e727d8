//! Totals of the nodes of a slice on their way to the rows of `overhead`.
//!
//! Nodes are swept in the order of their numbers, and written in the order of their names. Totals wait packed; what does
//! not fit the memory budget waits in a temporary file. A site of a million nodes has some thirty million days of nodes in
//! a month: unpacked they are several hundred bytes each.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::leb128;
use crate::occupancy::node_totals::NodeSums;
use crate::occupancy::{DaySums, UnitSums};
use crate::runtime::scratch::{Scratch, SpillRange};
use crate::time::Day;

/// Bytes that are filled before they count as full: so much more than the budget may be held.
const BLOCK_BYTE: usize = 1 << 20;

/// The days of all nodes of a slice.
pub(crate) struct NodeSpill {
    budget: usize,
    held: Mutex<NodeHeld>,
}

#[derive(Default)]
struct NodeHeld {
    /// Where the days of every node lie, by its number.
    places: Vec<Option<NodePlace>>,
    blocks: Vec<NodeBlock>,
    /// In memory.
    byte_n: usize,
    scratch: Scratch,
}

#[derive(Clone, Copy)]
struct NodePlace {
    block: usize,
    first: usize,
    len: usize,
}

enum NodeBlock {
    Held(Vec<u8>),
    Stored(SpillRange),
}

impl NodeSpill {
    /// An empty one that keeps about as many bytes in memory.
    pub(crate) fn new(budget: usize) -> Self {
        Self {
            budget,
            held: Mutex::default(),
        }
    }

    fn held(&self) -> MutexGuard<'_, NodeHeld> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the days of the nth node.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be written.
    pub(crate) fn add(&self, nth: usize, days: &[DaySums]) -> Result<()> {
        let mut bytes = Vec::new();
        pack(days, &mut bytes);
        self.held().add(nth, &bytes, self.budget)
    }

    /// The days of the nth node; none of one that was not added.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read back.
    pub(crate) fn of(&self, nth: usize) -> Result<Vec<DaySums>> {
        let held = self.held();
        let Some(place) = held.places.get(nth).copied().flatten() else {
            return Ok(Vec::new());
        };
        let lost = || Error::internal("the days of a node were lost");
        let NodePlace { block, first, len } = place;
        let range = match held.blocks.get(block).ok_or_else(lost)? {
            NodeBlock::Held(bytes) => return unpack(bytes.get(first..first + len).ok_or_else(lost)?),
            NodeBlock::Stored(range) => range.part(first, len).ok_or_else(lost)?,
        };
        unpack(&held.scratch.load(range)?)
    }
}

impl NodeHeld {
    fn add(&mut self, nth: usize, bytes: &[u8], budget: usize) -> Result<()> {
        let is_full = |block: &NodeBlock| match block {
            NodeBlock::Held(held) => held.len() >= BLOCK_BYTE,
            NodeBlock::Stored(_) => true,
        };
        if self.blocks.last().is_none_or(is_full) {
            self.blocks.push(NodeBlock::Held(Vec::new()));
        }
        let block = self.blocks.len() - 1;
        let Some(NodeBlock::Held(held)) = self.blocks.last_mut() else {
            return Err(Error::internal("a full block is added to"));
        };
        let place = NodePlace {
            block,
            first: held.len(),
            len: bytes.len(),
        };
        held.extend_from_slice(bytes);
        self.byte_n += bytes.len();
        if self.places.len() <= nth {
            self.places.resize(nth + 1, None);
        }
        if let Some(slot) = self.places.get_mut(nth) {
            *slot = Some(place);
        }
        if self.byte_n > budget { self.store() } else { Ok(()) }
    }

    fn store(&mut self) -> Result<()> {
        for block in &mut self.blocks {
            if let NodeBlock::Held(bytes) = block {
                *block = NodeBlock::Stored(self.scratch.push(bytes)?);
            }
        }
        self.byte_n = 0;
        Ok(())
    }
}

fn write(number: i128, into: &mut Vec<u8>) {
    // None is below zero; if one were it would only take more bytes.
    leb128::write(number.cast_unsigned(), into);
}

fn pack(days: &[DaySums], into: &mut Vec<u8>) {
    let sums = |sums: &NodeSums, into: &mut Vec<u8>| sums.iter().for_each(|sum| write(*sum, into));
    for day in days {
        for number in [i64::from(day.day), day.node_s, day.up_s] {
            write(number.into(), into);
        }
        for of in [&day.capacity, &day.allocated, &day.down, &day.reserved, &day.over] {
            sums(of, into);
        }
        // Fallback: never taken, a length of 64 bits fits 128.
        leb128::write(u128::try_from(day.units.len()).unwrap_or(u128::MAX), into);
        for unit in &day.units {
            write(unit.unit_s, into);
            for of in [&unit.overhead, &unit.stranded, &unit.billed] {
                sums(of, into);
            }
        }
    }
}

fn unpack(mut bytes: &[u8]) -> Result<Vec<DaySums>> {
    let mut days = Vec::new();
    while !bytes.is_empty() {
        days.push(day(&mut bytes).ok_or_else(|| Error::internal("the totals of a node were cut off"))?);
    }
    Ok(days)
}

fn sums(bytes: &mut &[u8]) -> Option<NodeSums> {
    let mut sums = NodeSums::default();
    for sum in &mut sums {
        *sum = leb128::read(bytes)?.cast_signed();
    }
    Some(sums)
}

fn day(bytes: &mut &[u8]) -> Option<DaySums> {
    let number = |bytes: &mut &[u8]| i64::try_from(leb128::read(bytes)?.cast_signed()).ok();
    let mut day = DaySums {
        day: Day::try_from(number(bytes)?).ok()?,
        node_s: number(bytes)?,
        up_s: number(bytes)?,
        capacity: sums(bytes)?,
        allocated: sums(bytes)?,
        down: sums(bytes)?,
        reserved: sums(bytes)?,
        over: sums(bytes)?,
        units: Vec::new(),
    };
    for _ in 0..leb128::read(bytes)? {
        day.units.push(UnitSums {
            unit_s: leb128::read(bytes)?.cast_signed(),
            overhead: sums(bytes)?,
            stranded: sums(bytes)?,
            billed: sums(bytes)?,
        });
    }
    Some(day)
}
