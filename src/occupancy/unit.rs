//! Canonical units: what counts as room for one more job.

use serde::{Deserialize, Serialize};

use super::resource::{LEDGER_N, Resource, Resources};

/// Bytes of the gigabyte in the paper's definition.
const GB: i64 = 1_000_000_000;

/// A definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// Resources it names, with the amount of each that one unit takes. Amounts are positive.
    pub thresholds: Vec<(Resource, i64)>,
    /// Partitions whose nodes it is for; empty for all nodes.
    pub partitions: Vec<String>,
}

/// The definitions the paper suggests for the Open Science Grid, by the word a pipeline says: one core and 2 GB for nodes
/// without GPUs, one GPU and nothing else for nodes with them.
pub const PRESETS: &[(&str, &[(Resource, i64)])] = &[
    ("osg-cpu", &[(Resource::Core, 1), (Resource::Memory, 2 * GB)]),
    ("osg-gpu", &[(Resource::Gpu, 1)]),
];

impl Unit {
    /// Whether it is for a node in these partitions.
    #[must_use]
    pub fn is_for(&self, partitions: &[&str]) -> bool {
        self.partitions.is_empty() || self.partitions.iter().any(|name| partitions.contains(&name.as_str()))
    }

    /// Its thresholds in the order of the resources followed.
    #[must_use]
    pub fn thresholds(&self, resources: &Resources) -> Thresholds {
        Thresholds(resources.amounts(|resource| {
            let named = self.thresholds.iter().find(|(named, _)| named == resource);
            named.map(|(_, amount)| (*amount).max(1))
        }))
    }
}

/// Thresholds in the order of the resources followed; `None` where the unit does not name the resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thresholds(Vec<Option<i64>>);

impl Thresholds {
    /// How many units these free amounts hold. A unit that names nothing holds none.
    #[must_use]
    pub fn units(&self, free: &[i64]) -> i64 {
        let mut least = None;
        for (threshold, free) in self.0.iter().zip(free) {
            let Some(threshold) = threshold else { continue };
            // A division is dear: most of the time another resource is scarcer, or the threshold is 1.
            let is_enough = |unit_n: i64| unit_n.checked_mul(*threshold).is_some_and(|taken| taken <= *free);
            if !least.is_some_and(is_enough) {
                least = Some(if *threshold == 1 { *free } else { *free / threshold });
            }
        }
        least.unwrap_or(0).max(0)
    }

    /// As many units hold of the resources of the ledger, unit for unit.
    pub(super) fn times(&self, mut units: [i128; LEDGER_N]) -> [i128; LEDGER_N] {
        for (unit, threshold) in units.iter_mut().zip(&self.0) {
            *unit *= i128::from(threshold.unwrap_or(0));
        }
        units
    }

    /// How many units it takes to hold these amounts of what the unit names.
    #[must_use]
    pub fn taken(&self, amounts: &[i64]) -> i64 {
        let taken = self.0.iter().zip(amounts).filter_map(|(threshold, amount)| {
            let threshold = (*threshold)?;
            Some(*amount / threshold + i64::from(*amount % threshold > 0))
        });
        taken.max().unwrap_or(0)
    }

    /// In their order.
    pub fn iter(&self) -> impl Iterator<Item = Option<i64>> {
        self.0.iter().copied()
    }

    /// Whether every resource it names is known.
    #[must_use]
    pub fn is_known(&self, known: &[bool]) -> bool {
        self.0
            .iter()
            .zip(known)
            .all(|(threshold, known)| threshold.is_none() || *known)
    }
}
