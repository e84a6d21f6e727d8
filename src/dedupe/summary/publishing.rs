//! How a source publishes summaries: which version counts, and what one is complete for.

/// Which version of a summary counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replacement {
    /// The last version of each row, as APEL's server replaces them; rows are never retracted.
    #[default]
    Upsert,
    /// The rows of the last publication of each month.
    Snapshot,
}

impl Replacement {
    /// Words of the pipeline file.
    pub const WORDS: &[(&str, Self)] = &[("upsert", Self::Upsert), ("snapshot", Self::Snapshot)];
}

/// What a publication is complete for, at each month and kind of summary it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryPublication {
    /// Everything its source has of that month.
    Source,
    /// Everything its source has of that month at each site it names.
    Site,
}

impl SummaryPublication {
    /// Words of the pipeline file.
    pub const WORDS: &[(&str, Self)] = &[("source", Self::Source), ("site", Self::Site)];

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Site => "site",
        }
    }
}

/// Which input files are one publication: a month may be too large for one message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummaryParts {
    /// Each file is one of its own.
    #[default]
    File,
    /// The files of a folder, which took its place when the last of them did.
    Folder,
    /// Files that arrived at most so long after one another, by the arrival in their names; a file whose name contains none
    /// is one of its own.
    Within {
        /// Longest pause, milliseconds.
        pause_ms: i64,
    },
}

/// How a source publishes summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Publishing {
    /// Which version counts.
    pub replacement: Replacement,
    /// What a publication is complete for; `None` when the pipeline does not set it.
    pub publication: Option<SummaryPublication>,
    /// Of which files one is made.
    pub parts: SummaryParts,
}
