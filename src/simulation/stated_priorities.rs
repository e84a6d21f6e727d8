//! What is stated of priorities, apart from listings.

use crate::config::fairshare_change::FairshareChange;
use crate::fairshare::priority::FavoredSize;

/// What is stated of priorities; the rest is that of the listings of a lake, or Slurm's default.
#[derive(Clone, Debug, Default)]
pub struct StatedPriorities {
    /// Weights, and rules of fairshare.
    pub change: FairshareChange,
    /// `PriorityMaxAge`, seconds.
    pub max_age_s: Option<u32>,
    /// Which jobs the size favours.
    pub favored_size: Option<FavoredSize>,
}

impl StatedPriorities {
    /// Whether anything is stated.
    #[must_use]
    pub fn is_any(&self) -> bool {
        let change = &self.change;
        let has_rule = change.decay.is_some() || change.half_life.is_some() || change.algorithm.is_some();
        let has_weight = change.weights.is_any() || change.priority_weight.is_some();
        has_rule || has_weight || self.max_age_s.is_some() || self.favored_size.is_some()
    }
}
