//! The resources that are followed.

use serde::{Deserialize, Serialize};

use super::unit::Unit;

/// A resource of a node that jobs are given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Resource {
    /// Cores: schedulable CPUs as the batch system counts them.
    Core,
    /// Memory, bytes.
    Memory,
    /// GPUs of any model.
    Gpu,
    /// GPUs of one model.
    GpuModel(String),
}

/// Resources with a ledger: cores, memory and GPUs, in this order. Models only matter to units that name them.
pub const LEDGER_N: usize = 3;

/// How columns of resource-seconds name them: `capacity_core_s`.
pub const LEDGER_COLUMNS: [&str; LEDGER_N] = ["core", "memory_byte", "gpu"];

/// Place of the GPUs among them.
pub const GPU_PLACE: usize = 2;

/// Largest amount of a resource on one node: a PiB of memory. What claims more is damage.
pub const AMOUNT_LIMIT: i64 = 1 << 50;

/// The resources that are swept together: those of the ledger, then the models units name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resources(Vec<Resource>);

impl Resources {
    /// What these units and the ledger need.
    #[must_use]
    pub fn of(units: &[Unit]) -> Self {
        let mut models: Vec<Resource> = units
            .iter()
            .flat_map(|unit| unit.thresholds.iter().map(|(resource, _)| resource))
            .filter(|resource| matches!(resource, Resource::GpuModel(_)))
            .cloned()
            .collect();
        models.sort();
        models.dedup();
        let mut all = vec![Resource::Core, Resource::Memory, Resource::Gpu];
        all.append(&mut models);
        Self(all)
    }

    /// How many.
    #[must_use]
    pub fn width(&self) -> usize {
        self.0.len()
    }

    /// In their order.
    pub fn iter(&self) -> impl Iterator<Item = &Resource> {
        self.0.iter()
    }

    /// The place of a resource.
    #[must_use]
    pub fn position(&self, of: &Resource) -> Option<usize> {
        self.0.iter().position(|resource| resource == of)
    }

    /// Amounts in this order, as given by `of`.
    pub fn amounts<T>(&self, of: impl FnMut(&Resource) -> T) -> Vec<T> {
        self.0.iter().map(of).collect()
    }
}
