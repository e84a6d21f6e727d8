//! The loop over events: jobs are submitted, released and end, and after them the scheduler makes a pass.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::active::BegunJob;
use super::cluster::Cluster;
use super::conservative::Reservations;
use super::easy;
use super::jobs::{JobList, JobReader};
use super::machine::Machine;
use super::observer::{NoObserver, Observer};
use super::order::WaitingJobs;
use super::predecessor::{Dependents, PredecessorEvent, Released};
use super::reserved_pass::start_reserved;
use super::schedule::{Schedule, StartSorter};
use super::settings::{Backfill, BaseOrder, Estimate, EventOrder, Settings};
use super::window::WindowScheduler;
use crate::error::{Error, Result};
use crate::numbers::{count_u64, index};

/// Simulates jobs on a machine. The jobs are those of a [`super::trace::Trace`] that all fit on the machine.
///
/// # Errors
/// [`crate::error::Kind::Config`] when settings exclude each other; [`crate::error::Kind::Data`] when usage of fairshare does
/// not fit; [`crate::error::Kind::Internal`] when a job does not fit; [`crate::error::Kind::Io`] when the starts of many jobs cannot be
/// put into a temporary file.
pub fn simulate<'a>(jobs: impl Into<JobList<'a>>, machine: &Machine, settings: &Settings) -> Result<Schedule> {
    simulate_with(jobs, machine, settings, &mut NoObserver)
}

/// As [`simulate`], watched.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_with<'a, O: Observer>(
    jobs: impl Into<JobList<'a>>,
    machine: &Machine,
    settings: &Settings,
    observer: &mut O,
) -> Result<Schedule> {
    let jobs = jobs.into();
    check(jobs, machine, settings)?;
    let mut engine = Engine::new(jobs, machine, settings, observer)?;
    engine.run()?;
    let mut schedule = Schedule {
        starts: engine.starts.finish(jobs.len())?,
        pass_n: engine.cluster.pass,
        ..Schedule::default()
    };
    if let Some(window) = engine.window {
        schedule.solved = window.solved();
    }
    Ok(schedule)
}

fn check(jobs: JobList<'_>, machine: &Machine, settings: &Settings) -> Result<()> {
    let (mut unfit, mut reserved) = (None, None);
    jobs.each(|_, job| {
        if unfit.is_none() && !job.need.fits_in(machine.capacity()) {
            unfit = Some(job.id);
        }
        reserved = reserved.max(job.reservation);
    });
    if let Some(id) = unfit {
        return Err(Error::internal(format!("job {id} does not fit on the machine")));
    }
    let reservation_n = count_u64(machine.reservations().len());
    if let Some(place) = reserved.filter(|place| u64::from(*place) >= reservation_n) {
        return Err(Error::internal(format!("the machine has no reservation {place}")));
    }
    let is_conservative = settings.backfill == Backfill::Conservative;
    if is_conservative && reserved.is_some() {
        return Err(Error::config(
            "conservative backfilling plans one machine: where jobs run in reservations choose --backfill easy, or --outages none",
        ));
    }
    if is_conservative && settings.estimate == Estimate::CqsimMixed {
        return Err(Error::config(
            "conservative backfilling reserves for one length of a job: the estimate cqsim-mixed has two",
        ));
    }
    if is_conservative && (settings.window.is_some() || settings.base != BaseOrder::Fcfs) {
        return Err(Error::config(
            "conservative backfilling keeps the order of submission: it has no window and no other base order",
        ));
    }
    if let Some(limits) = &settings.limits {
        limits.check(jobs)?;
        if is_conservative {
            return Err(Error::config(
                "conservative backfilling reserves for every waiting job: with limits some have no time to reserve",
            ));
        }
    }
    if is_conservative && machine.ssd().is_some() {
        return Err(Error::config(
            "conservative backfilling reserves fungible resources, not nodes with two sizes of local storage",
        ));
    }
    Ok(())
}

/// A job that becomes eligible at a time other than its submission.
type Release = Reverse<(i64, u32)>;

