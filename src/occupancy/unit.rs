//! Canonical units: what counts as room for one more job.

use crate::schema::batch::addend;
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

/// The definitions the paper suggests for the Open Science Grid, by the name a pipeline uses: one core and 2 GB for nodes
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
        let named = resources.amounts(|resource| self.named(resource));
        let taken = resources.amounts(|resource| self.named(resource).max(self.of_models(resource)));
        Thresholds::new(named, taken)
    }

    fn named(&self, resource: &Resource) -> Option<i64> {
        let named = self.thresholds.iter().find(|(named, _)| named == resource);
        named.map(|(_, amount)| (*amount).max(1))
    }

    /// GPUs of the models it names: each of them is one of the GPUs of its node as well.
    fn of_models(&self, resource: &Resource) -> Option<i64> {
        let is_model = |named: &Resource| *resource == Resource::Gpu && matches!(named, Resource::GpuModel(_));
        let models = self.thresholds.iter().filter(|(named, _)| is_model(named));
        // Fallback: never taken, the amounts of a pipeline file are at most 2^50, and no unit names thousands of models.
        models.map(|(_, amount)| (*amount).max(1)).reduce(i64::saturating_add)
    }
}

/// Thresholds in the order of the resources followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// What the unit names; `None` where it does not name the resource.
    named: Vec<Option<i64>>,
    /// What one unit takes: what it names, and as GPUs of any model those of the models it names.
    taken: Vec<Option<i64>>,
    /// Places of the resources it takes, with how to divide by what it takes of them.
    divisors: Vec<(usize, Divisor)>,
}

impl Thresholds {
    fn new(named: Vec<Option<i64>>, taken: Vec<Option<i64>>) -> Self {
        let places = taken.iter().enumerate();
        let divisors =
            places.filter_map(|(place, threshold)| Some((place, Divisor::new((*threshold)?.unsigned_abs()))));
        Self {
            divisors: divisors.collect(),
            named,
            taken,
        }
    }

    /// How many units these free amounts hold. A unit that names nothing holds none.
    #[must_use]
    #[inline]
    pub fn units(&self, free: &[i64]) -> i64 {
        let mut least = u64::MAX;
        for (place, divisor) in &self.divisors {
            if let Some(free) = free.get(*place) {
                // Which one is the scarcest changes all the time: all are divided, rather than guessed wrong.
                // Fallback: what is over-allocated has nothing free, and holds no unit.
                least = least.min(divisor.quotient(u64::try_from(*free).unwrap_or(0)));
            }
        }
        // Fallback: only a unit that names nothing leaves the number at its end, and it holds none.
        i64::try_from(least).unwrap_or(0)
    }

    /// As many units hold of the resources of the ledger, unit for unit.
    pub(super) fn times(&self, mut units: [i128; LEDGER_N]) -> [i128; LEDGER_N] {
        for (unit, threshold) in units.iter_mut().zip(&self.taken) {
            *unit *= i128::from(addend(*threshold));
        }
        units
    }

    /// How many units it takes to hold these amounts of what the unit names. GPUs of other models do not take units of a model.
    #[must_use]
    pub fn taken(&self, amounts: &[i64]) -> i64 {
        let taken = self.named.iter().zip(amounts).filter_map(|(threshold, amount)| {
            let threshold = (*threshold)?;
            Some(*amount / threshold + i64::from(*amount % threshold > 0))
        });
        // Fallback: a unit that names nothing is not taken by anything.
        taken.max().unwrap_or(0)
    }

    /// What one unit takes of each resource, in their order.
    pub fn iter(&self) -> impl Iterator<Item = Option<i64>> {
        self.taken.iter().copied()
    }

    /// Whether every resource it takes is known.
    #[must_use]
    pub fn is_known(&self, known: &[bool]) -> bool {
        self.taken
            .iter()
            .zip(known)
            .all(|(threshold, known)| threshold.is_none() || *known)
    }
}

/// Bits of what is divided.
const DIVIDEND_BITS: u32 = 63;

/// A number to divide by often: a product and a shift give the quotient, exactly (Granlund and Montgomery, *Division by
/// invariant integers using multiplication*, 1994, theorem 4.2 with N = 63).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Divisor {
    /// 2^(63 + shift) by the divisor, rounded down, and 1.
    factor: u64,
    /// The least power of 2 that is not below the divisor.
    shift: u32,
}

impl Divisor {
    /// Of a divisor from 1 to 2^63 - 1.
    fn new(divisor: u64) -> Self {
        let divisor = divisor.max(1);
        let shift = u64::BITS - (divisor - 1).leading_zeros();
        let factor = (1_u128 << (DIVIDEND_BITS + shift)) / u128::from(divisor) + 1;
        Self {
            // Fallback: never taken, the factor is at most 2^64 - 1 by theorem 4.2.
            factor: u64::try_from(factor).unwrap_or(u64::MAX),
            shift,
        }
    }

    /// Of a dividend below 2^63.
    #[inline]
    fn quotient(self, dividend: u64) -> u64 {
        let product = u128::from(dividend) * u128::from(self.factor);
        // Fallback: never taken, the product of 63 and 64 bits has 64 left after the shift.
        u64::try_from(product >> DIVIDEND_BITS).unwrap_or(u64::MAX) >> self.shift
    }
}
