//! The machine of a lake: what the nodes of its inventory have, and when how much of it took no jobs.

use std::collections::BTreeMap;

use super::lake_kind::LakeKind;
use crate::error::{Error, Result};
use crate::occupancy::{CapacitySegment, CapacityState, Resources};
use crate::overhead::lake_nodes::LakeNodes;
use crate::simulate::demand::Demand;
use crate::simulate::machine::{CapacityStep, ResourceKind};
use crate::time::SecondSpan;

/// What nodes come to, all together.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeSums {
    /// The most of each kind there was at a time.
    pub(crate) capacity: Demand,
    /// How much of it takes no jobs, from when on.
    pub(crate) steps: Vec<CapacityStep>,
    /// Times in which a node took no jobs.
    pub(crate) outage_n: u64,
}

/// A change of what there is, and of what takes jobs.
#[derive(Clone, Copy, Debug, Default)]
struct SumChange {
    there: Demand,
    available: Demand,
}

/// The kinds of a machine as nodes list them: cores, and GPUs and memory where nodes have them. Memory of which a node states
/// none would be no limit there, so it is left out then.
pub(crate) fn listed_kinds(nodes: &LakeNodes, resources: &Resources, span: SecondSpan) -> Result<Vec<ResourceKind>> {
    let all = [
        ("cores", LakeKind::Cores),
        ("gpus", LakeKind::Gpus),
        ("memory_mib", LakeKind::Memory),
    ];
    let kinds: Vec<LakeKind> = all.iter().map(|(_, kind)| kind.clone()).collect();
    let sums = node_sums(nodes, resources, &kinds, &[], span)?;
    let is_known = |kind: &LakeKind| {
        let place = kind.resource(&[]).and_then(|resource| resources.position(&resource));
        let mut known = nodes
            .nodes
            .iter()
            .map(|node| place.and_then(|place| node.history.known.get(place)));
        known.all(|known| known == Some(&true))
    };
    let mut found = Vec::new();
    for (at, (name, kind)) in all.iter().enumerate() {
        let capacity = sums.capacity.get(at);
        if capacity > 0 && (*kind != LakeKind::Memory || is_known(kind)) {
            found.push(ResourceKind {
                name: (*name).to_owned(),
                capacity,
            });
        }
    }
    Ok(found)
}

/// What the nodes have of these kinds while a span lasts.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a kind is not among the resources.
pub(crate) fn node_sums(
    nodes: &LakeNodes,
    resources: &Resources,
    kinds: &[LakeKind],
    models: &[String],
    span: SecondSpan,
) -> Result<NodeSums> {
    let mut places = Vec::with_capacity(kinds.len());
    for kind in kinds {
        let resource = kind.resource(models);
        let place = resource.as_ref().and_then(|resource| resources.position(resource));
        if resource.is_some() && place.is_none() {
            return Err(Error::internal("a kind of resource that is not followed"));
        }
        places.push(place);
    }
    let amounts = |segment: &CapacitySegment| {
        let of_kind = places.iter().zip(kinds).map(|(place, kind)| match place {
            None if matches!(kind, LakeKind::Shared(_)) => 0,
            Some(place) => {
                let has = crate::schema::batch::addend(segment.capacity.get(*place).copied());
                let aside = crate::schema::batch::addend(segment.set_aside.get(*place).copied());
                kind.of_node((has - aside).max(0))
            }
            None => i64::from(segment.capacity.iter().any(|amount| *amount > 0)),
        });
        Demand::of(&of_kind.collect::<Vec<i64>>())
    };
    let mut changes: BTreeMap<i64, SumChange> = BTreeMap::new();
    let mut outage_n = 0;
    for node in &nodes.nodes {
        let (mut there, mut available) = (Demand::NOTHING, Demand::NOTHING);
        let mut was_up = true;
        let segments = &node.history.segments;
        for (at, segment) in segments.iter().enumerate() {
            let until_s = segments.get(at + 1).map_or(i64::MAX, |next| next.from_s);
            if until_s <= span.start_s || segment.from_s >= span.end_s {
                continue;
            }
            let now = amounts(segment);
            let is_up = segment.state == CapacityState::Up;
            outage_n += u64::from(was_up && !is_up && now != Demand::NOTHING);
            was_up = is_up;
            let now_available = if is_up { now } else { Demand::NOTHING };
            let change = changes.entry(segment.from_s.max(span.start_s)).or_default();
            change.there.add(&now);
            change.there.take(&there);
            change.available.add(&now_available);
            change.available.take(&available);
            (there, available) = (now, now_available);
        }
    }
    let (mut there, mut capacity) = (Demand::NOTHING, Demand::NOTHING);
    for change in changes.values() {
        there.add(&change.there);
        capacity = capacity.larger(&there);
    }
    let mut available = Demand::NOTHING;
    let mut steps: Vec<CapacityStep> = Vec::new();
    for (from_s, change) in &changes {
        available.add(&change.available);
        let unavailable = capacity.without(&available);
        let was = steps.last().map_or(Demand::NOTHING, |step| step.unavailable);
        if unavailable != was {
            steps.push(CapacityStep {
                from_s: *from_s,
                unavailable,
            });
        }
    }
    Ok(NodeSums {
        capacity,
        steps,
        outage_n,
    })
}
