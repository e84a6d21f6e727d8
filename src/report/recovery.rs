//! When the factors of associations are back at a threshold, if they stay idle.

use super::sshare::ListedUsers;
use super::table::Cell;
use crate::error::{Error, Kind, Result};
use crate::fairshare::recovery::{FairshareState, ShareRecovery, hundredths_of_days};
use crate::fairshare::{AssociationId, AssociationScore, FairshareMethod, UsageDecay};
use crate::runtime::pool;
use crate::share_history::instant::ClusterInstant;

/// Digits behind the point of days.
pub(super) const DAY_DIGITS: u8 = 2;

/// When one factor is back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// It is at the threshold, or above it.
    Above,
    /// After so many hundredths of a day without jobs.
    WhenIdle(i128),
    /// Idleness does not bring it back: nothing decays, the shares do not allow it, or all usage would have to be gone.
    Never,
    /// There is no factor, or it is not requested.
    NoFactor,
}

impl Recovery {
    /// The days; nothing where it is above or never.
    #[must_use]
    pub fn days_cell(self) -> Option<Cell> {
        match self {
            Self::WhenIdle(value) => Some(Cell::Decimal {
                value,
                scale: DAY_DIGITS,
            }),
            Self::Above | Self::Never | Self::NoFactor => None,
        }
    }

    /// As one word; nothing without a factor.
    #[must_use]
    pub fn as_str(self) -> Option<&'static str> {
        let [above, when_idle, never] = ShareRecovery::WORDS;
        match self {
            Self::Above => Some(above),
            Self::WhenIdle(_) => Some(when_idle),
            Self::Never => Some(never),
            Self::NoFactor => None,
        }
    }
}

/// To which factor recovery is computed, and whether that of users is as well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecoveryRequest {
    /// The factor.
    pub threshold: f64,
    /// Users that are listed; of others there is no recovery.
    pub users: ListedUsers,
}

/// The recovery of every association, in the order of the tree. Its cost is that of some fifty scores of the tree for each
/// association below the threshold.
///
/// # Errors
/// [`Kind::Usage`] under halving steps, which do not shrink all usage by one factor; [`Kind::Data`] when usage does not fit.
pub fn recoveries(
    instant: &ClusterInstant,
    method: &FairshareMethod,
    decay: UsageDecay,
    request: RecoveryRequest,
) -> Result<Vec<Recovery>> {
    let decay = decay.chained().ok_or_else(|| {
        let message = "--recovery needs usage that shrinks by one factor: halving steps do not";
        Error::new(Kind::Usage, message)
    })?;
    let state = FairshareState {
        tree: &instant.tree,
        usage: &instant.usage,
        method,
        decay,
        at_s: instant.at_s,
    };
    let is_listed = |score: &AssociationScore| {
        let association = instant.tree.get(score.id);
        request.users == ListedUsers::All || association.is_some_and(|association| !association.key.is_user())
    };
    let factors: Vec<ScoredAssociation> = (instant.scores.iter())
        .map(|score| ScoredAssociation {
            id: score.id,
            factor: score.factor.filter(|_| is_listed(score)),
        })
        .collect();
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    pool::each(&factors, threads, |of| match of.factor {
        None => Ok(Recovery::NoFactor),
        Some(factor) if factor >= request.threshold => Ok(Recovery::Above),
        Some(_) => match state.recovery_days(of.id, request.threshold)? {
            None => Ok(Recovery::Never),
            Some(days) => hundredths_of_days(days).map(Recovery::WhenIdle),
        },
    })
}

/// An association with its factor.
struct ScoredAssociation {
    id: AssociationId,
    factor: Option<f64>,
}
