//! Limits on what jobs of one user, account, partition or QOS may have at a time, as `GrpTRES` and `MaxJobs` of Slurm.
//!
//! A job whose group has as much as it may is passed over: it takes no place in a window, gets no reservation, and others start
//! before it.

use super::demand::Demand;
use super::jobs::JobList;
use super::schedule::Start;
use crate::error::{Error, Result};
use crate::numbers::index;
use crate::runtime::column::Column;

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedAmount {
    /// Jobs that run.
    Jobs,
    /// Their amount of a kind of resource.
    Kind(usize),
}

impl LimitedAmount {
    /// How much a job adds.
    #[inline]
    #[must_use]
    pub fn of(self, need: &Demand) -> i64 {
        match self {
            Self::Jobs => 1,
            Self::Kind(kind) => need.get(kind),
        }
    }
}

/// The limit of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupLimit {
    /// Whose, and of what: `partition gpu: cores`.
    pub name: String,
    /// What is limited.
    pub amount: LimitedAmount,
    /// The most at a time.
    pub most: i64,
}

/// The limits of a simulation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupLimits {
    /// All limits.
    pub limits: Vec<GroupLimit>,
    /// By place of a job in the list, the places of the limits it counts for.
    pub of_jobs: Vec<Vec<u32>>,
}

impl GroupLimits {
    /// Whether they are of these jobs, each of which alone is within them.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when not.
    pub(super) fn check(&self, jobs: JobList<'_>) -> Result<()> {
        let mut is_of_them = self.of_jobs.len() == jobs.len();
        jobs.each(|place, job| {
            let mut limits = self.of(place).map(|at| self.limits.get(at));
            is_of_them &= limits.all(|limit| limit.is_some_and(|limit| limit.amount.of(&job.need) <= limit.most));
        });
        if is_of_them {
            Ok(())
        } else {
            Err(Error::internal(
                "limits of other jobs, or a job that is beyond its limit alone",
            ))
        }
    }

    /// The first limit that a job alone is beyond.
    #[must_use]
    pub fn beyond(&self, place: usize, need: &Demand) -> Option<&GroupLimit> {
        let mut limits = self.of(place).filter_map(|at| self.limits.get(at));
        limits.find(|limit| limit.amount.of(need) > limit.most)
    }

    fn of(&self, place: usize) -> impl Iterator<Item = usize> {
        self.of_jobs.get(place).into_iter().flatten().map(|at| index(*at))
    }

    /// The limits that starts exceed, found out from them alone: each by name with the first second in which it is.
    #[must_use]
    pub fn exceeded<'a>(&self, jobs: impl Into<JobList<'a>>, starts: &Column<Option<Start>>) -> Vec<ExceededLimit> {
        let mut changes: Vec<Vec<AmountChange>> = vec![Vec::new(); self.limits.len()];
        for (place, (job, start)) in jobs.into().iter().zip(starts).enumerate() {
            let Some(start) = start else { continue };
            for at in self.of(place) {
                if let (Some(limit), Some(of)) = (self.limits.get(at), changes.get_mut(at)) {
                    let more = limit.amount.of(&job.need);
                    of.push(AmountChange {
                        at_s: start.start_s,
                        more,
                    });
                    of.push(AmountChange {
                        at_s: start.start_s + job.run_s,
                        more: -more,
                    });
                }
            }
        }
        let mut found = Vec::new();
        for (limit, mut of) in self.limits.iter().zip(changes) {
            // What ends in a second ends before what starts in it.
            of.sort_unstable();
            let mut used = 0;
            let beyond = of.iter().find(|change| {
                used += change.more;
                used > limit.most
            });
            found.extend(beyond.map(|change| ExceededLimit {
                name: limit.name.clone(),
                at_s: change.at_s,
            }));
        }
        found
    }
}

/// More or less of what is limited from a second on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct AmountChange {
    at_s: i64,
    more: i64,
}

/// A limit that a schedule exceeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExceededLimit {
    /// The limit.
    pub name: String,
    /// The first second.
    pub at_s: i64,
}

/// What groups have while a simulation runs.
#[derive(Clone, Debug)]
pub struct LimitUse<'a> {
    of: &'a GroupLimits,
    used: Vec<i64>,
}

impl<'a> LimitUse<'a> {
    pub(super) fn new(of: &'a GroupLimits) -> Self {
        Self {
            used: vec![0; of.limits.len()],
            of,
        }
    }

    /// Takes what groups have from another one of the same limits.
    pub(super) fn copy_use(&mut self, other: &LimitUse<'_>) {
        self.used.clone_from(&other.used);
    }

    /// The place of the first limit that keeps a job from starting now.
    #[must_use]
    pub fn reached_by(&self, job: u32, need: &Demand) -> Option<usize> {
        self.of.of(index(job)).find(|at| {
            let (limit, used) = (self.of.limits.get(*at), self.used.get(*at));
            limit
                .zip(used)
                .is_some_and(|(limit, used)| used + limit.amount.of(need) > limit.most)
        })
    }

    pub(super) fn started(&mut self, job: u32, need: &Demand) {
        for at in self.of.of(index(job)) {
            if let (Some(limit), Some(used)) = (self.of.limits.get(at), self.used.get_mut(at)) {
                *used += limit.amount.of(need);
            }
        }
    }

    pub(super) fn ended(&mut self, job: u32, need: &Demand) {
        for at in self.of.of(index(job)) {
            if let (Some(limit), Some(used)) = (self.of.limits.get(at), self.used.get_mut(at)) {
                *used -= limit.amount.of(need);
            }
        }
    }
}
