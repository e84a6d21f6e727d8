//! The infrastructure a source states for records that do not.

/// Through which infrastructure the jobs of a source came, where their records do not state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatedInfrastructure {
    /// `grid`
    Grid,
    /// `local`: submitted at the site
    Local,
}

impl StatedInfrastructure {
    /// Words of the pipeline file, which records get as well: APEL's.
    pub const WORDS: &[(&str, Self)] = &[("grid", Self::Grid), ("local", Self::Local)];

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Local => "local",
        }
    }
}
