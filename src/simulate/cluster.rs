//! The machine while a simulation runs: what is free, and which jobs run until when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::active::{ActiveJob, ActiveJobs, BegunJob, Lengths};
use super::demand::Demand;
use super::job::Job;
use super::jobs::JobList;
use super::limits::LimitUse;
use super::machine::Machine;
use super::observer::Observer;
use super::pools::{KnownChange, PoolState, Pools};
use super::profile::{FreedAt, Profile};
use super::running::{Running, RunningJobs};
use super::schedule::{Start, StartReason};
use super::settings::{Estimate, EventOrder, Settings};

/// A job that will end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ending {
    end_s: i64,
    /// Jobs that end in the same second end in the order of their starts.
    sequence: usize,
    running: Running,
}

/// What is free at a later time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shadow {
    /// When the first waiting job fits.
    pub(super) start_s: i64,
    /// What is left then without that job.
    pub(super) extra: Demand,
}

/// How long a job is taken to run under an estimate.
fn lengths(job: &Job, estimate: Estimate) -> Lengths {
    let (expected_s, candidate_s) = match estimate {
        Estimate::Requested => (job.limit_s, job.limit_s),
        Estimate::Actual => (job.run_s, job.run_s),
        Estimate::CqsimMixed => (job.limit_s, job.run_s),
    };
    Lengths {
        expected_s,
        candidate_s,
    }
}

/// A machine with its running jobs.
pub(super) struct Cluster<'a, O> {
    /// The jobs that wait or run.
    pub(super) active: ActiveJobs,
    pub(super) machine: &'a Machine,
    estimate: Estimate,
    pub(super) now_s: i64,
    pub(super) pass: u32,
    /// What the pass may use: what is free, and where the order of events counts them as free, what jobs at their limit have.
    pub(super) free: Demand,
    pub(super) observer: &'a mut O,
    /// The jobs that started in this pass, in the order of their starts.
    pub(super) begun: Vec<BegunJob>,
    /// How many have started.
    begun_n: usize,
    /// What groups have of their limits.
    pub(super) limits: Option<LimitUse<'a>>,
    /// The reservations.
    pub(super) pools: Pools<'a>,
    /// What will be free of what is not reserved, where a reservation begins or ends meanwhile; only during a pass.
    pub(super) ahead: Option<Profile>,
    /// The least of the first kind that any job requests.
    least_first: i64,
    running: RunningJobs,
    endings: BinaryHeap<Reverse<Ending>>,
    frees_at_limit: bool,
    /// What jobs at their limit still have, and `free` counts already.
    counted_twice: Demand,
    /// How many steps of the capacity of the machine have come.
    step_n: usize,
    /// What takes no jobs now.
    unavailable: Demand,
    /// The reservation whose jobs are considered; `None` for what is not reserved.
    entered: Option<Entered>,
}

/// A reservation whose jobs are considered.
struct Entered {
    pool: usize,
    /// The reservation, with what is free of what is not reserved in place of its own, and what runs there.
    state: PoolState,
    /// What will be free of what is not reserved.
    ahead: Option<Profile>,
}

impl<'a, O: Observer> Cluster<'a, O> {
    pub(super) fn new(jobs: JobList<'_>, machine: &'a Machine, settings: &'a Settings, observer: &'a mut O) -> Self {
        let mut least_first = None;
        let (mut longest_s, mut has_reserved) = (0, false);
        jobs.each(|_, job| {
            let first = job.need.first();
            least_first = Some(least_first.map_or(first, |least: i64| least.min(first)));
            longest_s = lengths(job, settings.estimate).expected_s.max(longest_s);
            has_reserved |= job.reservation.is_some();
        });
        Self {
            active: ActiveJobs::default(),
            machine,
            estimate: settings.estimate,
            now_s: 0,
            pass: 0,
            free: *machine.capacity(),
            observer,
            begun: Vec::new(),
            begun_n: 0,
            limits: settings.limits.as_deref().map(LimitUse::new),
            pools: Pools::new(machine.reservations(), has_reserved, longest_s),
            ahead: None,
            // Fallback: without jobs none is kept waiting.
            least_first: least_first.unwrap_or(0),
            running: RunningJobs::default(),
            endings: BinaryHeap::new(),
            frees_at_limit: settings.events == EventOrder::Pyss,
            counted_twice: Demand::NOTHING,
            step_n: 0,
            unavailable: Demand::NOTHING,
            entered: None,
        }
    }

    /// A job waits from now on.
    pub(super) fn submit(&mut self, place: u32, job: &Job) {
        let lengths = lengths(job, self.estimate);
        let active = ActiveJob {
            job: job.clone(),
            lengths,
            is_started: false,
            large_node_n: 0,
            reserved_s: None,
            passed_n: 0,
            since_s: None,
        };
        self.active.insert(place, active);
    }

