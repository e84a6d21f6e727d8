//! Which rules gave records their VO and site, and which names no rule knew: listed in the run report.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The most names that are listed one by one.
const NAME_LIMIT: usize = 1000;
/// What the other ones are called.
const OTHERS: &str = "(others)";

/// Counts of one source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappingCounts {
    /// Jobs by the rule that gave them their VO.
    pub vo_rules: BTreeMap<String, u64>,
    /// Jobs by the name no VO rule knew.
    pub vo_unmapped: BTreeMap<String, u64>,
    /// Jobs by the rule that gave them their site.
    pub site_rules: BTreeMap<String, u64>,
    /// Jobs by the name no site rule knew.
    pub site_unmapped: BTreeMap<String, u64>,
}

impl MappingCounts {
    /// Whether there is nothing to report.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A VO was given by `rule`; `unmapped` is the name that it does not know.
    pub fn vo(&mut self, rule: &str, unmapped: Option<&str>) {
        add(&mut self.vo_rules, rule, 1);
        if let Some(name) = unmapped {
            bounded(&mut self.vo_unmapped, name, 1);
        }
    }

    /// As [`Self::vo`], of a site.
    pub fn site(&mut self, rule: &str, unmapped: Option<&str>) {
        add(&mut self.site_rules, rule, 1);
        if let Some(name) = unmapped {
            bounded(&mut self.site_unmapped, name, 1);
        }
    }

    /// Adds the counts of another piece.
    pub fn merge(&mut self, other: &Self) {
        for (into, from) in [
            (&mut self.vo_rules, &other.vo_rules),
            (&mut self.site_rules, &other.site_rules),
        ] {
            for (rule, n) in from {
                add(into, rule, *n);
            }
        }
        for (into, from) in [
            (&mut self.vo_unmapped, &other.vo_unmapped),
            (&mut self.site_unmapped, &other.site_unmapped),
        ] {
            for (name, n) in from {
                bounded(into, name, *n);
            }
        }
    }
}

fn add(counts: &mut BTreeMap<String, u64>, key: &str, n: u64) {
    if let Some(count) = counts.get_mut(key) {
        *count += n;
    } else {
        counts.insert(key.to_owned(), n);
    }
}

fn bounded(counts: &mut BTreeMap<String, u64>, name: &str, n: u64) {
    let key = if counts.len() < NAME_LIMIT || counts.contains_key(name) {
        name
    } else {
        OTHERS
    };
    add(counts, key, n);
}
