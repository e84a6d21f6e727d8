//! Reservations of whole nodes, as the last listing of each describes it.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;

use super::node_history::{NodeHistoryEvent, NodeListing, listed_amount};
use crate::error::Result;
use crate::occupancy::CapacityState;
use crate::reference::hostlist::Hostlist;
use crate::schema::batch::{int, number, text, time, word};

/// Which listing of a reservation is the last: when it was true, then the later end, then the input file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ReservationRank {
    as_of_s: Option<i64>,
    until_s: i64,
    file_id: String,
}

/// A reservation as one listing describes it.
#[derive(Clone, Debug)]
pub(crate) struct NodeReservation {
    /// Site, if named.
    pub(crate) site: Option<String>,
    /// Cluster, if named.
    pub(crate) cluster: Option<String>,
    name: String,
    from_s: i64,
    /// Nodes as a host list; `None` of one without nodes, such as of licences.
    nodes: Option<String>,
    /// CPUs set aside; `None` where the listing does not state it.
    core_n: Option<i64>,
    rank: ReservationRank,
}

/// The rows of a batch of `reservation`.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it is none.
pub(crate) fn of_batch(batch: &RecordBatch) -> Result<Vec<NodeReservation>> {
    let words = |name| text(batch, name);
    let (site, cluster, name) = (words("site")?, words("cluster")?, words("reservation")?);
    let (nodes, files, cores) = (words("nodes")?, words("file_id")?, int(batch, "core_n")?);
    let (as_of, start, end) = (
        time(batch, "as_of_utc")?,
        time(batch, "start_utc")?,
        time(batch, "end_utc")?,
    );
    let second = |ms: i64| ms.div_euclid(1000);
    let owned = |value: Option<&str>| value.map(str::to_owned);
    let rows = (0..batch.num_rows()).map(|row| NodeReservation {
        site: owned(word(site, row)),
        cluster: owned(word(cluster, row)),
        name: name.value(row).to_owned(),
        from_s: second(start.value(row)),
        nodes: owned(word(nodes, row)),
        core_n: number(cores, row),
        rank: ReservationRank {
            as_of_s: number(as_of, row).map(second),
            until_s: second(end.value(row)),
            file_id: files.value(row).to_owned(),
        },
    });
    Ok(rows.collect())
}

/// When listed nodes of one cluster were reserved: each reservation as it was listed last, from its start to its end. One that
/// had not begun by then was a plan, and one of fewer CPUs than its nodes have leaves room on them. `core_place` is the place
/// of cores among the amounts of listings.
pub(super) fn events(
    reservations: &[NodeReservation],
    listings: &BTreeMap<&str, Vec<&NodeListing>>,
    core_place: Option<usize>,
) -> Vec<NodeHistoryEvent> {
    let mut last: BTreeMap<(&str, i64), &NodeReservation> = BTreeMap::new();
    for row in reservations {
        let known = last.entry((&row.name, row.from_s)).or_insert(row);
        if row.rank > known.rank {
            *known = row;
        }
    }
    let mut events = Vec::new();
    for row in last.into_values() {
        let is_plan = row.rank.as_of_s.is_some_and(|as_of_s| as_of_s < row.from_s);
        let hosts = row.nodes.as_deref().and_then(|nodes| Hostlist::parse(nodes).ok());
        let Some(hosts) = hosts.filter(|_| !is_plan) else {
            continue;
        };
        let (mut nodes, mut cpu_n) = (Vec::new(), Some(0_i64));
        for host in hosts.hosts() {
            let listed = listings.get(&*host);
            let own = listed.zip(core_place).and_then(|(listed, place)| {
                let amount = listed_amount(listed, row.from_s, place)?;
                amount.capacity.checked_sub(amount.set_aside)
            });
            cpu_n = cpu_n.zip(own).and_then(|(all, own)| all.checked_add(own));
            if listed.is_some() {
                nodes.push(host.into_owned());
            }
        }
        let is_part = row.core_n.zip(cpu_n).is_some_and(|(own, all)| own < all);
        if is_part {
            continue;
        }
        events.extend(nodes.into_iter().map(|node| NodeHistoryEvent {
            site: row.site.clone(),
            cluster: row.cluster.clone(),
            node: Some(node),
            nodes: None,
            from_s: row.from_s,
            until_s: row.rank.until_s,
            state: CapacityState::Reserved,
        }));
    }
    events
}
