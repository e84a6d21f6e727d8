//! Which part of what was measured of its nodes is a job's.
//!
//! In order: 1. a row states of all its nodes that they are given to one job at a time; 2. the cores of all its nodes are known: it
//! was given all of them, or shared the nodes; 3. they are not known, and it requested nodes of its own. What a job was given
//! counts more than what it requested: partitions that force sharing do not grant the request, and later changes are not in it.

use super::energy_plan::SharedRule;
use super::job_load::JobLoad;
use super::node_part::{NodePart, core_n};

/// Why nothing else ran on the nodes of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnNodes {
    /// The rows of its nodes state that they are given to one job at a time.
    OneJobAtATime,
    /// It was given all their cores.
    AllCores,
    /// It requested nodes of its own, and the cores of its nodes are not known.
    Requested,
}

/// The part of a job in what was measured of its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodesShare {
    /// All of it: nothing else ran there.
    Whole(OwnNodes),
    /// So many parts of so many.
    Part {
        /// Parts of the job.
        part: i128,
        /// Parts of its nodes.
        whole: i128,
    },
}

impl NodesShare {
    /// Which part a job has; `None` where it is unknown, or nothing is to be used that was measured of shared nodes.
    pub(super) fn of(load: &JobLoad<'_>, nodes: &[NodePart], shared: Option<SharedRule>) -> Option<Self> {
        if !nodes.is_empty() && nodes.iter().all(|part| part.row.is_exclusive) {
            return Some(Self::Whole(OwnNodes::OneJobAtATime));
        }
        let is_counted = nodes.iter().all(|part| part.node_n.is_some()) || load.node_n.is_some();
        let total = core_n(nodes, load.node_n).filter(|_| is_counted);
        let Some((core_n, total)) = load.core_n.zip(total) else {
            return load.has_requested_own_nodes.then_some(Self::Whole(OwnNodes::Requested));
        };
        if core_n >= total {
            return Some(Self::Whole(OwnNodes::AllCores));
        }
        let (part, whole) = match shared? {
            SharedRule::AllocatedCores => (i128::from(core_n), i128::from(total)),
            SharedRule::CpuTime => {
                let had_ms = i128::from(total) * i128::from(load.wall_ms);
                (i128::from(load.cpu_ms?).min(had_ms), had_ms)
            }
            SharedRule::Unused => return None,
        };
        (whole > 0).then_some(Self::Part { part, whole })
    }

    /// Why all of it is the job's own.
    pub(super) fn own_nodes(self) -> Option<OwnNodes> {
        match self {
            Self::Whole(why) => Some(why),
            Self::Part { .. } => None,
        }
    }
}
