//! How much usage of one site and record month counts: what keeps every published sum within 63 bits.
//!
//! One record may contain as much as 10^15 core milliseconds, so that some nine thousand of them overflow a sum of 63 bits. No
//! site has such usage: ten million cores come to 2.6 × 10^16 core milliseconds in a month, and 10 PiB of memory to 2.8 × 10^16
//! MiB seconds. Such records are refused one by one, by file and line, and the month is published without them. Neither wider
//! columns nor tighter limits of a record would do: readers of `usage` expect 64-bit integers, and a limit of 2^32 such records
//! were 50 days of one core.
//!
//! The load of a record is the sum of its integer measures in the units of their columns. The loads of a month's records are
//! added up in the order in which `records` is sorted, so that it does not matter in which nights they were read. A record
//! that its class has no room for is refused; smaller ones that follow still fit.
//!
//! No sum of usage overflows then, whatever the records contain. Usage of one month is contributed by records of at most 22
//! months, unless it lies more than [`NEAR_MS`] from the instant that places its record, and by records of all 2 760
//! months of 1970 to 2199 otherwise: 22 × 2 × 2^57 + 2760 × 2^49 is less than 2^63. Entries of corrections are summed
//! apart from records, and are no more than the records they move.
//!
//! Windows of reservations have rooms of the same size by the month of their start, and bills of jobs for their nodes by the
//! month they are for: each of these is summed apart from the others.

/// Room for records of a load below that of [`LoadClass::Vast`], and as much for those above: 55 million cores in a month.
const NEAR_LIMIT: u64 = 1 << 57;
/// Room for records whose usage lies far from the instant that places them.
const DISTANT_LIMIT: u64 = 1 << 49;
/// How far usage lies from the instant that places its record, milliseconds: 300 days.
const NEAR_MS: u64 = 300 * 86_400_000;
/// From here on a job is vast: 200 000 cores for a day. A wrapped counter of nanoseconds lands above.
pub const VAST_JOB: u64 = 1 << 44;
/// From here on a summary is vast: 1.7 million cores for a month.
pub const VAST_SUMMARY: u64 = 1 << 52;

/// Which room a record takes: mistakes are mostly vast, and must not leave other records without room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadClass {
    /// Most records.
    Ordinary,
    /// The largest jobs of the largest machines, and mistakes.
    Vast,
    /// Its usage is in other months than its record, more than 300 days away.
    Distant,
}

impl LoadClass {
    /// The class of a load whose usage is between two instants; `vast` is where vast loads begin, all Unix milliseconds.
    #[must_use]
    pub fn of(load: u64, vast: u64, record_ms: i64, from_ms: i64, until_ms: i64) -> Self {
        let is_far = |ms: i64| ms.abs_diff(record_ms) > NEAR_MS;
        if is_far(from_ms) || is_far(until_ms) {
            Self::Distant
        } else {
            Self::near(load, vast)
        }
    }

    /// The class of a load whose usage is in the month of its record; `vast` is where vast loads begin.
    #[must_use]
    pub fn near(load: u64, vast: u64) -> Self {
        if load < vast { Self::Ordinary } else { Self::Vast }
    }
}

/// The loads of one site and record month so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MonthBudget {
    ordinary: u64,
    vast: u64,
    distant: u64,
}

impl MonthBudget {
    /// Adds a load if there is room for it; whether there was.
    #[must_use]
    pub fn admit(&mut self, class: LoadClass, load: u64) -> bool {
        let (taken, limit) = match class {
            LoadClass::Ordinary => (&mut self.ordinary, NEAR_LIMIT),
            LoadClass::Vast => (&mut self.vast, NEAR_LIMIT),
            LoadClass::Distant => (&mut self.distant, DISTANT_LIMIT),
        };
        let total = taken.checked_add(load).filter(|total| *total <= limit);
        if let Some(total) = total {
            *taken = total;
        }
        total.is_some()
    }
}

/// The load of measures: the sum of their amounts, whatever their sign. What does not fit is beyond every room.
#[must_use]
pub fn load(measures: impl IntoIterator<Item = i64>) -> u64 {
    let amounts = measures.into_iter().map(i64::unsigned_abs);
    // Fallback: a load at the end of the type is beyond every room, and refused.
    amounts.fold(0, u64::saturating_add)
}
