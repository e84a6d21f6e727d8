//! The machine jobs are scheduled on: how much there is of each kind of resource.

use std::collections::BTreeMap;

use super::demand::{Demand, KIND_N};
use super::reserved_pool::ReservedPool;
use crate::error::{Error, Result};

/// The most of one kind a machine may have: sums of them stay far within their type.
pub const AMOUNT_MAX: i64 = 1 << 40;

/// One kind of resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceKind {
    /// What it is called, such as `nodes` or `burst_buffer_gb`.
    pub name: String,
    /// How much of it there is.
    pub capacity: i64,
}

/// Local storage of nodes in two sizes: jobs that request at most the small size take nodes with the small one while there
/// are any, and nodes with the large one then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalSsd {
    /// The kind that counts nodes with the large size.
    pub large_kind: usize,
    /// Gigabytes of a node with the small size.
    pub small_gb: i64,
    /// Gigabytes of a node with the large size.
    pub large_gb: i64,
}

/// How much of a machine takes no jobs from a second on, until the next step: nodes that are down, reserved, not yet there or
/// gone. What runs there continues to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapacityStep {
    /// First second.
    pub from_s: i64,
    /// How much of each kind takes no jobs.
    pub unavailable: Demand,
}

/// A machine: fungible amounts of up to [`KIND_N`] kinds, without places or a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    kinds: Vec<ResourceKind>,
    capacity: Demand,
    ssd: Option<LocalSsd>,
    steps: Vec<CapacityStep>,
    reservations: Vec<ReservedPool>,
}

impl Machine {
    /// A machine with these kinds; the first is what jobs are counted by.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] for no or too many kinds, a kind named twice, or an amount that is not within 0 (the
    /// first: 1) and [`AMOUNT_MAX`].
    pub fn new(kinds: Vec<ResourceKind>) -> Result<Self> {
        if kinds.is_empty() || kinds.len() > KIND_N {
            return Err(Error::config(format!(
                "a machine has 1 to {KIND_N} kinds of resources, not {}",
                kinds.len()
            )));
        }
        for (at, kind) in kinds.iter().enumerate() {
            let least = i64::from(at == 0);
            if !(least..=AMOUNT_MAX).contains(&kind.capacity) {
                return Err(Error::config(format!(
                    "a machine with {} of {} cannot be simulated: it must be {least} to {AMOUNT_MAX}",
                    kind.capacity, kind.name
                )));
            }
            if kinds.iter().take(at).any(|other| other.name == kind.name) {
                return Err(Error::config(format!("the machine has {} twice", kind.name)));
            }
        }
        let amounts: Vec<i64> = kinds.iter().map(|kind| kind.capacity).collect();
        Ok(Self {
            kinds,
            capacity: Demand::of(&amounts),
            ssd: None,
            steps: Vec::new(),
            reservations: Vec::new(),
        })
    }

