//! The methods of the paper by name.

use super::WindowSettings;
use super::decide::{ChoiceRule, Objective, Tradeoff};

/// A method of scheduling several resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// In order until a job does not fit, then backfilling: no window.
    Baseline,
    /// 50 % nodes, 50 % burst buffer.
    Weighted,
    /// 80 % nodes, 20 % burst buffer.
    WeightedCpu,
    /// 20 % nodes, 80 % burst buffer.
    WeightedBb,
    /// The most nodes.
    ConstrainedCpu,
    /// The most burst buffer.
    ConstrainedBb,
    /// The most local storage.
    ConstrainedSsd,
    /// Greedily by dot products.
    BinPacking,
    /// The Pareto front with a tradeoff.
    Bbsched,
}

impl Method {
    /// The eight of the paper's evaluation, in its order.
    pub const EIGHT: [Self; 8] = [
        Self::Baseline,
        Self::Weighted,
        Self::WeightedCpu,
        Self::WeightedBb,
        Self::ConstrainedCpu,
        Self::ConstrainedBb,
        Self::BinPacking,
        Self::Bbsched,
    ];

    /// The seven of its study of local storage, in its order.
    pub const SEVEN_WITH_SSD: [Self; 7] = [
        Self::Baseline,
        Self::Weighted,
        Self::ConstrainedCpu,
        Self::ConstrainedBb,
        Self::ConstrainedSsd,
        Self::BinPacking,
        Self::Bbsched,
    ];

    /// The word of the command line and of tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Weighted => "weighted",
            Self::WeightedCpu => "weighted_cpu",
            Self::WeightedBb => "weighted_bb",
            Self::ConstrainedCpu => "constrained_cpu",
            Self::ConstrainedBb => "constrained_bb",
            Self::ConstrainedSsd => "constrained_ssd",
            Self::BinPacking => "bin_packing",
            Self::Bbsched => "bbsched",
        }
    }

    /// How a set is chosen from a window; a machine whose nodes differ in local storage weighs that as well.
    #[must_use]
    pub fn rule(self, has_ssd: bool, tradeoff: Tradeoff) -> Option<ChoiceRule> {
        let weighted = |first, second| ChoiceRule::Weighted { first, second };
        Some(match self {
            Self::Baseline => return None,
            Self::Weighted if has_ssd => ChoiceRule::WeightedEqually,
            Self::Weighted => weighted(50, 50),
            Self::WeightedCpu => weighted(80, 20),
            Self::WeightedBb => weighted(20, 80),
            Self::ConstrainedCpu => ChoiceRule::Constrained(Objective::First),
            Self::ConstrainedBb => ChoiceRule::Constrained(Objective::Second),
            Self::ConstrainedSsd => ChoiceRule::Constrained(Objective::Ssd),
            Self::BinPacking => ChoiceRule::BinPacking,
            Self::Bbsched => ChoiceRule::Tradeoff(tradeoff),
        })
    }

    /// The same settings of a window with the choice of this method; none for one without a window.
    #[must_use]
    pub fn window(self, has_ssd: bool, tradeoff: Tradeoff, like: &WindowSettings) -> Option<WindowSettings> {
        let rule = self.rule(has_ssd, tradeoff)?;
        Some(WindowSettings { rule, ..like.clone() })
    }
}
