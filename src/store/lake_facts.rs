//! The facts that a manifest states of its lake: every name of one, and the map of their values.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::time::Month;

/// One fact of a lake. Its name in the manifest is [`Self::name`]; the meaning of its value is defined where it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact<'a> {
    /// Name of the pipeline that publishes here.
    Pipeline,
    /// Fingerprint of the settings that decide usage and charges.
    Plan,
    /// How jobs are attributed to periods: `prorated` or `by-end`.
    Attribution,
    /// Zone, first month and day of the allocation year, and grain.
    Calendar,
    /// Zone in which days, months and allocation years are cut.
    CalendarTimezone,
    /// Fingerprint of the table of nodes that the capacity is made of.
    Capacity,
    /// Fingerprint of the awards, and of what they are counted by.
    Awards,
    /// The corrections that were applied.
    Corrections,
    /// The rule by which usage that corrections add was counted and charged.
    Additions,
    /// The folders other than those of rows, and the content of the script.
    Layout,
    /// Versions of the datasets that are extended run by run.
    Schemas,
    /// What the readers knew that refused what is refused.
    Readers,
    /// Records have to be rebuilt: files were seen under other names.
    Reordered,
    /// Records have to be rebuilt: a CE log arrived after the jobs it describes.
    CompletedLate,
    /// The columns whose names `[privacy]` withholds.
    Privacy,
    /// Check value of the key pseudonyms are made with.
    PrivacyKey,
    /// Listings of the machine were read without the names of users.
    Withheld,
    /// The settings that the overhead was computed under.
    Overhead,
    /// What was known of the machine then.
    OverheadMachine,
    /// Sites and months whose jobs ran and are billed nothing.
    OverheadDisplaced,
    /// What a sweep takes besides the records.
    OverheadBasis,
    /// What files of records span, by the hash of their bytes.
    OverheadReach,
    /// What the energy of nodes was made of: tables and settings, overhead, readings and records of each month.
    NodeEnergy,
    /// What the fairshare of each cluster was made of: settings, listings, files of records.
    Fairshare,
    /// Which snapshots are kept; without it none is made.
    Keep,
    /// Datasets have a Delta log.
    DeltaLog,
    /// Fingerprint of the settings of a source.
    Source(&'a str),
    /// Zone of the local times of a source.
    SourceTimezone(&'a str),
    /// Which benchmarks the jobs of a site and month are scaled by.
    JobBenchmarks(&'a str, Month),
    /// Which benchmarks the summaries of a site and month are scaled by.
    SummaryBenchmarks(&'a str, Month),
    /// By which tables of energy the jobs of a site and month are rated; without it by none.
    JobEnergy(&'a str, Month),
}

impl Fact<'_> {
    /// Its name in the manifest.
    #[must_use]
    pub fn name(self) -> Cow<'static, str> {
        let name = match self {
            Self::Pipeline => "pipeline",
            Self::Plan => "plan",
            Self::Attribution => "attribution",
            Self::Calendar => "calendar",
            Self::CalendarTimezone => "calendar_timezone",
            Self::Capacity => "capacity",
            Self::Awards => "awards",
            Self::Corrections => "corrections",
            Self::Additions => "additions",
            Self::Layout => "layout",
            Self::Schemas => "schemas",
            Self::Readers => "readers",
            Self::Reordered => "reordered",
            Self::CompletedLate => "completed late",
            Self::Privacy => "privacy",
            Self::PrivacyKey => "privacy_key",
            Self::Withheld => "withheld",
            Self::Overhead => "overhead",
            Self::OverheadMachine => "overhead machine",
            Self::OverheadDisplaced => "overhead displaced",
            Self::OverheadBasis => "overhead basis",
            Self::OverheadReach => "overhead reach",
            Self::NodeEnergy => "energy of nodes",
            Self::Fairshare => "fairshare",
            Self::Keep => "keep",
            Self::DeltaLog => "delta_log",
            Self::Source(source) => return format!("source {source}").into(),
            Self::SourceTimezone(source) => return format!("zone {source}").into(),
            Self::JobBenchmarks(site, month) => return format!("benchmarks of jobs {month} {site}").into(),
            Self::JobEnergy(site, month) => return format!("energy of jobs {month} {site}").into(),
            Self::SummaryBenchmarks(site, month) => return format!("benchmarks of summaries {month} {site}").into(),
        };
        name.into()
    }
}

/// The facts of a lake, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LakeFacts(BTreeMap<String, String>);

impl LakeFacts {
    /// The value of a fact; `None` where the lake does not have it.
    #[must_use]
    pub fn get(&self, fact: Fact<'_>) -> Option<&str> {
        self.0.get(fact.name().as_ref()).map(String::as_str)
    }

    /// Whether the lake states it.
    #[must_use]
    pub fn has(&self, fact: Fact<'_>) -> bool {
        self.get(fact).is_some()
    }

    /// Sets a fact.
    pub fn insert(&mut self, fact: Fact<'_>, value: impl Into<String>) {
        self.0.insert(fact.name().into_owned(), value.into());
    }

    /// Sets a fact, or removes it where there is no value.
    pub fn set(&mut self, fact: Fact<'_>, value: Option<String>) {
        match value {
            Some(value) => self.insert(fact, value),
            None => self.remove(fact),
        }
    }

    /// States a fact no longer.
    pub fn remove(&mut self, fact: Fact<'_>) {
        self.0.remove(fact.name().as_ref());
    }

    /// Whether nothing is stated.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Name and value of each, in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}
