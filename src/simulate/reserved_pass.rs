//! A pass over the reservations that are in force: each is a machine of its own, with its own order and its own first job.

use super::cluster::Cluster;
use super::easy;
use super::observer::Observer;
use super::settings::Backfill;
use crate::numbers::Extent;

/// Starts waiting jobs inside the reservations they state, as Slurm does before all others. Gives the jobs that still wait and
/// may run on what is not reserved.
pub(super) fn start_reserved<O: Observer>(
    cluster: &mut Cluster<'_, O>,
    waiting: &[u32],
    backfill: Backfill,
) -> Vec<u32> {
    let begun_n = cluster.begun.len();
    for (pool, mut own) in cluster.pools.waiting(&cluster.active, waiting) {
        cluster.enter(pool);
        let head = easy::start_in_order(cluster, &mut own);
        if let (Some(head), Backfill::Easy) = (head, backfill) {
            easy::backfill(cluster, &mut own, head);
        }
        cluster.leave();
    }
    if cluster.begun.len().less(begun_n) > 0 {
        // What runs inside may run on when its reservation ends.
        cluster.look_ahead();
    }
    let is_open = |job: &&u32| {
        let active = cluster.active.get(**job);
        active.is_some_and(|active| !active.is_started && cluster.pools.is_open_to(&active.job))
    };
    waiting.iter().filter(is_open).copied().collect()
}
