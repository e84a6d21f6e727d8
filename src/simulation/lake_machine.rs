//! The machine of a lake: what the nodes of its inventory have, and when how much of it took no jobs.

use std::collections::{BTreeMap, BTreeSet};

use super::lake_kind::LakeKind;
use super::lake_reservations::ListedReservation;
use super::reserved_nodes::{PlacedReservation, ReservedNodes};
use crate::error::{Error, Result};
use crate::occupancy::{CapacitySegment, CapacityState, Resources};
use crate::overhead::lake_nodes::LakeNodes;
use crate::simulate::demand::Demand;
use crate::simulate::machine::{CapacityStep, ResourceKind};
use crate::simulate::reserved_pool::{ReservedPool, ReservedStep};
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
    /// How many of them begin after the span.
    pub(crate) later_outage_n: u64,
    /// The reservations.
    pub(crate) reservations: Vec<ReservedPool>,
    /// The listed times of those that have whole nodes.
    pub(crate) whole_reservations: Vec<ListedReservation>,
    /// How many times one is in force.
    pub(crate) reservation_span_n: u64,
    /// Listed times of reservations that have neither nodes of the inventory nor cores.
    pub(crate) empty_reservation_n: u64,
    /// Nodes that several reservations have at a time.
    pub(crate) shared_node_n: u64,
}

