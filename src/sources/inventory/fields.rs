//! Typed access to the fields of a row by name.

use std::collections::BTreeMap;

use super::moment::{self, PrintedInstant};
use super::trouble::missing;
use crate::absent;
use crate::ledger::Reason;
use crate::reference::inventory::Gpus;
use crate::reference::inventory::absent::is_absent;
use crate::reference::inventory::quantity;
use crate::reference::inventory::tres::{MIB, Tres};
use crate::sources::refusal::Refusal;
use crate::time::Zone;

/// The fields of a row. A text that means "none" counts as absent.
pub(super) struct InventoryFields<'t>(pub(super) BTreeMap<&'t str, &'t str>);

impl<'t> InventoryFields<'t> {
    pub(super) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    pub(super) fn get(&self, key: &str) -> Option<&'t str> {
        self.0.get(key).copied().filter(|value| !is_absent(value))
    }

    /// The text of a field; empty where it is absent, which the parsers of lists, states and times take for "none".
    pub(super) fn value(&self, key: &str) -> &'t str {
        absent::text(self.get(key))
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.get(key).map(str::to_owned)
    }

    pub(super) fn upper(&self, key: &str) -> Option<String> {
        self.get(key).map(str::to_uppercase)
    }

    pub(super) fn required(&self, key: &str) -> Result<&'t str, Refusal> {
        self.name(key).ok_or_else(|| missing(key))
    }

    /// A name, which may be spelled like a word that means "none".
    pub(super) fn name(&self, key: &str) -> Option<&'t str> {
        self.0.get(key).copied().filter(|name| !matches!(*name, "" | "(null)"))
    }

    /// The name of something that may be absent: an account or QOS above, or by default. `N/A` is no name, for Slurm takes no
    /// name with a slash; "none" may be one.
    pub(super) fn owned_name(&self, key: &str) -> Option<String> {
        let name = self.name(key).filter(|name| !name.eq_ignore_ascii_case("n/a"));
        name.map(str::to_owned)
    }

    /// The column of GPUs in a table of a site's own.
    pub(super) fn gpus(&self) -> Result<Option<Gpus>, Refusal> {
        let gpus = self.get("gpus").map(Gpus::of_column).transpose();
        gpus.map_err(|why| Refusal::new(Reason::BadNumber, format!("gpus: {why}")))
    }

    /// A count. The numbers that stand for "not set" are `None`; anything that is not a number is a mistake.
    pub(super) fn int(&self, key: &str) -> Result<Option<i64>, Refusal> {
        let Some(text) = self.get(key).filter(|text| !text.eq_ignore_ascii_case("UNLIMITED")) else {
            return Ok(None);
        };
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && text.len() <= 20;
        if !is_number {
            return Err(Refusal::new(
                Reason::BadNumber,
                format!("{key} {text:?} is not a number"),
            ));
        }
        Ok(quantity::count(text))
    }

    /// Mebibytes, as bytes.
    pub(super) fn mebibytes(&self, key: &str) -> Result<Option<i64>, Refusal> {
        let wrong = || Refusal::new(Reason::BadNumber, format!("{key} is too large"));
        self.int(key)?
            .map(|mib| mib.checked_mul(MIB).ok_or_else(wrong))
            .transpose()
    }

    /// A decimal that is not negative, times ten to the power of `places`.
    pub(super) fn decimal(&self, key: &str, places: u32) -> Result<Option<i128>, Refusal> {
        self.get(key).map(|text| decimal(key, text, places)).transpose()
    }

    pub(super) fn tres(&self, key: &str) -> Result<Tres, Refusal> {
        Tres::parse(self.value(key)).map_err(|why| Refusal::new(Reason::BadNumber, format!("{key}: {why}")))
    }

    pub(super) fn moment(&self, key: &str, zone: Option<&Zone>) -> Result<Option<PrintedInstant>, Refusal> {
        let text = self.value(key);
        moment::read(text, zone).map_err(|why| Refusal::new(Reason::BadTime, format!("{key} {text:?} {why}")))
    }

    pub(super) fn seconds(&self, key: &str) -> Result<Option<i64>, Refusal> {
        let text = self.value(key);
        moment::duration_s(text)
            .map_err(|()| Refusal::new(Reason::BadDuration, format!("{key} {text:?} is not a duration")))
    }

    pub(super) fn yes_no(&self, key: &str) -> Option<bool> {
        match self.get(key)?.to_ascii_uppercase().as_str() {
            "YES" | "TRUE" | "1" | "UP" => Some(true),
            "NO" | "FALSE" | "0" | "DOWN" => Some(false),
            _ => None,
        }
    }
}

/// Largest decimal with its places: it fits 38 digits.
const DECIMAL_LIMIT: i128 = 10_i128.pow(36);

/// The decimal a text states, times ten to the power of `places`.
pub(super) fn decimal(key: &str, text: &str, places: u32) -> Result<i128, Refusal> {
    quantity::decimal(text, places)
        .filter(|value| *value < DECIMAL_LIMIT)
        .ok_or_else(|| {
            Refusal::new(
                Reason::BadNumber,
                format!("{key} {text:?} is not a number of at most {places} decimals"),
            )
        })
}

/// Names of a comma list, sorted, each once, without the `*` of the default; `None` when there are none.
pub(super) fn sorted_names<'t>(names: impl IntoIterator<Item = &'t str>) -> Option<String> {
    let mut names: Vec<&str> = names
        .into_iter()
        .map(|name| name.trim().trim_end_matches('*'))
        .filter(|name| !is_absent(name))
        .collect();
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| names.join(","))
}
