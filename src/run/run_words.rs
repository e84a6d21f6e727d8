//! Numbers of a run's report in words.

use std::collections::BTreeMap;

/// A difference as people read it.
pub(super) fn signed(number: &str) -> String {
    if number.starts_with('-') {
        number.to_owned()
    } else {
        format!("+{number}")
    }
}

/// The ten commonest.
pub(super) fn commonest(counts: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut all: Vec<(&String, &u64)> = counts.iter().collect();
    all.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    all.into_iter().take(10).map(|(name, n)| (name.clone(), *n)).collect()
}
