//! What watches a simulation: each pass with what waits and what is free, each reservation, each start.

use super::demand::Demand;
use super::limits::LimitUse;
use super::pools::Pools;
use super::profile::Profile;
use super::schedule::Start;

/// A pass of the scheduler, before it starts anything.
#[derive(Clone, Copy, Debug)]
pub struct PassView<'a> {
    /// Its number, the first is 1.
    pub pass: u32,
    /// When it is.
    pub now_s: i64,
    /// What is free.
    pub free: &'a Demand,
    /// The waiting jobs in their order, by place in the list of jobs.
    pub waiting: &'a [u32],
    /// The priorities of jobs, by place; only where jobs wait in their order.
    pub priorities: Option<&'a [u32]>,
    /// What groups have of their limits, where there are any.
    pub limits: Option<&'a LimitUse<'a>>,
    /// The reservations.
    pub(super) pools: &'a Pools<'a>,
    /// What will be free, where a reservation begins or ends before long.
    pub(super) ahead: Option<&'a Profile>,
}

/// A reservation of the first waiting job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The pass it is made in.
    pub pass: u32,
    /// When that is.
    pub now_s: i64,
    /// The job, by place in the list.
    pub job: u32,
    /// When it starts at the latest, if no running job exceeds its expected end.
    pub start_s: i64,
    /// The kind of resource there is not enough of.
    pub lacking: usize,
}

/// Watches a simulation.
pub trait Observer {
    /// A pass begins.
    fn pass(&mut self, _pass: &PassView<'_>) {}
    /// The first waiting job does not fit and gets a reservation.
    fn reserved(&mut self, _reservation: &Reservation) {}
    /// A job starts.
    fn started(&mut self, _job: u32, _start: &Start) {}
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}
