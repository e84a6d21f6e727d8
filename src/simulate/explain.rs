//! Why a job started when it did: what each pass found while it waited.

use std::collections::BTreeMap;

use super::demand::Demand;
use super::job::Job;
use super::observer::{Observer, PassView, Reservation};
use super::schedule::Start;
use crate::numbers::index;

/// Why a job did not start in a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hindrance {
    /// There was not enough of a kind of resource when the pass began.
    Lacking(usize),
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
    /// What was free.
    pub free: Demand,
    /// How many jobs were ahead.
    pub ahead_n: usize,
    /// The first of them, by place.
    pub ahead: Vec<u32>,
    /// The start that was promised to the job in this pass, if it was the first.
    pub promised_s: Option<i64>,
}

/// Most jobs ahead that are named.
const NAMED_MAX: usize = 10;

/// Watches one job, by place in the list.
#[derive(Debug)]
pub struct JobWatch<'a> {
    jobs: &'a [Job],
    job: u32,
    /// The first pass it waited in.
    pub first: Option<WatchedPass>,
    /// The last pass it waited in, that of its start.
    pub last: Option<WatchedPass>,
    /// How many passes each hindrance kept it waiting.
    pub hindrances: BTreeMap<Hindrance, u64>,
    /// Its start.
    pub start: Option<Start>,
    /// What would keep it in this pass.
    pending: Option<Hindrance>,
}

impl<'a> JobWatch<'a> {
    /// Watches a job of a list, by its place.
    #[must_use]
    pub fn new(jobs: &'a [Job], job: u32) -> Self {
        Self {
            jobs,
            job,
            first: None,
            last: None,
            hindrances: BTreeMap::new(),
            start: None,
            pending: None,
        }
    }

    /// The job.
    #[must_use]
    pub fn job(&self) -> &Job {
        &self.jobs[index(self.job)]
    }

    fn settle(&mut self) {
        if let Some(hindrance) = self.pending.take() {
            *self.hindrances.entry(hindrance).or_default() += 1;
        }
    }
}

impl Observer for JobWatch<'_> {
    fn pass(&mut self, view: &PassView<'_>) {
        self.settle();
        if self.start.is_some() {
            return;
        }
        let Some(ahead_n) = view.waiting.iter().position(|job| *job == self.job) else {
            return;
        };
        let pass = WatchedPass {
            pass: view.pass,
            now_s: view.now_s,
            free: *view.free,
            ahead_n,
            ahead: view.waiting.iter().take(ahead_n.min(NAMED_MAX)).copied().collect(),
            promised_s: None,
        };
        self.pending = Some(match self.job().need.missing_in(view.free) {
            Some(kind) => Hindrance::Lacking(kind),
            None => Hindrance::PassedOver(None),
        });
        if self.first.is_none() {
            self.first = Some(pass.clone());
        }
        self.last = Some(pass);
    }

    fn reserved(&mut self, reservation: &Reservation) {
        if let Some(Hindrance::PassedOver(head)) = &mut self.pending
            && reservation.job != self.job
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
        }
    }
}
