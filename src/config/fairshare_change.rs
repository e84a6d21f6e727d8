//! What of `[[fairshare]]` a what-if assumes to be other than the pipeline states.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::sync::Arc;

use super::fairshare_plan::{DecayMode, FairsharePlan, HalfLifeSetting};
use crate::charge::Tariff;
use crate::error::{Error, Kind, Result};
use crate::fairshare::priority::PriorityWeights;
use crate::fairshare::{FairshareAlgorithm, UsageReset};
use crate::reference::share_change::ShareChange;

/// Seconds of a day, which halving steps count by.
const DAY_S: u32 = 86_400;

/// By what jobs would be counted.
#[derive(Clone, Debug)]
pub enum UsageChange {
    /// The recorded billing, or a policy that the lake charged by, as `usage` names it.
    Named {
        /// The name.
        name: String,
        /// Where it was written, as mistakes name it.
        place: String,
    },
    /// A policy of a file.
    Priced(Arc<Tariff>),
}

/// Other weights of the terms of priorities; what is `None` stays as it is listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriorityWeightChange {
    /// `PriorityWeightAge`.
    pub age: Option<u32>,
    /// `PriorityWeightAssoc`.
    pub association: Option<u32>,
    /// `PriorityWeightJobSize`.
    pub job_size: Option<u32>,
    /// `PriorityWeightPartition`.
    pub partition: Option<u32>,
    /// `PriorityWeightQOS`.
    pub qos: Option<u32>,
}

impl PriorityWeightChange {
    /// Whether any is stated.
    #[must_use]
    pub fn is_any(self) -> bool {
        self != Self::default()
    }
}

/// What is assumed; what is `None` or empty stays as the pipeline and the listings of the lake state it.
#[derive(Clone, Debug, Default)]
pub struct FairshareChange {
    /// What jobs are counted by.
    pub usage: Option<UsageChange>,
    /// How usage of the past counts less.
    pub decay: Option<DecayMode>,
    /// After how long it counts half.
    pub half_life: Option<HalfLifeSetting>,
    /// Seconds from one calculation to the next.
    pub calc_period_s: Option<u32>,
    /// An instant of such a calculation, Unix seconds.
    pub calc_anchor_s: Option<i64>,
    /// When usage begins again at zero.
    pub reset: Option<UsageReset>,
    /// The algorithm.
    pub algorithm: Option<FairshareAlgorithm>,
    /// Its dampening factor.
    pub dampening_factor: Option<NonZeroU16>,
    /// Priority points of a factor of one.
    pub priority_weight: Option<u32>,
    /// Factors of the usage of jobs by QOS, 10^-9; of other QOS they stay.
    pub usage_factors_e9: BTreeMap<String, i64>,
    /// Other terms of priorities.
    pub weights: PriorityWeightChange,
    /// Shares.
    pub shares: Vec<ShareChange>,
}

impl FairshareChange {
    /// Puts the weights that are stated in the place of those of a listing.
    pub fn weigh(&self, weights: &mut PriorityWeights) {
        weights.fairshare = self.priority_weight.unwrap_or(weights.fairshare);
        weights.age = self.weights.age.unwrap_or(weights.age);
        weights.association = self.weights.association.unwrap_or(weights.association);
        weights.job_size = self.weights.job_size.unwrap_or(weights.job_size);
        weights.partition = self.weights.partition.unwrap_or(weights.partition);
        weights.qos = self.weights.qos.unwrap_or(weights.qos);
    }

    /// The plan with what is assumed, but for what jobs are counted by and shares, which need a lake.
    ///
    /// # Errors
    /// [`Kind::Usage`] for halving steps with a half-life that is not whole days.
    pub fn applied_to(&self, plan: &FairsharePlan) -> Result<FairsharePlan> {
        let mut changed = plan.clone();
        changed.decay = self.decay.unwrap_or(plan.decay);
        changed.half_life = self.half_life.unwrap_or(plan.half_life);
        changed.calc_period_s = self.calc_period_s.or(plan.calc_period_s);
        changed.calc_anchor_s = self.calc_anchor_s.or(plan.calc_anchor_s);
        changed.reset = self.reset.unwrap_or(plan.reset);
        changed.algorithm = self.algorithm.unwrap_or(plan.algorithm);
        changed.dampening_factor = self.dampening_factor.unwrap_or(plan.dampening_factor);
        changed.priority_weight = self.priority_weight.or(plan.priority_weight);
        changed.usage_factors_e9.extend(self.usage_factors_e9.clone());
        match (changed.decay, changed.half_life) {
            (DecayMode::HalvingSteps, HalfLifeSetting::Seconds(seconds)) if !seconds.is_multiple_of(DAY_S) => {
                Err(Error::new(
                    Kind::Usage,
                    "halving steps count by whole days: choose a half-life of days",
                ))
            }
            _ => Ok(changed),
        }
    }
}
