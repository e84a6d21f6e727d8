//! Requests that no node distinguishes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::ask::{Ask, Wait};
use super::machine::QueueMachine;
use crate::numbers::index;
use crate::occupancy::history::CapacityState;

/// Requests, and the jobs that wait with them.
pub(super) struct Requests<'q> {
    pub(super) asks: Cow<'q, [Ask]>,
    pub(super) waits: Cow<'q, [Wait]>,
}

impl<'q> Requests<'q> {
    /// Those of a slice. A time limit only matters before a reservation: where no node is ever reserved, requests that
    /// differ in nothing else are one.
    pub(super) fn of(machines: &[QueueMachine<'_>], asks: &'q [Ask], waits: &'q [Wait]) -> Self {
        let mut segments = machines.iter().flat_map(|machine| &machine.history.segments);
        if segments.any(|segment| segment.state == CapacityState::Reserved) {
            return Self {
                asks: Cow::Borrowed(asks),
                waits: Cow::Borrowed(waits),
            };
        }
        let mut different: Vec<Ask> = Vec::new();
        let mut known: HashMap<Ask, u32, ahash::RandomState> = HashMap::default();
        // By request: its number among those that differ, once a job waits with it.
        let mut numbers: Vec<Option<u32>> = vec![None; asks.len()];
        let mut renumbered = Vec::with_capacity(waits.len());
        for wait in waits {
            let place = index(wait.ask);
            let (Some(slot), Some(ask)) = (numbers.get_mut(place), asks.get(place)) else {
                continue;
            };
            let number = *slot.get_or_insert_with(|| {
                let ask = Ask {
                    limit_s: None,
                    ..ask.clone()
                };
                // Fallback: never taken, requests are numbered by 32 bits.
                let next = u32::try_from(different.len()).unwrap_or(u32::MAX);
                match known.entry(ask) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(new) => {
                        different.push(new.key().clone());
                        *new.insert(next)
                    }
                }
            });
            renumbered.push(Wait { ask: number, ..*wait });
        }
        Self {
            asks: Cow::Owned(different),
            waits: Cow::Owned(renumbered),
        }
    }
}
