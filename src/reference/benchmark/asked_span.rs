//! For which instants a table was asked.

/// The first and last instant that was looked up in a table, Unix milliseconds, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedSpan {
    /// The first.
    pub first_ms: i64,
    /// The last.
    pub last_ms: i64,
}

impl AskedSpan {
    /// An instant.
    #[must_use]
    pub fn at(at_ms: i64) -> Self {
        Self {
            first_ms: at_ms,
            last_ms: at_ms,
        }
    }

    /// With one more instant.
    #[must_use]
    pub fn with(self, at_ms: i64) -> Self {
        Self {
            first_ms: self.first_ms.min(at_ms),
            last_ms: self.last_ms.max(at_ms),
        }
    }
}
