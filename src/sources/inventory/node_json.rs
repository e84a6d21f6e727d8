//! `scontrol show node --json` (23.02 and later) and `sinfo --json` of 22.05, which has the same nodes; or `--yaml`.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::document::{self, number, word};
use super::fields::sorted_names;
use super::trouble::{missing, settle};
use crate::absent;
use crate::ledger::Reason;
use crate::numbers::count_u64;
use crate::reference::inventory::absent::is_absent;
use crate::reference::inventory::tres::{MIB, Tres};
use crate::reference::inventory::{Gpus, InventoryRow, NodeRow, state};
use crate::sources::Sink;
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;

#[derive(Deserialize)]
struct NodeDocument {
    nodes: Vec<NodeElement>,
    #[serde(default)]
    last_update: Value,
    #[serde(default)]
    meta: Value,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum NodeElement {
    Node(Box<Node>),
    Other(IgnoredAny),
}

macro_rules! members {
    ($($name:ident,)+) => {
        /// The members that are read; each may be of any type until it is looked at.
        #[derive(Deserialize)]
        struct Node {
            $(#[serde(default)] $name: Value,)+
        }

        impl Node {
            fn get(&self, key: &str) -> &Value {
                match key {
                    $(stringify!($name) => &self.$name,)+
                    _ => &Value::Null,
                }
            }
        }
    };
}

members! {
    name, cluster_name, cpus, effective_cpus, sockets, cores, threads, real_memory, specialized_memory, temporary_disk,
    tres, gres, state, state_flags, features, weight, partitions, reason, version, slurmd_version,
}

pub(super) fn read(bytes: &[u8], _: &ReaderOptions, sink: &mut dyn Sink) {
    let Some(document) = document::read::<NodeDocument>(bytes, "nodes", sink) else {
        return;
    };
    sink.rows_read(count_u64(document.nodes.len()));
    let as_of_ms = document::as_of_ms(&document.last_update);
    let cluster = document::cluster(&document.meta);
    for (nth, element) in document.nodes.iter().enumerate() {
        let row = match element {
            NodeElement::Node(node) => node.read().map(|row| {
                InventoryRow::Node(Box::new(NodeRow {
                    as_of_ms,
                    cluster: row.cluster.or_else(|| cluster.map(str::to_owned)),
                    ..row
                }))
            }),
            NodeElement::Other(_) => Err(Refusal::new(Reason::NotARecord, "an element of nodes is not a node")),
        };
        settle(row, document::element(nth), b"", sink);
    }
}

impl Node {
    fn count(&self, key: &str) -> Result<Option<i64>, Refusal> {
        let value = self.get(key);
        let wrong = || Refusal::new(Reason::BadNumber, format!("{key} {value} is not a count"));
        match value {
            Value::Null => Ok(None),
            Value::Number(_) | Value::Object(_) => match number(value) {
                Some(n) if n < 0 => Err(wrong()),
                found => Ok(found),
            },
            _ => Err(wrong()),
        }
    }

    fn mebibytes(&self, key: &str) -> Result<Option<i64>, Refusal> {
        let wrong = || Refusal::new(Reason::BadNumber, format!("{key} is too large"));
        let count = self.count(key)?;
        count.map(|mib| mib.checked_mul(MIB).ok_or_else(wrong)).transpose()
    }

    /// A list, or a text with commas.
    fn list(&self, key: &str) -> Vec<Cow<'_, str>> {
        match self.get(key) {
            Value::Array(items) => items.iter().filter_map(word).map(Cow::Borrowed).collect(),
            Value::String(text) => text.split(',').filter(|t| !is_absent(t)).map(Cow::Borrowed).collect(),
            _ => Vec::new(),
        }
    }

    fn read(&self) -> Result<NodeRow, Refusal> {
        let text = |key: &str| word(self.get(key)).map(str::to_owned);
        let node = word(&self.name).ok_or_else(|| missing("name"))?;
        let tres = Tres::parse(absent::text(word(self.get("tres"))))
            .map_err(|why| Refusal::new(Reason::BadNumber, format!("tres: {why}")))?;
        let of_gres = Gpus::of_gres(absent::text(word(self.get("gres"))))
            .map_err(|why| Refusal::new(Reason::BadNumber, format!("gres: {why}")))?;
        let words = self.list("state");
        let flags = self.list("state_flags");
        let (state, state_flags) = state::of_words(words.iter().chain(&flags));
        let features = self.list("features").join(",");
        Ok(NodeRow {
            cluster: text("cluster_name"),
            node: node.to_owned(),
            as_of_ms: None,
            cpu_n: Some(self.count("cpus")?.ok_or_else(|| missing("cpus"))?),
            effective_cpu_n: self.count("effective_cpus")?,
            socket_n: self.count("sockets")?,
            core_per_socket_n: self.count("cores")?,
            thread_per_core_n: self.count("threads")?,
            memory_byte: self.mebibytes("real_memory")?,
            // Text leaves it out when nothing is set aside.
            system_memory_byte: self.mebibytes("specialized_memory")?.filter(|bytes| *bytes > 0),
            disk_byte: self.mebibytes("temporary_disk")?,
            gpus: Some(Gpus {
                untyped_n: tres.gpus.untyped_n.or(of_gres.untyped_n),
                models: if of_gres.models.is_empty() {
                    tres.gpus.models
                } else {
                    of_gres.models
                },
            }),
            gres: text("gres"),
            features: (!features.is_empty()).then_some(features),
            weight_n: self.count("weight")?,
            partitions: sorted_names(self.list("partitions").iter().map(AsRef::as_ref)),
            state,
            state_flags,
            reason: text("reason"),
            billing_n: tres.billing_n,
            slurm_version: text("version").or_else(|| text("slurmd_version")),
        })
    }
}
