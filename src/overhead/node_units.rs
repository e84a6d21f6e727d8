//! The units of a plan that apply to each node of a site.

use std::collections::{BTreeMap, BTreeSet};

use super::node_inventory::InventoryNode;
use crate::config::overhead_plan::OverheadPlan;
use crate::error::{Error, Result};
use crate::occupancy::{NodeQuery, Resources, Thresholds};

/// The units that apply to a node, by its partitions and by what is known of its capacity.
pub(crate) struct NodeUnits<'a> {
    /// Names of the units that apply, and whether the capacity of all resources they name is known.
    pub(crate) units: Vec<(&'a str, bool)>,
    /// Places in the plan of those for which it is known.
    pub(crate) numbers: Vec<usize>,
    /// Their thresholds, in the same order.
    pub(crate) thresholds: Vec<Thresholds>,
    /// Places in the plan of those for which it is not known.
    pub(crate) unknown_units: Vec<usize>,
    /// Places of the resources that units name and whose capacity is not known.
    pub(crate) unknown: BTreeSet<usize>,
}

impl<'a> NodeUnits<'a> {
    /// The units of a plan that apply to a node.
    pub(crate) fn of(node: &InventoryNode, overhead: &'a OverheadPlan, resources: &Resources) -> Self {
        let known = &node.history.known;
        let mut found = Self {
            units: Vec::new(),
            numbers: Vec::new(),
            thresholds: Vec::new(),
            unknown_units: Vec::new(),
            unknown: BTreeSet::new(),
        };
        let units = overhead.units.iter().enumerate();
        for (number, unit) in units.filter(|(_, unit)| unit.is_for(&node.partition_names())) {
            let thresholds = unit.thresholds(resources);
            let is_known = thresholds.is_known(known);
            found.units.push((&unit.name, is_known));
            let named = thresholds.iter().zip(known).enumerate();
            found.unknown.extend(
                named
                    .filter(|(_, (threshold, known))| threshold.is_some() && !**known)
                    .map(|(at, _)| at),
            );
            if is_known {
                found.numbers.push(number);
                found.thresholds.push(thresholds);
            } else {
                found.unknown_units.push(number);
            }
        }
        found
    }

    /// What is computed for the node.
    pub(crate) fn question(&self, overhead: &OverheadPlan) -> NodeQuery<'_> {
        NodeQuery {
            units: &self.thresholds,
            scheme: overhead.scheme,
        }
    }
}

/// The units of every node of a site. Most nodes are alike, so each different set is held once.
pub(crate) struct SiteUnits<'a> {
    different: Vec<NodeUnits<'a>>,
    /// By node: its place in `different`.
    places: Vec<usize>,
}

impl<'a> SiteUnits<'a> {
    /// The units of a plan that apply to each of these nodes.
    pub(crate) fn of(nodes: &[InventoryNode], overhead: &'a OverheadPlan, resources: &Resources) -> Self {
        let mut different = Vec::new();
        let mut known = BTreeMap::new();
        let places = nodes.iter().map(|node| {
            *known.entry((&node.partitions, &node.history.known)).or_insert_with(|| {
                different.push(NodeUnits::of(node, overhead, resources));
                different.len() - 1
            })
        });
        let places = places.collect();
        Self { different, places }
    }

    /// Those of the node of a number.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when there is no such node.
    pub(crate) fn node(&self, number: usize) -> Result<&NodeUnits<'a>> {
        let units = self.places.get(number).and_then(|place| self.different.get(*place));
        units.ok_or_else(|| Error::internal("a node without units"))
    }
}
