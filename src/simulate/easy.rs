//! Jobs in order, and EASY backfilling: others may start if they do not delay the first that cannot.

use super::cluster::Cluster;
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
    let Some(shadow) = cluster.shadow(head) else {
        // It needs what takes no jobs now, and until when is unknown: nothing can delay it.
        waiting.retain(|job| {
            if *job == head || !cluster.fits(*job) || cluster.is_limited(*job) {
                return true;
            }
            cluster.start(*job, StartReason::Backfilled, Some(head));
            false
        });
        return;
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
    if cluster.is_full() {
        return;
    }
    let most_s = shadow.start_s - cluster.now_s;
    let mut extra = shadow.extra;
    waiting.retain(|job| {
        if *job == head || !cluster.fits(*job) || cluster.is_limited(*job) {
            return true;
        }
        let is_short = cluster.length(*job).candidate_s <= most_s;
        let allocation = cluster.machine.allocation(cluster.need(*job), &cluster.free);
        if !is_short {
            if !allocation.fits_in(&extra) {
                return true;
            }
            extra.take(&allocation);
        }
        cluster.start(*job, StartReason::Backfilled, Some(head));
        false
    });
}
