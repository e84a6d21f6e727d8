//! Keys of a source that several dialects use.

/// Keys of a `[[source]]` that several dialects use, and others do not: the row of a dialect lists its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceOption {
    /// `acceptance`
    Acceptance,
    /// `blah`
    CeLogs,
    /// `scaled_to`
    ScaledTo,
    /// `summaries`, `publication` and `publication_parts`
    Summaries,
    /// `timezone`
    Timezone,
}
