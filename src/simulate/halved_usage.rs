//! Usage in halving steps while a simulation runs.
//!
//! The last half-life counts in full, the one before it half, the one before that a quarter. With what was used up to an instant
//! without decay, `U`, that is `U(t) - U(t - H) / 2 - U(t - 2 H) / 4 - ...`: what is kept of every association is how its sum
//! without decay grew, and one place of that is looked up for every half-life.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::fairshare::float::too_large;
use crate::fairshare::{HalfLife, UsageSegment};

/// Units of 10^-18 (a rate times a factor) in one of 10^-6 (usage).
const E12: i128 = 1_000_000_000_000;
/// Halvings after which nothing is left of a sum of 128 bits.
const MOST_HALVINGS: u32 = 120;

/// Usage of associations, by place.
#[derive(Clone, Debug)]
pub struct HalvedUsage {
    half_life_s: i64,
    of: Vec<SummedUsage>,
}

/// How the usage of one association grew, without decay.
#[derive(Clone, Debug, Default)]
struct SummedUsage {
    /// Changes of its rate that are not among the points yet, by second, 10^-18 billing per second.
    coming_e18: BTreeMap<i64, i128>,
    /// In the order of time.
    points: Vec<UsagePoint>,
}

/// What was used up to a second, and how much is used in every second from then on.
#[derive(Clone, Copy, Debug)]
struct UsagePoint {
    at_s: i64,
    used_e18: i128,
    rate_e18: i128,
}

impl UsagePoint {
    fn used_at(&self, at_s: i64) -> Result<i128> {
        let grown_e18 = i128::from(at_s - self.at_s).checked_mul(self.rate_e18);
        let used_e18 = grown_e18.and_then(|grown_e18| self.used_e18.checked_add(grown_e18));
        used_e18.ok_or_else(too_large)
    }
}

impl HalvedUsage {
    /// No usage of so many associations.
    #[must_use]
    pub fn new(half_life: HalfLife, association_n: usize) -> Self {
        Self {
            half_life_s: half_life.seconds(),
            of: vec![SummedUsage::default(); association_n],
        }
    }

    /// Adds what a job uses. It begins after the last instant that usage was computed for, or in it.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when it does not fit.
    pub fn add(&mut self, association: usize, segment: &UsageSegment) -> Result<()> {
        let rate_e18 = segment.rate_e9.checked_mul(segment.factor_e9).ok_or_else(too_large)?;
        let Some(of) = self.of.get_mut(association) else {
            return Ok(());
        };
        if segment.span.is_empty() {
            return Ok(());
        }
        for (at_s, more_e18) in [(segment.span.start_s, rate_e18), (segment.span.end_s, -rate_e18)] {
            let change = of.coming_e18.entry(at_s).or_default();
            *change = change.checked_add(more_e18).ok_or_else(too_large)?;
        }
        Ok(())
    }

    /// Usage of an association in a second, 10^-6 billing seconds; what was used up to `zero_s` does not count. Seconds are
    /// requested in their order.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when it does not fit; [`crate::error::Kind::Internal`] for a second before the last one.
    pub fn usage_e6(&mut self, association: usize, at_s: i64, zero_s: Option<i64>) -> Result<i128> {
        let half_life_s = self.half_life_s;
        let Some(of) = self.of.get_mut(association) else {
            return Ok(0);
        };
        of.advance(at_s)?;
        // Fallback: where nothing was set to zero, all of it counts.
        let zero_s = zero_s.unwrap_or(i64::MIN);
        let mut usage_e18 = of.used_at(at_s)?;
        let mut before_s = at_s;
        for halvings in 0..MOST_HALVINGS {
            // Fallback: before all seconds there are nothing was used.
            before_s = before_s.saturating_sub(half_life_s);
            if before_s <= zero_s || !of.has_begun(before_s) {
                // All earlier half-lives begin with the same sum: halves of it add up to all of it.
                usage_e18 -= of.used_at(before_s.max(zero_s))? >> halvings;
                break;
            }
            usage_e18 -= of.used_at(before_s)? >> (halvings + 1);
        }
        Ok((usage_e18 + E12 / 2).div_euclid(E12))
    }
}

impl SummedUsage {
    /// Changes up to a second become points.
    fn advance(&mut self, until_s: i64) -> Result<()> {
        while let Some(next) = self.coming_e18.first_entry().filter(|next| *next.key() <= until_s) {
            let (at_s, more_e18) = next.remove_entry();
            let point = match self.points.last() {
                None => UsagePoint {
                    at_s,
                    used_e18: 0,
                    rate_e18: more_e18,
                },
                Some(last) if last.at_s <= at_s => UsagePoint {
                    at_s,
                    used_e18: last.used_at(at_s)?,
                    rate_e18: last.rate_e18.checked_add(more_e18).ok_or_else(too_large)?,
                },
                Some(_) => return Err(Error::internal("usage that began before the last calculation")),
            };
            self.points.push(point);
        }
        Ok(())
    }

    fn has_begun(&self, at_s: i64) -> bool {
        self.points.first().is_some_and(|first| first.at_s < at_s)
    }

    /// What was used up to a second.
    fn used_at(&self, at_s: i64) -> Result<i128> {
        let begun_n = self.points.partition_point(|point| point.at_s <= at_s);
        let last = self.points.get(..begun_n).and_then(<[_]>::last);
        last.map_or(Ok(0), |last| last.used_at(at_s))
    }
}
