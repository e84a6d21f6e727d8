//! The kinds of resources that records of a lake state.

use super::lake_rows::LakeRow;
use super::shared_kind::SharedKind;
use crate::error::{Error, Result};
use crate::occupancy::Resource;
use crate::simulate::machine::ResourceKind;

/// What a GPU model's kind begins with: `gpus:a100`.
const OF_MODEL: &str = "gpus:";
/// Bytes of a MiB.
const MIB: i64 = 1 << 20;

/// A kind of resource of a machine whose jobs are records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LakeKind {
    /// Cores.
    Cores,
    /// Nodes: of jobs that have theirs to themselves.
    Nodes,
    /// GPUs of any model.
    Gpus,
    /// Memory, MiB.
    Memory,
    /// GPUs of a model, by its place among the models that are counted.
    Model(usize),
    /// A kind that the cluster has as a whole, by its place among those that are counted.
    Shared(usize),
}

/// What jobs are counted by, the first that a machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum KindRank {
    Cores,
    Nodes,
    Gpus,
    Memory,
    Shared,
}

impl LakeKind {
    /// The kinds of a machine, and the GPU models among them.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] for a kind that no record states.
    pub fn of_machine(kinds: &[ResourceKind]) -> Result<Vec<Self>> {
        let mut found = Vec::with_capacity(kinds.len());
        let (mut model_n, mut shared_n) = (0, 0);
        for kind in kinds {
            found.push(match kind.name.as_str() {
                "cores" => Self::Cores,
                "nodes" => Self::Nodes,
                "gpus" => Self::Gpus,
                "memory_mib" => Self::Memory,
                name if name.len() > OF_MODEL.len() && name.starts_with(OF_MODEL) => {
                    model_n += 1;
                    Self::Model(model_n - 1)
                }
                name if SharedKind::named(name).is_some() => {
                    shared_n += 1;
                    Self::Shared(shared_n - 1)
                }
                name => {
                    return Err(Error::config(format!(
                        "no record of a lake states {name}: the kinds are cores, nodes, gpus, gpus:MODEL, memory_mib, burst_buffer_gb, \
                         burst_buffer_gb:POOL and licenses:NAME"
                    )));
                }
            });
        }
        Ok(found)
    }

    /// The kinds of a machine in one order, however they are stated: first what its jobs are counted by.
    ///
    /// # Errors
    /// As [`Self::of_machine`].
    pub fn in_order(kinds: &[ResourceKind]) -> Result<Vec<ResourceKind>> {
        let own = Self::of_machine(kinds)?;
        let mut ordered: Vec<(KindRank, &ResourceKind)> = own.iter().map(Self::rank).zip(kinds).collect();
        ordered.sort_by(|(rank, kind), (other_rank, other)| (rank, &kind.name).cmp(&(other_rank, &other.name)));
        Ok(ordered.into_iter().map(|(_, kind)| kind.clone()).collect())
    }

    fn rank(&self) -> KindRank {
        match self {
            Self::Cores => KindRank::Cores,
            Self::Nodes => KindRank::Nodes,
            Self::Gpus | Self::Model(_) => KindRank::Gpus,
            Self::Memory => KindRank::Memory,
            Self::Shared(_) => KindRank::Shared,
        }
    }

    /// Whether a record states any of what the jobs of a machine of these kinds are counted by: its cores, else its nodes, else
    /// its GPUs of whichever model, else its memory, else what the cluster has as a whole.
    #[must_use]
    pub fn is_counted(kinds: &[Self], row: &LakeRow) -> bool {
        let first = kinds.iter().map(Self::rank).min();
        let mut counting = kinds.iter().filter(|kind| Some(kind.rank()) == first);
        counting.any(|kind| kind.of_row(row).is_some_and(|n| n > 0))
    }

    /// The GPU models among the kinds of a machine.
    #[must_use]
    pub fn models(kinds: &[ResourceKind]) -> Vec<String> {
        let models = kinds.iter().filter_map(|kind| kind.name.strip_prefix(OF_MODEL));
        models.filter(|model| !model.is_empty()).map(str::to_owned).collect()
    }

    /// How much of it a record states.
    #[must_use]
    pub fn of_row(&self, row: &LakeRow) -> Option<i64> {
        match self {
            Self::Cores => row
                .core_n
                .filter(|n| *n > 0)
                .or_else(|| row.requested_core_n.filter(|n| *n > 0)),
            Self::Nodes => row.node_n.filter(|n| *n > 0),
            // Jobs without GPUs do not mention them.
            Self::Gpus => Some(crate::schema::batch::addend(row.gpu_n)),
            Self::Memory => row.memory_mib.filter(|n| *n >= 0),
            Self::Model(place) => row.model_n.get(*place).copied(),
            Self::Shared(place) => row.shared.get(*place).copied(),
        }
    }

    /// The resource of nodes it is counted by; `None` for nodes themselves, and for what no node has.
    #[must_use]
    pub fn resource(&self, models: &[String]) -> Option<Resource> {
        match self {
            Self::Cores => Some(Resource::Core),
            Self::Nodes | Self::Shared(_) => None,
            Self::Gpus => Some(Resource::Gpu),
            Self::Memory => Some(Resource::Memory),
            Self::Model(place) => models.get(*place).map(|model| Resource::GpuModel(model.clone())),
        }
    }

    /// An amount of the resource of nodes in this kind.
    #[must_use]
    pub fn of_node(&self, amount: i64) -> i64 {
        if *self == Self::Memory { amount / MIB } else { amount }
    }
}
