//! The jobs that wait or run: what a scheduler looks at again and again, while the others are where they are.

use super::demand::Demand;
use super::job::Job;
use super::schedule::Start;
use crate::numbers::index;

/// Jobs of a page, which is there while one of them waits or runs.
const PAGE_N: usize = 64;

/// How long a job may run and will be considered to run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    /// Until its expected end, from its start.
    pub(super) expected_s: i64,
    /// When it is considered for backfilling.
    pub(super) candidate_s: i64,
}

impl Lengths {
    /// Of a job that has ended.
    pub(super) const NONE: Self = Self {
        expected_s: 0,
        candidate_s: 0,
    };
}

/// A job that waits or runs.
#[derive(Clone, Debug)]
pub(super) struct ActiveJob {
    pub(super) job: Job,
    /// How long it is taken to run.
    pub(super) lengths: Lengths,
    /// Whether it runs.
    pub(super) is_started: bool,
    /// Nodes with the large local storage that it has.
    pub(super) large_node_n: i64,
    /// Its reserved start while it waits, and its start once it runs: of conservative backfilling.
    pub(super) reserved_s: Option<i64>,
    /// Passes it was in the window without being chosen.
    pub(super) passed_n: u32,
    /// When it first was in the window.
    pub(super) since_s: Option<i64>,
}

/// A job that has started.
#[derive(Clone, Copy, Debug)]
pub(super) struct BegunJob {
    /// Its place in the list of jobs.
    pub(super) job: u32,
    /// How long it runs.
    pub(super) run_s: i64,
    /// Its start.
    pub(super) start: Start,
}

/// Some jobs whose places are next to each other.
#[derive(Debug)]
struct ActivePage {
    jobs: Vec<Option<ActiveJob>>,
    job_n: usize,
}

/// All jobs that wait or run, by place in the list of jobs.
#[derive(Debug, Default)]
pub(super) struct ActiveJobs {
    pages: Vec<Option<Box<ActivePage>>>,
}

impl ActiveJobs {
    pub(super) fn insert(&mut self, place: u32, job: ActiveJob) {
        let (nth, within) = (index(place) / PAGE_N, index(place) % PAGE_N);
        if self.pages.len() <= nth {
            self.pages.resize_with(nth + 1, || None);
        }
        let Some(page) = self.pages.get_mut(nth) else { return };
        let page = page.get_or_insert_with(|| {
            let jobs = std::iter::repeat_with(|| None).take(PAGE_N).collect();
            Box::new(ActivePage { jobs, job_n: 0 })
        });
        if let Some(slot) = page.jobs.get_mut(within) {
            page.job_n += usize::from(slot.is_none());
            *slot = Some(job);
        }
    }

    /// A job has ended.
    pub(super) fn remove(&mut self, place: u32) {
        let Some(slot) = self.pages.get_mut(index(place) / PAGE_N) else {
            return;
        };
        let Some(page) = slot else { return };
        let job = page.jobs.get_mut(index(place) % PAGE_N).and_then(Option::take);
        page.job_n -= usize::from(job.is_some());
        if page.job_n == 0 {
            *slot = None;
        }
    }

    #[inline]
    pub(super) fn get(&self, place: u32) -> Option<&ActiveJob> {
        let page = self.pages.get(index(place) / PAGE_N)?.as_deref()?;
        page.jobs.get(index(place) % PAGE_N)?.as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, place: u32) -> Option<&mut ActiveJob> {
        let page = self.pages.get_mut(index(place) / PAGE_N)?.as_deref_mut()?;
        page.jobs.get_mut(index(place) % PAGE_N)?.as_mut()
    }

    /// What a job requests; nothing once it has ended.
    #[inline]
    pub(super) fn need(&self, place: u32) -> &Demand {
        self.get(place).map_or(&Demand::NOTHING, |active| &active.job.need)
    }
}
