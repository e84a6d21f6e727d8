//! Reservations while a simulation runs: what is free in each, and which jobs run there.

use std::collections::{BTreeMap, BTreeSet};

use super::active::ActiveJobs;
use super::demand::Demand;
use super::displaced::{Displaced, Part, PartState};
use super::job::Job;
use super::reserved_pool::ReservedPool;
use super::running::{Running, RunningJobs};
use crate::numbers::index;

/// A second in which a reservation begins, ends or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PoolChange {
    at_s: i64,
    pool: usize,
}

/// A second in which a reservation begins that is known ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct KnownBegin {
    from_s: i64,
    until_s: i64,
    pool: usize,
}

/// A reservation now.
#[derive(Debug, Default)]
pub(super) struct PoolState {
    /// What takes jobs of it, free or not.
    amounts: Demand,
    /// What of that is free; less than nothing while its jobs run on what takes no others.
    pub(super) free: Demand,
    /// Its jobs that run, since they started inside it.
    pub(super) running: RunningJobs,
    /// When it ends, while it is in force.
    pub(super) until_s: Option<i64>,
}

/// What is known to be reserved, or to be given back, at a time to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KnownChange {
    /// Amounts are reserved for a time.
    Taken {
        /// First second.
        from_s: i64,
        /// The second after the last.
        until_s: i64,
        /// How much.
        amounts: Demand,
    },
    /// Amounts take all jobs again from a second on.
    Given {
        /// First second.
        from_s: i64,
        /// How much.
        amounts: Demand,
    },
}

/// All reservations of a machine.
#[derive(Debug, Default)]
pub(super) struct Pools<'a> {
    of: &'a [ReservedPool],
    states: Vec<PoolState>,
    changes: Vec<PoolChange>,
    /// How many of the changes have come.
    change_n: usize,
    /// Those that are known ahead, in the order of time.
    begins: Vec<KnownBegin>,
    /// How many of these have begun.
    begun_n: usize,
    /// Those that are in force.
    in_force: BTreeSet<usize>,
    /// What jobs have of parts of the machine that are not theirs.
    displaced: Displaced,
    /// The jobs that run inside a reservation.
    inside: BTreeMap<u32, usize>,
    /// Whether any job states a reservation.
    has_jobs: bool,
    /// The longest that a job is expected to run.
    longest_s: i64,
}

impl<'a> Pools<'a> {
    /// Those of a machine; the longest of its jobs is expected to run so long, and whether any of them states a reservation.
    pub(super) fn new(of: &'a [ReservedPool], has_reserved: bool, longest_s: i64) -> Self {
        let each = of.iter().enumerate();
        let mut changes: Vec<PoolChange> = each
            .flat_map(|(pool, of)| of.instants().into_iter().map(move |at_s| PoolChange { at_s, pool }))
            .collect();
        changes.sort_unstable();
        let spans = of.iter().enumerate();
        let spans = spans.flat_map(|(pool, of)| of.spans.iter().map(move |span| (pool, span)));
        let mut begins: Vec<KnownBegin> = spans
            .filter(|(_, span)| !span.ignores_jobs)
            .map(|(pool, span)| KnownBegin {
                from_s: span.from_s,
                until_s: span.until_s,
                pool,
            })
            .collect();
        begins.sort_unstable();
        Self {
            of,
            states: of.iter().map(|_| PoolState::default()).collect(),
            changes,
            change_n: 0,
            begins,
            begun_n: 0,
            in_force: BTreeSet::new(),
            displaced: Displaced::default(),
            inside: BTreeMap::new(),
            has_jobs: !of.is_empty() && has_reserved,
            longest_s,
        }
    }

    /// Whether any job states a reservation.
    pub(super) fn has_jobs(&self) -> bool {
        self.has_jobs
    }

    /// When a reservation begins, ends or changes next.
    pub(super) fn next_s(&self) -> Option<i64> {
        self.changes.get(self.change_n).map(|change| change.at_s)
    }

    /// The next reservation that begins, ends or changes in a second.
    pub(super) fn change_at(&mut self, now_s: i64) -> Option<usize> {
        let change = self.changes.get(self.change_n).filter(|change| change.at_s == now_s)?;
        self.change_n += 1;
        Some(change.pool)
    }

    /// The reservation becomes what it is in a second. Gives the jobs that run on where it has ended: they are no longer inside.
    pub(super) fn change(&mut self, pool: usize, now_s: i64) -> Vec<Running> {
        let (Some(of), Some(state)) = (self.of.get(pool), self.states.get_mut(pool)) else {
            return Vec::new();
        };
        let amounts = of.amounts_at(now_s);
        state.until_s = of.span_at(now_s).map(|span| span.until_s);
        if state.until_s.is_some() {
            state.free.add(&amounts);
            state.free.take(&state.amounts);
            state.amounts = amounts;
            self.in_force.insert(pool);
            return Vec::new();
        }
        self.in_force.remove(&pool);
        let left = std::mem::take(state).running;
        for running in left.in_order() {
            self.inside.remove(&running.job);
        }
        left.in_order().to_vec()
    }

    fn each_in_force(&self) -> impl Iterator<Item = (&ReservedPool, &PoolState)> {
        let each = self.in_force.iter();
        each.filter_map(|pool| Some((self.of.get(*pool)?, self.states.get(*pool)?)))
    }