struct Engine<'a, O> {
    jobs: JobReader<'a>,
    /// The starts of the schedule.
    starts: StartSorter,
    cluster: Cluster<'a, O>,
    settings: &'a Settings,
    waiting: WaitingJobs<'a>,
    /// Jobs without a predecessor, in order; the next to be submitted.
    next_job: usize,
    /// When that is.
    next_job_s: Option<i64>,
    releases: BinaryHeap<Release>,
    /// Who waits for starts and ends of jobs.
    dependents: Dependents,
    reservations: Option<Reservations>,
    window: Option<WindowScheduler>,
    /// The job that did not fit in the last pass and got the reservation.
    blocked: Option<u32>,
    /// Whether a job has ended since, or the machine has changed.
    is_freed: bool,
}

impl<'a, O: Observer> Engine<'a, O> {
    fn new(jobs: JobList<'a>, machine: &'a Machine, settings: &'a Settings, observer: &'a mut O) -> Result<Self> {
        let cluster = Cluster::new(jobs, machine, settings, observer);
        let reservations = (settings.backfill == Backfill::Conservative).then(|| Reservations::new(machine));
        let window = match &settings.window {
            Some(window) => Some(WindowScheduler::new(window, machine)?),
            None => None,
        };
        Ok(Self {
            jobs: jobs.reader(),
            starts: StartSorter::new(jobs.budget().part()),
            cluster,
            settings,
            waiting: WaitingJobs::new(settings, jobs)?,
            next_job: 0,
            next_job_s: None,
            releases: BinaryHeap::new(),
            dependents: Dependents::new(jobs),
            reservations,
            window,
            blocked: None,
            is_freed: false,
        })
    }

    fn run(&mut self) -> Result<()> {
        self.skip_dependent();
        loop {
            let reserved_s = self.reservations.as_ref().and_then(Reservations::next_s);
            let next = [self.next_submission_s(), self.cluster.next_end_s(), reserved_s];
            let next_s = next.into_iter().flatten().min();
            // Where no job can come, end or start, what becomes of the machine does not matter.
            let step_s = self
                .cluster
                .next_step_s()
                .filter(|_| next_s.is_some() || !self.waiting.jobs.is_empty());
            let Some(now_s) = next_s.into_iter().chain(step_s).min() else {
                return Ok(());
            };
            if self.cluster.step_at(now_s) {
                self.is_freed = true;
                if let Some(reservations) = &mut self.reservations {
                    reservations.capacity_changed();
                }
            }
            match self.settings.events {
                EventOrder::Batched => {
                    while self.end_at(now_s) {}
                    while self.submit_at(now_s) {}
                    self.pass(now_s)?;
                }
                // A pass without an event is for the reservation that is due.
                EventOrder::Cqsim => {
                    let _ = self.end_at(now_s) || self.submit_at(now_s);
                    self.pass(now_s)?;
                }
                EventOrder::Pyss => {
                    let _ = self.submit_at(now_s) || self.end_at(now_s);
                    self.pass(now_s)?;
                }
            }
        }
    }

    fn skip_dependent(&mut self) {
        while let Some(job) = self.jobs.get(self.next_job) {
            if job.after.is_empty() {
                self.next_job_s = Some(job.submit_s);
                return;
            }
            self.next_job += 1;
        }
        self.next_job_s = None;
    }

    fn next_submission_s(&self) -> Option<i64> {
        let release = self.releases.peek().map(|Reverse((at_s, _))| *at_s);
        self.next_job_s.into_iter().chain(release).min()
    }

    /// A job waits from now on.
    fn submit(&mut self, place: u32, now_s: i64) {
        if let Some(job) = self.jobs.get(index(place)) {
            self.cluster.submit(place, job);
            self.waiting.add(place, now_s);
        }
    }

    /// Ends a job that ends at a time, where there is one.
    fn end_at(&mut self, now_s: i64) -> bool {
        if self.cluster.next_end_s() != Some(now_s) {
            return false;
        }
        let Some(job) = self.cluster.end_next() else {
            return false;
        };
        self.is_freed = true;
        if let Some(reservations) = &mut self.reservations {
            reservations.ended(&self.cluster, job, now_s);
        }
        self.cluster.forget(job);
        self.happened(PredecessorEvent::End, job, now_s);
        true
    }

    /// Something happened to a job that others may wait for.
    fn happened(&mut self, event: PredecessorEvent, job: u32, now_s: i64) {
        for Released { job, at_s } in self.dependents.happened(event, job, now_s) {
            let submit_s = self.jobs.get(index(job)).map_or(at_s, |job| job.submit_s);
            self.releases.push(Reverse((submit_s.max(at_s), job)));
        }
    }

