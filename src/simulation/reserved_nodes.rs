//! What reservations have of the nodes of an inventory: whole nodes, or a number of cores on any of them.

use std::collections::BTreeMap;

use super::lake_kind::LakeKind;
use super::lake_reservations::ListedReservation;
use crate::numbers::count_u64;
use crate::simulate::demand::Demand;
use crate::simulate::reserved_pool::{ReservedPool, ReservedSpan, ReservedStep};
use crate::time::SecondSpan;

/// Bytes of a MiB.
const MIB: i64 = 1 << 20;

/// The reservations that have something of a machine while a span lasts.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReservedNodes<'a> {
    /// Names, each once, in order; places of reservations are those of this list.
    names: Vec<&'a str>,
    /// Those of whole nodes.
    whole: Vec<PlacedReservation<'a>>,
    /// Those of a number of cores.
    counted: Vec<PlacedReservation<'a>>,
    /// How many have neither nodes nor cores.
    pub(crate) empty_n: u64,
}

/// A listed reservation with its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedReservation<'a> {
    /// The reservation.
    pub(crate) listed: &'a ListedReservation,
    /// The place of its name.
    pub(crate) pool: usize,
}

impl<'a> ReservedNodes<'a> {
    /// Those of these that are in force while a span lasts. `core_n` is how many cores nodes have together in a second: a
    /// reservation that states fewer cores than its nodes have has as many cores, on whichever nodes.
    pub(crate) fn new(
        listed: &'a [ListedReservation],
        span: SecondSpan,
        core_n: impl Fn(&ListedReservation) -> i64,
    ) -> Self {
        let mut reserved = Self::default();
        for one in listed.iter().filter(|listed| listed.span().overlaps(span)) {
            let is_of_any = one.has("ANY_NODES") || one.has("LICENSE_ONLY");
            let of_nodes = core_n(one);
            let cores = one.core_n.filter(|core_n| *core_n > 0);
            let is_counted = cores.is_some_and(|cores| of_nodes == 0 || cores < of_nodes);
            if is_of_any || (of_nodes == 0 && !(is_counted && one.nodes.is_empty())) {
                reserved.empty_n += 1;
                continue;
            }
            if reserved.names.last() != Some(&one.name.as_str()) {
                reserved.names.push(&one.name);
            }
            let placed = PlacedReservation {
                listed: one,
                pool: reserved.names.len() - 1,
            };
            if is_counted {
                reserved.counted.push(placed);
            } else {
                reserved.whole.push(placed);
            }
        }
        reserved
    }

    /// Those that have a node as a whole, whose it is first.
    pub(crate) fn of_node(&self, node: &str) -> Vec<PlacedReservation<'a>> {
        let own = self.whole.iter().filter(|placed| placed.listed.nodes.contains(node));
        let mut own: Vec<PlacedReservation<'a>> = own.copied().collect();
        own.sort_by(|one, other| one.listed.rank().cmp(&other.listed.rank()));
        own
    }

    /// The seconds in which those of a number of cores begin or end.
    pub(crate) fn counted_edges(&self) -> impl Iterator<Item = i64> {
        let each = self.counted.iter();
        each.flat_map(|placed| [placed.listed.start_s, placed.listed.end_s])
    }

    /// What those of a number of cores have in a second, by place, of what is left; it is taken from that. Memory that is not
    /// stated is in proportion to the cores of the machine, GPUs that are not stated are none.
    pub(crate) fn counted_at(
        &self,
        at_s: i64,
        kinds: &[LakeKind],
        capacity: &Demand,
        left: &mut Demand,
    ) -> BTreeMap<usize, Demand> {
        let mut found: BTreeMap<usize, Demand> = BTreeMap::new();
        let all = kinds.iter().position(|kind| *kind == LakeKind::Cores);
        let all_n = all.map_or(0, |place| capacity.get(place)).max(1);
        for PlacedReservation { listed, pool } in &self.counted {
            if !listed.span().has(at_s) {
                continue;
            }
            let core_n = crate::schema::batch::addend(listed.core_n);
            let amounts = kinds.iter().enumerate().map(|(place, kind)| match kind {
                LakeKind::Cores => core_n,
                LakeKind::Gpus => crate::schema::batch::addend(listed.gpu_n),
                LakeKind::Memory => listed.memory_byte.map_or_else(
                    || proportional(capacity.get(place), core_n, all_n),
                    |byte_n| byte_n / MIB,
                ),
                LakeKind::Nodes | LakeKind::Model(_) | LakeKind::Shared(_) => 0,
            });
            let amounts = Demand::of(&amounts.collect::<Vec<i64>>());
            let amounts = amounts.smaller(&left.at_least_nothing()).at_least_nothing();
            left.take(&amounts);
            found.entry(*pool).or_default().add(&amounts);
        }
        found
    }

    /// The pools of these reservations, with steps by place.
    pub(crate) fn pools(&self, mut steps: BTreeMap<usize, Vec<ReservedStep>>) -> Vec<ReservedPool> {
        let each = self.names.iter().enumerate();
        each.map(|(place, name)| {
            let own = self.whole.iter().chain(&self.counted);
            let own: Vec<&ListedReservation> = own
                .filter(|placed| placed.pool == place)
                .map(|placed| placed.listed)
                .collect();
            ReservedPool {
                name: (*name).to_owned(),
                is_flexible: own.iter().any(|listed| listed.has("FLEX")),
                spans: spans(&own),
                steps: crate::absent::entry(steps.remove(&place)),
            }
        })
        .collect()
    }

    /// Those of whole nodes, those first whose a node is that several have.
    pub(crate) fn whole(&self) -> Vec<ListedReservation> {
        let mut whole: Vec<ListedReservation> = self.whole.iter().map(|placed| placed.listed.clone()).collect();
        whole.sort_by(|one, other| one.rank().cmp(&other.rank()));
        whole
    }

    /// How many times they are in force.
    pub(crate) fn span_n(&self) -> u64 {
        count_u64(self.whole.len() + self.counted.len())
    }
}

/// So much of a total as `part` of `whole`, rounded down.
fn proportional(total: i64, part: i64, whole: i64) -> i64 {
    let share = i128::from(total) * i128::from(part) / i128::from(whole.max(1));
    // Fallback: a share beyond the type is more than there is, which is what is left of it.
    i64::try_from(share).unwrap_or(total)
}

/// The times of reservations of one name, those that touch or overlap as one.
fn spans(own: &[&ListedReservation]) -> Vec<ReservedSpan> {
    let each = own.iter().map(|listed| ReservedSpan {
        from_s: listed.start_s,
        until_s: listed.end_s,
        ignores_jobs: listed.has("IGNORE_JOBS"),
    });
    let mut each: Vec<ReservedSpan> = each.collect();
    each.sort_unstable();
    let mut joined: Vec<ReservedSpan> = Vec::with_capacity(each.len());
    for span in each {
        match joined.last_mut() {
            Some(last) if span.from_s <= last.until_s => last.until_s = last.until_s.max(span.until_s),
            _ => joined.push(span),
        }
    }
    joined
}
