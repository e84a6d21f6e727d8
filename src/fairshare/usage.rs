//! Decayed usage: of segments of jobs, and of the associations of a tree.

use std::sync::Arc;

use super::calculation_times::CalculationTimes;
use super::daemon_runs::DaemonRuns;
use super::decay::{ChainedDecay, DecayedSeconds, UsageDecay};
use super::float::{of_integer, to_integer, too_large};
use super::reset::UsageReset;
use super::tree::{AssociationId, AssociationTree};
use crate::error::Result;
use crate::time::{SecondSpan, Zone};

/// Units of 10^-18 (a rate times a factor) in one of 10^-6 (usage).
const E12: i128 = 1_000_000_000_000;

/// Seconds of a job at one rate.
///
/// Slurm counts all seconds from start to end, suspended ones too. The factor is the one of the QOS of the job; the
/// factor of a partition's QOS is not used. `NoDecay` of a QOS concerns the usage of that QOS only and has no place here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageSegment {
    /// When, Unix seconds.
    pub span: SecondSpan,
    /// Billing per second, 10^-9: the weighted resources before they are truncated.
    pub rate_e9: i128,
    /// `UsageFactor` of the QOS, 10^-9: 10^9 is 1, and 0 is free.
    pub factor_e9: i128,
}

/// How usage counts at a site: the decay, the resets, and the zone of its midnights.
#[derive(Clone, Debug)]
pub struct UsageRule {
    /// How past usage decays.
    pub decay: UsageDecay,
    /// When it is set to zero.
    pub reset: UsageReset,
    /// The zone of the scheduler's machine.
    pub zone: Zone,
    /// When the scheduler calculates, where nothing decays and that is known: usage grows and is set to zero at its calculations
    /// then. [`DecaySteps`](super::DecaySteps) have their own.
    pub calculations: Option<CalculationTimes>,
    /// The runs of the scheduler's daemon, where they are known; they count where usage follows its calculations, or nothing
    /// decays.
    pub runs: Option<Arc<DaemonRuns>>,
}

impl UsageRule {
    /// Decay alone.
    #[must_use]
    pub fn of_decay(decay: UsageDecay) -> Self {
        Self {
            decay,
            reset: UsageReset::None,
            zone: Zone::utc(),
            calculations: None,
            runs: None,
        }
    }

    /// When the scheduler calculates, where usage follows its calculations.
    #[must_use]
    pub fn calculation_times(&self) -> Option<CalculationTimes> {
        match self.decay {
            UsageDecay::Chained(ChainedDecay::Steps(steps)) => Some(steps.times()),
            UsageDecay::Chained(ChainedDecay::None) => self.calculations,
            UsageDecay::Chained(ChainedDecay::Continuous(_)) | UsageDecay::HalvingSteps(_) => None,
        }
    }

    /// The last calculation of the scheduler up to an instant: that of its run, or of `times` where no runs are known.
    #[must_use]
    pub fn last_calculation_s(&self, times: CalculationTimes, at_s: i64) -> i64 {
        self.runs
            .as_ref()
            .map_or_else(|| times.last_at(at_s), |runs| runs.last_at(at_s))
    }

    /// The seconds of `span` that became usage after `after_s` and up to `at_s`, each with its weight at `at_s`.
    fn seconds(&self, span: SecondSpan, after_s: i64, at_s: i64) -> DecayedSeconds {
        match (&self.runs, self.decay) {
            (Some(runs), UsageDecay::Chained(ChainedDecay::Steps(steps))) => {
                DecayedSeconds::Real(runs.seconds(steps, span, after_s, at_s))
            }
            (runs, UsageDecay::Chained(ChainedDecay::None)) => {
                let within = SecondSpan {
                    start_s: self.counted_until(span, after_s),
                    end_s: self.counted_until(span, at_s),
                };
                let common = span.within(within);
                DecayedSeconds::Whole(match runs {
                    _ if common.is_empty() => 0,
                    Some(runs) => runs.whole_seconds(span, within, at_s),
                    None => common.length_s(),
                })
            }
            _ => self.decay.seconds(span, after_s, at_s),
        }
    }

