//! The files of a lake that the fairshare of a cluster is made of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::basis::Basis;
use crate::config::fairshare_plan::FairsharePlan;
use crate::ledger::Book;
use crate::store::lake::{month_path, parse_month_path};
use crate::store::{Current, Manifest, Publication};

/// Records of one site and month, and what they were charged.
#[derive(Clone, Debug)]
pub(crate) struct JobFile {
    /// The records.
    pub(crate) records: Current,
    /// The charges; `None` where there are none, or none are needed.
    pub(crate) charges: Option<Current>,
}

impl JobFile {
    /// What the contents of both are known by.
    pub(crate) fn hash(&self) -> String {
        let charges = self.charges.as_ref().map_or("", |file| &file.blake3);
        format!("{} {charges}", self.records.blake3)
    }
}

/// Everything that is read of a lake.
#[derive(Clone, Debug)]
pub struct ClusterFiles {
    /// Jobs of the site, by month.
    pub(crate) jobs: Vec<JobFile>,
    /// Listings of associations, the present ones first.
    pub(crate) associations: Vec<Current>,
    /// Listings of QOS, in the same order.
    pub(crate) qos: Vec<Current>,
    /// Listings of settings, in the same order.
    pub(crate) settings: Vec<Current>,
    /// Listings of shares as the scheduler states them, in the same order. Nothing is computed from them.
    pub(crate) shares: Vec<Current>,
    /// Paths of the listings whose inputs still exist. One that was overwritten remains in the lake; where both are of one
    /// instant, the present one counts.
    pub(crate) present: BTreeSet<String>,
    /// Paths of inputs by their ids, as far as they are known: messages name them.
    pub(crate) input_paths: BTreeMap<String, String>,
}

impl ClusterFiles {
    /// Files as a publication will publish them; `present` are the ids of the inputs that exist.
    #[must_use]
    pub(crate) fn of_publication(publication: &Publication, of: &FairsharePlan, present: &BTreeSet<Arc<str>>) -> Self {
        let is_present = |path: &str| {
            let name = path.rsplit('/').next();
            let file_id = name.and_then(|name| name.strip_suffix(".parquet"));
            file_id.is_some_and(|file_id| present.contains(file_id))
        };
        Self::find(of, |dataset| publication.current(dataset), is_present)
    }

    /// Files as they are published, with what the lake remembers of them.
    #[must_use]
    pub(super) fn of_basis(manifest: &Manifest, of: &FairsharePlan, basis: &Basis) -> Self {
        let is_present = |path: &str| basis.cluster(of).is_some_and(|basis| basis.is_present(path));
        Self::find(of, |dataset| Current::published(manifest, dataset), is_present)
    }

    fn find(of: &FairsharePlan, files: impl Fn(&str) -> Vec<Current>, is_present: impl Fn(&str) -> bool) -> Self {
        let charges = if of.is_charged() {
            files("job_charges")
        } else {
            Vec::new()
        };
        let jobs = files("records").into_iter().filter_map(|records| {
            let place = parse_month_path(&records.path).filter(|place| place.site == of.site)?;
            let path = month_path("job_charges", &place.site, place.month);
            let charges = charges.iter().find(|file| file.path == path).cloned();
            Some(JobFile { records, charges })
        });
        let mut present = BTreeSet::new();
        let mut listings = |dataset: &str| {
            let (mut first, replaced): (Vec<_>, Vec<_>) =
                files(dataset).into_iter().partition(|file| is_present(&file.path));
            present.extend(first.iter().map(|file| file.path.clone()));
            first.extend(replaced);
            first
        };
        Self {
            jobs: jobs.collect(),
            associations: listings("association"),
            qos: listings("qos"),
            settings: listings("scheduler_setting"),
            shares: listings("share"),
            present,
            input_paths: BTreeMap::new(),
        }
    }

    /// With the paths of the inputs of a ledger.
    pub(crate) fn with_input_paths(mut self, book: &Book) -> Self {
        let listings = self.associations.iter().filter_map(|file| {
            let name = file.path.rsplit('/').next()?.strip_suffix(".parquet")?;
            let path = book.inputs().get(name)?.paths.first()?;
            Some((name.to_owned(), path.to_string()))
        });
        self.input_paths = listings.collect();
        self
    }
}
