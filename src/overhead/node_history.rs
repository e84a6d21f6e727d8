//! What a node was over time, from listings and events.

use std::collections::{BTreeMap, BTreeSet};

use super::node_life::{Complete, LifeChange, NodeMention, is_there};
use crate::occupancy::{CapacitySegment, CapacityState, History};
use crate::time::SecondSpan;

/// A listing of a node.
#[derive(Clone, Debug)]
pub(crate) struct NodeListing {
    /// Site, if named.
    pub(crate) site: Option<String>,
    /// Cluster, if named.
    pub(crate) cluster: Option<String>,
    /// Name.
    pub(crate) node: String,
    /// When it was so.
    pub(crate) as_of_s: i64,
    /// What it has; `None` where the listing does not state it.
    pub(crate) capacity: Vec<Option<i64>>,
    /// How much of that is set aside for the system.
    pub(crate) set_aside: Vec<i64>,
    /// Partitions, comma-separated.
    pub(crate) partitions: Option<String>,
    /// `None` where the listing does not state it, or not its time.
    pub(crate) state: Option<CapacityState>,
    /// Whether the listing names all nodes there are.
    pub(crate) complete: Complete,
}

impl NodeListing {
    /// That it names the node.
    pub(crate) fn mention(&self) -> NodeMention<'_> {
        NodeMention {
            as_of_s: self.as_of_s,
            node: &self.node,
            complete: self.complete,
        }
    }
}

/// The state of a node from a listing.
#[derive(Clone, Copy, Debug)]
struct ListedState {
    as_of_s: i64,
    state: CapacityState,
}

/// A time in which a node was down or reserved, or in which a cluster had certain nodes.
#[derive(Clone, Debug)]
pub(crate) struct NodeHistoryEvent {
    /// Site, if named.
    pub(crate) site: Option<String>,
    /// Cluster, if named.
    pub(crate) cluster: Option<String>,
    /// `None` for an event of the cluster.
    pub(crate) node: Option<String>,
    /// Nodes of the cluster, for its events.
    pub(crate) nodes: Option<String>,
    /// First second.
    pub(crate) from_s: i64,
    /// First second after it.
    pub(crate) until_s: i64,
    /// What it was meanwhile.
    pub(crate) state: CapacityState,
}

/// What a node was for as long as two listings, one after the other, agree: the state of both, at least that it took no
/// jobs. Where they do not, or one is missing, it is taken for up. `reported` are the states from listings in the order of time.
fn agreed(reported: &[ListedState], at_s: i64) -> CapacityState {
    let (before, after) = reported.split_at(reported.partition_point(|listed| listed.as_of_s <= at_s));
    let state = |listed: &ListedState| listed.state;
    match (before.last().map(state), after.first().map(state)) {
        (Some(before), Some(after)) if before == after => before,
        (Some(CapacityState::Down | CapacityState::Reserved), Some(CapacityState::Down | CapacityState::Reserved)) => {
            CapacityState::Down
        }
        _ => CapacityState::Up,
    }
}

/// The events, each once: one that still lasted when it was first exported ends as in a later export.
pub(crate) fn ended(events: Vec<NodeHistoryEvent>) -> Vec<NodeHistoryEvent> {
    let mut last: BTreeMap<(Option<String>, i64, CapacityState), NodeHistoryEvent> = BTreeMap::new();
    for event in events {
        let key = (event.node.clone(), event.from_s, event.state);
        let known = last.entry(key).or_insert_with(|| event.clone());
        if known.until_s == i64::MAX || (event.until_s < i64::MAX && event.until_s > known.until_s) {
            *known = event;
        }
    }
    last.into_values().collect()
}

/// When a node was there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Presence<'a> {
    /// The seconds that events of the cluster cover, if any.
    pub(crate) span: Option<SecondSpan>,
    /// When it came and went, from listings.
    pub(crate) life: &'a [LifeChange],
}

impl Presence<'_> {
    fn holds(&self, at_s: i64) -> bool {
        self.span.is_none_or(|span| span.has(at_s)) && is_there(self.life, at_s)
    }
}

/// What a node was over time. The first listing holds from always, each until the next one; where complete listings do not
/// name the node, there is none. A state holds at its instant: to the next listing as far as both agree or events cover
/// it, else the node is taken for up.
pub(crate) fn history(
    listings: &[&NodeListing],
    events: &[&NodeHistoryEvent],
    has_events: bool,
    presence: Presence<'_>,
    width: usize,
) -> History {
    let mut cuts: BTreeSet<i64> = BTreeSet::from([i64::MIN]);
    cuts.extend(listings.iter().map(|listing| listing.as_of_s));
    cuts.extend(events.iter().flat_map(|event| [event.from_s, event.until_s]));
    cuts.extend(presence.span.iter().flat_map(|span| [span.start_s, span.end_s]));
    cuts.extend(presence.life.iter().map(|change| change.from_s));
    let mut known = vec![false; width];
    for (at, known) in known.iter_mut().enumerate() {
        *known = listings
            .iter()
            .any(|listing| listing.capacity.get(at).copied().flatten().is_some());
    }
    let states = listings.iter().filter_map(|listing| {
        Some(ListedState {
            as_of_s: listing.as_of_s,
            state: listing.state?,
        })
    });
    let reported: Vec<ListedState> = states.collect();
    let mut segments: Vec<CapacitySegment> = Vec::new();
    for from_s in cuts {
        let current = listings.iter().rev().find(|listing| listing.as_of_s <= from_s);
        let Some(listing) = current.or(listings.first()) else {
            continue;
        };
        let is_there = presence.holds(from_s);
        let amount = |at: usize| {
            // Where this listing does not state it, the nearest one that does.
            let reported = listing.capacity.get(at).copied().flatten();
            let any = || {
                listings
                    .iter()
                    .find_map(|listing| listing.capacity.get(at).copied().flatten())
            };
            // Fallback: what no listing of the node states it does not have.
            reported.or_else(any).unwrap_or(0)
        };
        let during = events
            .iter()
            .filter(|event| event.from_s <= from_s && from_s < event.until_s)
            .map(|event| event.state);
        let listed = match agreed(&reported, from_s) {
            CapacityState::Down if has_events => CapacityState::Up,
            other => other,
        };
        let state = during.fold(listed, |state, event| match (state, event) {
            (CapacityState::Reserved, _) | (_, CapacityState::Reserved) => CapacityState::Reserved,
            (CapacityState::Down, _) | (_, CapacityState::Down) => CapacityState::Down,
            _ => CapacityState::Up,
        });
        let segment = CapacitySegment {
            from_s,
            state,
            capacity: (0..width).map(|at| if is_there { amount(at) } else { 0 }).collect(),
            set_aside: if is_there {
                listing.set_aside.clone()
            } else {
                vec![0; width]
            },
        };
        let is_same = segments.last().is_some_and(|last| {
            (last.state, &last.capacity, &last.set_aside) == (segment.state, &segment.capacity, &segment.set_aside)
        });
        if !is_same {
            segments.push(segment);
        }
    }
    History { segments, known }
}
