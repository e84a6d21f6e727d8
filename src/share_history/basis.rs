//! What a lake remembers of its fairshare: by cluster the settings, and which listings and files of records it was made
//! of with the time they are of.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::files::{ClusterFiles, JobFile};
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

/// By path of a file with listings of associations.
pub(super) type ListingReaches = BTreeMap<String, ListingReach>;

/// A file with listings of associations as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ListingReach {
    /// What its contents are known by.
    pub(super) hash: String,
    /// Whether its input existed: one that was replaced counts less.
    pub(super) is_present: bool,
    /// The instants of its listings, Unix milliseconds; `None` where one states none.
    pub(super) instants_ms: BTreeSet<Option<i64>>,
}

/// What one cluster's fairshare was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClusterBasis {
    /// What the pipeline states, for those who read the lake.
    plan: FairsharePlan,
    /// What that and the listings of QOS and settings come to.
    settings: BasisSettings,
    listings: ListingReaches,
    /// Paths of the listings of any kind whose inputs existed.
    present: BTreeSet<String>,
    files: Reaches,
}

/// What decides every day of a cluster's fairshare.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BasisSettings {
    /// Fingerprint of what the pipeline states.
    pub(super) stated: String,
    /// Fingerprint of that, completed by listings of QOS and settings.
    pub(super) resolved: String,
}

/// What one cluster's fairshare is made of in one run.
pub(super) struct ClusterInputs<'a> {
    pub(super) settings: BasisSettings,
    pub(super) files: &'a ClusterFiles,
    pub(super) listings: ListingReaches,
    pub(super) reaches: Reaches,
}

/// The first day from which numbers may be other ones than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstChange {
    /// No number may be.
    Nothing,
    /// Those of a day and after it.
    From(Day),
    /// All of them.
    Everything,
}

impl FirstChange {
    /// The earlier of two.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, change) | (change, Self::Nothing) => change,
            (Self::From(one), Self::From(other)) => Self::From(one.min(other)),
            (Self::Everything, _) | (_, Self::Everything) => Self::Everything,
        }
    }
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
    pub(super) fn plans(&self) -> impl Iterator<Item = &FairsharePlan> {
        self.0.values().map(|basis| &basis.plan)
    }

    /// The settings of each cluster.
    pub(super) fn settings(&self) -> BTreeMap<String, String> {
        let of_clusters = self.0.iter();
        of_clusters
            .map(|(name, basis)| (name.clone(), basis.settings.stated.clone()))
            .collect()
    }
}

impl ClusterInputs<'_> {
    /// The files of records with jobs that ran in a span.
    pub(super) fn job_files_of(&self, span: SecondSpan) -> Vec<&JobFile> {
        let reaches_into = |file: &&JobFile| {
            let reach = self.reaches.get(&file.records.path);
            reach.and_then(|reach| reach.span).is_some_and(|of| of.overlaps(span))
        };
        self.files.jobs.iter().filter(reaches_into).collect()
    }
}

impl ClusterBasis {
    pub(super) fn new(plan: &FairsharePlan, inputs: ClusterInputs<'_>) -> Self {
        Self {
            plan: plan.clone(),
            settings: inputs.settings,
            listings: inputs.listings,
            present: inputs.files.present.clone(),
            files: inputs.reaches,
        }
    }

    /// Whether a plan states the same runs of the daemon.
    pub(super) fn has_runs_of(&self, of: &FairsharePlan) -> bool {
        self.plan.daemon_runs == of.daemon_runs
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

    /// The listings of a file, if its contents are known.
    pub(super) fn listing(&self, path: &str, hash: &str) -> Option<&ListingReach> {
        self.listings.get(path).filter(|listing| listing.hash == hash)
    }

    /// What a file spans, if its contents are known.
    pub(super) fn reach(&self, path: &str, hash: &str) -> Option<&FileReach> {
        self.files.get(path).filter(|file| file.hash == hash)
    }

    /// The first day from which numbers may be other ones than before.
    pub(super) fn first_change(&self, now: &ClusterInputs<'_>, zone: &Zone) -> FirstChange {
        if self.settings != now.settings {
            return FirstChange::Everything;
        }
        let by_jobs = match self.first_changed_day(&now.reaches, zone) {
            Some(day) => FirstChange::From(day),
            None => FirstChange::Nothing,
        };
        by_jobs.or(self.first_changed_listing(&now.listings, zone))
    }

    /// By files of records: the day of the earliest job of one that is new, gone or has other contents, and at the latest
    /// the day after the last one that was computed. `None` when no file changed.
    fn first_changed_day(&self, now: &Reaches, zone: &Zone) -> Option<Day> {
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

    /// By listings of associations: the day of the earliest one that is new, gone, replaced or has other contents. A
    /// listing holds from its instant on; only the first one holds before it too.
    fn first_changed_listing(&self, now: &ListingReaches, zone: &Zone) -> FirstChange {
        let gone = self.listings.iter().filter(|(path, of)| now.get(*path) != Some(*of));
        let added = now.iter().filter(|(path, of)| self.listings.get(*path) != Some(*of));
        let changed = gone.chain(added).flat_map(|(_, of)| &of.instants_ms).min();
        let Some(changed) = changed else {
            return FirstChange::Nothing;
        };
        let first = |listings: &ListingReaches| listings.values().flat_map(|of| of.instants_ms.iter().copied()).min();
        let is_first = [first(&self.listings), first(now)]
            .iter()
            .any(|first| first.is_none_or(|first| *changed <= first));
        let day = changed.and_then(|ms| day_of(ms.div_euclid(1000), zone));
        match day {
            Some(day) if !is_first => FirstChange::From(day),
            _ => FirstChange::Everything,
        }
    }
}
