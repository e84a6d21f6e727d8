//! The first refused row of a file, for messages.

use serde::Serialize;

use crate::lines::shortened;

/// Characters of raw text an example shows.
pub(crate) const SHOWN: usize = 120;

/// The first row of a file that was refused for a reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FirstRefusal {
    /// Line in the unpacked file; 0 is the file as a whole.
    pub line: u64,
    /// Field, value and why.
    pub detail: String,
    /// The beginning of the raw text; `None` where there is none, or names are withheld.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

impl FirstRefusal {
    /// An example, its raw text shortened.
    pub(crate) fn new(line: u64, detail: &str, raw: Option<&[u8]>) -> Self {
        let raw = raw.filter(|raw| !raw.trim_ascii().is_empty()).map(|raw| {
            // Four bytes make the longest character.
            let start = raw.get(..4 * SHOWN + 4).unwrap_or(raw);
            shortened(String::from_utf8_lossy(start).trim_end(), SHOWN)
        });
        Self {
            line,
            detail: detail.to_owned(),
            raw,
        }
    }
}