/// A change of what there is, of what takes jobs, and of what takes those of reservations, by place.
#[derive(Clone, Debug, Default)]
struct SumChange {
    there: Demand,
    available: Demand,
    inside: BTreeMap<usize, Demand>,
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
    let sums = node_sums(nodes, resources, &kinds, &[], span, &[])?;
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

/// What the nodes have of these kinds while a span lasts, and what of it is reserved: a node that a reservation has as a whole
/// takes its jobs alone then. Simulated jobs may end after the span, so nodes are followed to their last change; after the span
/// a node has at most what it had at its end.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a kind is not among the resources.
pub(crate) fn node_sums(
    nodes: &LakeNodes,
    resources: &Resources,
    kinds: &[LakeKind],
    models: &[String],
    span: SecondSpan,
    reservations: &[ListedReservation],
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
    let cores = kinds.iter().position(|kind| *kind == LakeKind::Cores);
    let reserved = ReservedNodes::new(reservations, span, |listed| {
        let own = nodes.nodes.iter().filter(|node| listed.nodes.contains(&node.name));
        let at_s = listed.start_s.clamp(span.start_s, span.end_s - 1);
        let each = own.filter_map(|node| segment_at(&node.history.segments, at_s));
        each.map(|segment| cores.map_or(0, |cores| amounts(segment).get(cores)))
            .sum()
    });
    let mut changes: BTreeMap<i64, SumChange> = BTreeMap::new();
    let mut found = NodeSums {
        empty_reservation_n: reserved.empty_n,
        whole_reservations: reserved.whole(),
        reservation_span_n: reserved.span_n(),
        ..NodeSums::default()
    };
    for node in &nodes.nodes {
        let own = reserved.of_node(&node.name);
        let is_shared = own.iter().enumerate().any(|(at, one)| {
            let mut others = own.iter().skip(at + 1);
            others.any(|other| other.pool != one.pool && other.listed.span().overlaps(one.listed.span()))
        });
        found.shared_node_n += u64::from(is_shared);
        let (mut there, mut available, mut inside) = (Demand::NOTHING, Demand::NOTHING, None);
        let mut was_up = true;
        let segments = &node.history.segments;
        let at_end = segment_at(segments, span.end_s - 1).map_or(Demand::NOTHING, amounts);
        for from_s in cuts(segments, &own, span) {
            let Some(segment) = segment_at(segments, from_s) else {
                continue;
            };
            let is_later = from_s >= span.end_s;
            let now = if is_later {
                amounts(segment).smaller(&at_end)
            } else {
                amounts(segment)
            };
            let is_up = segment.state == CapacityState::Up;
            let begins_outage = was_up && !is_up && now != Demand::NOTHING;
            found.outage_n += u64::from(begins_outage);
            found.later_outage_n += u64::from(begins_outage && is_later);
            was_up = is_up;
            let owner = own.iter().find(|placed| placed.listed.span().has(from_s));
            let (now_available, now_inside) = match (owner, segment.state) {
                (None, CapacityState::Up) => (now, None),
                // Its state is that of the reservation.
                (Some(owner), CapacityState::Up | CapacityState::Reserved) => {
                    (Demand::NOTHING, Some((owner.pool, now)))
                }
                _ => (Demand::NOTHING, None),
            };
            let change = changes.entry(from_s).or_default();
            change.there.add(&now);
            change.there.take(&there);
            change.available.add(&now_available);
            change.available.take(&available);
            if let Some((pool, amounts)) = inside.take() {
                change.inside.entry(pool).or_default().take(&amounts);
            }
            if let Some((pool, amounts)) = now_inside {
                change.inside.entry(pool).or_default().add(&amounts);
            }
            (there, available, inside) = (now, now_available, now_inside);
        }
    }
    for at_s in reserved.counted_edges() {
        changes.entry(at_s.max(span.start_s)).or_default();
    }
    found.reservations = reserved.pools(found.follow(&changes, &reserved, kinds));
    Ok(found)
}

impl NodeSums {
    /// Follows the changes of what there is: its capacity and its steps, and the steps of reservations, by place.
    fn follow(
        &mut self,
        changes: &BTreeMap<i64, SumChange>,
        reserved: &ReservedNodes<'_>,
        kinds: &[LakeKind],
    ) -> BTreeMap<usize, Vec<ReservedStep>> {
        let mut there = Demand::NOTHING;
        for change in changes.values() {
            there.add(&change.there);
            self.capacity = self.capacity.larger(&there);
        }
        let mut available = Demand::NOTHING;
        let mut inside: BTreeMap<usize, Demand> = BTreeMap::new();
        let mut counted: BTreeMap<usize, Demand> = BTreeMap::new();
        let mut pools: BTreeMap<usize, Vec<ReservedStep>> = BTreeMap::new();
        for (from_s, change) in changes {
            available.add(&change.available);
            let mut touched: BTreeSet<usize> = counted.keys().copied().collect();
            for (pool, more) in &change.inside {
                inside.entry(*pool).or_default().add(more);
                touched.insert(*pool);
            }
            let mut left = available;
            counted = reserved.counted_at(*from_s, kinds, &self.capacity, &mut left);
            touched.extend(counted.keys());
            for pool in touched {
                let mut amounts = crate::numbers::tally(inside.get(&pool).copied());
                amounts.add(&crate::numbers::tally(counted.get(&pool).copied()));
                let own = pools.entry(pool).or_default();
                if own.last().is_none_or(|last| last.amounts != amounts) {
                    own.push(ReservedStep {
                        from_s: *from_s,
                        amounts,
                    });
                }
            }
            let unavailable = self.capacity.without(&left);
            let was = self.steps.last().map_or(Demand::NOTHING, |step| step.unavailable);
            if unavailable != was {
                self.steps.push(CapacityStep {
                    from_s: *from_s,
                    unavailable,
                });
            }
        }
        pools
    }
}

/// What a node is in a second.
fn segment_at(segments: &[CapacitySegment], at_s: i64) -> Option<&CapacitySegment> {
    let begun_n = segments.partition_point(|segment| segment.from_s <= at_s);
    segments.get(..begun_n).and_then(<[_]>::last)
}

/// The seconds in which a node changes, or reservations of it begin or end, from the beginning of a span on.
fn cuts(segments: &[CapacitySegment], own: &[PlacedReservation<'_>], span: SecondSpan) -> BTreeSet<i64> {
    let ends = segments.iter().skip(1).map(|next| next.from_s).chain([i64::MAX]);
    let lasting = segments.iter().zip(ends);
    // An event that has no end has its end there.
    let lasting = lasting.filter(|(segment, until_s)| *until_s > span.start_s && segment.from_s < i64::MAX);
    let mut cuts: BTreeSet<i64> = lasting.map(|(segment, _)| segment.from_s.max(span.start_s)).collect();
    let edges = own
        .iter()
        .flat_map(|placed| [placed.listed.start_s, placed.listed.end_s]);
    cuts.extend(edges.filter(|at_s| *at_s > span.start_s));
    cuts
}
