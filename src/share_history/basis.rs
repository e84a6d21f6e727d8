//! What a lake remembers of its fairshare: by cluster the settings, the listings, and which files of records it was made
//! of with the time their jobs span.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::files::ClusterFiles;
use crate::config::fairshare_plan::FairsharePlan;
use crate::error::{Error, Result};
use crate::time::{Day, SecondSpan, Zone};

/// By path of a file of records.
pub(super) type Reaches = BTreeMap<String, FileReach>;

/// A file of records as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileReach {
    /// What its contents, and those of its charges, are known by.
    pub(super) hash: String,
    /// What the jobs of the cluster span; `None` when it has none.
    pub(super) span: Option<SecondSpan>,
}

/// What one cluster's fairshare was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClusterBasis {
    /// What the pipeline states, for those who read the lake.
    plan: FairsharePlan,
    settings: String,
    listings: String,
    /// Paths of the listings whose inputs existed.
    present: BTreeSet<String>,
    files: Reaches,
}

/// What the fairshare of a lake was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Basis(BTreeMap<String, ClusterBasis>);

/// What a cluster is called in the fact.
pub(super) fn name(of: &FairsharePlan) -> String {
    format!("{}\n{}", of.site, of.cluster)
}

/// The local day of an instant.
pub(super) fn day_of(unix_s: i64, zone: &Zone) -> Option<Day> {
    let local_s = unix_s.checked_add(zone.offset_at(unix_s))?;
    Day::try_from(local_s.div_euclid(86_400)).ok()
}

impl Basis {
    /// A fact that cannot be parsed counts as missing: everything is made again.
    pub(super) fn of_fact(text: Option<&str>) -> Self {
        // Fallback: a fact that cannot be parsed counts as missing, all is made again.
        let known = text.and_then(|text| serde_json::from_str(text).ok());
        // Fallback: a fact that is missing makes everything again.
        known.unwrap_or_default()
    }

    /// # Errors
    /// [`crate::error::Kind::Internal`] when it cannot be written.
    pub(super) fn to_fact(&self) -> Result<Option<String>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let text = serde_json::to_string(self);
        text.map(Some)
            .map_err(|why| Error::internal("a fact cannot be written").because(why))
    }

    pub(super) fn cluster(&self, of: &FairsharePlan) -> Option<&ClusterBasis> {
        self.0.get(&name(of))
    }

    pub(super) fn insert(&mut self, of: &FairsharePlan, basis: ClusterBasis) {
        self.0.insert(name(of), basis);
    }

    /// What the pipeline states of each cluster.
    pub(super) fn plans(self) -> Vec<FairsharePlan> {
        self.0.into_values().map(|basis| basis.plan).collect()
    }

    /// The settings of each cluster.
    pub(super) fn settings(&self) -> BTreeMap<String, String> {
        let of_clusters = self.0.iter();
        of_clusters
            .map(|(name, basis)| (name.clone(), basis.settings.clone()))
            .collect()
    }
}

impl ClusterBasis {
    pub(super) fn new(plan: &FairsharePlan, settings: String, files: &ClusterFiles, reaches: Reaches) -> Self {
        Self {
            plan: plan.clone(),
            settings,
            listings: files.listing_hash(),
            present: files.present.clone(),
            files: reaches,
        }
    }

    /// Whether the input of a listing existed.
    pub(super) fn is_present(&self, path: &str) -> bool {
        self.present.contains(path)
    }

    /// When the last job ended, Unix seconds.
    pub(super) fn last_end_s(&self) -> Option<i64> {
        self.files
            .values()
            .filter_map(|file| file.span)
            .map(|span| span.end_s)
            .max()
    }

    /// Whether it was made under these settings and of these listings.
    pub(super) fn is_of(&self, settings: &str, listings: &str) -> bool {
        self.settings == settings && self.listings == listings
    }

    /// What a file spans, if its contents are known.
    pub(super) fn reach(&self, path: &str, hash: &str) -> Option<&FileReach> {
        self.files.get(path).filter(|file| file.hash == hash)
    }

    /// The first day from which numbers may be other ones than before: that of the earliest job of a file that is new,
    /// gone or has other contents, and at the latest the day after the last one that was computed. `None` when no file
    /// changed.
    pub(super) fn first_changed_day(&self, now: &Reaches, zone: &Zone) -> Option<Day> {
        let is_same = |path: &String, file: &FileReach| now.get(path).is_some_and(|other| other.hash == file.hash);
        let gone = self.files.iter().filter(|(path, file)| !is_same(path, file));
        let added = now.iter().filter(|(path, file)| self.reach(path, &file.hash).is_none());
        let changed: Vec<&FileReach> = gone.chain(added).map(|(_, file)| file).collect();
        let first = changed
            .iter()
            .filter_map(|file| day_of(file.span?.start_s, zone))
            .min()?;
        let last = self
            .files
            .values()
            .filter_map(|file| day_of(file.span?.end_s, zone))
            .max();
        Some(last.map_or(first, |last| first.min(last + 1)))
    }
}
