//! The nodes of a job by their rows.

use crate::reference::energy::node_row::NodeEnergyRow;

/// Nodes of one row, with their part of the job.
#[derive(Clone, Debug)]
pub struct NodePart {
    /// The row.
    pub row: NodeEnergyRow,
    /// How many nodes of the job; `None` where they are all of the row.
    pub node_n: Option<i64>,
}

/// The cores of all nodes. Where one row is of all of them, as many nodes as the job states; without a number one stands for all.
pub(super) fn core_n(nodes: &[NodePart], node_n: Option<i64>) -> Option<i64> {
    if nodes.is_empty() {
        return None;
    }
    let mut sum = Some(0_i64);
    for part in nodes {
        let node_n = part.node_n.or(node_n);
        let of_node = part.row.core_n;
        let of_row = of_node.and_then(|core_n| node_n.map_or(Some(core_n), |node_n| core_n.checked_mul(node_n)));
        sum = sum.zip(of_row).and_then(|(sum, of_row)| sum.checked_add(of_row));
    }
    sum
}
