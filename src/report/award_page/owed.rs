//! Who used less than their awards so far, and who more, against the part of the period that went by.

use crate::charge::span::times_over;
use crate::report::awards::AwardState;
use crate::time::Day;
use crate::time::month::day_after;

/// Billionths of one.
const ONE_E9: i128 = 1_000_000_000;

/// An award next to even use of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvenUse {
    /// Days of the award that went by.
    pub gone_days: i128,
    /// Days it was granted for.
    pub all_days: i128,
    /// What should have been used by now to meet the average, in billionths of its unit.
    pub target_e9: i128,
    /// The target less what was used: above zero when something is owed, below when more was used.
    pub owed_e9: i128,
    /// The same in billionths of the award; `None` of an award of nothing.
    pub part_e9: Option<i128>,
}

impl EvenUse {
    /// Of an award as of the end of a day; `None` for stored bytes, and without an end.
    #[must_use]
    pub fn of(state: &AwardState<'_>, on: Day) -> Option<Self> {
        let award = state.award;
        let target_e9 = award.target_e9(on)?;
        let owed_e9 = target_e9 - state.used_e9?;
        let gone = award.last_until()?.min(day_after(on)).checked_sub(award.from)?;
        Some(Self {
            gone_days: gone.max(0).into(),
            all_days: award.reference_until?.checked_sub(award.from)?.into(),
            target_e9,
            owed_e9,
            part_e9: times_over(owed_e9, ONE_E9, state.amount_e9),
        })
    }

    /// The word for it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self.owed_e9 {
            0 => "even",
            owed if owed > 0 => "under",
            _ => "over",
        }
    }
}
