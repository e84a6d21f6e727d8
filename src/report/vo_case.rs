//! VOs whose names differ in letter case alone. APEL's server compares names without regard to case and shows the
//! spelling that it saw first; a lake keeps names as they were reported.

use std::collections::{BTreeMap, BTreeSet};

use super::apel::aggregate::Aggregate;
use super::apel::server_key::folded;
use super::federation::site_vo_month;

/// What a report does with such names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoCaseOutcome {
    /// Each is a VO of its own.
    KeptApart,
    /// They are one VO.
    Merged,
    /// They are one VO in the records whose key is else the same.
    MergedByKey,
}

/// VO names of a selection by what the server takes for one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VoCase {
    /// Spellings of a name, with the first end of a job under each, Unix milliseconds.
    spellings: BTreeMap<String, BTreeMap<String, Option<i64>>>,
    row_n: usize,
}

impl VoCase {
    /// Looks for them in groups.
    #[must_use]
    pub fn find<'a>(groups: impl IntoIterator<Item = &'a Aggregate>) -> Self {
        let mut found = Self::default();
        let mut rows = BTreeSet::new();
        for group in groups {
            let (site, vo, month) = site_vo_month(group);
            let spellings = found.spellings.entry(folded(&vo).into_owned()).or_default();
            let first = spellings.entry(vo.clone()).or_default();
            *first = [*first, group.sums.earliest_end_ms].into_iter().flatten().min();
            rows.insert((site, month, vo));
        }
        found.spellings.retain(|_, spellings| spellings.len() > 1);
        let mut rows_of_name: BTreeMap<_, usize> = BTreeMap::new();
        for (site, month, vo) in rows {
            *rows_of_name.entry((site, month, folded(&vo).into_owned())).or_default() += 1;
        }
        found.row_n = rows_of_name.into_values().filter(|n| *n > 1).sum();
        found
    }

    /// The note about them; `None` where no names differ in case alone.
    #[must_use]
    pub fn note(&self, outcome: VoCaseOutcome) -> Option<String> {
        if self.spellings.is_empty() {
            return None;
        }
        let names = self.spellings.values().map(|spellings| {
            let names: Vec<&str> = spellings.keys().map(String::as_str).collect();
            names.join("/")
        });
        let names: Vec<String> = names.collect();
        let row_n = self.row_n;
        let what = match outcome {
            VoCaseOutcome::Merged => "merged under the spelling that came first, as APEL's server does",
            VoCaseOutcome::MergedByKey => {
                "one record where all else is equal, under the spelling of the job that ended first, as on APEL's server"
            }
            VoCaseOutcome::KeptApart => "kept apart; APEL's server merges them, as --merge-case does",
        };
        Some(format!(
            "VO names that differ in letter case alone: {}; they share a site and month in {row_n} rows: {what}",
            names.join(", ")
        ))
    }

    /// Gives every group the spelling of its VO that came first.
    pub fn merge(&self, groups: &mut [Aggregate]) {
        for group in groups {
            let [_, vo, ..] = &mut group.words;
            let Some(name) = vo else { continue };
            let Some(spellings) = self.spellings.get(&*folded(name)) else {
                continue;
            };
            // A spelling without a known end comes last; of equal ends the first in the alphabet.
            let first = spellings.iter().min_by_key(|(name, end)| (end.is_none(), **end, *name));
            if let Some((first, _)) = first {
                name.clone_from(first);
            }
        }
    }
}
