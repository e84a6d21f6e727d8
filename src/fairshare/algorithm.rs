//! From shares and usage to a factor: Fair Tree, the classic formula, and its depth-oblivious form.

use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};

use super::classic::UsagePlace;
use super::depth_oblivious::SiblingUsage;
use super::level_shares::share_sources;
use super::tree::{AssociationId, AssociationTree};
use super::usage::TreeUsage;
use super::{classic, depth_oblivious, fair_tree};
use crate::error::Result;

/// What becomes of sibling accounts with the same level fair share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TieRule {
    /// They are walked one after the other, and the first user of the second has the rank of the last user of the first. This
    /// is what every version of Slurm does, also in real runs.
    #[default]
    AsCode,
    /// Their children are merged before they are ranked, as the documentation of Fair Tree describes.
    AsDocumented,
}

/// The algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FairshareAlgorithm {
    /// Slurm's default since 19.05: users are ranked, a factor is a rank over the number of users.
    FairTree {
        /// What becomes of ties.
        ties: TieRule,
    },
    /// `PriorityFlags=NO_FAIR_TREE`: `2^(-(effective usage / shares) / dampening)`.
    Classic,
    /// `PriorityFlags=NO_FAIR_TREE,DEPTH_OBLIVIOUS`: the same with another effective usage, which weakens the influence of
    /// depth.
    DepthOblivious,
}

/// The algorithm with its parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairshareMethod {
    /// The algorithm.
    pub algorithm: FairshareAlgorithm,
    /// `FairShareDampeningFactor`, 1 by default. Fair Tree does not use it.
    pub dampening_factor: NonZeroU16,
}

impl FairshareMethod {
    /// An algorithm without dampening.
    #[must_use]
    pub fn new(algorithm: FairshareAlgorithm) -> Self {
        Self {
            algorithm,
            dampening_factor: NonZeroU16::MIN,
        }
    }

    /// Slurm's default.
    #[must_use]
    pub fn fair_tree() -> Self {
        Self::new(FairshareAlgorithm::FairTree { ties: TieRule::AsCode })
    }
}

/// Shares over usage within a level, as `sshare` prints it (`LevelFS`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LevelFairshare {
    /// A number; 0 without shares.
    Finite(f64),
    /// Shares and no usage; printed `inf`.
    Infinite,
    /// Not printed: the root, what has `parent` for shares, and everything outside Fair Tree.
    Blank,
}

/// What `sshare -l` prints of an association.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AssociationScore {
    /// The association.
    pub id: AssociationId,
    /// `RawUsage` with all that is in it, 10^-6 billing seconds. sshare truncates it to whole ones.
    pub usage_e6: i128,
    /// `NormShares`. Fair Tree: the fraction of its level, 0 for the root. Classic: the fraction of the cluster.
    pub norm_shares: f64,
    /// `NormUsage`: the fraction of all usage.
    pub norm_usage: f64,
    /// `EffectvUsage`. Fair Tree: the fraction of the account's usage. Classic: with a part of the usage of siblings.
    pub effective_usage: f64,
    /// `LevelFS`.
    pub level_fs: LevelFairshare,
    /// `FairShare`; none on the rows of accounts under Fair Tree, where only users are ranked.
    pub factor: Option<f64>,
}

impl FairshareMethod {
    /// The scores of every association, in the order of the tree.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when usage does not fit.
    pub fn scores(&self, tree: &AssociationTree, usage: &TreeUsage) -> Result<Vec<AssociationScore>> {
        let totals_e6 = usage.totals_e6(tree)?;
        let dampening = self.dampening();
        if let FairshareAlgorithm::FairTree { ties } = self.algorithm {
            return Ok(fair_tree::scores(tree, &totals_e6, ties));
        }
        let norm_usages = classic::usage_fractions(&totals_e6);
        if self.algorithm == FairshareAlgorithm::Classic {
            let effective = classic::effective_usage;
            return Ok(classic::scores(tree, &totals_e6, &norm_usages, dampening, effective));
        }
        let levels = depth_oblivious::usage_of_levels(tree, &share_sources(tree), |id| {
            // Fallback: never taken, there is a fraction of every association of the tree.
            let computed = norm_usages.get(id.index()).copied().unwrap_or_default();
            SiblingUsage {
                computed,
                former: computed,
            }
        });
        let effective = |at: &UsagePlace<'_>| depth_oblivious::effective_usage(at, &levels);
        Ok(classic::scores(tree, &totals_e6, &norm_usages, dampening, effective))
    }

    /// The dampening factor as a double.
    pub(super) fn dampening(self) -> f64 {
        f64::from(self.dampening_factor.get())
    }
}
