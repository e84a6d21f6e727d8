//! Which jobs of a window to start now: the question, and what a set of them is worth.

use crate::simulate::demand::Demand;
use crate::simulate::machine::LocalSsd;

/// Most jobs of a window: one bit each.
pub const WINDOW_MAX: usize = 64;

/// One job of a window that fits on what is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowJob {
    /// What it requests.
    pub need: Demand,
    /// Gigabytes of local storage it requests on each node.
    pub ssd_gb: i64,
}

/// A set of jobs of a window: bit `i` stands for the job in slot `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobSet(u64);

impl JobSet {
    /// No job.
    pub const NONE: Self = Self(0);

    /// A set by its bits.
    #[must_use]
    pub const fn of_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Its bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The set of slots.
    #[must_use]
    pub fn of(slots: &[usize]) -> Self {
        slots.iter().fold(Self::NONE, |set, slot| set.with(*slot))
    }

    /// All of the first `n` slots.
    #[must_use]
    pub fn first(n: usize) -> Self {
        (0..n.min(WINDOW_MAX)).fold(Self::NONE, Self::with)
    }

    /// The set and a slot; a slot past the end is in no set.
    #[inline]
    #[must_use]
    pub fn with(self, slot: usize) -> Self {
        if slot < WINDOW_MAX {
            Self(self.0 | 1 << slot)
        } else {
            self
        }
    }

    /// The set without a slot.
    #[inline]
    #[must_use]
    pub fn without(self, slot: usize) -> Self {
        if slot < WINDOW_MAX {
            Self(self.0 & !(1 << slot))
        } else {
            self
        }
    }

    /// Whether a slot is in it.
    #[inline]
    #[must_use]
    pub fn has(self, slot: usize) -> bool {
        slot < WINDOW_MAX && self.0 >> slot & 1 == 1
    }

    /// Whether it comes before another one: compared from the front of the window, a job that is in the set comes before
    /// one that is not.
    #[must_use]
    pub fn is_before(self, other: Self) -> bool {
        self.0.reverse_bits() > other.0.reverse_bits()
    }

    /// Its slots from the front.
    pub fn slots(self) -> impl Iterator<Item = usize> {
        (0..WINDOW_MAX).filter(move |slot| self.has(*slot))
    }
}

/// What is maximised: use of the first kind of resource, of the second, of local storage, and less waste of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Objectives {
    /// Nodes (or whatever the first kind is).
    pub first: i64,
    /// Burst buffer (or whatever the second objective is).
    pub second: i64,
    /// Gigabytes of local storage that are used.
    pub ssd_gb: i64,
    /// Gigabytes of local storage that jobs get and do not use, below zero.
    pub less_waste_gb: i64,
}

impl Objectives {
    /// Whether it is at least as good in everything.
    #[inline]
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.first >= other.first
            && self.second >= other.second
            && self.ssd_gb >= other.ssd_gb
            && self.less_waste_gb >= other.less_waste_gb
    }

    /// Whether it is at least as good in everything, and better in something.
    #[must_use]
    pub fn dominates(&self, other: &Self) -> bool {
        self.covers(other) && self != other
    }
}

/// A set of jobs with what it is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Solution {
    /// The jobs.
    pub set: JobSet,
    /// Its worth.
    pub worth: Objectives,
}

/// Which jobs of a window to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowProblem {
    /// The jobs, front first; each fits alone.
    pub jobs: Vec<WindowJob>,
    /// What is free.
    pub free: Demand,
    /// What the whole machine has.
    pub capacity: Demand,
    /// The kind of resource of the second objective, where there is one.
    pub second_kind: Option<usize>,
    /// Local storage of two sizes, where it counts.
    pub ssd: Option<LocalSsd>,
}

impl WindowProblem {
    /// The amount of the second objective in a demand.
    #[inline]
    #[must_use]
    pub fn second(&self, demand: &Demand) -> i64 {
        self.second_kind.map_or(0, |kind| demand.get(kind))
    }

    /// What the jobs of a set request together.
    #[must_use]
    pub fn demand(&self, set: JobSet) -> Demand {
        let mut sum = Demand::NOTHING;
        for (slot, job) in self.jobs.iter().enumerate() {
            if set.has(slot) {
                sum.add(&job.need);
            }
        }
        sum
    }

    /// Whether a set fits on what is free.
    #[must_use]
    pub fn is_feasible(&self, set: JobSet) -> bool {
        self.demand(set).fits_in(&self.free)
    }

    /// What a set is worth.
    #[must_use]
    pub fn worth(&self, set: JobSet) -> Objectives {
        let demand = self.demand(set);
        let jobs = self.jobs.iter().enumerate().filter(|(slot, _)| set.has(*slot));
        let used_gb = jobs.map(|(_, job)| job.ssd_gb * job.need.first()).sum();
        self.worth_of(&demand, used_gb)
    }

    /// What jobs are worth that request this much together and use so much local storage. Which nodes they get follows from
    /// the sums: those with the small storage first.
    #[inline]
    #[must_use]
    pub fn worth_of(&self, demand: &Demand, used_gb: i64) -> Objectives {
        let (first, second) = (demand.first(), self.second(demand));
        let Some(ssd) = self.ssd else {
            return Objectives {
                first,
                second,
                ..Objectives::default()
            };
        };
        let large_need = demand.get(ssd.large_kind);
        let small_free = self.free.first() - self.free.get(ssd.large_kind);
        let large_n = large_need + (first - large_need - small_free).max(0);
        let given_gb = ssd.small_gb * (first - large_n) + ssd.large_gb * large_n;
        Objectives {
            first,
            second,
            ssd_gb: used_gb,
            less_waste_gb: used_gb - given_gb,
        }
    }

    /// Gigabytes of local storage of the whole machine.
    #[must_use]
    pub fn ssd_capacity_gb(&self) -> i64 {
        self.ssd.map_or(0, |ssd| {
            let large_n = self.capacity.get(ssd.large_kind);
            ssd.small_gb * (self.capacity.first() - large_n) + ssd.large_gb * large_n
        })
    }

    /// What the jobs from each slot on request together; one more than there are slots.
    pub(super) fn suffixes(&self) -> Vec<Demand> {
        let mut sums = vec![Demand::NOTHING; self.jobs.len() + 1];
        let mut sum = Demand::NOTHING;
        for (slot, job) in self.jobs.iter().enumerate().rev() {
            sum.add(&job.need);
            sums[slot] = sum;
        }
        sums
    }
}
