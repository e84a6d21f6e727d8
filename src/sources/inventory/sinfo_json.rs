//! `sinfo --json` since 23.02, or `--yaml`: a partition and some of its nodes, in groups of like ones.
//!
//! A value that a group gives by minimum and maximum of its nodes is known where the two are equal; features, devices and
//! the reason are those of one node of it, and so known only of a group of one (`sinfo -N --json` writes such). A node is in
//! as many groups as it is in partitions: what any of them knows of it is known.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::document::{self, number, word};
use super::fields::sorted_names;
use super::partition_json::partition;
use crate::absent;
use crate::ledger::Reason;
use crate::numbers::count_u64;
use crate::reference::inventory::tres::MIB;
use crate::reference::inventory::{Gpus, InventoryRow, NodeRow, PartitionRow, state};
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;
use crate::sources::{Position, Sink};

#[derive(Deserialize)]
struct SinfoDocument {
    sinfo: Vec<Value>,
    #[serde(default)]
    meta: Value,
}

/// A partition, the position of its first group, and the number of its groups.
struct ReportedNodes {
    row: PartitionRow,
    at: Position,
    group_n: u64,
}

/// A node and the partitions of its groups.
struct SinfoMember {
    row: NodeRow,
    partitions: Vec<String>,
    at: Position,
}

pub(super) fn read(bytes: &[u8], _: &ReaderOptions, sink: &mut dyn Sink) {
    let Some(document) = document::read::<SinfoDocument>(bytes, "groups of nodes", sink) else {
        return;
    };
    sink.rows_read(count_u64(document.sinfo.len()));
    let cluster = document::cluster(&document.meta);
    let (mut partitions, mut nodes) = (BTreeMap::new(), BTreeMap::new());
    for (nth, group) in document.sinfo.iter().enumerate() {
        let at = document::element(nth);
        if let Err(Refusal { reason, detail }) = add(group, cluster, at, &mut partitions, &mut nodes) {
            sink.reject(reason, at, 1, &detail, b"");
        }
    }
    for reported in partitions.into_values() {
        sink.inventory(
            &InventoryRow::Partition(Box::new(reported.row)),
            reported.at,
            reported.group_n,
        );
    }
    for member in nodes.into_values() {
        let partitions = sorted_names(member.partitions.iter().map(String::as_str));
        let row = NodeRow {
            partitions,
            ..member.row
        };
        // The groups it is in account for it.
        sink.inventory(&InventoryRow::Node(Box::new(row)), member.at, 0);
    }
}

/// Adds a group, or nothing of it.
fn add(
    group: &Value,
    cluster: Option<&str>,
    at: Position,
    partitions: &mut BTreeMap<String, ReportedNodes>,
    nodes: &mut BTreeMap<String, SinfoMember>,
) -> Result<(), Refusal> {
    let cluster = group.get("cluster").and_then(word).or(cluster);
    let row = partition(group.get("partition").unwrap_or(&Value::Null), cluster)?;
    let name = row.partition.clone();
    let contradicts = |what: &str, line: u64| {
        let detail = format!("{what} differs from element {line}");
        Err(Refusal::new(Reason::Contradiction, detail))
    };
    if let Some(reported) = partitions.get(&name).filter(|reported| reported.row != row) {
        return contradicts(&name, reported.at.line);
    }
    let common = common(group, cluster)?;
    let mut merged = Vec::new();
    for node in names(group)? {
        let known = nodes.get(node);
        let own = NodeRow {
            node: node.to_owned(),
            ..common.clone()
        };
        match known.map_or_else(|| Ok(own.clone()), |member| both(&member.row, &own)) {
            Ok(row) => merged.push(row),
            Err(Differs) => return contradicts(node, known.map_or(0, |member| member.at.line)),
        }
    }
    let reported = partitions
        .entry(name.clone())
        .or_insert(ReportedNodes { row, at, group_n: 0 });
    reported.group_n += 1;
    for row in merged {
        let member = nodes.entry(row.node.clone()).or_insert_with(|| SinfoMember {
            row: NodeRow::default(),
            partitions: Vec::new(),
            at,
        });
        member.row = row;
        member.partitions.push(name.clone());
    }
    Ok(())
}

