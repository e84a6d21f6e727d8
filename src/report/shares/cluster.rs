//! Which cluster shares are granted on, and which listings of a lake have it.

use std::collections::BTreeSet;

use super::super::lake::Lake;
use crate::diagnostics::must_be_known;
use crate::error::{Error, Kind, Result};
use crate::fairshare::ParentlessAccounts;
use crate::hive;
use crate::schema::batch::{text, word};
use crate::share_history::LakeFairshare;

/// A cluster of a lake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareCluster {
    /// Its name.
    pub cluster: String,
    /// Its site, where `[[fairshare]]` states it.
    site: Option<String>,
    /// The inventory with its associations, where `[[fairshare]]` names it.
    associations: Option<String>,
    /// The inventories that are read; all of them when there is none.
    inventories: BTreeSet<String>,
    /// What accounts are without a stated parent.
    pub(super) parentless: ParentlessAccounts,
}

impl ShareCluster {
    /// The cluster of a name, or the only one; as `[[fairshare]]` of its pipeline describes it, if it does.
    ///
    /// # Errors
    /// [`Kind::Usage`] when it is unknown, or several are there and none is chosen; [`Kind::Io`] when the lake cannot be read.
    pub fn of_lake(lake: &Lake, cluster: Option<&str>, inventories: &[String]) -> Result<Self> {
        let known_fairshare = LakeFairshare::of_manifest(&lake.manifest);
        let plans: Vec<_> = known_fairshare.plans().cloned().collect();
        let mut known: BTreeSet<String> = plans.iter().map(|plan| plan.cluster.clone()).collect();
        let mut sources = BTreeSet::new();
        for dataset in ["association", "node", "partition"] {
            for file in lake.manifest.dataset(dataset) {
                sources.extend(source_of(&file.path));
                for batch in lake.batches(&file.path, Some(&["cluster"]))? {
                    let batch = batch?;
                    let clusters = text(&batch, "cluster")?;
                    let named = (0..batch.num_rows()).filter_map(|row| word(clusters, row));
                    known.extend(named.map(str::to_owned));
                }
            }
        }
        let inventories: BTreeSet<String> = inventories.iter().cloned().collect();
        for inventory in &inventories {
            must_be_known("the lake has", "inventory with such listings", inventory, &sources)?;
        }
        let cluster = match (cluster, known.first()) {
            (Some(cluster), Some(_)) => {
                must_be_known("the lake has", "cluster", cluster, &known)?;
                cluster.to_owned()
            }
            (Some(cluster), None) => cluster.to_owned(),
            (None, Some(only)) if known.len() == 1 => only.clone(),
            (None, None) => {
                let message = "no listing names a cluster: name it with --cluster";
                return Err(Error::new(Kind::Usage, message));
            }
            (None, Some(_)) => {
                let names: Vec<&str> = known.iter().map(String::as_str).collect();
                let message = format!(
                    "the lake has several clusters: choose with --cluster ({})",
                    names.join(", ")
                );
                return Err(Error::new(Kind::Usage, message));
            }
        };
        let plan = plans.into_iter().find(|plan| plan.cluster == cluster);
        Ok(Self {
            cluster,
            site: plan.as_ref().map(|plan| plan.site.clone()),
            associations: plan.as_ref().map(|plan| plan.listing.clone()),
            inventories,
            parentless: plan.map_or(ParentlessAccounts::OnlyRoot, |plan| plan.parentless),
        })
    }

    /// Whether a file of listings may have it.
    pub(super) fn is_read(&self, dataset: &str, path: &str) -> bool {
        let source = source_of(path);
        match (&self.associations, dataset) {
            (Some(listing), "association") if self.inventories.is_empty() => source.as_ref() == Some(listing),
            _ => self.inventories.is_empty() || source.is_some_and(|source| self.inventories.contains(&source)),
        }
    }

    /// Whether a row may be of it: what a listing does not state may be anything.
    pub(super) fn may_have(&self, site: Option<&str>, cluster: Option<&str>) -> bool {
        let is_site = match (site, self.site.as_deref()) {
            (Some(stated), Some(own)) => stated == own,
            _ => true,
        };
        is_site && cluster.is_none_or(|cluster| cluster == self.cluster)
    }
}

/// The inventory whose listing a file has.
fn source_of(path: &str) -> Option<String> {
    let mut segments = path.split('/').filter_map(hive::parse);
    segments
        .find(|(name, _)| name == "source")
        .and_then(|(_, source)| source)
}
