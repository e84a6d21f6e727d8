//! A fair share factor as a word: the five regimes of FASRC's page.

use super::float::of_integer;

/// How much of its share an association used lately.
///
/// Factors are compared as `sshare` prints them, at six decimals. They are those of the classic formula,
/// `2^(-usage / shares)`; the factor of Fair Tree is a rank and has no regime, for which
/// [`Self::of_usage`] takes usage and shares of the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FairshareRegime {
    /// The factor prints as 1.000000: no usage that matters.
    Unused,
    /// Above 0.500000.
    UnderUsed,
    /// It prints as 0.500000: as much was used as was granted.
    Average,
    /// Below 0.500000.
    OverUsed,
    /// It prints as 0.000000: no share is left, or none was granted. Jobs still start where nobody else waits.
    Exhausted,
}

impl FairshareRegime {
    /// Every regime with its word, best first.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("unused", Self::Unused),
        ("under-used", Self::UnderUsed),
        ("average", Self::Average),
        ("over-used", Self::OverUsed),
        ("exhausted", Self::Exhausted),
    ];

    /// The regime of a classic factor; `None` outside 0 to 1.
    #[must_use]
    pub fn of_factor(factor: f64) -> Option<Self> {
        if !(0.0..=1.0).contains(&factor) {
            return None;
        }
        let printed = (factor * 1e6).round_ties_even();
        Some(if printed >= 1e6 {
            Self::Unused
        } else if printed > 5e5 {
            Self::UnderUsed
        } else if printed >= 5e5 {
            Self::Average
        } else if printed >= 1.0 {
            Self::OverUsed
        } else {
            Self::Exhausted
        })
    }

    /// The regime of usage against shares, each as a fraction of all; without shares it is exhausted.
    #[must_use]
    pub fn of_usage(effective_usage: f64, norm_shares: f64) -> Option<Self> {
        Self::of_factor(super::classic::factor(effective_usage, norm_shares, of_integer(1)))
    }

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let mut words = Self::WORDS.iter();
        words.find(|(_, regime)| *regime == self).map_or("", |(word, _)| *word)
    }
}
