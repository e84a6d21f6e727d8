//! What identifies a run, from its first moment.

use std::hash::{BuildHasher, Hasher, RandomState};

use serde::Serialize;

use crate::runtime::clock::Stopwatch;
use crate::runtime::trace_parent::trace_parent;
use crate::time::instant::instant_text;

/// The names of a run, and when it began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunIdentity {
    /// Start and process: what the dataset `runs` calls it.
    pub run_id: String,
    /// The same run for systems that name runs by UUIDs (version 7: the start, and random bits).
    pub run_uuid: String,
    /// Start, UTC.
    pub started_utc: String,
    /// The trace it belongs to, as the variable `TRACEPARENT` states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// The clock of the run, from its start on.
    #[serde(skip)]
    pub(crate) clock: Stopwatch,
}

impl RunIdentity {
    /// Of a run that begins now.
    #[must_use]
    pub fn begin() -> Self {
        let clock = Stopwatch::start();
        let started_ms = clock.started_ms();
        Self {
            run_id: format!("{started_ms}-{}", std::process::id()),
            run_uuid: uuid(started_ms),
            // Fallback: never taken, clocks are within these years.
            started_utc: instant_text(started_ms).unwrap_or_default(),
            traceparent: trace_parent().map(str::to_owned),
            clock,
        }
    }
}

/// A UUID of version 7 (RFC 9562): 48 bits of Unix milliseconds, then random ones.
fn uuid(ms: i64) -> String {
    // The standard library seeds these from the system's randomness.
    let random = || RandomState::new().build_hasher().finish();
    let (high, low) = (random(), random());
    format!(
        "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
        (ms >> 16) & 0xffff_ffff,
        ms & 0xffff,
        high & 0xfff,
        0x8000 | (high >> 12) & 0x3fff,
        low & 0xffff_ffff_ffff,
    )
}
