//! The fairshare that a lake holds, as its facts state it.

use super::basis::{Basis, ClusterBasis};
use super::files::ClusterFiles;
use crate::config::fairshare_plan::FairsharePlan;
use crate::store::{Fact, Manifest};

/// What a lake remembers of its fairshare, parsed once for all who need a part of it.
#[derive(Clone, Debug)]
pub struct LakeFairshare {
    basis: Basis,
}

impl LakeFairshare {
    /// Parses the fact of a lake.
    #[must_use]
    pub fn of_manifest(manifest: &Manifest) -> Self {
        Self {
            basis: Basis::of_fact(manifest.facts.get(Fact::Fairshare)),
        }
    }

    /// What its pipeline states of each cluster, by site and cluster.
    pub fn plans(&self) -> impl Iterator<Item = &FairsharePlan> {
        self.basis.plans()
    }

    /// When the last job of a cluster ended, Unix seconds; `None` where it has none.
    #[must_use]
    pub fn last_job_end_s(&self, of: &FairsharePlan) -> Option<i64> {
        self.basis.cluster(of)?.last_end_s()
    }

    /// What the dataset of a cluster was made of.
    pub(super) fn basis(&self, of: &FairsharePlan) -> Option<&ClusterBasis> {
        self.basis.cluster(of)
    }

    /// The files that the fairshare of a cluster is made of, as they are published.
    #[must_use]
    pub fn files(&self, manifest: &Manifest, of: &FairsharePlan) -> ClusterFiles {
        ClusterFiles::of_basis(manifest, of, &self.basis)
    }
}
