//! Jobs in order, and EASY backfilling: others may start if they do not delay the first that cannot.

use super::cluster::Cluster;
use super::demand::Demand;
use super::observer::{Observer, Reservation};
use super::schedule::StartReason;

/// Starts the waiting jobs from the front while they fit; gives the first that does not.
pub(super) fn start_in_order<O: Observer>(cluster: &mut Cluster<'_, O>, waiting: &mut Vec<u32>) -> Option<u32> {
    if cluster.limits.is_some() {
        return start_within_limits(cluster, waiting);
    }
    let mut started_n = 0;
    for job in waiting.iter() {
        if !cluster.fits(*job) {
            break;
        }
        let head = waiting.first().copied().filter(|head| head != job);
        cluster.start(*job, StartReason::InOrder, head);
        started_n += 1;
    }
    waiting.drain(..started_n);
    waiting.first().copied()
}

/// As [`start_in_order`]; jobs whose limit is reached are passed over.
fn start_within_limits<O: Observer>(cluster: &mut Cluster<'_, O>, waiting: &mut Vec<u32>) -> Option<u32> {
    let first = waiting.first().copied();
    let mut head = None;
    waiting.retain(|job| {
        if head.is_some() {
            return true;
        }
        let is_limited = cluster.is_limited(*job);
        if !is_limited && cluster.fits(*job) {
            cluster.start(*job, StartReason::InOrder, first.filter(|first| first != job));
            return false;
        }
        if !is_limited {
            head = Some(*job);
        }
        true
    });
    head
}

/// Gives `head` a reservation, and starts the other waiting jobs that do not delay it. The shadow considers every kind of
/// resource: a head that waits for one of them is not delayed by jobs that need only the others.
pub(super) fn backfill<O: Observer>(cluster: &mut Cluster<'_, O>, waiting: &mut Vec<u32>, head: u32) {
    let mut gap = Gap::reserve(cluster, head);
    if !cluster.is_full() {
        waiting.retain(|job| *job == head || !gap.start(cluster, *job));
    }
}

/// As [`backfill`], where nothing was freed since a pass that gave the same job the reservation. What did not start then cannot
/// start now: no more is free, and there is less time until the reservation. So only jobs that came since are considered, in
/// their order.
pub(super) fn backfill_new<O: Observer>(
    cluster: &mut Cluster<'_, O>,
    waiting: &mut Vec<u32>,
    head: u32,
    new_jobs: &[u32],
) {
    let mut gap = Gap::reserve(cluster, head);
    let mut has_started = false;
    for job in new_jobs {
        has_started |= gap.start(cluster, *job);
    }
    if has_started {
        waiting.retain(|job| !cluster.has_started(*job));
    }
}

/// What others may take without a delay for the job with the reservation.
struct Gap {
    head: u32,
    /// The seconds until it starts, and what it leaves then; `None` where nothing can delay it: it needs what takes no jobs now,
    /// and until when is unknown.
    until: Option<GapEnd>,
}

struct GapEnd {
    most_s: i64,
    extra: Demand,
}

impl Gap {
    fn reserve<O: Observer>(cluster: &mut Cluster<'_, O>, head: u32) -> Self {
        if cluster.ahead.is_some() {
            return Self::reserve_ahead(cluster, head);
        }
        let Some(shadow) = cluster.shadow(head) else {
            return Self { head, until: None };
        };
        let lacking = cluster.need(head).missing_in(&cluster.free);
        cluster.observer.reserved(&Reservation {
            pass: cluster.pass,
            now_s: cluster.now_s,
            job: head,
            start_s: shadow.start_s,
            // Fallback: a head that fits in every kind of resource lacks the first.
            lacking: lacking.unwrap_or(0),
        });
        let until = GapEnd {
            most_s: shadow.start_s - cluster.now_s,
            extra: shadow.extra,
        };
        Self {
            head,
            until: Some(until),
        }
    }

    /// As [`Self::reserve`] where reservations of others begin or end meanwhile: what is free ahead holds a place for the first
    /// job, so that what fits there does not delay it.
    fn reserve_ahead<O: Observer>(cluster: &mut Cluster<'_, O>, head: u32) -> Self {
        let (need, length_s) = (*cluster.need(head), cluster.length(head).expected_s);
        let now_s = cluster.now_s;
        let ahead = cluster.ahead.as_mut();
        let start_s = ahead.and_then(|ahead| {
            let start_s = ahead.earliest(now_s, length_s, &need)?;
            ahead.take(start_s, start_s + length_s, &need);
            Some(start_s)
        });
        if let Some(start_s) = start_s {
            cluster.observer.reserved(&Reservation {
                pass: cluster.pass,
                now_s,
                job: head,
                start_s,
                // Fallback: a head that waits for the end of a reservation lacks the first kind.
                lacking: need.missing_in(&cluster.free).unwrap_or(0),
            });
        }
        Self { head, until: None }
    }

    /// Starts a job that fits into it.
    fn start<O: Observer>(&mut self, cluster: &mut Cluster<'_, O>, job: u32) -> bool {
        if !cluster.fits(job) || cluster.is_limited(job) {
            return false;
        }
        if let Some(until) = &mut self.until
            && cluster.length(job).candidate_s > until.most_s
        {
            let allocation = cluster.machine.allocation(cluster.need(job), &cluster.free);
            if !allocation.fits_in(&until.extra) {
                return false;
            }
            until.extra.take(&allocation);
        }
        cluster.start(job, StartReason::Backfilled, Some(self.head));
        true
    }
}
