//! The only place that knows what time it is: the record of a run holds when it ran, a message that is sent holds when,
//! nothing else does.

use std::time::{Duration, Instant};

use crate::time::instant;

/// Now, Unix milliseconds.
#[must_use]
pub fn now_ms() -> i64 {
    instant::now_ms()
}

/// Measures one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stopwatch {
    started: Instant,
    lapped: Instant,
    started_ms: i64,
}

impl Default for Stopwatch {
    fn default() -> Self {
        Self::start()
    }
}

impl Stopwatch {
    /// Starts now.
    #[must_use]
    pub(crate) fn start() -> Self {
        Self {
            started: Instant::now(),
            lapped: Instant::now(),
            started_ms: instant::now_ms(),
        }
    }

    /// Start, Unix milliseconds.
    #[must_use]
    pub(crate) fn started_ms(&self) -> i64 {
        self.started_ms
    }

    /// Time since the start.
    #[must_use]
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The same clock, whose next lap begins now.
    #[must_use]
    pub(crate) fn with_new_lap(self) -> Self {
        Self {
            lapped: Instant::now(),
            ..self
        }
    }

    /// Seconds since the start or the last lap.
    pub(crate) fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let seconds = now
            .duration_since(std::mem::replace(&mut self.lapped, now))
            .as_secs_f64();
        (seconds * 1000.0).round() / 1000.0
    }

    /// Now, Unix milliseconds.
    #[must_use]
    pub(crate) fn now_ms(&self) -> i64 {
        // Fallback: never taken, no process runs for 2^63 milliseconds.
        self.started_ms + i64::try_from(self.elapsed().as_millis()).unwrap_or(i64::MAX)
    }
}
