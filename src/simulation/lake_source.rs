//! The lake that jobs of a simulation come from.

use super::lake_kind::LakeKind;
use super::lake_trace::LakeJobs;
use super::ledger_nodes::LedgerNodes;
use crate::config::overhead_plan::OverheadPlan;
use crate::occupancy::{CapacityState, Resources};
use crate::overhead::lake_nodes::LakeNodes;
use crate::simulate::machine::ResourceKind;

/// Where the jobs of a simulation come from.
#[derive(Clone, Debug)]
pub struct LakeSource {
    /// Site.
    pub site: String,
    /// Cluster, where records name one.
    pub cluster: Option<String>,
    /// What the lake knows of the jobs.
    pub jobs: LakeJobs,
    /// The kinds of the machine.
    pub kinds: Vec<LakeKind>,
    /// The nodes of the cluster, as they are listed.
    pub(crate) nodes: LakeNodes,
    /// The nodes that free canonical units are of, with the reservations of the machine; `None` where the machine is stated, which
    /// has no nodes.
    pub(crate) ledger_nodes: Option<LedgerNodes>,
    /// What is added to the nodes and is on none of them.
    pub(crate) added: Vec<ResourceKind>,
    /// What of nodes is followed.
    pub(crate) resources: Resources,
    /// Canonical units: those of the pipeline, or the preset for cores.
    pub(crate) overhead: OverheadPlan,
}

/// A node at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeAt {
    /// Its name.
    pub name: String,
    /// Whether it takes jobs.
    pub state: CapacityState,
}

impl LakeSource {
    /// The nodes that are there in a second, by name.
    pub fn nodes_at(&self, at_s: i64) -> impl Iterator<Item = NodeAt> {
        self.nodes.nodes.iter().filter_map(move |node| {
            let segments = &node.history.segments;
            let begun_n = segments.partition_point(|segment| segment.from_s <= at_s);
            let segment = segments.get(..begun_n).and_then(<[_]>::last)?;
            let is_there = segment.capacity.iter().any(|amount| *amount > 0);
            is_there.then(|| NodeAt {
                name: node.name.clone(),
                state: segment.state,
            })
        })
    }
}
