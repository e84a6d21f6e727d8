//! The instants whose usage one listing of a scheduler mixes, and what a job counts for at each.

use super::jobs::CountedJob;
use crate::error::Result;
use crate::fairshare::{CalculationTimes, UsageRule, UsageSegment};

/// Usage of one segment, or of the jobs of one association, at these instants; 10^-6 billing seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_field_names,
    reason = "each is in the same unit, which its name states"
)]
pub(super) struct ListedSums {
    /// At the instant of the listing.
    pub(super) now_e6: i128,
    /// Right after the last calculation.
    pub(super) calculated_e6: i128,
    /// Just before it.
    pub(super) before_e6: i128,
    /// Just before the calculation before that.
    pub(super) earlier_e6: i128,
}

impl ListedSums {
    /// Adds usage of another segment; `None` when a sum does not fit.
    pub(super) fn checked_add(self, other: Self) -> Option<Self> {
        Some(Self {
            now_e6: self.now_e6.checked_add(other.now_e6)?,
            calculated_e6: self.calculated_e6.checked_add(other.calculated_e6)?,
            before_e6: self.before_e6.checked_add(other.before_e6)?,
            earlier_e6: self.earlier_e6.checked_add(other.earlier_e6)?,
        })
    }

    /// The same at all instants.
    fn always(usage_e6: i128) -> Self {
        Self {
            now_e6: usage_e6,
            calculated_e6: usage_e6,
            before_e6: usage_e6,
            earlier_e6: usage_e6,
        }
    }
}

/// One listing: its instant, and the calculations before it where they are known.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListedInstants<'a> {
    rule: &'a UsageRule,
    at_s: i64,
    calculations: Option<LastCalculations>,
}

/// The last calculations before a listing.
#[derive(Clone, Copy, Debug)]
struct LastCalculations {
    /// The last one.
    calculated_s: i64,
    /// The last second before it.
    before_s: i64,
    /// The last second before the one before it.
    earlier_s: i64,
    /// Whether usage was set to zero since `earlier_s`.
    is_reset: bool,
}

impl LastCalculations {
    /// What the scheduler knew of a job: one that was dumped after the last calculation and ran then had not ended.
    fn known(&self, job: &CountedJob<'_>) -> UsageSegment {
        let mut segment = job.segment;
        if job.is_open && segment.span.end_s > self.calculated_s {
            segment.span.end_s = i64::MAX;
        }
        segment
    }
}

impl<'a> ListedInstants<'a> {
    /// Of a listing at `at_s`; `times` are the calculations where they are known. Where they are not, everything is of the
    /// instant of the listing.
    pub(super) fn new(rule: &'a UsageRule, times: Option<CalculationTimes>, at_s: i64) -> Self {
        let calculations = times.and_then(|times| {
            let calculated_s = rule.last_calculation_s(times, at_s);
            let before_s = calculated_s.checked_sub(1)?;
            let earlier_s = rule.last_calculation_s(times, before_s).checked_sub(1)?;
            let reset_s = rule.reset.last_s(&rule.zone, at_s);
            Some(LastCalculations {
                calculated_s,
                before_s,
                earlier_s,
                // The calculation after a midnight does it, at most one period later.
                is_reset: reset_s.is_some_and(|reset_s| reset_s.checked_add(times.period_s()) >= Some(earlier_s)),
            })
        });
        Self {
            rule,
            at_s,
            calculations,
        }
    }

    /// Whether a listing of this instant is one of several instants.
    pub(super) fn is_mixed(&self) -> bool {
        self.calculations.is_some()
    }

    /// What a job counts for. Earlier instants are in units of now: what was used until then shrinks as it does since.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when it does not fit.
    pub(super) fn usage_e6(&self, job: &CountedJob<'_>) -> Result<ListedSums> {
        let Some(last) = &self.calculations else {
            return Ok(ListedSums::always(self.rule.usage_e6(&job.segment, self.at_s)?));
        };
        let segment = &last.known(job);
        let now_e6 = self.rule.usage_e6(segment, self.at_s)?;
        if segment.span.end_s <= last.earlier_s && !last.is_reset {
            return Ok(ListedSums::always(now_e6));
        }
        let at = |at_s: i64| -> Result<i128> {
            let usage_e6 = self.rule.usage_e6(segment, at_s)?;
            if last.is_reset {
                return Ok(usage_e6);
            }
            let aged = self.rule.aged_e6(usage_e6, at_s, self.at_s)?;
            // Fallback: usage that cannot be aged is taken as it was.
            Ok(aged.unwrap_or(usage_e6))
        };
        Ok(ListedSums {
            now_e6,
            calculated_e6: at(last.calculated_s)?,
            before_e6: at(last.before_s)?,
            earlier_e6: at(last.earlier_s)?,
        })
    }
}
