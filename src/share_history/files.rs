//! The files of a lake that the fairshare of a cluster is made of.

use crate::config::fairshare_plan::{FairsharePlan, UsageBasis};
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
    /// Listings of associations.
    pub(crate) associations: Vec<Current>,
    /// Listings of QOS.
    pub(crate) qos: Vec<Current>,
    /// Listings of settings.
    pub(crate) settings: Vec<Current>,
}

impl ClusterFiles {
    /// Files as a publication will publish them.
    #[must_use]
    pub(crate) fn of_publication(publication: &Publication, of: &FairsharePlan) -> Self {
        Self::find(of, |dataset| publication.current(dataset))
    }

    /// Files as they are published.
    #[must_use]
    pub fn of_manifest(manifest: &Manifest, of: &FairsharePlan) -> Self {
        Self::find(of, |dataset| {
            let files = manifest.dataset(dataset).map(|file| Current {
                path: file.path.clone(),
                blake3: file.blake3.clone(),
                place: file.path.clone(),
            });
            files.collect()
        })
    }

    fn find(of: &FairsharePlan, files: impl Fn(&str) -> Vec<Current>) -> Self {
        let charges = match of.usage {
            UsageBasis::RecordedBilling => Vec::new(),
            UsageBasis::Policy { .. } => files("job_charges"),
        };
        let jobs = files("records").into_iter().filter_map(|records| {
            let place = parse_month_path(&records.path).filter(|place| place.site == of.site)?;
            let path = month_path("job_charges", &place.site, place.month);
            let charges = charges.iter().find(|file| file.path == path).cloned();
            Some(JobFile { records, charges })
        });
        Self {
            jobs: jobs.collect(),
            associations: files("association"),
            qos: files("qos"),
            settings: files("scheduler_setting"),
        }
    }

    /// What the contents of all listings are known by.
    pub(crate) fn listing_hash(&self) -> String {
        let listings = self.associations.iter().chain(&self.qos).chain(&self.settings);
        let mut hasher = blake3::Hasher::new();
        for file in listings {
            hasher.update(file.path.as_bytes());
            hasher.update(file.blake3.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}
