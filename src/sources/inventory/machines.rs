//! The `.machines` file of a workload of the archive's kind: number, name of the kind, nodes of it, processors of each,
//! speed and memory of each in KiB, separated by tabs. It states how many nodes there are of each kind, but not which: `nodes` of
//! the `[[inventory]]` names those of every kind, as many as the file has.

use super::lines::lines;
use super::trouble::cut_off;
use crate::ledger::Reason;
use crate::reference::hostlist::Hostlist;
use crate::reference::inventory::{InventoryRow, NodeRow};
use crate::sources::Sink;
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;

const KIB: i64 = 1024;

/// A kind of nodes.
struct KindOfNode {
    name: String,
    node_n: usize,
    cpu_n: i64,
    memory_byte: i64,
}

/// The kind a line describes; the error names the wrong cell.
fn kind_of(line: &str) -> Result<KindOfNode, Refusal> {
    let cells: Vec<&str> = line.split('\t').map(str::trim).collect();
    let [_, name, node_n, cpu_n, _, memory_kib] = cells[..] else {
        let detail = format!("{} cells between tabs where a machine file has 6", cells.len());
        return Err(Refusal::new(Reason::FieldCount, detail));
    };
    let bad = |what: &str, text: &str| Refusal::new(Reason::BadNumber, format!("{what} \"{text}\" is no whole number"));
    let memory: i64 = memory_kib.parse().map_err(|_| bad("memory", memory_kib))?;
    Ok(KindOfNode {
        name: name.to_owned(),
        node_n: node_n.parse().map_err(|_| bad("the number of nodes", node_n))?,
        cpu_n: cpu_n.parse().map_err(|_| bad("the number of processors", cpu_n))?,
        memory_byte: memory.checked_mul(KIB).ok_or_else(|| bad("memory", memory_kib))?,
    })
}

/// Whether every line of a text, but for the last one, which may be cut off, is one of a machine file.
pub(super) fn is_machines(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let whole = text.rsplit_once('\n').map_or(text, |(whole, _)| whole);
    let mut lines = whole.lines().filter(|line| !line.trim().is_empty()).peekable();
    let is_of_one = |line: &str| {
        let number = line.split_once('\t').map_or(line, |(number, _)| number);
        number.trim().parse::<u64>().is_ok() && kind_of(line).is_ok_and(|kind| !kind.name.is_empty())
    };
    lines.peek().is_some() && lines.all(is_of_one)
}

pub(super) fn read(bytes: &[u8], options: &ReaderOptions, sink: &mut dyn Sink) {
    for line in lines(bytes) {
        if line.is_blank() {
            continue;
        }
        sink.rows_read(1);
        let nodes = if line.is_ended {
            kind_of(&line.text()).and_then(|kind| nodes(&kind, options))
        } else {
            Err(cut_off())
        };
        match nodes {
            Ok(nodes) => {
                for (nth, node) in nodes.into_iter().enumerate() {
                    // The line is one row of the file, whatever it lists.
                    sink.inventory(&InventoryRow::Node(Box::new(node)), line.at, u64::from(nth == 0));
                }
            }
            Err(Refusal { reason, detail }) => sink.reject(reason, line.at, 1, &detail, line.bytes),
        }
    }
}

fn nodes(kind: &KindOfNode, options: &ReaderOptions) -> Result<Vec<NodeRow>, Refusal> {
    let (name, node_n) = (&kind.name, kind.node_n);
    let Some(named) = options.nodes_by_kind.get(name) else {
        let detail = format!(
            "the nodes of the kind \"{name}\" are unknown: name all {node_n} in the [[inventory]], nodes = \
             {{ {name} = \"{name}[1-{node_n}]\" }}"
        );
        return Err(Refusal::new(Reason::MissingField, detail));
    };
    let hosts = Hostlist::parse(named).map_err(|why| Refusal::new(Reason::BadHostlist, why.to_string()))?;
    if u64::try_from(node_n).ok() != Some(hosts.len()) {
        let detail = format!(
            "{node_n} nodes are of the kind \"{name}\", and nodes = {{ {name} = \"{named}\" }} names {}: those no job ran on \
             are there all the same, under any name",
            hosts.len()
        );
        return Err(Refusal::new(Reason::BadHostlist, detail));
    }
    let of = hosts.hosts().map(|host| NodeRow {
        node: host.into_owned(),
        cpu_n: Some(kind.cpu_n),
        memory_byte: Some(kind.memory_byte),
        features: Some(name.clone()),
        ..NodeRow::default()
    });
    Ok(of.collect())
}
