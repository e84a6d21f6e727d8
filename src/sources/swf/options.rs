//! What the pipeline file states for this reader alone.

/// The key of [`SwfOptions::unix_start_time`].
pub const UNIX_START_TIME: &str = "unix_start_time";
/// The key of [`SwfOptions::is_start_submit`].
pub const START_FROM: &str = "start_from";

/// What the pipeline file states of a workload.
#[derive(Clone, Copy, Debug, Default)]
pub struct SwfOptions {
    /// Unix second at which its times begin, where the header does not state it.
    pub unix_start_time: Option<i64>,
    /// Jobs without a wait time start when they are submitted.
    pub is_start_submit: bool,
}
