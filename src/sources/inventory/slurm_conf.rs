//! `slurm.conf`: the nodes and partitions as they are configured, and the settings of priority and fair share.
//!
//! Keys in any case; `\` joins the next line; `#` begins a comment; `NodeName=DEFAULT` and
//! `PartitionName=DEFAULT` set what later lines leave out. A missing `CPUs` is the product of the topology, a missing
//! `Sockets` what `CPUs` leaves of it, as in Slurm. Memory that is not configured stays unknown (Slurm would report 1 MB).
//! Included files are not read: where their content matters, the column is null.

use std::collections::{BTreeMap, BTreeSet};

use super::conf_lines::{ConfLine, conf_lines, pairs};
use super::conf_partition;
use super::fields::InventoryFields;
use super::setting::SchedulerSettings;
use super::trouble::missing;
use crate::ledger::Reason;
use crate::numbers::{Extent, count_u64};
use crate::reference::hostlist::{Hostlist, HostlistError};
use crate::reference::inventory::weights::billing_rule;
use crate::reference::inventory::{Gpus, InventoryRow, NodeRow, state};
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;
use crate::sources::{Position, Sink};

/// Most nodes of one file.
const NODE_LIMIT: u64 = 1 << 17;

/// Key and value, keys in lower case.
pub(super) type Pairs = BTreeMap<String, String>;

/// The settings of the complete file, once all of its lines are read.
#[derive(Default)]
pub(super) struct Conf {
    pub(super) cluster: Option<String>,
    pub(super) priority_flags: Option<String>,
    pub(super) has_include: bool,
    /// Nodes by name, each with its CPUs and memory.
    pub(super) nodes: BTreeMap<String, NodeRow>,
    /// Sets of nodes: a host list, or a feature.
    pub(super) node_sets: BTreeMap<String, Pairs>,
}

/// A line that names nodes or a partition, with the defaults that hold for it.
struct ConfNamed {
    at: Position,
    raw: String,
    pairs: Pairs,
}

/// Keys of lines of `gres.conf`, of which a node has one per kind of device: where its devices are, not what it is.
const GRES_CONF: &[&str] = &["name", "file", "autodetect", "multiplefiles"];

pub(super) fn read(bytes: &[u8], _: &ReaderOptions, sink: &mut dyn Sink) {
    let mut conf = Conf::default();
    let mut settings = SchedulerSettings::default();
    let (mut node_lines, mut partition_lines) = (Vec::new(), Vec::new());
    let (mut node_defaults, mut partition_defaults) = (Pairs::new(), Pairs::new());
    for ConfLine { at, text, is_too_long } in conf_lines(bytes) {
        sink.rows_read(1);
        if is_too_long {
            sink.reject(
                Reason::TooLong,
                at,
                1,
                "the line is longer than a line can be",
                text.as_bytes(),
            );
            continue;
        }
        if is_include(&text) {
            conf.has_include = true;
            sink.out_of_scope(Reason::Include, 1);
            continue;
        }
        let Some(read) = pairs(&text) else {
            let detail = "not of the form Key=Value Key=Value ..";
            sink.reject(Reason::FieldCount, at, 1, detail, text.as_bytes());
            continue;
        };
        let (first, pairs) = read;
        let (key, lines, defaults) = match first.as_str() {
            "nodename" if GRES_CONF.iter().any(|key| pairs.contains_key(*key)) => {
                sink.out_of_scope(Reason::Setting, 1);
                continue;
            }
            "nodename" => ("nodename", &mut node_lines, &mut node_defaults),
            "partitionname" => ("partitionname", &mut partition_lines, &mut partition_defaults),
            _ => {
                match settings.of_line(at, &text, &pairs) {
                    Ok(true) => {}
                    Ok(false) => sink.out_of_scope(Reason::Setting, 1),
                    Err(Refusal { reason, detail }) => sink.reject(reason, at, 1, &detail, text.as_bytes()),
                }
                conf.setting(&first, pairs);
                continue;
            }
        };
        let is_default = pairs.get(key).is_some_and(|name| name.eq_ignore_ascii_case("DEFAULT"));
        if is_default {
            defaults.extend(pairs.into_iter().filter(|(name, _)| name != key));
            sink.out_of_scope(Reason::Setting, 1);
            continue;
        }
        let mut whole = defaults.clone();
        whole.extend(pairs);
        lines.push(ConfNamed {
            at,
            raw: text,
            pairs: whole,
        });
    }
    settings.emit(conf.cluster.as_deref(), None, sink);
    let mut reported: Vec<(ConfNamed, Vec<String>)> = Vec::new();
    for line in node_lines {
        match nodes(&line, &conf) {
            Ok(rows) => {
                let names = rows.iter().map(|row| row.node.clone()).collect();
                conf.nodes.extend(rows.into_iter().map(|row| (row.node.clone(), row)));
                reported.push((line, names));
            }
            Err(Refusal { reason, detail }) => sink.reject(reason, line.at, 1, &detail, line.raw.as_bytes()),
        }
    }
    let mut partitions_of: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in partition_lines {
        let fields = borrowed(&line.pairs);
        match conf_partition::partition(&InventoryFields(fields), &conf) {
            Ok((row, members)) => {
                for node in members.into_iter().flatten() {
                    partitions_of.entry(node).or_default().insert(row.partition.clone());
                }
                sink.inventory(&InventoryRow::Partition(Box::new(row)), line.at, 1);
            }
            Err(Refusal { reason, detail }) => sink.reject(reason, line.at, 1, &detail, line.raw.as_bytes()),
        }
    }
    for (line, names) in reported {
        for (nth, name) in names.iter().enumerate() {
            let Some(row) = conf.nodes.remove(name) else { continue };
            let partitions = partitions_of.remove(name).filter(|_| !conf.has_include);
            let row = NodeRow {
                partitions: partitions.map(|names| names.into_iter().collect::<Vec<_>>().join(",")),
                ..row
            };
            sink.inventory(&InventoryRow::Node(Box::new(row)), line.at, u64::from(nth == 0));
        }
    }
}

