//! Time from one instant to another.

use serde::{Deserialize, Serialize};

/// Unix seconds, half-open. It is stored as its two edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "[i64; 2]", into = "[i64; 2]")]
pub struct SecondSpan {
    /// First second.
    pub start_s: i64,
    /// The second after the last.
    pub end_s: i64,
}

impl SecondSpan {
    /// All there is.
    pub const ALWAYS: Self = Self {
        start_s: i64::MIN,
        end_s: i64::MAX,
    };

    /// Seconds of it.
    #[must_use]
    pub fn length_s(self) -> i64 {
        self.end_s - self.start_s
    }

    /// Whether there is not a second in it.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start_s >= self.end_s
    }

    /// Whether an instant is in it.
    #[must_use]
    pub fn has(self, at_s: i64) -> bool {
        self.start_s <= at_s && at_s < self.end_s
    }

    /// Whether they have a second in common; neither is empty.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.start_s < other.end_s && other.start_s < self.end_s
    }

    /// Whether all of another is in it.
    #[must_use]
    pub fn encloses(self, other: Self) -> bool {
        self.start_s <= other.start_s && other.end_s <= self.end_s
    }

    /// What of it is in another, empty where nothing does.
    #[must_use]
    pub fn within(self, other: Self) -> Self {
        Self {
            start_s: self.start_s.max(other.start_s),
            end_s: self.end_s.min(other.end_s),
        }
    }

    /// The least that holds both.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        Self {
            start_s: self.start_s.min(other.start_s),
            end_s: self.end_s.max(other.end_s),
        }
    }
}

/// Unix milliseconds, half-open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MsSpan {
    /// First instant.
    pub from_ms: i64,
    /// The instant after the last.
    pub until_ms: i64,
}

impl MsSpan {
    /// Milliseconds of it.
    #[must_use]
    pub fn length_ms(self) -> i64 {
        self.until_ms - self.from_ms
    }

    /// What of it is in another, empty where nothing does.
    #[must_use]
    pub fn within(self, other: Self) -> Self {
        Self {
            from_ms: self.from_ms.max(other.from_ms),
            until_ms: self.until_ms.min(other.until_ms),
        }
    }

    /// What both have in common, if anything.
    #[must_use]
    pub fn common(self, other: Self) -> Option<Self> {
        let common = self.within(other);
        (common.from_ms < common.until_ms).then_some(common)
    }

    /// The least that holds both.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        Self {
            from_ms: self.from_ms.min(other.from_ms),
            until_ms: self.until_ms.max(other.until_ms),
        }
    }
}

impl From<[i64; 2]> for SecondSpan {
    fn from([start_s, end_s]: [i64; 2]) -> Self {
        Self { start_s, end_s }
    }
}

impl From<SecondSpan> for [i64; 2] {
    fn from(span: SecondSpan) -> Self {
        [span.start_s, span.end_s]
    }
}
