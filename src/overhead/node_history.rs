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
/// jobs. Where they do not, or one is missing, it is taken for up. An event of the node between them states more exactly
/// when it was down: then it was so only as the events state. `reported` are the states from listings in the order of time.
fn agreed(reported: &[ListedState], events: &[&NodeHistoryEvent], at_s: i64) -> CapacityState {
    let (before, after) = reported.split_at(reported.partition_point(|listed| listed.as_of_s <= at_s));
    let (Some(before), Some(after)) = (before.last(), after.first()) else {
        return CapacityState::Up;
    };
    let both = match (before.state, after.state) {
        (before, after) if before == after => before,
        (CapacityState::Down | CapacityState::Reserved, CapacityState::Down | CapacityState::Reserved) => {
            CapacityState::Down
        }
        _ => CapacityState::Up,
    };
    let is_between = |event: &&NodeHistoryEvent| {
        event.state == CapacityState::Down && event.from_s < after.as_of_s && before.as_of_s < event.until_s
    };
    match both {
        CapacityState::Down if events.iter().any(is_between) => CapacityState::Up,
        both => both,
    }
}

/// An amount of a node, and how much of it is set aside.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListedAmount {
    pub(super) capacity: i64,
    pub(super) set_aside: i64,
}

/// The listing that holds at an instant: the first one holds from always.
fn current(listings: &[&NodeListing], at_s: i64) -> usize {
    let listed_n = listings.partition_point(|listing| listing.as_of_s <= at_s);
    // Fallback: before the first listing there is none, and the first one holds.
    listed_n.saturating_sub(1)
}

/// The amount at a place of the listings of a node, which are in the order of time, at an instant.
pub(super) fn listed_amount(listings: &[&NodeListing], at_s: i64, place: usize) -> Option<ListedAmount> {
    amount(listings, current(listings, at_s), place)
}

/// The amount at a place of the listings, which are in the order of time: of `current`, or where it does not state it, of
/// the last one before it that does, else of the first one after it. `None` where none does.
fn amount(listings: &[&NodeListing], current: usize, place: usize) -> Option<ListedAmount> {
    let of = |listing: &&NodeListing| {
        Some(ListedAmount {
            capacity: listing.capacity.get(place).copied().flatten()?,
            // Fallback: a listing without that place sets nothing of it aside.
            set_aside: listing.set_aside.get(place).copied().unwrap_or(0),
        })
    };
    let (before, after) = listings.split_at_checked(current + 1)?;
    before.iter().rev().find_map(of).or_else(|| after.iter().find_map(of))
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
/// name the node, there is none. An amount that a listing leaves out is the last one before it, else the first after it. A
/// state holds at its instant: to the next listing as far as both agree or events of the node cover it, else the node is
/// taken for up.
pub(crate) fn history(
    listings: &[&NodeListing],
    events: &[&NodeHistoryEvent],
    presence: Presence<'_>,
    width: usize,
) -> History {
    let mut cuts: BTreeSet<i64> = BTreeSet::from([i64::MIN]);
    cuts.extend(listings.iter().map(|listing| listing.as_of_s));
    cuts.extend(events.iter().flat_map(|event| [event.from_s, event.until_s]));
    cuts.extend(presence.span.iter().flat_map(|span| [span.start_s, span.end_s]));
    cuts.extend(presence.life.iter().map(|change| change.from_s));
    let known = (0..width).map(|place| amount(listings, 0, place).is_some()).collect();
    let states = listings.iter().filter_map(|listing| {
        Some(ListedState {
            as_of_s: listing.as_of_s,
            state: listing.state?,
        })
    });
    let reported: Vec<ListedState> = states.collect();
    let mut segments: Vec<CapacitySegment> = Vec::new();
    for from_s in cuts {
        let current = current(listings, from_s);
        let is_there = presence.holds(from_s);
        // What no listing of the node states it does not have.
        let amounts = (0..width).map(|place| amount(listings, current, place).filter(|_| is_there));
        let (capacity, set_aside) = amounts
            .map(|amount| amount.map_or((0, 0), |amount| (amount.capacity, amount.set_aside)))
            .unzip();
        let during = events
            .iter()
            .filter(|event| event.from_s <= from_s && from_s < event.until_s)
            .map(|event| event.state);
        let state = during.fold(agreed(&reported, events, from_s), |state, event| match (state, event) {
            (CapacityState::Reserved, _) | (_, CapacityState::Reserved) => CapacityState::Reserved,
            (CapacityState::Down, _) | (_, CapacityState::Down) => CapacityState::Down,
            _ => CapacityState::Up,
        });
        let segment = CapacitySegment {
            from_s,
            state,
            capacity,
            set_aside,
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