pub(super) fn borrowed(pairs: &Pairs) -> BTreeMap<&str, &str> {
    pairs
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect()
}

fn is_include(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    words.next().is_some_and(|word| word.eq_ignore_ascii_case("include"))
        && words.next().is_some_and(|file| file != "=")
}

impl Conf {
    fn setting(&mut self, first: &str, mut pairs: Pairs) {
        // Fallback: never taken, the line begins with this key.
        let value = pairs.remove(first).unwrap_or_default();
        match first {
            "clustername" => self.cluster = Some(value),
            "priorityflags" => self.priority_flags = Some(value),
            "nodeset" => {
                self.node_sets.insert(value, pairs);
            }
            _ => {}
        }
    }

    /// How weighted resources become one number.
    pub(super) fn billing_rule(&self) -> Option<&'static str> {
        let Some(flags) = &self.priority_flags else {
            return (!self.has_include).then_some("sum");
        };
        Some(billing_rule(flags))
    }
}

pub(super) fn hostlist_trouble(key: &str) -> impl Fn(HostlistError) -> Refusal + use<'_> {
    move |why| Refusal::new(Reason::BadHostlist, format!("{key}: {why}"))
}

/// The nodes of one line.
fn nodes(line: &ConfNamed, conf: &Conf) -> Result<Vec<NodeRow>, Refusal> {
    let fields = InventoryFields(borrowed(&line.pairs));
    let list = fields.required("nodename")?;
    let before = count_u64(conf.nodes.len());
    let hosts = Hostlist::parse_within(list, NODE_LIMIT.less(before)).map_err(hostlist_trouble("NodeName"))?;
    if hosts.is_empty() {
        return Err(missing("NodeName"));
    }
    let template = node(&fields, conf)?;
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for host in hosts.hosts() {
        if conf.nodes.contains_key(&*host) || !seen.insert(host.clone().into_owned()) {
            return Err(Refusal::new(
                Reason::Contradiction,
                format!("NodeName: {host} is configured twice"),
            ));
        }
        rows.push(NodeRow {
            node: host.into_owned(),
            ..template.clone()
        });
    }
    Ok(rows)
}

fn node(fields: &InventoryFields<'_>, conf: &Conf) -> Result<NodeRow, Refusal> {
    let positive = |key: &str| -> Result<Option<i64>, Refusal> {
        match fields.int(key)? {
            Some(0) => Err(Refusal::new(Reason::BadNumber, format!("{key} is zero"))),
            Some(n) if n > i64::from(u32::MAX) => Err(Refusal::new(Reason::BadNumber, format!("{key} is too large"))),
            found => Ok(found),
        }
    };
    let cpus = match positive("cpus")? {
        None => positive("procs")?,
        found => found,
    };
    let per_board = positive("socketsperboard")?;
    let boards = positive("boards")?.unwrap_or(1);
    let (cores, threads) = (
        positive("corespersocket")?.unwrap_or(1),
        positive("threadspercore")?.unwrap_or(1),
    );
    let product = |a: i64, b: i64| {
        let wrong = || Refusal::new(Reason::BadNumber, "the topology is too large");
        a.checked_mul(b).ok_or_else(wrong)
    };
    let sockets = match (positive("sockets")?, per_board, cpus) {
        (Some(sockets), ..) => sockets,
        (None, Some(per_board), _) => product(boards, per_board)?,
        (None, None, Some(cpus)) => (cpus / product(cores, threads)?).max(1),
        (None, None, None) => boards,
    };
    let cpu_n = match cpus {
        Some(cpus) => cpus,
        None => product(product(sockets, cores)?, threads)?,
    };
    let gpus =
        Gpus::of_gres(fields.value("gres")).map_err(|why| Refusal::new(Reason::BadNumber, format!("Gres: {why}")))?;
    let (state, state_flags) = state::split(fields.value("state"));
    Ok(NodeRow {
        cluster: conf.cluster.clone(),
        cpu_n: Some(cpu_n),
        socket_n: Some(sockets),
        core_per_socket_n: Some(cores),
        thread_per_core_n: Some(threads),
        memory_byte: fields.mebibytes("realmemory")?,
        system_memory_byte: fields.mebibytes("memspeclimit")?,
        disk_byte: fields.mebibytes("tmpdisk")?,
        gpus: Some(gpus),
        gres: fields.text("gres"),
        features: fields.text("feature").or_else(|| fields.text("features")),
        weight_n: Some(fields.int("weight")?.unwrap_or(1)),
        state,
        state_flags,
        reason: fields.text("reason"),
        ..NodeRow::default()
    })
}