    /// Lets a job wait that is submitted or released at a time, where there is one.
    fn submit_at(&mut self, now_s: i64) -> bool {
        let is_released = self.releases.peek().is_some_and(|Reverse((at_s, _))| *at_s == now_s);
        if is_released {
            let Some(Reverse((_, job))) = self.releases.pop() else {
                return false;
            };
            if self.dependents.close(job) {
                self.submit(job, now_s);
            }
            return true;
        }
        if self.next_job_s != Some(now_s) {
            return false;
        }
        let Ok(job) = u32::try_from(self.next_job) else {
            return false;
        };
        self.submit(job, now_s);
        self.next_job += 1;
        self.skip_dependent();
        true
    }

    fn pass(&mut self, now_s: i64) -> Result<()> {
        self.cluster.begin_pass(now_s);
        if self.waiting.jobs.is_empty() {
            self.blocked = None;
        } else {
            self.cluster.look_ahead();
            self.waiting.begin_pass(&mut self.cluster)?;
            self.start_jobs();
            let begun = std::mem::take(&mut self.cluster.begun);
            for BegunJob { job, start, .. } in &begun {
                self.starts.push(*job, *start)?;
            }
            if self.dependents.watch_starts() {
                for begun in &begun {
                    self.happened(PredecessorEvent::Start, begun.job, now_s);
                }
            }
            self.waiting.end_pass(&self.cluster, &begun);
            self.cluster.begun = begun;
            self.cluster.begun.clear();
        }
        self.is_freed = false;
        self.cluster.end_pass();
        Ok(())
    }

    /// The job that got the reservation in the last pass and still waits first, where nothing was freed since: no job that was
    /// considered then can start now. That does not hold for jobs at their limit that count as free, for limits and windows, where a
    /// reservation is ahead, and where a job is considered for less time than it is expected to run, so that it delays the reservation.
    fn still_blocked(&self) -> Option<u32> {
        let has_own_rules = self.window.is_some()
            || self.cluster.limits.is_some()
            || self.cluster.ahead.is_some()
            || self.settings.events == EventOrder::Pyss
            || self.settings.estimate == Estimate::CqsimMixed;
        let first = self.waiting.jobs.first().copied();
        self.blocked
            .filter(|blocked| !has_own_rules && !self.is_freed && first == Some(*blocked))
    }

    /// Starts jobs inside reservations, then on what is not reserved.
    fn start_jobs(&mut self) {
        if !self.cluster.pools.has_jobs() {
            return self.start_open();
        }
        let mut all = std::mem::take(&mut self.waiting.jobs);
        self.waiting.jobs = start_reserved(&mut self.cluster, &all, self.settings.backfill);
        if self.waiting.jobs.is_empty() {
            self.blocked = None;
        } else {
            self.start_open();
        }
        all.retain(|job| !self.cluster.has_started(*job));
        self.waiting.jobs = all;
    }

    fn start_open(&mut self) {
        if let Some(head) = self.still_blocked()
            && let Some(mut new_jobs) = self.waiting.new_jobs()
        {
            if self.cluster.pools.has_jobs() {
                // Those of reservations are not among the jobs considered here.
                let open: BTreeSet<u32> = self.waiting.jobs.iter().copied().collect();
                new_jobs.retain(|job| open.contains(job));
            }
            if self.settings.backfill == Backfill::Easy {
                easy::backfill_new(&mut self.cluster, &mut self.waiting.jobs, head, &new_jobs);
            }
            return;
        }
        let (cluster, waiting) = (&mut self.cluster, &mut self.waiting.jobs);
        if let Some(reservations) = &mut self.reservations {
            return reservations.pass(cluster, waiting);
        }
        let forced = match &mut self.window {
            Some(window) => window.pass(cluster, waiting),
            None => None,
        };
        let head = match forced {
            Some(forced) => Some(forced),
            None => easy::start_in_order(cluster, waiting),
        };
        self.blocked = head;
        if let (Some(head), Backfill::Easy) = (head, self.settings.backfill) {
            easy::backfill(cluster, waiting, head);
        }
        if let Some(window) = &mut self.window {
            window.count_waiting(cluster);
        }
    }
}
