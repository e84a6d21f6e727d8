//! What a lake remembers of its overhead.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// Version of the rules below; a change of what a job is billed is another version.
pub(crate) const VERSION: &str = "1";

/// The settings the published datasets were made under.
pub(crate) const SETTINGS_FACT: &str = "overhead";

/// What was known of the machine then.
pub(crate) const MACHINE_FACT: &str = "overhead machine";

/// Sites and months whose jobs ran and are billed nothing.
pub(crate) const DISPLACED_FACT: &str = "overhead displaced";

/// What a sweep takes besides the records, so that one number of it can be worked out again.
pub(crate) const BASIS_FACT: &str = "overhead basis";

/// What files of records span, by the hash of their bytes.
pub(crate) const REACH_FACT: &str = "overhead reach";

/// Rows read at once.
pub(crate) const READ_ROWS: usize = 65_536;

pub(crate) fn to_fact<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|why| Error::internal("a fact cannot be written").because(why))
}

/// A fact of an earlier version that no longer reads is none.
pub(crate) fn from_fact<T: DeserializeOwned>(text: Option<&str>) -> Option<T> {
    serde_json::from_str(text?).ok()
}

/// Changes when listings come to mean something else: what was made of them is made again.
pub(crate) const LISTING_RULES: u32 = 2;