    /// Up to when the seconds of a job are usage at an instant, where nothing decays: a job that runs is counted at calculations,
    /// where they are known, and one that ended at its end.
    fn counted_until(&self, span: SecondSpan, at_s: i64) -> i64 {
        let running = self.calculations.filter(|_| at_s < span.end_s);
        running.map_or(at_s, |times| self.last_calculation_s(times, at_s))
    }

    /// What a segment counts for at `at_s`, 10^-6 billing seconds, rounded once, a tie to the even digit. Seconds after
    /// `at_s` do not count.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when it does not fit.
    pub fn usage_e6(&self, segment: &UsageSegment, at_s: i64) -> Result<i128> {
        self.added_e6(segment, i64::MIN, at_s)
    }

    /// The part of [`Self::usage_e6`] that was not usage yet at `after_s`: with usage aged from `after_s` to `at_s`
    /// ([`Self::aged_e6`]) it is the usage at `at_s`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when it does not fit.
    pub fn added_e6(&self, segment: &UsageSegment, after_s: i64, at_s: i64) -> Result<i128> {
        let after_s = self.zero_after(at_s).map_or(after_s, |zero_s| zero_s.max(after_s));
        self.segment_e6(segment, after_s, at_s)
    }

    /// As [`Self::added_e6`] of a period that ends at `at_s`: what a reset at its end is about to set to zero still counts,
    /// and what one at its beginning left counts for it.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when it does not fit.
    pub fn added_of_period_e6(&self, segment: &UsageSegment, after_s: i64, at_s: i64) -> Result<i128> {
        self.segment_e6(segment, self.zero_in_period(after_s, at_s).unwrap_or(after_s), at_s)
    }

    /// What a segment adds after `after_s` and up to `at_s`, without resets.
    fn segment_e6(&self, segment: &UsageSegment, after_s: i64, at_s: i64) -> Result<i128> {
        let per_second_e18 = segment.rate_e9.checked_mul(segment.factor_e9).ok_or_else(too_large)?;
        match self.seconds(segment.span, after_s, at_s) {
            DecayedSeconds::Whole(seconds) => {
                let exact = per_second_e18.checked_mul(i128::from(seconds)).ok_or_else(too_large)?;
                Ok(rounded(exact, E12))
            }
            DecayedSeconds::Real(seconds) => to_integer(of_integer(per_second_e18) * seconds / of_integer(E12)),
        }
    }

    /// What usage of `from_s` counts for at `to_s`, 10^-6 billing seconds; `None` where usage cannot be aged
    /// ([`UsageDecay::HalvingSteps`]).
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when it does not fit.
    pub fn aged_e6(&self, usage_e6: i128, from_s: i64, to_s: i64) -> Result<Option<i128>> {
        let is_reset = self.zero_after(to_s).is_some_and(|zero_s| zero_s >= from_s);
        self.left_e6(usage_e6, from_s, to_s, is_reset)
    }

    /// As [`Self::aged_e6`] of a period that ends at `to_s`: a reset at its beginning has been done, one at its end has not.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when it does not fit.
    pub fn aged_over_period_e6(&self, usage_e6: i128, from_s: i64, to_s: i64) -> Result<Option<i128>> {
        self.left_e6(usage_e6, from_s, to_s, self.zero_in_period(from_s, to_s).is_some())
    }

