//! Where an association stands: its factor, its place among its equals, and what another rule makes of both.
//!
//! The factor of an account is its own where the algorithm has one. Fair Tree ranks users alone; an account stands there
//! for the users in it, with the mean of their factors. An account without users has no factor then.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::algorithm::{AssociationScore, FairshareAlgorithm, LevelFairshare};
use super::float::{e9, of_integer, too_large};
use super::tree::{AssociationId, AssociationTree};
use crate::error::Result;
use crate::numbers::count_i128;

/// What becomes of an association under another rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FactorOutcome {
    /// It stands higher: its jobs come earlier.
    Gains,
    /// It stands lower.
    Loses,
    /// It stands where it was.
    Same,
}

/// What an outcome follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeBasis {
    /// Factors, in all of their nine decimals.
    Factor,
    /// Ranks: two algorithms have factors of different scales, which nobody gains or loses by.
    Rank,
}

impl OutcomeBasis {
    /// That of two algorithms.
    #[must_use]
    pub fn of(before: FairshareAlgorithm, after: FairshareAlgorithm) -> Self {
        if std::mem::discriminant(&before) == std::mem::discriminant(&after) {
            Self::Factor
        } else {
            Self::Rank
        }
    }
}

impl FactorOutcome {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Gains, Self::Loses, Self::Same];

    /// Of where an association stands before and after; `None` where one of the two is not known.
    #[must_use]
    pub fn of(before: Standing, after: Standing, basis: OutcomeBasis) -> Option<Self> {
        let order = match basis {
            OutcomeBasis::Factor => after.factor_e9?.cmp(&before.factor_e9?),
            // The first rank is the highest.
            OutcomeBasis::Rank => before.rank?.cmp(&after.rank?),
        };
        Some(match order {
            Ordering::Greater => Self::Gains,
            Ordering::Less => Self::Loses,
            Ordering::Equal => Self::Same,
        })
    }

    /// As one word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gains => "gains",
            Self::Loses => "loses",
            Self::Same => "same",
        }
    }
}

/// Where one association stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Its factor, 10^-9; under Fair Tree of an account the mean of those of the users in it.
    pub factor_e9: Option<i64>,
    /// Its place, from 1: of a user by factor among all users, of an account by level fair share (by factor where there is
    /// none) among the accounts in the same account. Equals share a place. The root has none.
    pub rank: Option<u32>,
}

/// The standings of a tree with its scores, in its order.
///
/// # Errors
/// [`crate::error::Kind::Data`] when a factor or a level fair share does not fit.
pub fn standings(tree: &AssociationTree, scores: &[AssociationScore]) -> Result<Vec<Standing>> {
    let means = mean_factors(tree, scores);
    let mut standings = Vec::with_capacity(scores.len());
    for (score, mean) in scores.iter().zip(means) {
        let factor_e9 = score.factor.or(mean).map(e9).transpose()?;
        standings.push(Standing {
            factor_e9: factor_e9.map(i64::try_from).transpose().map_err(|_| too_large())?,
            rank: None,
        });
    }
    // What equals are compared by, with whom.
    let mut equals: BTreeMap<Option<AssociationId>, Vec<RankedKey>> = BTreeMap::new();
    for (((id, association), score), standing) in tree.iter().zip(scores).zip(&standings) {
        let among = if association.key.is_user() {
            None
        } else {
            match association.parent {
                Some(parent) => Some(parent),
                None => continue,
            }
        };
        let key_e9 = match score.level_fs {
            LevelFairshare::Finite(level_fs) if among.is_some() => Some(e9(level_fs)?),
            LevelFairshare::Infinite if among.is_some() => Some(i128::MAX),
            _ => standing.factor_e9.map(i128::from),
        };
        if let Some(key_e9) = key_e9 {
            equals.entry(among).or_default().push(RankedKey { key_e9, id });
        }
    }
    for mut ranked in equals.into_values() {
        ranked.sort_by(|one, other| other.key_e9.cmp(&one.key_e9).then(one.id.cmp(&other.id)));
        let (mut place, mut last_e9) = (0, None);
        for (nth, key) in (1_u32..).zip(&ranked) {
            if last_e9 != Some(key.key_e9) {
                (place, last_e9) = (nth, Some(key.key_e9));
            }
            if let Some(standing) = standings.get_mut(key.id.index()) {
                standing.rank = Some(place);
            }
        }
    }
    Ok(standings)
}

/// An association with what it is ranked by.
struct RankedKey {
    key_e9: i128,
    id: AssociationId,
}

/// Factors of users, added up.
#[derive(Clone, Copy, Default)]
struct UserFactors {
    sum: f64,
    user_n: usize,
}

/// The mean factor of the users in every association, in the order of the tree.
fn mean_factors(tree: &AssociationTree, scores: &[AssociationScore]) -> Vec<Option<f64>> {
    let own = tree
        .iter()
        .zip(scores)
        .map(|((_, association), score)| match score.factor {
            Some(factor) if association.key.is_user() => UserFactors { sum: factor, user_n: 1 },
            _ => UserFactors::default(),
        });
    let mut factors: Vec<UserFactors> = own.collect();
    // What is in an account comes after it, so that from the end every sum is complete when it is added.
    for (id, association) in tree.iter().rev() {
        let Some(parent) = association.parent else { continue };
        let inside = factors.get(id.index()).copied();
        if let (Some(inside), Some(above)) = (inside, factors.get_mut(parent.index())) {
            above.sum += inside.sum;
            above.user_n += inside.user_n;
        }
    }
    let mean = |of: UserFactors| (of.user_n > 0).then(|| of.sum / of_integer(count_i128(of.user_n)));
    factors.into_iter().map(mean).collect()
}
