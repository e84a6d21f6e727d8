//! The canonical text of settings, whose hash is a fingerprint.

use std::fmt::Write as _;

/// Bumped when the meaning of the canonical text changes.
const VERSION: &str = "1";

/// Key and value lines. Values are quoted, so that no two contents give the same text.
pub(crate) struct Canonical(String);

impl Canonical {
    pub(crate) fn new(what: &str) -> Self {
        Self(format!("{what} {VERSION}\n"))
    }

    pub(crate) fn line(&mut self, key: &str, value: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{key} = {value:?}");
    }

    pub(crate) fn optional(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.line(key, value);
        }
    }

    pub(crate) fn hash(self) -> String {
        blake3::hash(self.0.as_bytes()).to_hex().to_string()
    }
}
