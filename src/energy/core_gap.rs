//! Rows of the table of nodes that state other cores than the last listings of these nodes do: a job would have all of what was
//! measured of a node it shared, or too small a part of it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::reference::energy::NodeEnergyTable;
use crate::reference::energy::node_rows::NodePlace;

/// A node as its last listing describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedNode {
    /// Site.
    pub site: String,
    /// Cluster.
    pub cluster: Option<String>,
    /// Its name.
    pub node: String,
    /// When it was listed, Unix milliseconds.
    pub at_ms: i64,
    /// Its CPUs.
    pub cpu_n: i64,
    /// Its CPUs that jobs may have.
    pub effective_cpu_n: i64,
}

/// Nodes of a row whose last listings state another number of cores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EnergyCoreGap {
    /// Name of the table, as the pipeline has it.
    pub table: String,
    /// Line of the row.
    pub line: usize,
    /// Cores of one node by the row.
    pub core_n: i64,
    /// CPUs of one node by its listing.
    pub listed_cpu_n: i64,
    /// The first of these nodes.
    pub node: String,
    /// How many there are.
    pub node_n: u64,
}

impl EnergyCoreGap {
    /// Of a table, by row and number of CPUs. Rows of partitions are left out: which jobs they hold for, no listing states.
    pub(super) fn of(table: &str, rows: &NodeEnergyTable, listed: &[ListedNode]) -> Vec<Self> {
        let mut gaps: BTreeMap<(usize, i64), Self> = BTreeMap::new();
        for node in listed {
            let place = NodePlace {
                site: &node.site,
                cluster: node.cluster.as_deref(),
                partition: None,
                node_list: Some(&node.node),
                at_ms: node.at_ms,
            };
            for of in rows.rows_of(&place) {
                let Some(core_n) = of.row.core_n else { continue };
                if core_n == node.cpu_n || core_n == node.effective_cpu_n {
                    continue;
                }
                let gap = gaps.entry((of.row.line(), node.cpu_n)).or_insert_with(|| Self {
                    table: table.to_owned(),
                    line: of.row.line(),
                    core_n,
                    listed_cpu_n: node.cpu_n,
                    node: node.node.clone(),
                    node_n: 0,
                });
                gap.node_n += 1;
            }
        }
        gaps.into_values().collect()
    }

    /// A line for people.
    pub(crate) fn text(&self) -> String {
        let Self {
            table,
            line,
            core_n,
            listed_cpu_n,
            node,
            node_n,
        } = self;
        let nodes = match node_n {
            1 => node.clone(),
            _ => format!("{node_n} nodes such as {node}"),
        };
        format!("{table}:{line}: {core_n} cores, where the last listing of {nodes} has {listed_cpu_n} CPUs")
    }
}
