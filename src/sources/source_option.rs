//! Keys of a source whose use depends on the dialect.

/// Keys of a `[[source]]` that only some dialects use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceOption {
    /// `acceptance`
    Acceptance,
    /// `blah`
    CeLogs,
    /// `delimiter`
    Delimiter,
    /// `layout`
    Layout,
    /// `scaled_to`
    ScaledTo,
    /// `start_from`
    StartFrom,
    /// `summaries`
    Summaries,
    /// `timezone`
    Timezone,
    /// `unix_start_time`
    UnixStartTime,
}

impl SourceOption {
    /// The key of the pipeline file.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Acceptance => "acceptance",
            Self::CeLogs => "blah",
            Self::Delimiter => "delimiter",
            Self::Layout => "layout",
            Self::ScaledTo => "scaled_to",
            Self::StartFrom => "start_from",
            Self::Summaries => "summaries",
            Self::Timezone => "timezone",
            Self::UnixStartTime => "unix_start_time",
        }
    }
}
