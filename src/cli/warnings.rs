//! The warnings of this process, for the report of a run.

use std::sync::{Mutex, PoisonError};

/// So many are kept; the others are only counted.
const MOST_KEPT: usize = 100;

static KEPT: Mutex<KeptWarnings> = Mutex::new(KeptWarnings {
    warning_n: 0,
    messages: Vec::new(),
});

/// What was warned of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KeptWarnings {
    /// Warnings.
    pub(super) warning_n: u64,
    /// The first of them.
    pub(super) messages: Vec<String>,
}

impl KeptWarnings {
    /// Adds one.
    pub(super) fn add(&mut self, message: &str) {
        self.warning_n += 1;
        if self.messages.len() < MOST_KEPT {
            self.messages.push(message.to_owned());
        }
    }
}

/// Keeps a warning that was reported.
pub(super) fn keep(message: &str) {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).add(message);
}

/// The warnings so far.
pub(super) fn kept() -> KeptWarnings {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
