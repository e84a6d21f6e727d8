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
