//! Jobs that run, in the order in which they are expected to end.

/// A job that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Running {
    /// When it is expected to end.
    pub(super) expected_end_s: i64,
    /// The how-manieth start it was.
    pub(super) sequence: usize,
    /// Its place in the list of jobs.
    pub(super) job: u32,
}

/// All jobs that run.
#[derive(Debug, Default)]
pub(super) struct RunningJobs {
    /// By expected end, then by start.
    by_end: Vec<Running>,
}

impl RunningJobs {
    pub(super) fn insert(&mut self, job: Running) {
        let at = self.by_end.partition_point(|other| *other < job);
        self.by_end.insert(at, job);
    }

    pub(super) fn remove(&mut self, job: Running) {
        if let Ok(at) = self.by_end.binary_search(&job) {
            self.by_end.remove(at);
        }
    }

    /// Those that are expected to have ended by `now_s`.
    pub(super) fn overdue(&self, now_s: i64) -> impl Iterator<Item = &Running> {
        self.by_end.iter().take_while(move |job| job.expected_end_s <= now_s)
    }

    /// All, by expected end.
    pub(super) fn in_order(&self) -> &[Running] {
        &self.by_end
    }
}
