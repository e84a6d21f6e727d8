//! Bills of a slice on their way from the nodes to the records they are of.
//!
//! Nodes are billed one by one, and a job pays on each of its own. Bills wait packed, in runs of records that follow each
//! other; what does not fit the memory budget waits in a temporary file. They are added up when the records of their run
//! are written.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::bill::{Bill, add_up};
use crate::error::{Error, Result};
use crate::leb128;
use crate::numbers::Part;
use crate::occupancy::LEDGER_N;
use crate::runtime::scratch::{Scratch, SpillRange};

/// Records of a run, as a power of two.
const RUN_BITS: u32 = 14;
/// Records of a run.
pub(crate) const RUN_N: usize = 1 << RUN_BITS;
/// Bills of a run that are held before those of the same job are added up.
const LOOSE_N: usize = 4 * RUN_N;

fn run_of(tag: u32) -> u32 {
    tag >> RUN_BITS
}

/// Bills of one node.
#[derive(Default)]
pub(crate) struct PackedBill(BTreeMap<u32, Vec<u8>>);

impl PackedBill {
    /// Adds a bill.
    pub(crate) fn push(&mut self, bill: &Bill) {
        let bytes = self.0.entry(run_of(bill.tag)).or_default();
        for number in [bill.tag, bill.unit.into(), bill.piece.into(), bill.unknown.into()] {
            leb128::write(number, bytes);
        }
        for amount in bill.held.into_iter().chain(bill.billed) {
            // None is below zero; if one were it would only take more bytes.
            leb128::write(amount.cast_unsigned(), bytes);
        }
    }
}

fn unpack_bill(bytes: &mut &[u8]) -> Option<Bill> {
    let tag = u32::try_from(leb128::read(bytes)?).ok()?;
    let (unit, piece) = (
        u16::try_from(leb128::read(bytes)?).ok()?,
        u16::try_from(leb128::read(bytes)?).ok()?,
    );
    let unknown = u8::try_from(leb128::read(bytes)?).ok()?;
    let mut amounts = || -> Option<[i128; LEDGER_N]> {
        let mut amounts = [0; LEDGER_N];
        for amount in &mut amounts {
            *amount = leb128::read(bytes)?.cast_signed();
        }
        Some(amounts)
    };
    let (held, billed) = (amounts()?, amounts()?);
    Some(Bill {
        tag,
        unit,
        piece,
        unknown,
        held,
        billed,
    })
}

/// The bills of all nodes of a slice.
pub(crate) struct BillSpill {
    budget: usize,
    held: Mutex<BillHeld>,
}

#[derive(Default)]
struct BillHeld {
    runs: BTreeMap<u32, BillRun>,
    /// In memory.
    byte_n: usize,
    scratch: Scratch,
}

#[derive(Default)]
struct BillRun {
    stored: Vec<SpillRange>,
    bytes: Vec<u8>,
}

impl BillSpill {
    /// An empty one that keeps about as many bytes in memory.
    pub(crate) fn new(budget: usize) -> Self {
        Self {
            budget,
            held: Mutex::default(),
        }
    }

    fn held(&self) -> MutexGuard<'_, BillHeld> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds those of a node.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be written.
    pub(crate) fn add(&self, packed: PackedBill) -> Result<()> {
        let mut held = self.held();
        for (run, bytes) in packed.0 {
            held.byte_n += bytes.len();
            let run = held.runs.entry(run).or_default();
            if run.bytes.is_empty() {
                run.bytes = bytes;
            } else {
                run.bytes.extend_from_slice(&bytes);
            }
        }
        if held.byte_n > self.budget {
            held.store()?;
        }
        Ok(())
    }

    /// Hands them out, in the order of the records.
    pub(crate) fn into_sorted(self) -> SortedBills {
        SortedBills {
            held: self.held.into_inner().unwrap_or_else(PoisonError::into_inner),
            run: None,
            bills: Vec::new(),
        }
    }
}

impl BillHeld {
    fn store(&mut self) -> Result<()> {
        for run in self.runs.values_mut().filter(|run| !run.bytes.is_empty()) {
            run.stored.push(self.scratch.push(&std::mem::take(&mut run.bytes))?);
        }
        self.byte_n = 0;
        Ok(())
    }
}

/// Bills by the number of their record, which must be requested in ascending order.
pub(crate) struct SortedBills {
    held: BillHeld,
    /// The run that is in `bills`.
    run: Option<u32>,
    bills: Vec<Bill>,
}

impl SortedBills {
    /// What a record is billed, by unit and piece; nothing for one of a run before that of the last.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read back.
    pub(crate) fn of(&mut self, tag: u32) -> Result<&[Bill]> {
        if self.run != Some(run_of(tag)) {
            self.load(run_of(tag))?;
        }
        let from = self.bills.partition_point(|bill| bill.tag < tag);
        let until = self.bills.partition_point(|bill| bill.tag <= tag);
        Ok(self.bills.part(from..until))
    }

    fn load(&mut self, number: u32) -> Result<()> {
        self.run = Some(number);
        self.bills.clear();
        let Some(run) = self.held.runs.remove(&number) else {
            return Ok(());
        };
        for stretch in run.stored {
            let bytes = self.held.scratch.load(stretch)?;
            self.unpack(&bytes)?;
        }
        self.unpack(&run.bytes)?;
        add_up(&mut self.bills);
        Ok(())
    }

    fn unpack(&mut self, mut bytes: &[u8]) -> Result<()> {
        let mut limit = LOOSE_N.max(2 * self.bills.len());
        while !bytes.is_empty() {
            let bill = unpack_bill(&mut bytes).ok_or_else(|| Error::internal("a bill was cut off"))?;
            self.bills.push(bill);
            // A job on a thousand nodes has a thousand bills.
            if self.bills.len() >= limit {
                add_up(&mut self.bills);
                limit = LOOSE_N.max(2 * self.bills.len());
            }
        }
        Ok(())
    }
}
