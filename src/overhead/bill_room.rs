//! What jobs may be billed for in a slice: what keeps the sums of charges within their columns.
//!
//! A job may hold 10^8 cores for five years, whatever wall time its record states. The bills of a slice are held to the room
//! that a month of `usage` has (see [`crate::summarise::budget`]), in the order of the records; no other slice adds to the
//! same sums. Core-seconds and GPU-seconds come to at most 2 × 2^57 then, and charges to 10^37 billionths, of 10^38 that their
//! column holds.

use crate::summarise::budget::{LoadClass, MonthBudget, VAST_JOB, load};

/// Room for charges, in units of 10^-9.
const CHARGE_LIMIT_E9: i128 = 10_i128.pow(37);

/// The bills of a slice so far.
#[derive(Debug, Default)]
pub(super) struct BillRoom {
    held: MonthBudget,
    charge_e9: i128,
}

impl BillRoom {
    /// Adds what a job held, core-seconds and GPU-seconds, and what it is charged, if there is room for both; whether there
    /// was.
    #[must_use]
    pub(super) fn admit(&mut self, held_s: impl IntoIterator<Item = i128>, charge_e9: Option<i128>) -> bool {
        let total = charge_e9.and_then(|charge_e9| self.charge_e9.checked_add(charge_e9));
        let Some(total) = total.filter(|total| *total <= CHARGE_LIMIT_E9) else {
            return false;
        };
        let held_s = held_s
            .into_iter()
            // Fallback: what does not fit a number is beyond every room, and refused by it.
            .map(|held_s| i64::try_from(held_s).unwrap_or(i64::MAX));
        let load = load(held_s);
        let has_room = self.held.admit(LoadClass::near(load, VAST_JOB), load);
        if has_room {
            self.charge_e9 = total;
        }
        has_room
    }
}