    /// Whether a job of those that were submitted has started.
    #[inline]
    pub(super) fn has_started(&self, job: u32) -> bool {
        // One that is not there has ended.
        self.active.get(job).is_none_or(|active| active.is_started)
    }

    /// When the next job ends.
    pub(super) fn next_end_s(&self) -> Option<i64> {
        self.endings.peek().map(|Reverse(ending)| ending.end_s)
    }

    /// When the capacity of the machine, or a reservation, changes next.
    pub(super) fn next_step_s(&self) -> Option<i64> {
        let step_s = self.machine.steps().get(self.step_n).map(|step| step.from_s);
        step_s.into_iter().chain(self.pools.next_s()).min()
    }

    /// Changes the capacity of the machine and its reservations if they change at a time. Jobs that run stay: less than nothing
    /// may be free.
    pub(super) fn step_at(&mut self, now_s: i64) -> bool {
        let mut has_changed = false;
        while let Some(pool) = self.pools.change_at(now_s) {
            has_changed = true;
            // What runs on when a reservation has ended runs on what is not reserved.
            for running in self.pools.change(pool, now_s) {
                self.free.take(&self.allocated(running.job));
                self.running.insert(running);
            }
        }
        has_changed |= self.capacity_step_at(now_s);
        if has_changed {
            self.settle_pools();
        }
        has_changed
    }

    fn settle_pools(&mut self) {
        self.pools.settle(self.available(), self.free, self.unavailable);
    }

    fn capacity_step_at(&mut self, now_s: i64) -> bool {
        let Some(step) = self
            .machine
            .steps()
            .get(self.step_n)
            .filter(|step| step.from_s == now_s)
        else {
            return false;
        };
        self.step_n += 1;
        self.free.add(&self.unavailable);
        self.unavailable = step.unavailable;
        self.free.take(&self.unavailable);
        true
    }

    /// What takes jobs now, free or not.
    pub(super) fn available(&self) -> Demand {
        self.machine.capacity().without(&self.unavailable)
    }

    /// Ends the next job, and gives its place. It is among the active ones until [`Self::forget`].
    pub(super) fn end_next(&mut self) -> Option<u32> {
        let Reverse(ending) = self.endings.pop()?;
        let job = ending.running.job;
        let allocation = self.allocated(job);
        if !self.pools.ended(ending.running, &allocation) {
            self.running.remove(ending.running);
            self.free.add(&allocation);
        }
        if self.pools.has_displaced() {
            self.settle_pools();
        }
        if let Some(limits) = &mut self.limits {
            limits.ended(job, self.active.need(job));
        }
        Some(job)
    }

    /// Nothing needs a job any more that has ended.
    pub(super) fn forget(&mut self, job: u32) {
        self.active.remove(job);
    }

    /// Begins a pass at a time.
    pub(super) fn begin_pass(&mut self, now_s: i64) {
        self.now_s = now_s;
        self.pass += 1;
        self.free.take(&self.pools.held_open());
        if self.frees_at_limit {
            let overdue: Vec<u32> = self.running.overdue(now_s).map(|running| running.job).collect();
            for job in overdue {
                self.counted_twice.add(&self.allocated(job));
            }
            self.free.add(&self.counted_twice);
        }
    }

    /// Ends a pass.
    pub(super) fn end_pass(&mut self) {
        self.ahead = None;
        self.free.add(&self.pools.held_open());
        if self.frees_at_limit {
            self.free.take(&self.counted_twice);
            self.counted_twice = Demand::NOTHING;
        }
    }

    /// Whether a job fits now.
    #[inline]
    pub(super) fn fits(&self, job: u32) -> bool {
        self.need(job).fits_in(&self.free) && self.leaves_reserved(job)
    }

    /// Whether a job that starts now leaves what will be reserved for others while it is expected to run.
    #[inline]
    pub(super) fn leaves_reserved(&self, job: u32) -> bool {
        self.ahead.as_ref().is_none_or(|ahead| {
            let expected_s = self.length(job).expected_s;
            ahead.earliest(self.now_s, expected_s, self.need(job)) == Some(self.now_s)
        })
    }

    /// Looks ahead where a reservation begins or ends while a job that starts now runs.
    pub(super) fn look_ahead(&mut self) {
        self.ahead = None;
        let known = self.pools.known(self.now_s);
        if known.is_empty() {
            return;
        }
        let ends = self.still_running().iter().map(|running| FreedAt {
            at_s: running.expected_end_s,
            amounts: self.allocated(running.job),
        });
        let mut ahead = Profile::of_ends(self.now_s, self.free, ends);
        for change in known {
            match change {
                KnownChange::Taken {
                    from_s,
                    until_s,
                    amounts,
                } => ahead.take(from_s, until_s, &amounts),
                KnownChange::Given { from_s, amounts } => ahead.give_from(from_s, &amounts),
            }
        }
        for on in self.pools.expected_to_run_on() {
            ahead.take(on.from_s, on.running.expected_end_s, &self.allocated(on.running.job));
        }
        self.ahead = Some(ahead);
    }

