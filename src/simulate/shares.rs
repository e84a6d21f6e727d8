//! Fairshare while a simulation runs: usage that grows with the simulated schedule, and the factors that follow from it.
//!
//! The rules, trees and factors are those of the room [`crate::fairshare`]. Usage is aged from one calculation to the next one
//! that is needed; what jobs added in between is a closed form, so that calculations nobody looks at cost nothing. Usage in
//! halving steps cannot be aged, and is computed from how it grew.

use super::active::BegunJob;
use super::halved_usage::HalvedUsage;
use crate::error::{Error, Result};
use crate::fairshare::float::too_large;
use crate::fairshare::{
    AssociationId, AssociationKey, AssociationTree, FairshareMethod, TreeUsage, UsageDecay, UsageRule, UsageSegment,
};
use crate::numbers::{Extent, index};
use crate::time::SecondSpan;

/// A tree of associations, and from when on it is in force.
#[derive(Clone, Debug)]
pub struct DatedTree {
    /// First second; the first tree is in force before it as well.
    pub from_s: i64,
    /// The tree.
    pub tree: AssociationTree,
}

/// What a job counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobUsage {
    /// The place of its association in [`SimulatedShares::associations`].
    pub association: usize,
    /// Billing per second, 10^-9.
    pub rate_e9: i128,
    /// The factor of its QOS, 10^-9.
    pub factor_e9: i128,
}

/// Usage of a job that is not simulated: it counts as it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedUsage {
    /// The place of its association.
    pub association: usize,
    /// When it ran, and for how much.
    pub segment: UsageSegment,
}

/// Who is granted what, and what counts as usage.
#[derive(Clone, Debug)]
pub struct SimulatedShares {
    /// How factors are computed.
    pub method: FairshareMethod,
    /// How usage counts.
    pub rule: UsageRule,
    /// The associations of jobs, each once.
    pub associations: Vec<AssociationKey>,
    /// Trees in the order of time; never empty.
    pub trees: Vec<DatedTree>,
    /// What each job of the list counts for; `None` for one of no association, whose factor is 0.
    pub jobs: Vec<Option<JobUsage>>,
    /// Jobs that are not simulated, in the order of their starts.
    pub recorded: Vec<RecordedUsage>,
}

impl SimulatedShares {
    /// Whether it can be simulated.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] without a tree, or with recorded jobs in another order.
    pub fn check(&self) -> Result<()> {
        let start_s = |recorded: &RecordedUsage| recorded.segment.span.start_s;
        if self.trees.is_empty() || !self.recorded.is_sorted_by_key(start_s) {
            return Err(Error::internal(
                "shares without a tree, or with recorded jobs out of order",
            ));
        }
        Ok(())
    }

    fn tree_at(&self, at_s: i64) -> usize {
        let begun_n = self.trees.partition_point(|tree| tree.from_s <= at_s);
        begun_n.less(1)
    }
}

/// A job whose usage grows.
#[derive(Clone, Copy, Debug)]
struct GrowingUsage {
    association: usize,
    segment: UsageSegment,
}

/// Usage and factors at the last calculation.
pub(super) struct ShareState<'a> {
    shares: &'a SimulatedShares,
    /// The last calculation.
    at_s: Option<i64>,
    /// Usage of each association at it, 10^-6 billing seconds.
    own_e6: Vec<i128>,
    /// Usage in halving steps, where that is the rule.
    halved: Option<HalvedUsage>,
    /// Jobs that have begun and may still add usage; of usage in halving steps those that began since the last calculation.
    growing: Vec<GrowingUsage>,
    /// How many of the recorded jobs have begun.
    recorded_n: usize,
    /// The tree that `places` are of.
    tree: Option<usize>,
    /// Where each association is in the tree: itself, else its account.
    places: Vec<Option<AssociationId>>,
    /// The factor of each association.
    factors: Vec<f64>,
}

impl<'a> ShareState<'a> {
    pub(super) fn new(shares: &'a SimulatedShares) -> Self {
        let association_n = shares.associations.len();
        Self {
            shares,
            at_s: None,
            own_e6: vec![0; association_n],
            halved: match shares.rule.decay {
                UsageDecay::HalvingSteps(half_life) => Some(HalvedUsage::new(half_life, association_n)),
                UsageDecay::Chained(_) => None,
            },
            growing: Vec::new(),
            recorded_n: 0,
            tree: None,
            places: Vec::new(),
            factors: vec![0.0; association_n],
        }
    }

