//! When the factor of an association is back at a threshold.
//!
//! The assumption: from now on the association (of an account, everything in it) runs nothing, and the usage of all others
//! stays what it is now, because they continue at the rate that keeps it there. Resets are not awaited. Under it the
//! factor of the association only rises, so that the usage at which the threshold is reached can be bisected; how long
//! decay takes to get there is a closed form.

use super::algorithm::{AssociationScore, FairshareAlgorithm, FairshareMethod};
use super::decay::{ChainedDecay, UsageDecay};
use super::float::{of_integer, to_integer};
use super::regime::FairshareRegime;
use super::tree::{AssociationId, AssociationTree};
use super::usage::TreeUsage;
use crate::error::{Error, Result};

/// Seconds of a day, for people who count days.
const DAY_S: f64 = 86_400.0;

/// Hundredths of a day in a day.
const HUNDREDTHS: f64 = 100.0;

/// Bits to which the usage at the threshold is found: far below a second of any half-life that is in use.
const PRECISION_BIT_N: u32 = 40;

/// A tree at an instant, with what its factors follow from.
#[derive(Clone, Copy, Debug)]
pub struct FairshareState<'a> {
    /// The associations.
    pub tree: &'a AssociationTree,
    /// Their usage.
    pub usage: &'a TreeUsage,
    /// The algorithm.
    pub method: &'a FairshareMethod,
    /// How usage decays.
    pub decay: ChainedDecay,
    /// The instant of the usage, Unix seconds.
    pub at_s: i64,
}

impl FairshareState<'_> {
    /// In how many days the factor of an association is at least `threshold`: 0 where it is already, `None` where it
    /// never is: the shares do not allow it, nothing decays, or all of the usage would have to be gone.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for an id of another tree or an association without a factor (an account under
    /// Fair Tree), [`crate::error::Kind::Data`] when usage does not fit.
    pub fn recovery_days(&self, id: AssociationId, threshold: f64) -> Result<Option<f64>> {
        let totals_e6 = self.usage.totals_e6(self.tree)?;
        let present_e6 = totals_e6
            .get(id.index())
            .copied()
            .ok_or_else(|| Error::internal("recovery of an association of another tree"))?;
        let idle = Idle {
            id,
            present_e6,
            members: self
                .tree
                .iter()
                .map(|(other, _)| self.tree.is_within(other, id))
                .collect(),
        };
        if self.factor(&idle, present_e6)? >= threshold {
            return Ok(Some(0.0));
        }
        // The most usage at which the threshold is reached: `reached` reaches it, `above` does not.
        let (mut reached_e6, mut above_e6) = (0, present_e6);
        if present_e6 <= 0 || self.factor(&idle, reached_e6)? < threshold {
            return Ok(None);
        }
        while above_e6 - reached_e6 > 1 + (reached_e6 >> PRECISION_BIT_N) {
            let middle_e6 = reached_e6 + (above_e6 - reached_e6) / 2;
            if self.factor(&idle, middle_e6)? >= threshold {
                reached_e6 = middle_e6;
            } else {
                above_e6 = middle_e6;
            }
        }
        let left = of_integer(reached_e6) / of_integer(present_e6);
        Ok(self.decay.seconds_until(left, self.at_s).map(|seconds| seconds / DAY_S))
    }

    /// The factor with `left_e6` of the usage that what stays idle has now.
    fn factor(&self, idle: &Idle, left_e6: i128) -> Result<f64> {
        let left = of_integer(left_e6) / of_integer(idle.present_e6.max(1));
        let mut usage = TreeUsage::none(self.tree);
        for ((other, _), is_idle) in self.tree.iter().zip(&idle.members) {
            // Fallback: never taken, the usage is that of the same tree.
            let own_e6 = self.usage.own_e6(other).unwrap_or_default();
            let counted_e6 = if *is_idle && left_e6 != idle.present_e6 {
                to_integer(of_integer(own_e6) * left)?
            } else {
                own_e6
            };
            usage.add(other, counted_e6)?;
        }
        let scores = self.method.scores(self.tree, &usage)?;
        let score = scores.get(idle.id.index());
        score
            .and_then(|score| score.factor)
            .ok_or_else(|| Error::internal("recovery of an association without a factor"))
    }
}