    /// Considers what is reserved, by place of the reservation, until [`Self::leave`].
    pub(super) fn enter(&mut self, pool: usize) {
        let mut state = self.pools.take_out(pool);
        let ahead = self.ahead.take();
        self.trade(&mut state);
        self.entered = Some(Entered { pool, state, ahead });
    }

    /// Considers again what is not reserved.
    pub(super) fn leave(&mut self) {
        if let Some(mut entered) = self.entered.take() {
            self.trade(&mut entered.state);
            self.pools.put_back(entered.pool, entered.state);
            self.ahead = entered.ahead;
        }
    }

    fn trade(&mut self, state: &mut PoolState) {
        std::mem::swap(&mut self.free, &mut state.free);
        std::mem::swap(&mut self.running, &mut state.running);
    }

    /// Whether a limit keeps a job from starting now, however much is free.
    #[inline]
    pub(super) fn is_limited(&self, job: u32) -> bool {
        let reached = self
            .limits
            .as_ref()
            .map(|limits| limits.reached_by(job, self.need(job)));
        reached.flatten().is_some()
    }

    /// Whether so little is free that no job fits.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.free.first() < self.least_first
    }

    #[inline]
    pub(super) fn need(&self, job: u32) -> &Demand {
        self.active.need(job)
    }

    #[inline]
    pub(super) fn length(&self, job: u32) -> Lengths {
        let lengths = self.active.get(job).map(|active| active.lengths);
        lengths.map_or(Lengths::NONE, |lengths| lengths)
    }

    /// Starts a job now, and gives what it takes.
    pub(super) fn start(&mut self, job: u32, reason: StartReason, head: Option<u32>) -> Demand {
        let allocation = self.machine.allocation(self.need(job), &self.free);
        let large_node_n = self.machine.ssd().map_or(0, |ssd| allocation.get(ssd.large_kind));
        let start = Start {
            start_s: self.now_s,
            pass: self.pass,
            reason,
            head,
            large_node_n,
        };
        self.observer.started(job, &start);
        self.free.take(&allocation);
        if let Some(entered) = &self.entered {
            self.pools.started(job, entered.pool);
        }
        let expected_end_s = self.now_s + self.length(job).expected_s;
        if let Some(ahead) = &mut self.ahead {
            ahead.take(self.now_s, expected_end_s, &allocation);
        }
        let running = Running {
            expected_end_s,
            sequence: self.begun_n,
            job,
        };
        let mut run_s = 0;
        if let Some(active) = self.active.get_mut(job) {
            run_s = active.job.run_s;
            active.is_started = true;
            active.large_node_n = large_node_n;
        }
        self.begun.push(BegunJob { job, run_s, start });
        self.begun_n += 1;
        if let Some(limits) = &mut self.limits {
            limits.started(job, self.active.need(job));
        }
        self.running.insert(running);
        let end_s = self.now_s + run_s;
        self.endings.push(Reverse(Ending {
            end_s,
            sequence: running.sequence,
            running,
        }));
        allocation
    }

    /// The running jobs that the pass does not count as ended, by expected end.
    pub(super) fn still_running(&self) -> &[Running] {
        let all = self.running.in_order();
        if !self.frees_at_limit {
            return all;
        }
        let overdue_n = self.running.overdue(self.now_s).count();
        all.get(overdue_n..).map_or(&[], |rest| rest)
    }

    /// When a job that does not fit now will, if all running jobs end when they are expected to, in every kind of resource. What
    /// takes no jobs now is expected to take none later: a job that needs it has no such time. Nor has one of a reservation that
    /// will have ended then.
    pub(super) fn shadow(&self, job: u32) -> Option<Shadow> {
        let need = self.need(job);
        let mut free = self.free;
        let until_s = self.entered.as_ref().and_then(|entered| entered.state.until_s);
        let is_in_time = |running: &&Running| until_s.is_none_or(|until_s| running.expected_end_s < until_s);
        let mut running = self.still_running().iter().take_while(is_in_time).peekable();
        while let Some(one) = running.next() {
            free.add(&self.allocated(one.job));
            let is_last = running
                .peek()
                .is_none_or(|next| next.expected_end_s != one.expected_end_s);
            if is_last && need.fits_in(&free) {
                return Some(Shadow {
                    start_s: one.expected_end_s,
                    extra: free.without(need),
                });
            }
        }
        None
    }

    /// What a running job has.
    #[inline]
    pub(super) fn allocated(&self, job: u32) -> Demand {
        let Some(active) = self.active.get(job) else {
            return Demand::NOTHING;
        };
        match self.machine.ssd() {
            Some(ssd) if active.is_started => active.job.need.with(ssd.large_kind, active.large_node_n),
            _ => active.job.need,
        }
    }
}