    /// Something has changed of the machine, its reservations or what is free: jobs may have what is no longer theirs. So much
    /// is not reserved, of which so much is free, and so much takes no jobs or is reserved.
    pub(super) fn settle(&mut self, open_amounts: Demand, open_free: Demand, unavailable: Demand) {
        if self.of.is_empty() {
            return;
        }
        let mut down = unavailable;
        let mut parts: Vec<PartState> = Vec::with_capacity(self.in_force.len() + 2);
        for pool in &self.in_force {
            let Some(state) = self.states.get(*pool) else { continue };
            down.take(&state.amounts);
            parts.push(PartState {
                part: Part::Reserved(*pool),
                amounts: state.amounts,
                free: state.free,
            });
        }
        parts.push(PartState {
            part: Part::Open,
            amounts: open_amounts,
            free: open_free,
        });
        parts.push(PartState {
            part: Part::Unavailable,
            amounts: down,
            free: down,
        });
        self.displaced.settle(&parts);
    }

    /// Whether jobs have anything that is not theirs.
    pub(super) fn has_displaced(&self) -> bool {
        self.displaced.is_any()
    }

    /// What jobs of reservations have of what is not reserved.
    pub(super) fn held_open(&self) -> Demand {
        self.displaced.held(Part::Open)
    }

    /// A job has started inside a reservation.
    pub(super) fn started(&mut self, job: u32, pool: usize) {
        self.inside.insert(job, pool);
    }

    /// A job has ended. Whether it was inside a reservation, which then has its place.
    pub(super) fn ended(&mut self, running: Running, allocation: &Demand) -> bool {
        let pool = self.inside.remove(&running.job);
        let Some(state) = pool.and_then(|pool| self.states.get_mut(pool)) else {
            return false;
        };
        state.running.remove(running);
        state.free.add(allocation);
        true
    }

    /// The jobs of each that is in force, in their order, of all that wait.
    pub(super) fn waiting(&self, jobs: &ActiveJobs, waiting: &[u32]) -> BTreeMap<usize, Vec<u32>> {
        let mut own: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for job in waiting {
            let pool = jobs.get(*job).and_then(|active| active.job.reservation).map(index);
            if let Some(pool) = pool.filter(|pool| self.in_force.contains(pool)) {
                own.entry(pool).or_default().push(*job);
            }
        }
        own
    }

    /// One of them, with what others have of it taken from what is free; it is given back by [`Self::put_back`].
    pub(super) fn take_out(&mut self, pool: usize) -> PoolState {
        let mut state = crate::absent::entry(self.states.get_mut(pool).map(std::mem::take));
        state.free.take(&self.displaced.held(Part::Reserved(pool)));
        state
    }

    /// Puts back what was taken out.
    pub(super) fn put_back(&mut self, pool: usize, mut state: PoolState) {
        state.free.add(&self.displaced.held(Part::Reserved(pool)));
        if let Some(place) = self.states.get_mut(pool) {
            *place = state;
        }
    }

    /// What is free in a reservation; `None` while it is not in force.
    pub(super) fn free(&self, pool: u32) -> Option<Demand> {
        let pool = index(pool);
        let state = self.states.get(pool).filter(|state| state.until_s.is_some())?;
        Some(state.free.without(&self.displaced.held(Part::Reserved(pool))))
    }

    /// Whether a job may run on what is not reserved.
    pub(super) fn is_open_to(&self, job: &Job) -> bool {
        let pool = job.reservation.and_then(|pool| self.of.get(index(pool)));
        pool.is_none_or(|pool| pool.is_flexible)
    }

    /// What a scheduler knows to be reserved or given back while a job that starts now runs, in no order.
    pub(super) fn known(&mut self, now_s: i64) -> Vec<KnownChange> {
        while self.begins.get(self.begun_n).is_some_and(|begin| begin.from_s <= now_s) {
            self.begun_n += 1;
        }
        let given = self.each_in_force().filter_map(|(_, state)| {
            Some(KnownChange::Given {
                from_s: state.until_s?,
                amounts: state.amounts,
            })
        });
        let coming = self.begins.iter().skip(self.begun_n);
        let coming = coming.take_while(|begin| begin.from_s - now_s < self.longest_s);
        let taken = coming.filter_map(|begin| {
            Some(KnownChange::Taken {
                from_s: begin.from_s,
                until_s: begin.until_s,
                amounts: self.of.get(begin.pool)?.amounts_at(begin.from_s),
            })
        });
        given.chain(taken).collect()
    }

    /// The jobs inside reservations that are expected to run on when these end, and from when on.
    pub(super) fn expected_to_run_on(&self) -> impl Iterator<Item = RunningOn> {
        self.each_in_force().flat_map(|(_, state)| {
            let jobs = state.running.in_order().iter();
            jobs.filter_map(|running| {
                let from_s = state.until_s.filter(|until_s| *until_s < running.expected_end_s)?;
                Some(RunningOn {
                    from_s,
                    running: *running,
                })
            })
        })
    }
}

/// A job that is expected to run on when its reservation ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunningOn {
    /// When that ends.
    pub(super) from_s: i64,
    /// The job.
    pub(super) running: Running,
}
