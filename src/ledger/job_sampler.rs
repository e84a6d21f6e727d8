//! Takes the sample of the jobs of a file, job by job.

use std::collections::HashMap;

use ahash::RandomState;

use super::job_sample::{DaySample, JobSample};
use crate::time::Day;

/// A [`JobSample`] under construction.
pub struct JobSampler {
    days: HashMap<Day, DaySample, RandomState>,
}

impl Default for JobSampler {
    fn default() -> Self {
        // Fixed, so that nothing about a run depends on chance.
        let hasher = RandomState::with_seeds(1, 2, 3, 4);
        Self {
            days: HashMap::with_hasher(hasher),
        }
    }
}

impl JobSampler {
    /// Takes up a job.
    #[inline]
    pub fn add(&mut self, ended: Day, hash: u64) {
        self.days.entry(ended).or_default().add(hash);
    }

    /// The sample of all jobs.
    #[must_use]
    pub fn finish(self) -> JobSample {
        self.days.into_iter().collect()
    }
}
