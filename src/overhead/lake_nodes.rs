//! The nodes of a cluster over time, as a published lake lists them.

use std::collections::BTreeSet;

use super::explain::record_files;
use super::facts::from_fact;
use super::inventories::{INVENTORIES, InventoryFile, machine_in};
use super::node_inventory::InventoryNode;
use super::record_files::with_nodes;
use super::sweep::Basis;
use crate::error::Result;
use crate::occupancy::Resources;
use crate::store::lake::sites;
use crate::store::{Fact, Manifest, Store};

/// A cluster, among all that jobs name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClusterPlace<'a> {
    /// Its site.
    pub(crate) site: &'a str,
    /// Its name, where jobs name it.
    pub(crate) cluster: Option<&'a str>,
    /// All clusters of the site.
    pub(crate) clusters: &'a BTreeSet<String>,
}

/// The nodes of a cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct LakeNodes {
    /// The nodes, sorted by name.
    pub(crate) nodes: Vec<InventoryNode>,
    /// Events of a node that begin before an earlier one of it has ended.
    pub(crate) overlapping_event_n: u64,
}

/// The settings by which the lake was swept; `None` where its pipeline has no `[overhead]`.
pub(crate) fn basis(manifest: &Manifest) -> Option<Basis> {
    from_fact(manifest.facts.get(Fact::OverheadBasis))
}

/// The nodes of a cluster, as its inventories list them; none where there is no inventory.
///
/// # Errors
/// [`crate::error::Kind::Config`] when the cluster of a listing cannot be determined; [`crate::error::Kind::Io`].
pub(crate) fn lake_nodes(
    store: &Store,
    manifest: &Manifest,
    resources: &Resources,
    place: ClusterPlace<'_>,
) -> Result<LakeNodes> {
    let basis = basis(manifest);
    let inventories = INVENTORIES.into_iter().flat_map(|dataset| {
        let files = manifest.dataset(dataset);
        files.map(move |file| (dataset, file.path.clone()))
    });
    let files = inventories.map(|(dataset, path)| InventoryFile {
        dataset,
        // Without a sweep nothing states which listings were still there: all count.
        is_present: basis.as_ref().is_none_or(|basis| basis.listings.contains(&path)),
        place: path.clone(),
        path,
    });
    let complete = basis.as_ref().map(|basis| basis.complete.clone());
    let machine = machine_in(store, files, resources, &crate::absent::entry(complete))?;
    // A listing without a site is of the only site with jobs on nodes, as the sweep takes it.
    let swept = with_nodes(&record_files(manifest));
    let sites = if swept.contains(place.site) {
        swept
    } else {
        sites(manifest)
    };
    let own = machine.of(place.site, &sites, place.cluster, place.clusters)?;
    Ok(LakeNodes {
        nodes: own.nodes(place.cluster, resources.width()),
        overlapping_event_n: own.overlapping_event_n(),
    })
}
