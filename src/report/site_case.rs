//! Sites whose names differ in letter case alone. APEL's server takes them for one site; a lake keeps them as they were
//! reported.

use std::collections::{BTreeMap, BTreeSet};

use super::apel::aggregate::Aggregate;
use super::apel::server_key::folded;

/// The note about such sites of a selection; `None` where there are none.
#[must_use]
pub fn note(groups: &[Aggregate]) -> Option<String> {
    let mut spellings: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for group in groups {
        let of = spellings.entry(folded(&group.site).into_owned()).or_default();
        of.insert(&group.site);
    }
    let names = spellings.into_values().filter(|names| names.len() > 1);
    let names: Vec<String> = names
        .map(|names| names.into_iter().collect::<Vec<_>>().join("/"))
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "site names that differ in letter case alone: {}: kept apart; APEL's server takes each of these groups for one site",
            names.join(", ")
        )
    })
}
