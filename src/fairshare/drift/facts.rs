//! What is known of each association, and when two amounts agree.

use super::super::float::of_integer;
use super::super::tree::{AssociationId, AssociationTree};
use super::super::usage::{TreeUsage, UsageRule, UsageSegment};
use super::super::{ChainedDecay, UsageDecay};
use crate::error::Result;

/// Units of stored usage in a billing second.
const E6: f64 = 1e6;
/// What printing cuts off: the digits behind the point, billing seconds.
const PRINTED_S: f64 = 1.0;
/// A rate of one billing second for each second.
const ONE_E9: i128 = 1_000_000_000;

/// What is known of one association.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterFacts {
    /// What the scheduler states with all that is in it, 10^-6 billing seconds; `None` where it does not.
    pub stated_e6: Option<i128>,
    /// What it stated at the earlier instant.
    pub earlier_e6: Option<i128>,
    /// The jobs of the association itself that began before the instant.
    pub segments: Vec<UsageSegment>,
    /// The most that its running jobs may have used that is not computed, 10^-6 billing seconds: what they use in one
    /// calculation period, and after the end of what their records state.
    pub running_e6: i128,
    /// Jobs of it that are not counted.
    pub uncounted_n: u64,
}

/// The instant of the listing before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlierInstant {
    /// Unix seconds.
    pub at_s: i64,
}

/// Everything that decides causes.
#[derive(Clone, Debug)]
pub struct DriftFacts<'a> {
    /// The tree in force.
    pub tree: &'a AssociationTree,
    /// How usage counts.
    pub rule: &'a UsageRule,
    /// Whether the rates of jobs are whole numbers of which the scheduler has the digits behind the point as well.
    pub is_whole_billing: bool,
    /// The computed usage.
    pub usage: &'a TreeUsage,
    /// The instant of the counters, Unix seconds.
    pub at_s: i64,
    /// The instant of earlier counters, if there are any.
    pub earlier: Option<EarlierInstant>,
    /// Of every association, in the order of the tree.
    pub counters: Vec<CounterFacts>,
    /// The part of an amount by which two may differ and agree, such as 0.001.
    pub tolerance: f64,
}

/// A stated and a computed amount of one association, billing seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AmountPair {
    pub(super) id: AssociationId,
    pub(super) stated: f64,
    pub(super) computed: f64,
    /// By how much they may differ.
    pub(super) tolerance: f64,
}

impl AmountPair {
    /// What the scheduler has more.
    pub(super) fn excess(self) -> f64 {
        self.stated - self.computed
    }

    pub(super) fn agrees(self) -> bool {
        self.excess().abs() <= self.tolerance
    }

    /// Whether the scheduler has less.
    pub(super) fn is_less(self) -> bool {
        self.excess() < -self.tolerance
    }

    /// Whether the scheduler has more.
    pub(super) fn is_more(self) -> bool {
        self.excess() > self.tolerance
    }

    /// Whether there is more than nothing on either side.
    pub(super) fn has_usage(self) -> bool {
        self.stated > self.tolerance || self.computed > self.tolerance
    }
}

/// 10^-6 billing seconds as billing seconds.
pub(super) fn billing_s(usage_e6: i128) -> f64 {
    of_integer(usage_e6) / E6
}

impl DriftFacts<'_> {
    /// By how much two amounts may differ and agree: what printing cuts off, the tolerance, and under Slurm's steps the
    /// decay of one calculation period, because no record states the instants of calculation.
    pub(super) fn tolerance_of(&self, one: f64, other: f64) -> f64 {
        PRINTED_S + one.max(other) * self.relative_tolerance()
    }

    /// The part of an amount by which two may differ and agree.
    #[must_use]
    pub fn relative_tolerance(&self) -> f64 {
        let of_step = match self.rule.decay {
            UsageDecay::Chained(ChainedDecay::Steps(steps)) => {
                1.0 - ChainedDecay::Steps(steps).remaining(self.at_s - steps.period_s(), self.at_s)
            }
            _ => 0.0,
        };
        self.tolerance + of_step
    }

    /// Whether an association has other usage than the scheduler states. Causes need the jobs then.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when a sum of usage does not fit.
    pub fn differs(&self) -> Result<bool> {
        let totals_e6 = self.usage.totals_e6(self.tree)?;
        let mut pairs = self.tree.iter().filter_map(|(id, _)| {
            let stated_e6 = self.counter(id)?.stated_e6?;
            Some(self.pair(id, billing_s(stated_e6), billing_s(*totals_e6.get(id.index())?)))
        });
        Ok(pairs.any(|pair| !pair.agrees()))
    }

    /// What is known of an association; nothing of one of another tree.
    pub(super) fn counter(&self, id: AssociationId) -> Option<&CounterFacts> {
        self.counters.get(id.index())
    }

    /// The jobs of an association itself.
    pub(super) fn segments(&self, id: AssociationId) -> &[UsageSegment] {
        self.counter(id).map_or(&[], |counter| &counter.segments)
    }

    pub(super) fn pair(&self, id: AssociationId, stated: f64, computed: f64) -> AmountPair {
        AmountPair {
            id,
            stated,
            computed,
            tolerance: self.tolerance_of(stated, computed),
        }
    }

    /// What users have on both sides.
    pub(super) fn users(&self) -> Vec<AmountPair> {
        let users = self.tree.iter().filter(|(_, association)| association.key.is_user());
        users
            .filter_map(|(id, _)| {
                let stated = self.counter(id)?.stated_e6?;
                Some(self.pair(id, billing_s(stated), billing_s(self.usage.own_e6(id)?)))
            })
            .collect()
    }

    /// What a user had on both sides at the earlier instant.
    pub(super) fn earlier_pair(&self, id: AssociationId) -> Result<Option<AmountPair>> {
        let Some((earlier, stated)) = self
            .earlier
            .zip(self.counter(id).and_then(|counter| counter.earlier_e6))
        else {
            return Ok(None);
        };
        let mut computed = 0_i128;
        for segment in self.segments(id) {
            computed += self.rule.usage_e6(segment, earlier.at_s)?;
        }
        Ok(Some(self.pair(id, billing_s(stated), billing_s(computed))))
    }

    /// The most, billing seconds, that the computed usage of an association may lack because the digits behind the point of
    /// rates are cut off: one for each second of its jobs, counted as usage is.
    pub(super) fn truncated_s(&self, id: AssociationId) -> Result<f64> {
        if !self.is_whole_billing {
            return Ok(0.0);
        }
        let mut sum_e6 = 0_i128;
        for segment in self.segments(id) {
            let most = UsageSegment {
                rate_e9: ONE_E9,
                ..*segment
            };
            sum_e6 += self.rule.usage_e6(&most, self.at_s)?;
        }
        Ok(billing_s(sum_e6))
    }

    /// The part of usage of `from_s` that is left at the instant; `None` where it does not shrink by one factor, and where
    /// a reset in between ended it.
    pub(super) fn left_since(&self, from_s: i64) -> Option<f64> {
        let is_reset = self.rule.reset.last_s(&self.rule.zone, self.at_s);
        if is_reset.is_some_and(|reset_s| reset_s > from_s) {
            return None;
        }
        self.rule
            .decay
            .chained()
            .map(|decay| decay.remaining(from_s, self.at_s))
    }

    /// When the first job of the records began.
    pub(super) fn first_job_s(&self) -> Option<i64> {
        let segments = self.counters.iter().flat_map(|counter| &counter.segments);
        segments.map(|segment| segment.span.start_s).min()
    }
}
