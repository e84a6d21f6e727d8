//! Why a job started when it did: what each pass found while it waited.

use std::collections::BTreeMap;

use super::demand::Demand;
use super::job::Job;
use super::jobs::JobList;
use super::limits::{GroupLimits, LimitUse};
use super::machine::Machine;
use super::observer::{Observer, PassView, Reservation};
use super::profile::Profile;
use super::reserved_pool::ReservedSpan;
use super::schedule::Start;
use crate::numbers::index;

/// Why a job did not start in a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hindrance {
    /// There was not enough of a kind of resource when the pass began.
    Lacking(usize),
    /// There would have been enough of everything, had not some of a kind of resource taken no jobs.
    Unavailable(usize),
    /// The reservation it runs in was not in force.
    OutsideReservation,
    /// There was not enough of a kind of resource in the reservation it runs in.
    LackingReserved(usize),
    /// It would have fitted, and would still have had what is reserved for others from before its end on.
    BeforeReservation,
    /// It would have fitted, and its group had as much as a limit, by place, allows.
    Limited(usize),
    /// It would have fitted when the pass began: others ahead took what was free, or the job with the reservation, by
    /// place, would have been delayed.
    PassedOver(Option<u32>),
}

/// What a pass found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedPass {
    /// Its number.
    pub pass: u32,
    /// When it was.
    pub now_s: i64,
    /// What was free, of the reservation it runs in if there is one.
    pub free: Demand,
    /// What there is, free or not, of the reservation it runs in or of the machine.
    pub capacity: Demand,
    /// How many jobs were ahead.
    pub ahead_n: usize,
    /// The first of them, by place.
    pub ahead: Vec<u32>,
    /// The start that was promised to the job in this pass, if it was the first.
    pub promised_s: Option<i64>,
    /// Its priority, where jobs wait in the order of it.
    pub priority: Option<u32>,
}

/// A time in which some of the machine took no jobs, and that kept the job waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoldingOutage {
    /// The first second of what took no jobs so.
    pub from_s: i64,
    /// When that changed; `None` where it never does.
    pub until_s: Option<i64>,
    /// How much of each kind took no jobs.
    pub unavailable: Demand,
    /// How many passes the job was kept waiting in it.
    pub pass_n: u64,
}

/// A reservation that a job waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AwaitedReservation {
    /// When it is in force; `None` where it is not again.
    pub span: Option<ReservedSpan>,
    /// How many passes the job was kept waiting for it.
    pub pass_n: u64,
}

/// Most jobs ahead that are named.
const NAMED_MAX: usize = 10;

/// Watches one job, by place in the list.
#[derive(Debug)]
pub struct JobWatch<'a> {
    jobs: JobList<'a>,
    own: &'a Job,
    machine: &'a Machine,
    /// What groups have of their limits in the pass.
    limits: Option<LimitUse<'a>>,
    job: u32,
    /// The first pass it waited in.
    pub first: Option<WatchedPass>,
    /// The last pass it waited in, that of its start.
    pub last: Option<WatchedPass>,
    /// How many passes each hindrance kept it waiting.
    pub hindrances: BTreeMap<Hindrance, u64>,
    /// What of them is because of outages, in the order of time.
    pub outages: Vec<HoldingOutage>,
    /// The times of its reservation that it waited for, in the order of time.
    pub awaited: Vec<AwaitedReservation>,
    /// Its start.
    pub start: Option<Start>,
    /// What would keep it in this pass.
    pending: Option<Hindrance>,
}

impl<'a> JobWatch<'a> {
    /// Watches a job of a list on a machine under limits, and its place.
    #[must_use]
    pub fn new(
        jobs: JobList<'a>,
        machine: &'a Machine,
        limits: Option<&'a GroupLimits>,
        own: &'a Job,
        job: u32,
    ) -> Self {
        Self {
            jobs,
            own,
            limits: limits.map(LimitUse::new),
            machine,
            job,
            first: None,
            last: None,
            hindrances: BTreeMap::new(),
            outages: Vec::new(),
            awaited: Vec::new(),
            start: None,
            pending: None,
        }
    }

    /// The job.
    #[must_use]
    pub fn job(&self) -> &Job {
        self.own
    }

    /// No pass follows: what kept the job in the last one counts.
    pub fn finish(&mut self) {
        self.settle();
    }

    fn settle(&mut self) {
        let Some(hindrance) = self.pending.take() else { return };
        *self.hindrances.entry(hindrance).or_default() += 1;
        if hindrance == Hindrance::OutsideReservation {
            self.settle_reservation();
        }
        let Some(last) = self
            .last
            .as_ref()
            .filter(|_| matches!(hindrance, Hindrance::Unavailable(_)))
        else {
            return;
        };
        let steps = self.machine.steps();
        let begun_n = steps.partition_point(|step| step.from_s <= last.now_s);
        let Some(step) = steps.get(..begun_n).and_then(<[_]>::last) else {
            return;
        };
        match self.outages.last_mut() {
            Some(known) if known.from_s == step.from_s => known.pass_n += 1,
            _ => self.outages.push(HoldingOutage {
                from_s: step.from_s,
                until_s: steps.get(begun_n).map(|next| next.from_s),
                unavailable: step.unavailable,
                pass_n: 1,
            }),
        }
    }

