//! A message of the tool that made a dump, where rows should be.

use serde::{Deserialize, Serialize};

use crate::lines::shortened;
use crate::sources::Position;

/// Bytes of a message that are kept.
const KEPT_BYTE_N: usize = 512;

/// A message of the tool that made a dump, where rows should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ToolMessage {
    /// Its line, unpacked.
    pub line: u64,
    /// Its text.
    pub text: String,
}

impl ToolMessage {
    /// The message of a line.
    #[must_use]
    pub fn new(at: Position, text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text.trim_ascii_end());
        Self {
            line: at.line,
            text: shortened(&text, KEPT_BYTE_N),
        }
    }

    /// The first of two.
    #[must_use]
    pub fn first(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }
}
