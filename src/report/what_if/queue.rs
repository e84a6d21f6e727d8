//! Waiting jobs: their priorities and places before and after.

use super::super::lake::Lake;
use super::super::queue::Queue;
use super::super::sprio::Sprio;
use super::super::sshare::Sshare;
use super::side::FairshareSide;
use crate::config::fairshare_change::FairshareChange;
use crate::error::{Error, Kind, Result};
use crate::fairshare::priority::PriorityWeights;

/// One waiting job in one of its partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingJob {
    /// Number of the job.
    pub job_id: String,
    /// The partition.
    pub partition: String,
    /// Its account.
    pub account: Option<String>,
    /// Its user.
    pub user: Option<String>,
    /// Priority before.
    pub before: JobPlace,
    /// Priority after.
    pub after: JobPlace,
}

/// A priority, and how many are not lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobPlace {
    /// The priority.
    pub priority: u32,
    /// The place in the order of priorities, from 1; equals share one.
    pub place: usize,
}

/// Waiting jobs of the newest listing.
#[derive(Clone, Debug)]
pub struct WaitingJobs {
    /// The instant of the listing, Unix seconds.
    pub listed_s: i64,
    /// Those with a priority, the first in the order before first.
    pub jobs: Vec<WaitingJob>,
    /// Jobs that wait without a priority: held, or their age does not count yet.
    pub without_priority_n: usize,
    /// Jobs of no listed association.
    pub unlisted_n: usize,
    /// The weights before.
    pub(super) weights_before: PriorityWeights,
    /// The weights after.
    pub(super) weights_after: PriorityWeights,
}

/// The waiting jobs of a cluster under both sides; why not where the lake cannot answer. `None` where it lists none.
pub(super) fn read(
    lake: &Lake,
    before: &FairshareSide,
    after: &FairshareSide,
    change: &FairshareChange,
) -> Result<Option<Result<WaitingJobs, String>>> {
    if lake.manifest.dataset("queued_job").next().is_none() {
        return Ok(None);
    }
    let queue = match Queue::read(lake, &before.context) {
        Ok(queue) => queue,
        Err(why) if is_without_answer(&why) => return Ok(Some(Err(why.to_string()))),
        Err(why) => return Err(why),
    };
    let listed_s = queue.as_of_ms.div_euclid(1000);
    let of_before = before.instant(lake, listed_s)?;
    let of_after = after.instant_like(lake, before, &of_before)?;
    let mut changed = queue.clone();
    change.weigh(&mut changed.rule.weights);
    let sprio = |queue: &Queue, side: &FairshareSide, instant| {
        Sprio::of_queue(queue, &Sshare::of_instant(side.context.clone(), instant))
    };
    let sides = sprio(&queue, before, of_before).and_then(|first| Ok((first, sprio(&changed, after, of_after)?)));
    let (of_before, of_after) = match sides {
        Ok(sides) => sides,
        Err(why) if is_without_answer(&why) => return Ok(Some(Err(why.to_string()))),
        Err(why) => return Err(why),
    };
    let (places_before, places_after) = (places(&of_before), places(&of_after));
    if places_before.len() != places_after.len() {
        return Err(Error::internal("a what-if has other waiting jobs"));
    }
    let mut jobs: Vec<WaitingJob> = (of_before.priorities())
        .zip(places_before.into_iter().zip(places_after))
        .map(|(waiting, (before, after))| WaitingJob {
            job_id: waiting.job.job_id.clone(),
            partition: waiting.partition.to_owned(),
            account: waiting.job.account.clone(),
            user: waiting.job.user.clone(),
            before,
            after,
        })
        .collect();
    jobs.sort_by_key(|job| job.before.place);
    Ok(Some(Ok(WaitingJobs {
        listed_s,
        jobs,
        without_priority_n: of_before.without_priority_n,
        unlisted_n: of_before.unlisted.len(),
        weights_before: queue.rule.weights,
        weights_after: changed.rule.weights,
    })))
}

/// Whether a lake lacks what an answer takes, or what it has is no answer.
fn is_without_answer(why: &Error) -> bool {
    matches!(why.kind(), Kind::Data | Kind::NoInput)
}

/// The place of every line of a queue.
fn places(sprio: &Sprio) -> Vec<JobPlace> {
    let mut sorted: Vec<u32> = sprio.priorities().map(|waiting| waiting.priority).collect();
    sorted.sort_unstable_by(|one, other| other.cmp(one));
    (sprio.priorities())
        .map(|waiting| JobPlace {
            priority: waiting.priority,
            place: sorted.partition_point(|priority| *priority > waiting.priority) + 1,
        })
        .collect()
}
