//! Sums of reports in finer units: hundredths for percent, thousandths for rounding, and differences in them.
//!
//! Times and counts of a site and month have 63 bits (`summarise::budget`), work 103 (`reference::benchmark`), and charges
//! less than 10^25 each (`charge`), which is 84. Sums over 2^14 months of sites, and over 2^30 jobs, have fewer than 118.

use crate::charge::amount::CHARGE_SCALE;

/// [`CHARGE_SCALE`] as the scale of a column.
pub(super) const CHARGE_PLACES: u8 = 9;
const _: () = assert!(CHARGE_SCALE == CHARGE_PLACES as u32);

/// A sum in units `by` times as fine, which are less than 2^10 in the unit of work and of charges, 2^20 in those of time.
#[inline]
#[must_use]
pub(super) fn finer(sum: i128, by: i128) -> i128 {
    // Fallback: never taken, 117 bits of a sum and 10 of a factor fit 127.
    sum.saturating_mul(by)
}

/// The sum of two sums.
#[inline]
#[must_use]
pub(super) fn with(sum: i128, more: i128) -> i128 {
    // Fallback: never taken, sums of a report have fewer than 118 bits.
    sum.saturating_add(more)
}