/// The names of a group's nodes.
fn names(group: &Value) -> Result<Vec<&str>, Refusal> {
    let listed = group.pointer("/nodes/nodes").and_then(Value::as_array);
    let names = listed.into_iter().flatten().map(|name| {
        let name = name
            .as_str()
            .filter(|name| !name.is_empty() && !name.contains(['[', ',', ' ']));
        name.ok_or_else(|| {
            Refusal::new(
                Reason::BadHostlist,
                "nodes/nodes holds something else than names of nodes".to_owned(),
            )
        })
    });
    names.collect()
}

/// What is known of each node of a group.
fn common(group: &Value, cluster: Option<&str>) -> Result<NodeRow, Refusal> {
    let at = |path: &str| group.pointer(path).unwrap_or(&Value::Null);
    let equal = |key: &str| -> Result<Option<i64>, Refusal> {
        let of = |end: &str| number(at(&format!("/{key}/{end}")));
        match of("minimum")
            .zip(of("maximum"))
            .filter(|(least, greatest)| least == greatest)
        {
            Some((n, _)) if n < 0 => Err(Refusal::new(Reason::BadNumber, format!("{key} {n} is negative"))),
            known => Ok(known.map(|(n, _)| n)),
        }
    };
    let mebibytes = |key: &str| -> Result<Option<i64>, Refusal> {
        let wrong = || Refusal::new(Reason::BadNumber, format!("{key} is too large"));
        equal(key)?
            .map(|mib| mib.checked_mul(MIB).ok_or_else(wrong))
            .transpose()
    };
    let is_one = number(at("/nodes/total")) == Some(1);
    let of_one = |path: &str| word(at(path)).filter(|_| is_one).map(str::to_owned);
    let gres = of_one("/gres/total");
    let gpus = is_one
        .then(|| Gpus::of_gres(absent::text(gres.as_deref())))
        .transpose()
        .map_err(|why| Refusal::new(Reason::BadNumber, format!("gres/total: {why}")))?;
    let words = at("/node/state").as_array();
    let (state, state_flags) = state::of_words(words.into_iter().flatten().filter_map(word));
    Ok(NodeRow {
        cluster: cluster.map(str::to_owned),
        cpu_n: equal("cpus")?,
        socket_n: equal("sockets")?,
        core_per_socket_n: equal("cores")?,
        thread_per_core_n: equal("threads")?,
        memory_byte: mebibytes("memory")?,
        disk_byte: mebibytes("disk")?,
        gpus,
        gres,
        features: of_one("/features/total"),
        weight_n: equal("weight")?,
        state,
        state_flags,
        reason: of_one("/reason/description"),
        ..NodeRow::default()
    })
}

/// Two groups contradict one another.
struct Differs;

/// What two groups know of one node.
fn both(a: &NodeRow, b: &NodeRow) -> Result<NodeRow, Differs> {
    fn one<T: Clone + PartialEq>(a: Option<&T>, b: Option<&T>) -> Result<Option<T>, Differs> {
        match (a, b) {
            (Some(a), Some(b)) if a != b => Err(Differs),
            (known, other) => Ok(known.or(other).cloned()),
        }
    }
    Ok(NodeRow {
        cluster: one(a.cluster.as_ref(), b.cluster.as_ref())?,
        cpu_n: one(a.cpu_n.as_ref(), b.cpu_n.as_ref())?,
        socket_n: one(a.socket_n.as_ref(), b.socket_n.as_ref())?,
        core_per_socket_n: one(a.core_per_socket_n.as_ref(), b.core_per_socket_n.as_ref())?,
        thread_per_core_n: one(a.thread_per_core_n.as_ref(), b.thread_per_core_n.as_ref())?,
        memory_byte: one(a.memory_byte.as_ref(), b.memory_byte.as_ref())?,
        disk_byte: one(a.disk_byte.as_ref(), b.disk_byte.as_ref())?,
        gpus: one(a.gpus.as_ref(), b.gpus.as_ref())?,
        gres: one(a.gres.as_ref(), b.gres.as_ref())?,
        features: one(a.features.as_ref(), b.features.as_ref())?,
        weight_n: one(a.weight_n.as_ref(), b.weight_n.as_ref())?,
        state: one(a.state.as_ref(), b.state.as_ref())?,
        state_flags: one(a.state_flags.as_ref(), b.state_flags.as_ref())?,
        reason: one(a.reason.as_ref(), b.reason.as_ref())?,
        node: a.node.clone(),
        ..NodeRow::default()
    })
}