    /// A machine of one kind.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_one(name: &str, capacity: i64) -> Result<Self> {
        Self::new(vec![ResourceKind {
            name: name.to_owned(),
            capacity,
        }])
    }

    /// The same with local storage of two sizes: `large_n` of its nodes have the large one, counted by a kind of its own.
    ///
    /// # Errors
    /// As [`Self::new`]; and when there are more such nodes than nodes, or the sizes are not in order.
    pub fn with_ssd(mut self, large_n: i64, small_gb: i64, large_gb: i64) -> Result<Self> {
        if large_n > self.capacity.first() || small_gb < 0 || large_gb < small_gb || large_gb > AMOUNT_MAX {
            return Err(Error::config(format!(
                "{large_n} of {} nodes with {large_gb} GB of local storage in place of {small_gb} GB are not possible",
                self.capacity.first()
            )));
        }
        let large_kind = self.kinds.len();
        self.kinds.push(ResourceKind {
            name: "large_ssd_nodes".to_owned(),
            capacity: large_n,
        });
        let mut machine = Self::new(self.kinds)?;
        machine.ssd = Some(LocalSsd {
            large_kind,
            small_gb,
            large_gb,
        });
        Ok(machine)
    }

    /// The same, of which not all takes jobs at all times.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the steps are not in the order of time, or take away what is not there;
    /// [`crate::error::Kind::Config`] for a machine with local storage of two sizes.
    pub fn with_steps(mut self, steps: Vec<CapacityStep>) -> Result<Self> {
        if self.ssd.is_some() && !steps.is_empty() {
            return Err(Error::config(
                "outages of nodes with two sizes of local storage cannot be simulated: leave out large_ssd_nodes, or the outages",
            ));
        }
        let is_ordered = steps.windows(2).all(|pair| match pair {
            [one, next] => one.from_s < next.from_s,
            _ => true,
        });
        let is_within = |step: &CapacityStep| {
            let amounts = step.unavailable.amounts().zip(self.capacity.amounts());
            amounts
                .into_iter()
                .all(|(amount, capacity)| (0..=capacity).contains(&amount))
        };
        if !is_ordered || !steps.iter().all(is_within) {
            return Err(Error::internal(
                "the outages of a machine are not in order, or take away what is not there",
            ));
        }
        self.steps = steps;
        Ok(self)
    }

    /// The same with reservations. What they have is part of what takes no jobs by its steps: it takes theirs.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when times are not in order, or more is reserved than takes no other jobs.
    pub fn with_reservations(mut self, reservations: Vec<ReservedPool>) -> Result<Self> {
        let mut changes: BTreeMap<i64, Demand> = BTreeMap::new();
        for pool in &reservations {
            let mut before = Demand::NOTHING;
            for at_s in pool.instants() {
                let amounts = pool.amounts_at(at_s);
                changes.entry(at_s).or_default().add(&amounts.without(&before));
                before = amounts;
            }
        }
        for step in &self.steps {
            changes.entry(step.from_s).or_default();
        }
        let mut reserved = Demand::NOTHING;
        let mut fit = changes.iter().map(|(at_s, change)| {
            reserved.add(change);
            reserved.is_within(&self.unavailable_at(*at_s))
        });
        if !fit.all(|fits| fits) || !reservations.iter().all(ReservedPool::is_sound) {
            return Err(Error::internal(
                "the reservations of a machine are not in order, or have what others have",
            ));
        }
        self.reservations = reservations;
        Ok(self)
    }

    /// Its reservations.
    #[must_use]
    pub fn reservations(&self) -> &[ReservedPool] {
        &self.reservations
    }

    /// The reservation that a job states.
    #[must_use]
    pub fn reservation(&self, place: Option<u32>) -> Option<&ReservedPool> {
        self.reservations.get(crate::numbers::index(place?))
    }

    /// When how much of it takes no jobs, in the order of time.
    #[must_use]
    pub fn steps(&self) -> &[CapacityStep] {
        &self.steps
    }

    /// How much of it takes no jobs at a time.
    #[must_use]
    pub fn unavailable_at(&self, time_s: i64) -> Demand {
        let begun_n = self.steps.partition_point(|step| step.from_s <= time_s);
        let last = self.steps.get(..begun_n).and_then(<[CapacityStep]>::last);
        last.map_or(Demand::NOTHING, |step| step.unavailable)
    }

    /// Its kinds.
    #[must_use]
    pub fn kinds(&self) -> &[ResourceKind] {
        &self.kinds
    }

    /// The kind with a name.
    #[must_use]
    pub fn kind(&self, name: &str) -> Option<usize> {
        self.kinds.iter().position(|kind| kind.name == name)
    }

    /// How much there is of every kind.
    #[must_use]
    pub fn capacity(&self) -> &Demand {
        &self.capacity
    }

    /// Its local storage, where nodes differ in it.
    #[must_use]
    pub fn ssd(&self) -> Option<LocalSsd> {
        self.ssd
    }

    /// What a job takes when this much is free: what it requests, and nodes with the large local storage where there are not
    /// enough with the small one.
    #[inline]
    #[must_use]
    pub fn allocation(&self, need: &Demand, free: &Demand) -> Demand {
        let Some(ssd) = self.ssd else { return *need };
        if need.get(ssd.large_kind) > 0 {
            return *need;
        }
        let small_free = free.first() - free.get(ssd.large_kind);
        need.with(ssd.large_kind, (need.first() - small_free).max(0))
    }
}
