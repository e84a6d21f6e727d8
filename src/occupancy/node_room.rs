//! How much jobs on one node may come to in a slice: what keeps the sums of a node within their columns.
//!
//! A job may hold 10^8 cores or a pebibyte of memory, so that 8 192 jobs on one node overflow 63 bits. What jobs hold on a
//! node is added up in the order of the records, whether or not they ran at the same time, so that it does not matter in
//! which nights they were read. A job that has no room on a node is left out there and reported; smaller ones that follow
//! still fit.
//!
//! No sum of a node overflows then, whatever jobs hold. At any instant they hold at most 2 × 2^44 cores, GPUs and GPUs of a
//! model, and 2 × 2^61 bytes of memory: less than 2^63. That is also the most that nodes have whose capacity comes from jobs.
//! A local day lasts at most 48 hours: 2^45 × 172 800 s is less than 2^63, and 2^62 × 172 800 byte-seconds are less than
//! 10^38. Billing multiplies by 10^12 over a slice of at most 31 days and an hour of summer time: 2^62 × 2^40 × 2^22 is less
//! than 2^127.

use crate::numbers::Extent;

/// Room for cores and GPUs of jobs that are not vast, and as much for those that are: jobs of 256 of them, one every 40 µs.
const COUNT_LIMIT: u64 = 1 << 44;
/// Room for memory, byte, of jobs that are not vast, and as much for those that are: jobs of a tebibyte,
/// one every two seconds.
const MEMORY_LIMIT_BYTE: u64 = 1 << 61;
/// From here on a job on a node is vast: more cores and GPUs, or more bytes of memory, than any node has.
const VAST_COUNT: u64 = 1 << 20;
const VAST_MEMORY_BYTE: u64 = 1 << 46;
/// Place of memory among the resources that are followed.
const MEMORY: usize = 1;

/// What a job holds on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeLoad {
    /// Cores and GPUs.
    count: u64,
    memory_byte: u64,
}

impl NodeLoad {
    /// That of amounts in the order of the resources followed. What does not fit is beyond every room.
    #[must_use]
    pub fn of(amounts: &[i64]) -> Self {
        let mut load = Self::default();
        for (at, amount) in amounts.iter().enumerate() {
            let sum = if at == MEMORY {
                &mut load.memory_byte
            } else {
                &mut load.count
            };
            *sum = sum.further(amount.unsigned_abs());
        }
        load
    }

    fn is_vast(self) -> bool {
        self.count >= VAST_COUNT || self.memory_byte >= VAST_MEMORY_BYTE
    }

    /// The sum of both, if there is room for it.
    fn with(self, other: Self) -> Option<Self> {
        let count = self.count.checked_add(other.count)?;
        let memory_byte = self.memory_byte.checked_add(other.memory_byte)?;
        (count <= COUNT_LIMIT && memory_byte <= MEMORY_LIMIT_BYTE).then_some(Self { count, memory_byte })
    }
}

/// What the jobs on a node came to so far. Mistakes are mostly vast, and do not leave other jobs without room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeRoom {
    ordinary: NodeLoad,
    vast: NodeLoad,
}

impl NodeRoom {
    /// Adds what a job holds if there is room for it; whether there was.
    #[must_use]
    pub fn admit(&mut self, load: NodeLoad) -> bool {
        let taken = if load.is_vast() {
            &mut self.vast
        } else {
            &mut self.ordinary
        };
        let total = taken.with(load);
        if let Some(total) = total {
            *taken = total;
        }
        total.is_some()
    }
}