    fn settle_reservation(&mut self) {
        let (Some(last), Some(own)) = (&self.last, self.machine.reservation(self.job().reservation)) else {
            return;
        };
        let span = own.span_from(last.now_s).copied();
        match self.awaited.last_mut() {
            Some(known) if known.span == span => known.pass_n += 1,
            _ => self.awaited.push(AwaitedReservation { span, pass_n: 1 }),
        }
    }

    /// The reservation it has to run in, by place.
    fn bound_to(&self) -> Option<u32> {
        let own = self.job().reservation?;
        let is_flexible = self.machine.reservation(Some(own)).is_none_or(|own| own.is_flexible);
        (!is_flexible).then_some(own)
    }

    /// Whether another job, by place, is considered for the same part of the machine.
    fn is_of_same_part(&self, other: u32) -> bool {
        if self.machine.reservations().is_empty() {
            return true;
        }
        let of = self.jobs.get(index(other)).and_then(|job| job.reservation);
        match self.bound_to() {
            Some(own) => of == Some(own),
            None => self.machine.reservation(of).is_none_or(|of| of.is_flexible),
        }
    }

    /// The limit that keeps it now.
    fn limited(&self) -> Option<usize> {
        self.limits.as_ref()?.reached_by(self.job, &self.job().need)
    }

    /// What keeps it when so much is free.
    fn hindrance(&self, view: &PassView<'_>) -> Hindrance {
        let job = self.job();
        let need = &job.need;
        let within_limits = || {
            let limited = self.limited();
            limited.map_or(Hindrance::PassedOver(None), Hindrance::Limited)
        };
        if let Some(own) = self.bound_to() {
            let free = view.pools.free(own);
            return match free.map(|free| need.missing_in(&free)) {
                None => Hindrance::OutsideReservation,
                Some(Some(kind)) => Hindrance::LackingReserved(kind),
                Some(None) => within_limits(),
            };
        }
        let Some(kind) = need.missing_in(view.free) else {
            let leaves_reserved = |ahead: &Profile| ahead.earliest(view.now_s, job.limit_s, need) == Some(view.now_s);
            return match view.ahead {
                Some(ahead) if !leaves_reserved(ahead) => Hindrance::BeforeReservation,
                _ => within_limits(),
            };
        };
        let mut all = *view.free;
        all.add(&self.machine.unavailable_at(view.now_s));
        match need.missing_in(&all) {
            None => Hindrance::Unavailable(kind),
            Some(kind) => Hindrance::Lacking(kind),
        }
    }
}

impl Observer for JobWatch<'_> {
    fn pass(&mut self, view: &PassView<'_>) {
        self.settle();
        if self.start.is_some() {
            return;
        }
        let Some(place) = view.waiting.iter().position(|job| *job == self.job) else {
            return;
        };
        let ahead = || {
            view.waiting
                .iter()
                .take(place)
                .filter(|job| self.is_of_same_part(**job))
        };
        let own = self.bound_to();
        let reserved = self.machine.reservation(own);
        let pass = WatchedPass {
            pass: view.pass,
            now_s: view.now_s,
            // Fallback: nothing is free in a reservation that is not in force.
            free: own.map_or(*view.free, |own| view.pools.free(own).unwrap_or_default()),
            capacity: reserved.map_or(*self.machine.capacity(), |own| own.amounts_at(view.now_s)),
            ahead_n: ahead().count(),
            ahead: ahead().take(NAMED_MAX).copied().collect(),
            promised_s: None,
            priority: view
                .priorities
                .and_then(|priorities| priorities.get(index(self.job)).copied()),
        };
        if let (Some(own), Some(seen)) = (&mut self.limits, view.limits) {
            own.copy_use(seen);
        }
        self.pending = Some(self.hindrance(view));
        if self.first.is_none() {
            self.first = Some(pass.clone());
        }
        self.last = Some(pass);
    }

    fn reserved(&mut self, reservation: &Reservation) {
        let is_of_same_part = self.is_of_same_part(reservation.job);
        if let Some(Hindrance::PassedOver(head)) = &mut self.pending
            && reservation.job != self.job
            && is_of_same_part
        {
            *head = Some(reservation.job);
        }
        if reservation.job == self.job
            && let Some(last) = &mut self.last
        {
            last.promised_s = Some(reservation.start_s);
            if let Some(first) = self.first.as_mut().filter(|first| first.pass == last.pass) {
                first.promised_s = last.promised_s;
            }
        }
    }

    fn started(&mut self, job: u32, start: &Start) {
        if job == self.job {
            self.start = Some(*start);
            self.pending = None;
            return;
        }
        // Others of its group that start in the pass reach the limit.
        if let Some(limits) = &mut self.limits
            && let Some(other) = self.jobs.get(index(job))
        {
            limits.started(job, &other.need);
        }
        if let (Some(Hindrance::PassedOver(_)), Some(limit)) = (self.pending, self.limited()) {
            self.pending = Some(Hindrance::Limited(limit));
        }
    }
}
