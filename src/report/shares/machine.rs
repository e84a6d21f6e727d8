//! Nodes and partitions of a cluster on a day, as listings state them.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::RecordBatch;

use super::super::lake::Lake;
use super::cluster::ShareCluster;
use super::dated::{Dated, assumption};
use crate::error::{Error, Kind, Result};
use crate::reference::hostlist::Hostlist;
use crate::schema::batch::{int, number, text, word};

/// A node as one listing has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedNode {
    node: String,
    /// Physical cores.
    core_n: Option<i64>,
    /// CPUs as Slurm schedules them.
    cpu_n: Option<i64>,
    features: Option<String>,
    partitions: Option<String>,
}

/// A partition as one listing has it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ListedPartition {
    partition: String,
    /// Its list of nodes, if it is complete.
    nodes: Option<String>,
}

/// All listings of nodes and partitions.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) nodes: Dated<ListedNode>,
    partitions: Dated<ListedPartition>,
}

/// The machine on a day.
#[derive(Clone, Debug)]
pub(super) struct MachineOfDay {
    /// Nodes by name.
    pub(super) nodes: BTreeMap<String, ListedNode>,
    /// Nodes of partitions, by the name of the partition; also such as are not listed as nodes.
    pub(super) partitions: BTreeMap<String, BTreeSet<String>>,
    /// What was assumed.
    pub(super) notes: Vec<String>,
}

impl ListedNode {
    /// Cores: physical ones, where the listing does not state them CPUs.
    pub(super) fn cores(&self) -> Option<i64> {
        self.core_n.or(self.cpu_n)
    }

    /// Whether CPUs stand for cores.
    pub(super) fn has_cpus_alone(&self) -> bool {
        self.core_n.is_none() && self.cpu_n.is_some()
    }

    /// Its features.
    pub(super) fn features(&self) -> Vec<&str> {
        words(self.features.as_deref())
    }

    /// Takes what another row of the same listing states in addition.
    fn complete(&mut self, other: &Self) -> Result<()> {
        if self.core_n.zip(other.core_n).is_some_and(|(own, other)| own != other) {
            let message = format!(
                "listings of nodes of one instant state different numbers of cores of {}: choose one with --inventory",
                self.node
            );
            return Err(Error::new(Kind::Data, message));
        }
        self.core_n = self.core_n.or(other.core_n);
        self.cpu_n = self.cpu_n.or(other.cpu_n);
        self.features = self.features.take().or_else(|| other.features.clone());
        self.partitions = self.partitions.take().or_else(|| other.partitions.clone());
        Ok(())
    }
}

impl Machine {
    /// Reads all listings.
    ///
    /// # Errors
    /// [`Kind::Io`] when the lake cannot be read.
    pub(super) fn read(lake: &Lake, cluster: &ShareCluster) -> Result<Self> {
        Ok(Self {
            nodes: Dated::read(lake, "node", cluster, listed_nodes)?,
            partitions: Dated::read(lake, "partition", cluster, listed_partitions)?,
        })
    }

    /// The days of its listings and those of nodes are these.
    pub(super) fn days(&self, zone: &crate::time::Zone) -> BTreeSet<crate::time::Day> {
        let mut days = self.nodes.days(zone);
        days.extend(self.partitions.days(zone));
        days
    }

    /// The names of nodes in any listing.
    pub(super) fn node_names(&self) -> BTreeSet<&str> {
        self.nodes.rows().map(|node| node.node.as_str()).collect()
    }

    /// The names of partitions in any listing.
    pub(super) fn partition_names(&self) -> BTreeSet<String> {
        let of_nodes = self.nodes.rows().flat_map(|node| words(node.partitions.as_deref()));
        let mut names: BTreeSet<String> = of_nodes.map(str::to_owned).collect();
        names.extend(self.partitions.rows().map(|row| row.partition.clone()));
        names
    }

    /// What holds at an instant, the end of a day.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when there is no listing of nodes; [`Kind::Data`] when two rows of one contradict each other.
    pub(super) fn at(&self, ms: i64, day_text: &str) -> Result<MachineOfDay> {
        let chosen = self.nodes.at(ms).ok_or_else(|| {
            let message = "the lake has no listing of nodes of the cluster: add an [[inventory]] of scontrol show node";
            Error::new(Kind::NoInput, message)
        })?;
        let mut remarks: Vec<String> = assumption("nodes", chosen.is_from_ms, day_text).into_iter().collect();
        let mut nodes: BTreeMap<String, ListedNode> = BTreeMap::new();
        for row in chosen.rows {
            match nodes.get_mut(&row.node) {
                Some(node) => node.complete(row)?,
                None => {
                    nodes.insert(row.node.clone(), row.clone());
                }
            }
        }
        let mut partitions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in nodes.values() {
            for partition in words(node.partitions.as_deref()) {
                partitions
                    .entry(partition.to_owned())
                    .or_default()
                    .insert(node.node.clone());
            }
        }
        if let Some(chosen) = self.partitions.at(ms) {
            remarks.extend(assumption("partitions", chosen.is_from_ms, day_text));
            for row in chosen.rows {
                let listed = partitions.entry(row.partition.clone()).or_default();
                if let Some(list) = &row.nodes {
                    *listed = members(&row.partition, list, &nodes)?;
                }
            }
        }
        Ok(MachineOfDay {
            nodes,
            partitions,
            notes: remarks,
        })
    }
}

/// The nodes of a partition's list.
fn members(partition: &str, list: &str, nodes: &BTreeMap<String, ListedNode>) -> Result<BTreeSet<String>> {
    if list.eq_ignore_ascii_case("all") {
        return Ok(nodes.keys().cloned().collect());
    }
    let hosts = Hostlist::parse(list).map_err(|why| {
        let message = format!("the list of nodes of partition {partition} cannot be read: {why}");
        Error::new(Kind::Data, message)
    })?;
    Ok(hosts.hosts().map(std::borrow::Cow::into_owned).collect())
}

fn words(list: Option<&str>) -> Vec<&str> {
    let words = list.into_iter().flat_map(|list| list.split(',')).map(str::trim);
    words.filter(|word| !word.is_empty()).collect()
}

fn listed_nodes(batch: &RecordBatch) -> Result<Vec<ListedNode>> {
    let (nodes, features) = (text(batch, "node")?, text(batch, "features")?);
    let partitions = text(batch, "partitions")?;
    let (core_n, cpu_n) = (int(batch, "core_n")?, int(batch, "cpu_n")?);
    let rows = (0..batch.num_rows()).map(|row| ListedNode {
        node: nodes.value(row).to_owned(),
        core_n: number(core_n, row),
        cpu_n: number(cpu_n, row),
        features: word(features, row).map(str::to_owned),
        partitions: word(partitions, row).map(str::to_owned),
    });
    Ok(rows.collect())
}

fn listed_partitions(batch: &RecordBatch) -> Result<Vec<ListedPartition>> {
    let (partitions, nodes) = (text(batch, "partition")?, text(batch, "nodes")?);
    let node_n = int(batch, "node_n")?;
    let rows = (0..batch.num_rows()).map(|row| ListedPartition {
        partition: partitions.value(row).to_owned(),
        // Without a number the list names sets of nodes that the file does not define.
        nodes: number(node_n, row).and_then(|_| word(nodes, row)).map(str::to_owned),
    });
    Ok(rows.collect())
}