/// What stays idle.
struct Idle {
    id: AssociationId,
    /// What it and all in it used, 10^-6 billing seconds.
    present_e6: i128,
    /// Which associations it is, in the order of the tree.
    members: Vec<bool>,
}

/// When the usage of an association is no longer above its shares, if it and all in it run nothing from now on and the usage of
/// all others stays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShareRecovery {
    /// It is not above them.
    Above,
    /// After so many days.
    WhenIdle(f64),
    /// It has no shares, nothing decays, or all of the usage would have to be gone.
    Never,
}

impl ShareRecovery {
    /// Every word with its meaning, as reports and the dataset have it.
    pub const WORDS: [&'static str; 3] = ["above", "when-idle", "never"];

    /// In closed form: its cost does not depend on the tree. `None` under the depth-oblivious formula, which has none, and where
    /// usage does not shrink by one factor.
    ///
    /// With the part `N` of all usage and the effective usage `E`, which is a mean of such parts of the association and the
    /// accounts above it, `E` falls to `(E - y) / (1 - y)` when the fraction `y` of all usage is gone. It is the shares `S` at
    /// `y = (E - S) / (1 - S)`, of which `N` may give up at most all. Under Fair Tree `E` is a part of the usage of the account
    /// and takes the place of `N`.
    #[must_use]
    pub fn of(score: &AssociationScore, method: &FairshareMethod, decay: UsageDecay, at_s: i64) -> Option<Self> {
        let own = match method.algorithm {
            FairshareAlgorithm::FairTree { .. } => score.effective_usage,
            FairshareAlgorithm::Classic => score.norm_usage,
            FairshareAlgorithm::DepthOblivious => return None,
        };
        let decay = decay.chained()?;
        let (effective, shares) = (score.effective_usage, score.norm_shares);
        let is_below = !matches!(
            FairshareRegime::of_usage(effective, shares)?,
            FairshareRegime::OverUsed | FairshareRegime::Exhausted
        );
        if is_below {
            return Some(Self::Above);
        }
        if shares <= 0.0 || shares >= 1.0 || own <= 0.0 {
            return Some(Self::Never);
        }
        let left = 1.0 - (effective - shares) / (1.0 - shares) / own;
        let seconds = decay.seconds_until(left, at_s);
        Some(seconds.map_or(Self::Never, |seconds| Self::WhenIdle(seconds / DAY_S)))
    }

    /// As one word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let [above, when_idle, never] = Self::WORDS;
        match self {
            Self::Above => above,
            Self::WhenIdle(_) => when_idle,
            Self::Never => never,
        }
    }
}

/// Hundredths of days, rounded up: after so long the threshold is reached.
///
/// # Errors
/// [`crate::error::Kind::Data`] when they do not fit.
pub fn hundredths_of_days(days: f64) -> Result<i128> {
    to_integer((days * HUNDREDTHS).ceil())
}

/// The same in closed form for a flat site under the classic formula: accounts directly under the root, whose users have
/// `parent` for shares. `others_e6` is the usage of all other accounts, `norm_shares` the account's fraction of the
/// shares. `None` where the threshold is not reached ever.
#[must_use]
pub fn flat_recovery_days(
    account_e6: i128,
    others_e6: i128,
    norm_shares: f64,
    threshold: f64,
    decay: ChainedDecay,
    at_s: i64,
) -> Option<f64> {
    // 2^(-e/s) >= threshold with e = u / (u + others) holds up to this e.
    let most_of_all = -libm::log2(threshold) * norm_shares;
    if most_of_all >= 1.0 {
        return Some(0.0);
    }
    if most_of_all.is_nan() || most_of_all <= 0.0 || others_e6 <= 0 {
        return (account_e6 <= 0 && norm_shares > 0.0 && threshold <= 1.0).then_some(0.0);
    }
    let most = most_of_all / (1.0 - most_of_all) * of_integer(others_e6);
    let left = if account_e6 <= 0 {
        1.0
    } else {
        most / of_integer(account_e6)
    };
    decay.seconds_until(left, at_s).map(|seconds| seconds / DAY_S)
}
