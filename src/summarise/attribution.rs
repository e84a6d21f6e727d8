//! How a job is attributed to periods.

/// How a job is attributed to periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribution {
    /// Split over the periods it ran in.
    Prorated,
    /// All of it in the period of its end, as APEL and GRACC do.
    ByEnd,
}

impl Attribution {
    /// The word in the pipeline file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prorated => "prorated",
            Self::ByEnd => "by-end",
        }
    }
}
