//! Whether backfilling delayed the first waiting job: found out from a schedule alone.

use super::demand::Demand;
use super::job::Job;
use super::jobs::JobList;
use super::machine::Machine;
use super::running::{Running, RunningJobs};
use super::schedule::Schedule;
use crate::numbers::index;

/// A first waiting job that started later than it could have been promised before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadDelay {
    /// Its number.
    pub id: i64,
    /// When the earliest promise could be made.
    pub promised_at_s: i64,
    /// The promised start.
    pub promised_s: i64,
    /// Its start.
    pub start_s: i64,
}

/// Goes through a schedule of jobs that wait in the order of the list: at every second with a start or an end, the first job
/// that waits then fits when the running jobs have reached their limits. It must not start later than the earliest of these
/// times. Jobs that wait for others are not in such schedules. All are in memory.
#[must_use]
pub fn head_delays<'a>(jobs: impl Into<JobList<'a>>, machine: &Machine, schedule: &Schedule) -> Vec<HeadDelay> {
    let (jobs, known): (Vec<Job>, Vec<_>) = jobs.into().iter().zip(&schedule.starts).unzip();
    let mut times = Vec::with_capacity(jobs.len() * 2);
    let mut order: Vec<u32> = Vec::with_capacity(jobs.len());
    for (at, started) in (0..).zip(jobs.iter().zip(&known)) {
        if let (job, Some(start)) = started {
            times.extend([job.submit_s, start.start_s, start.start_s + job.run_s]);
            order.push(at);
        }
    }
    times.sort_unstable();
    times.dedup();
    let start_s = |at: u32| known[index(at)].map_or(i64::MAX, |start| start.start_s);
    let end_s = |at: u32| start_s(at) + jobs[index(at)].run_s;
    let mut by_start = order.clone();
    by_start.sort_by_key(|at| (start_s(*at), *at));
    let mut by_end = order.clone();
    by_end.sort_by_key(|at| (end_s(*at), *at));
    let (mut beginning, mut ending) = (by_start.iter().peekable(), by_end.iter().peekable());
    let mut running = RunningJobs::default();
    let mut free = *machine.capacity();
    let of = |at: u32| Running {
        expected_end_s: start_s(at) + jobs[index(at)].limit_s,
        sequence: 0,
        job: at,
    };
    let allocation = |at: u32| {
        let need = jobs[index(at)].need;
        match (machine.ssd(), known[index(at)]) {
            (Some(ssd), Some(start)) => need.with(ssd.large_kind, start.large_node_n),
            _ => need,
        }
    };
    let mut delays: Vec<HeadDelay> = Vec::new();
    let mut head_at = 0;
    for now_s in times {
        while let Some(at) = ending.next_if(|at| end_s(**at) <= now_s && start_s(**at) < now_s) {
            running.remove(of(*at));
            free.add(&allocation(*at));
        }
        while let Some(at) = beginning.next_if(|at| start_s(**at) <= now_s) {
            running.insert(of(*at));
            free.take(&allocation(*at));
        }
        while order.get(head_at).is_some_and(|at| start_s(*at) <= now_s) {
            head_at += 1;
        }
        let Some(head) = order.get(head_at).copied() else { break };
        let job = &jobs[index(head)];
        if job.submit_s > now_s {
            continue;
        }
        let promised_s = promise(&job.need, &running, free, now_s, &allocation);
        if start_s(head) > promised_s && delays.last().is_none_or(|last| last.id != job.id) {
            delays.push(HeadDelay {
                id: job.id,
                promised_at_s: now_s,
                promised_s,
                start_s: start_s(head),
            });
        }
    }
    delays
}

/// When so much is free if running jobs end at their limits.
fn promise(
    need: &Demand,
    running: &RunningJobs,
    mut free: Demand,
    now_s: i64,
    allocation: &impl Fn(u32) -> Demand,
) -> i64 {
    if need.fits_in(&free) {
        return now_s;
    }
    for one in running.in_order() {
        free.add(&allocation(one.job));
        if need.fits_in(&free) {
            return one.expected_end_s;
        }
    }
    i64::MAX
}
