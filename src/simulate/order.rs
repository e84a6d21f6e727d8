//! The order in which jobs wait.

use super::active::BegunJob;
use super::cluster::Cluster;
use super::jobs::JobList;
use super::multifactor::PriorityOrder;
use super::observer::{Observer, PassView};
use super::settings::{BaseOrder, Settings};
use super::wfp;
use crate::error::{Error, Result};

/// The waiting jobs, by place in the list of jobs.
pub(super) struct WaitingJobs<'a> {
    /// Sorted for the pass once it has begun.
    pub(super) jobs: Vec<u32>,
    /// Those that came since the last pass.
    added: Vec<u32>,
    order: WaitingOrder<'a>,
}

enum WaitingOrder<'a> {
    /// By place: they are kept in order.
    Submission,
    /// By utility: they are kept by place between passes, and here during one.
    Utility(Vec<u32>),
    /// By priority: they are kept in order, those that came last at the end.
    Priority(Box<PriorityOrder<'a>>),
}

impl<'a> WaitingJobs<'a> {
    /// # Errors
    /// [`crate::error::Kind::Config`] when priorities are not stated.
    pub(super) fn new(settings: &'a Settings, jobs: JobList<'_>) -> Result<Self> {
        let order = match (settings.base, &settings.multifactor) {
            (BaseOrder::Fcfs, _) => WaitingOrder::Submission,
            (BaseOrder::Wfp, _) => WaitingOrder::Utility(Vec::new()),
            (BaseOrder::Multifactor, Some(of)) => {
                of.check(jobs)?;
                WaitingOrder::Priority(Box::new(PriorityOrder::new(of, jobs)))
            }
            (BaseOrder::Multifactor, None) => {
                return Err(Error::config("the order multifactor needs the weights of priorities"));
            }
        };
        Ok(Self {
            jobs: Vec::new(),
            added: Vec::new(),
            order,
        })
    }

    /// A job waits from now on.
    pub(super) fn add(&mut self, job: u32, now_s: i64) {
        self.added.push(job);
        if let WaitingOrder::Priority(order) = &mut self.order {
            order.submitted(job, now_s);
            return self.jobs.push(job);
        }
        let at = match self.jobs.last() {
            Some(last) if *last > job => self.jobs.partition_point(|other| *other < job),
            _ => self.jobs.len(),
        };
        self.jobs.insert(at, job);
    }

    /// Sorts them for a pass, and shows them to who watches.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when usage of fairshare does not fit.
    pub(super) fn begin_pass<O: Observer>(&mut self, cluster: &mut Cluster<'_, O>) -> Result<()> {
        let mut priorities = None;
        match &mut self.order {
            WaitingOrder::Submission => {}
            WaitingOrder::Utility(kept) => {
                kept.clone_from(&self.jobs);
                wfp::sort(&mut self.jobs, &cluster.active, cluster.now_s);
            }
            WaitingOrder::Priority(order) => {
                order.sort(&mut self.jobs, cluster.now_s)?;
                priorities = Some(order.priorities()).filter(|_| self.jobs.len() > 1);
            }
        }
        cluster.observer.pass(&PassView {
            pass: cluster.pass,
            now_s: cluster.now_s,
            free: &cluster.free,
            waiting: &self.jobs,
            priorities,
            limits: cluster.limits.as_ref(),
            pools: &cluster.pools,
            ahead: cluster.ahead.as_ref(),
        });
        Ok(())
    }

    /// The jobs that came since the last pass, in the order in which they wait; `None` where that order is another one in every
    /// pass.
    pub(super) fn new_jobs(&mut self) -> Option<Vec<u32>> {
        match &self.order {
            WaitingOrder::Submission => self.added.sort_unstable(),
            WaitingOrder::Utility(_) => return None,
            WaitingOrder::Priority(order) => self.added.sort_unstable_by_key(|job| order.key(*job)),
        }
        Some(std::mem::take(&mut self.added))
    }

    /// What has not started waits on.
    pub(super) fn end_pass<O: Observer>(&mut self, cluster: &Cluster<'_, O>, begun: &[BegunJob]) {
        self.added.clear();
        match &mut self.order {
            WaitingOrder::Submission => {}
            WaitingOrder::Utility(kept) => {
                kept.retain(|job| !cluster.has_started(*job));
                std::mem::swap(kept, &mut self.jobs);
            }
            WaitingOrder::Priority(order) => order.passed(self.jobs.len(), begun),
        }
    }
}
