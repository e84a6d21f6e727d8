//! The utility order of ALCF: long waits, short limits and wide jobs first.

use std::cmp::Ordering;

use super::active::ActiveJobs;
use super::job::Job;

/// The utility of a job: `(queued / limit)^3 * nodes`, both times in seconds.
#[must_use]
pub fn utility(job: &Job, now_s: i64) -> f64 {
    let share = real(now_s - job.submit_s) / real(job.limit_s.max(1));
    share * share * share * real(job.need.first())
}

/// Sorts waiting jobs, given in the order of submission, by utility, the highest first; equal ones keep their order.
pub(super) fn sort(waiting: &mut [u32], jobs: &ActiveJobs, now_s: i64) {
    waiting.sort_by_cached_key(|job| Descending(jobs.get(*job).map_or(0.0, |active| utility(&active.job, now_s))));
}

/// The double of a time or a number of nodes, which have at most 53 bits.
#[expect(clippy::cast_precision_loss, reason = "times and amounts have at most 53 bits")]
fn real(number: i64) -> f64 {
    number as f64
}

struct Descending(f64);

impl PartialEq for Descending {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Descending {}

impl PartialOrd for Descending {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Descending {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.total_cmp(&self.0)
    }
}
