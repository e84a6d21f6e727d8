//! Conservative backfilling: every waiting job has a reservation, and no job that comes later may delay it.

use super::cluster::Cluster;
use super::machine::Machine;
use super::observer::{Observer, Reservation};
use super::profile::Profile;
use super::schedule::StartReason;

/// The reservations of all waiting jobs, and the time running jobs still may take.
#[derive(Debug)]
pub(super) struct Reservations {
    profile: Profile,
    /// Whether a job ended before it was expected to, so that waiting jobs may move forward.
    has_gap: bool,
    /// Whether the capacity of the machine changed, so that all reservations are made again.
    is_outdated: bool,
    /// The earliest reservation of a job that still waits.
    next_s: Option<i64>,
}

impl Reservations {
    pub(super) fn new(machine: &Machine) -> Self {
        Self {
            profile: Profile::new(*machine.capacity()),
            has_gap: false,
            is_outdated: false,
            next_s: None,
        }
    }

    /// When the next waiting job starts at the latest: the scheduler must make a pass then.
    pub(super) fn next_s(&self) -> Option<i64> {
        self.next_s
    }

    /// The capacity of the machine has changed: no reservation holds.
    pub(super) fn capacity_changed(&mut self) {
        self.is_outdated = true;
    }

    /// Forgets all reservations, and what running jobs take of the machine as it is now.
    fn renew<O: Observer>(&mut self, cluster: &mut Cluster<'_, O>, waiting: &[u32]) {
        let now_s = cluster.now_s;
        self.profile = Profile::new(cluster.available());
        for running in cluster.still_running() {
            let need = cluster.allocated(running.job);
            self.profile.take(now_s, running.expected_end_s, &need);
        }
        for job in waiting {
            if let Some(active) = cluster.active.get_mut(*job) {
                active.reserved_s = None;
            }
        }
    }

    /// A job has ended: what it reserved beyond now is free.
    pub(super) fn ended<O: Observer>(&mut self, cluster: &Cluster<'_, O>, job: u32, now_s: i64) {
        if let Some(start_s) = cluster.active.get(job).and_then(|active| active.reserved_s) {
            let until_s = start_s + cluster.length(job).expected_s;
            self.profile.give(now_s, until_s, cluster.need(job));
            self.has_gap |= until_s > now_s;
        }
    }

    /// One pass: new jobs take the earliest reservation. After a job ended early, each waiting job in order gives its
    /// reservation back and takes the earliest one; it is never later than before, since its old place is free. Jobs whose
    /// time has come start.
    pub(super) fn pass<O: Observer>(&mut self, cluster: &mut Cluster<'_, O>, waiting: &mut Vec<u32>) {
        let now_s = cluster.now_s;
        if std::mem::take(&mut self.is_outdated) {
            self.renew(cluster, waiting);
        }
        self.profile.forget_before(now_s);
        let first = waiting.first().copied();
        self.next_s = None;
        waiting.retain(|job| {
            let length_s = cluster.length(*job).expected_s;
            let need = *cluster.need(*job);
            let Some(active) = cluster.active.get_mut(*job) else {
                return true;
            };
            let start_s = match active.reserved_s {
                Some(old_s) if !self.has_gap => old_s,
                old_s => {
                    if let Some(old_s) = old_s {
                        self.profile.give(old_s, old_s + length_s, &need);
                    }
                    let Some(start_s) = self.profile.earliest(now_s, length_s, &need) else {
                        // It needs what takes no jobs now: it has no reservation before that changes.
                        active.reserved_s = None;
                        return true;
                    };
                    self.profile.take(start_s, start_s + length_s, &need);
                    start_s
                }
            };
            active.reserved_s = Some(start_s);
            // At the same second a job that reached its limit may still be running; it ends before the next pass.
            if start_s > now_s || !cluster.fits(*job) {
                if start_s > now_s {
                    self.next_s = Some(self.next_s.map_or(start_s, |next_s| next_s.min(start_s)));
                }
                if first == Some(*job) {
                    cluster.observer.reserved(&Reservation {
                        pass: cluster.pass,
                        now_s,
                        job: *job,
                        start_s,
                        // Fallback: a job at its reservation waits for the first kind.
                        lacking: need.missing_in(&cluster.free).unwrap_or(0),
                    });
                }
                return true;
            }
            let head = first.filter(|first| first != job);
            let reason = if head.is_none() {
                StartReason::InOrder
            } else {
                StartReason::Backfilled
            };
            cluster.start(*job, reason, head);
            false
        });
        self.has_gap = false;
    }
}
