//! What a scheduler lists between its calculations: usage of now, and fractions and factors of several instants.
//!
//! Slurm adds the jobs that end to `RawUsage` at once; everything that follows from usage it computes at its calculations of
//! priorities, and not all of it from the same usage:
//!
//! * Fair Tree: all of it right after the usage of the period was added. Jobs that end later change nothing until then.
//! * Classic and depth-oblivious: accounts at the beginning of a calculation, before usage decays and that of the period is
//!   added. Users when somebody first needs them after that: a waiting job, or the listing itself, which is assumed here.
//! * Depth-oblivious also depends on siblings: those later in the order still have the fraction of the calculation before.
//!
//! While no job runs or ends, all usage shrinks by one factor, and its fractions are the same at all of these instants.
//! (`priority/multifactor`, from code and from listings that were read every 20 seconds.)

use super::algorithm::{AssociationScore, FairshareAlgorithm, FairshareMethod};
use super::classic::{self, UsagePlace, usage_fractions};
use super::depth_oblivious::{self, SiblingUsage};
use super::fair_tree;
use super::level_shares::share_sources;
use super::tree::{AssociationId, AssociationTree};
use super::usage::TreeUsage;
use crate::error::Result;

/// Usage of the associations of one tree at the instants that a listing mixes. Of all but `now` only fractions count: each may
/// be in a unit of its own.
#[derive(Clone, Debug)]
pub struct ListedUsage {
    /// At the instant of the listing.
    pub now: TreeUsage,
    /// Right after the last calculation.
    pub calculated: TreeUsage,
    /// Just before it.
    pub before: TreeUsage,
    /// Just before the calculation before that.
    pub earlier: TreeUsage,
}

/// The fractions of all usage of one association at these instants.
struct ListedFractions<'a> {
    tree: &'a AssociationTree,
    now: Vec<f64>,
    before: Vec<f64>,
    earlier: Vec<f64>,
}

impl ListedFractions<'_> {
    /// What is computed of it: of a user now, of an account at the beginning of the last calculation; and what is left of the
    /// computation before.
    fn of(&self, id: AssociationId) -> SiblingUsage {
        let is_user = self.tree.get(id).is_some_and(|association| association.key.is_user());
        let (computed, former) = if is_user {
            (&self.now, &self.before)
        } else {
            (&self.before, &self.earlier)
        };
        // Fallback: never taken, there is a fraction of every association of the tree.
        let at = |fractions: &[f64]| fractions.get(id.index()).copied().unwrap_or_default();
        SiblingUsage {
            computed: at(computed),
            former: at(former),
        }
    }
}

impl FairshareMethod {
    /// The scores of every association as they are listed, in the order of the tree.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when usage does not fit.
    pub fn listed_scores(&self, tree: &AssociationTree, usage: &ListedUsage) -> Result<Vec<AssociationScore>> {
        let now_e6 = usage.now.totals_e6(tree)?;
        if let FairshareAlgorithm::FairTree { ties } = self.algorithm {
            let mut scores = fair_tree::scores(tree, &usage.calculated.totals_e6(tree)?, ties);
            for (score, now_e6) in scores.iter_mut().zip(now_e6) {
                score.usage_e6 = now_e6;
            }
            return Ok(scores);
        }
        let fractions = ListedFractions {
            tree,
            now: usage_fractions(&now_e6),
            before: usage_fractions(&usage.before.totals_e6(tree)?),
            earlier: usage_fractions(&usage.earlier.totals_e6(tree)?),
        };
        let norm_usages: Vec<f64> = tree.iter().map(|(id, _)| fractions.of(id).computed).collect();
        let dampening = self.dampening();
        if self.algorithm == FairshareAlgorithm::Classic {
            let effective = classic::effective_usage;
            return Ok(classic::scores(tree, &now_e6, &norm_usages, dampening, effective));
        }
        let levels = depth_oblivious::usage_of_levels(tree, &share_sources(tree), |id| fractions.of(id));
        let effective = |at: &UsagePlace<'_>| depth_oblivious::effective_usage(at, &levels);
        Ok(classic::scores(tree, &now_e6, &norm_usages, dampening, effective))
    }
}
