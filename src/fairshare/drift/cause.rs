//! The causes of a difference.

/// Why a counter and its computed value differ, or that they do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DriftCause {
    /// Equal within the tolerance.
    Agrees,
    /// No more than what running jobs use in a calculation period, or used after their dump.
    Running,
    /// The association has jobs that fairshare does not count, such as jobs without an amount.
    Uncounted,
    /// One ratio, or another half-life, explains all associations.
    FactorChange,
    /// The counter holds what was used since an instant.
    Reset,
    /// No more than what truncated billing may lack.
    Truncated,
    /// Usage from before the first record is in the counter.
    Purge,
    /// The counter holds usage for which the records have no job.
    JobsLost,
    /// An account holds usage of associations that the listing does not name.
    Unlisted,
    /// One of both sides does not have the association, or users of the account.
    NotCompared,
    /// A counter that depends on usage or shares, one of which differs.
    Follows,
    /// No rule holds.
    Unknown,
}

impl DriftCause {
    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Running => "running",
            Self::Uncounted => "uncounted",
            Self::FactorChange => "factor_change",
            Self::Reset => "reset",
            Self::Truncated => "truncated",
            Self::Purge => "purge",
            Self::JobsLost => "jobs_lost",
            Self::Unlisted => "unlisted",
            Self::NotCompared => "not_compared",
            Self::Follows => "follows",
            Self::Unknown => "unknown",
        }
    }

    /// Whether it is a difference that someone should look at: running jobs explain themselves.
    #[must_use]
    pub fn is_drift(self) -> bool {
        !matches!(self, Self::Agrees | Self::Running)
    }
}

/// A cause with what shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftFinding {
    /// The cause.
    pub cause: DriftCause,
    /// What shows it, for people; empty where there is nothing to add.
    pub evidence: String,
}

impl DriftFinding {
    /// A cause without more words.
    #[must_use]
    pub fn plain(cause: DriftCause) -> Self {
        Self::new(cause, String::new())
    }

    /// A cause with what shows it.
    #[must_use]
    pub fn with(cause: DriftCause, evidence: &str) -> Self {
        Self::new(cause, evidence.to_owned())
    }

    pub(super) fn new(cause: DriftCause, evidence: String) -> Self {
        Self { cause, evidence }
    }
}
