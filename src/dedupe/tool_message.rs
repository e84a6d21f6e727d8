//! A message of the tool that made a dump, where rows should be.

use serde::{Deserialize, Serialize};

use crate::lines::shortened;
use crate::sources::Position;

/// Characters of a message that are kept.
const KEPT_CHAR_N: usize = 512;

/// The text of a message where names are withheld: it may name a person.
const WITHHELD: &str = "withheld for privacy";

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
    pub fn new(at: Position, text: &[u8], is_withheld: bool) -> Self {
        let text = if is_withheld {
            WITHHELD.as_bytes()
        } else {
            text.trim_ascii_end()
        };
        Self {
            line: at.line,
            text: shortened(&String::from_utf8_lossy(text), KEPT_CHAR_N),
        }
    }

    /// The first of two.
    #[must_use]
    pub fn first(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        [one, other].into_iter().flatten().min()
    }
}
