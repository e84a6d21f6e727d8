//! What a lake remembers of its overhead.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// Version of the rules below; a change of what a job is billed is another version.
pub(crate) const VERSION: &str = "2";

/// Rows read at once.
pub(crate) const READ_ROWS: usize = 65_536;

pub(crate) fn to_fact<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|why| Error::internal("a fact cannot be written").because(why))
}

/// A fact of an earlier version that cannot be parsed counts as missing.
pub(crate) fn from_fact<T: DeserializeOwned>(text: Option<&str>) -> Option<T> {
    // Fallback: a fact of an earlier version counts as missing, and is worked out again.
    serde_json::from_str(text?).ok()
}

/// Changes when times and requests of records come to mean something else: what was made of them is made again.
pub(crate) const RECORD_RULES: u32 = 2;

/// Changes when listings come to mean something else: what was made of them is made again.
pub(crate) const LISTING_RULES: u32 = 3;
