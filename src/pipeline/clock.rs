//! The only place that knows what time it is: the record of a run says when it ran, nothing else does.

use std::time::{Duration, Instant};

/// Measures one run.
pub(super) struct Stopwatch {
    started: Instant,
    started_ms: i64,
}

impl Stopwatch {
    /// Starts now.
    #[must_use]
    pub(super) fn start() -> Self {
        Self {
            started: Instant::now(),
            started_ms: jiff::Timestamp::now().as_millisecond(),
        }
    }

    /// Start, Unix milliseconds.
    #[must_use]
    pub(super) fn started_ms(&self) -> i64 {
        self.started_ms
    }

    /// Time since the start.
    #[must_use]
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Now, Unix milliseconds.
    #[must_use]
    pub(super) fn now_ms(&self) -> i64 {
        self.started_ms + i64::try_from(self.elapsed().as_millis()).unwrap_or(0)
    }
}