    fn left_e6(&self, usage_e6: i128, from_s: i64, to_s: i64, is_reset: bool) -> Result<Option<i128>> {
        let Some(decay) = self.decay.chained() else {
            return Ok(None);
        };
        if is_reset {
            return Ok(Some(0));
        }
        match (decay, &self.runs) {
            (ChainedDecay::None, _) => Ok(Some(usage_e6)),
            (ChainedDecay::Steps(steps), Some(runs)) if from_s < to_s => {
                to_integer(of_integer(usage_e6) * runs.remaining(steps, from_s, to_s)).map(Some)
            }
            _ => to_integer(of_integer(usage_e6) * decay.remaining(from_s, to_s)).map(Some),
        }
    }

    /// The last second up to which nothing counts at the end of a period, before a reset that is due then; `None` where no
    /// reset is done in the period.
    fn zero_in_period(&self, begins_s: i64, ends_s: i64) -> Option<i64> {
        let zero_s = self.zero_after(ends_s.checked_sub(1)?)?;
        // A calculation at the beginning sets to zero what was added before it.
        (zero_s >= begins_s.checked_sub(1)?).then_some(zero_s)
    }

    /// The last second up to which nothing counts at `at_s`. Where usage follows calculations the first one after midnight sets
    /// it to zero, and counts the complete period of running jobs after that.
    fn zero_after(&self, at_s: i64) -> Option<i64> {
        let last_s = self.reset.last_s(&self.zone, at_s)?;
        let Some(times) = self.calculation_times() else {
            return Some(last_s);
        };
        let next_at = |midnight_s: i64| match &self.runs {
            Some(runs) => runs.next_at(midnight_s),
            None => times.next_at(midnight_s),
        };
        let done = |midnight_s: i64| Some(next_at(midnight_s)).filter(|done_s| *done_s <= at_s);
        // Shortly after a midnight the reset of the one before it holds.
        done(last_s)
            .or_else(|| done(self.reset.last_s(&self.zone, last_s.checked_sub(1)?)?))
            // Fallback: no midnight is at the beginning of 63 bits of seconds.
            .map(|done_s| done_s.saturating_sub(1))
    }
}

/// `number / divisor`, a tie to the even digit.
fn rounded(number: i128, divisor: i128) -> i128 {
    let (whole, rest) = (number.div_euclid(divisor), number.rem_euclid(divisor));
    let up = rest * 2 > divisor || (rest * 2 == divisor && whole % 2 != 0);
    whole + i128::from(up)
}

/// Usage of every association of a tree, 10^-6 billing seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeUsage {
    own_e6: Vec<i128>,
}

impl TreeUsage {
    /// No usage in any of them.
    #[must_use]
    pub fn none(tree: &AssociationTree) -> Self {
        Self {
            own_e6: vec![0; tree.len()],
        }
    }

    /// Adds usage of the association itself: of its jobs, not of what is in it.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when it does not fit, [`crate::error::Kind::Internal`] for an id of another tree.
    pub fn add(&mut self, id: AssociationId, usage_e6: i128) -> Result<()> {
        let own = self
            .own_e6
            .get_mut(id.index())
            .ok_or_else(|| crate::error::Error::internal("usage of an association of another tree"))?;
        *own = own.checked_add(usage_e6).ok_or_else(too_large)?;
        Ok(())
    }

    /// Usage of an association itself; none for an id of another tree.
    #[must_use]
    pub fn own_e6(&self, id: AssociationId) -> Option<i128> {
        self.own_e6.get(id.index()).copied()
    }

    /// Usage of every association with all that is in it, in the order of the tree (`RawUsage` of sshare).
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when a sum does not fit.
    pub fn totals_e6(&self, tree: &AssociationTree) -> Result<Vec<i128>> {
        let mut totals = self.own_e6.clone();
        // What is in an account comes after it, so that from the end every sum is complete when it is added.
        for (id, association) in tree.iter().rev() {
            let Some(parent) = association.parent else { continue };
            let of_child = totals.get(id.index()).copied();
            if let (Some(of_child), Some(total)) = (of_child, totals.get_mut(parent.index())) {
                *total = total.checked_add(of_child).ok_or_else(too_large)?;
            }
        }
        Ok(totals)
    }
}
