//! How long to wait for others who use a lake.

use std::time::Duration;

/// The option of every command that may find a lake in use.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct WaitArgs {
    /// Longest time to wait for a run or publication that holds the lake; exit code 75 when it still does. Without it
    /// writers do not wait, and `verify` waits 60 seconds.
    #[arg(long, value_name = "SECONDS")]
    wait: Option<u64>,
}

impl WaitArgs {
    /// The time, or another one where none is given.
    pub(super) fn or(self, seconds: u64) -> Duration {
        Duration::from_secs(self.wait.unwrap_or(seconds))
    }
}
