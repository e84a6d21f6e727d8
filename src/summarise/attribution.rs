//! How a job is attributed to periods.

use crate::store::{Fact, LakeFacts};

/// How a job is attributed to periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribution {
    /// Split over the periods it ran in.
    Prorated,
    /// All of it in the period of its end, as APEL and GRACC do.
    ByEnd,
}

impl Attribution {
    /// That of a lake, from its facts: prorated where it has none; `None` for a word that is neither.
    #[must_use]
    pub fn of_lake(facts: &LakeFacts) -> Option<Self> {
        let Some(word) = facts.get(Fact::Attribution) else {
            return Some(Self::Prorated);
        };
        [Self::Prorated, Self::ByEnd]
            .into_iter()
            .find(|how| how.as_str() == word)
    }

    /// Whether a job counts before it has ended: for the time it ran so far.
    #[must_use]
    pub fn counts_running(self) -> bool {
        self == Self::Prorated
    }

    /// The word in the pipeline file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prorated => "prorated",
            Self::ByEnd => "by-end",
        }
    }
}