    /// A job has started.
    pub(super) fn started(&mut self, begun: &BegunJob) {
        let Some(of) = self.shares.jobs.get(index(begun.job)).copied().flatten() else {
            return;
        };
        self.growing.push(GrowingUsage {
            association: of.association,
            segment: UsageSegment {
                span: SecondSpan {
                    start_s: begun.start.start_s,
                    end_s: begun.start.start_s + begun.run_s,
                },
                rate_e9: of.rate_e9,
                factor_e9: of.factor_e9,
            },
        });
    }

    /// The factor of a job at the last calculation; 0 for one of no association.
    pub(super) fn factor(&self, place: u32) -> f64 {
        let of = self.shares.jobs.get(index(place)).copied().flatten();
        of.and_then(|of| self.factors.get(of.association))
            .map_or(0.0, |factor| *factor)
    }

    /// Calculates usage and factors.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when usage does not fit.
    pub(super) fn calculate(&mut self, at_s: i64) -> Result<()> {
        let recorded = self.shares.recorded.iter().skip(self.recorded_n);
        let begun = recorded.take_while(|recorded| recorded.segment.span.start_s < at_s);
        for recorded in begun {
            self.recorded_n += 1;
            self.growing.push(GrowingUsage {
                association: recorded.association,
                segment: recorded.segment,
            });
        }
        if self.halved.is_some() {
            self.halve(at_s)?;
        } else {
            self.age(at_s)?;
        }
        self.at_s = Some(at_s);
        self.score(at_s)
    }

    /// Ages usage to a calculation, and adds what came since the last one.
    fn age(&mut self, at_s: i64) -> Result<()> {
        let rule = &self.shares.rule;
        // Fallback: what was used before the first calculation is complete in it.
        let after_s = self.at_s.unwrap_or(i64::MIN);
        for own_e6 in self.own_e6.iter_mut().filter(|own_e6| **own_e6 != 0) {
            let aged_e6 = rule.aged_e6(*own_e6, after_s, at_s)?;
            *own_e6 = aged_e6.ok_or_else(|| Error::internal("usage that cannot be aged"))?;
        }
        for growing in &self.growing {
            let added_e6 = rule.added_e6(&growing.segment, after_s, at_s)?;
            if let Some(own_e6) = self.own_e6.get_mut(growing.association) {
                *own_e6 = own_e6.checked_add(added_e6).ok_or_else(too_large)?;
            }
        }
        self.growing.retain(|growing| growing.segment.span.end_s > at_s);
        Ok(())
    }

    /// Computes usage in halving steps at a calculation.
    fn halve(&mut self, at_s: i64) -> Result<()> {
        let Some(halved) = &mut self.halved else {
            return Ok(());
        };
        for growing in self.growing.drain(..) {
            halved.add(growing.association, &growing.segment)?;
        }
        let rule = &self.shares.rule;
        let zero_s = rule.reset.last_s(&rule.zone, at_s);
        for (association, own_e6) in self.own_e6.iter_mut().enumerate() {
            *own_e6 = halved.usage_e6(association, at_s, zero_s)?;
        }
        Ok(())
    }

    fn score(&mut self, at_s: i64) -> Result<()> {
        let number = self.shares.tree_at(at_s);
        let dated = self.shares.trees.get(number);
        let tree = &dated.ok_or_else(|| Error::internal("shares without a tree"))?.tree;
        if self.tree != Some(number) {
            self.tree = Some(number);
            self.places = (self.shares.associations.iter())
                .map(|key| tree.place_of(key))
                .collect();
        }
        let mut usage = TreeUsage::none(tree);
        for (place, own_e6) in self.places.iter().zip(&self.own_e6) {
            if let Some(place) = place {
                usage.add(*place, *own_e6)?;
            }
        }
        let scores = self.shares.method.scores(tree, &usage)?;
        for (place, factor) in self.places.iter().zip(&mut self.factors) {
            let score = place.and_then(|place| scores.get(place.index()));
            // Fallback: what is not listed, and an account under Fair Tree, has no factor and counts as 0.
            *factor = score.and_then(|score| score.factor).unwrap_or(0.0);
        }
        Ok(())
    }
}
