//! Jobs of a log under rules, and what became of every line of it.

use std::collections::{BTreeMap, BTreeSet};

use super::demand::Demand;
use super::job::{Job, JobEnd};
use super::jobs::{JobList, JobSorter, Jobs, TakenJob};
use super::machine::Machine;
use super::predecessor::Predecessors;
use super::swf::{SwfLine, SwfLog};
use super::trace_change::JobChanges;
pub use super::trace_change::TraceChange;
use crate::error::{Error, Kind, Result};
use crate::numbers::count_u64;
use crate::runtime::column::{ColumnBudget, ColumnWriter};
use crate::runtime::sorter::Sorter;

/// Sums of all times stay below this, so that no instant of a schedule is beyond its type.
const LATEST_S: i64 = 1 << 61;

/// How jobs are made of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SwfRules {
    /// Requested processors, else allocated ones; the requested time, else the run time; a run ends at its limit. Lines
    /// without a run, processors or a submission are left out, as are parts of jobs.
    #[default]
    Standard,
    /// As `PySS`: allocated processors; a job without a run or processors runs one second on one. No job waits for another.
    Pyss,
    /// As `CQSim`: requested processors; jobs without a run are left out. No job waits for another.
    Cqsim,
}

/// Why a job is not simulated, or not as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceReason {
    /// The line could not be read.
    Unreadable,
    /// It was submitted before the log began.
    SubmittedBefore,
    /// A part of a job that is in the log as a whole.
    PartOfJob,
    /// It was cancelled before it started.
    CancelledWaiting,
    /// It did not run.
    DidNotRun,
    /// It has no processors.
    NoProcessors,
    /// It requests more than the machine has.
    NeverFits,
    /// It describes the hours of other records again, from another view.
    OtherView,
    /// It started outside the requested period.
    OutsidePeriod,
    /// It requests more than a limit allows its user, account, partition or QOS.
    BeyondLimit,
    /// It has no end: it was still running, or its end is not known.
    NoEnd,
}

impl TraceReason {
    /// The word of tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::SubmittedBefore => "submitted_before_log",
            Self::PartOfJob => "part_of_job",
            Self::CancelledWaiting => "cancelled_waiting",
            Self::DidNotRun => "did_not_run",
            Self::NoProcessors => "no_processors",
            Self::NeverFits => "never_fits",
            Self::OtherView => "other_view",
            Self::OutsidePeriod => "outside_period",
            Self::BeyondLimit => "beyond_limit",
            Self::NoEnd => "no_end",
        }
    }
}

/// A job that is not simulated because it requests more than the machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeverFitting {
    /// Its number.
    pub id: i64,
    /// The first kind of resource there is not enough of.
    pub kind: usize,
    /// How much of it is requested.
    pub requested: i64,
}

/// Jobs to simulate, sorted by submission and number, and what became of all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The jobs.
    pub jobs: Jobs,
    /// How many lines or rows there were.
    pub read_n: u64,
    /// Those left out, by reason.
    pub left_out: BTreeMap<TraceReason, u64>,
    /// Those of the jobs that are simulated otherwise than stated, by reason.
    pub changed: BTreeMap<TraceChange, u64>,
    /// Numbers of jobs that waited for one that is not simulated.
    pub(crate) without_predecessor: BTreeSet<i64>,
    /// Those that request more than the machine has.
    pub never_fitting: Vec<NeverFitting>,
}

impl Trace {
    /// The jobs of a log under rules.
    ///
    /// # Errors
    /// As [`Self::with_jobs`].
    pub fn of_swf(log: &SwfLog, rules: SwfRules) -> Result<Self> {
        let mut trace = Self {
            read_n: count_u64(log.lines.len()) + count_u64(log.problems.len()),
            ..Self::default()
        };
        trace.leave_out(TraceReason::Unreadable, count_u64(log.problems.len()));
        let mut jobs = JobSorter::new(log.lines.budget());
        for line in &log.lines {
            let job = match rules {
                SwfRules::Pyss => Some(pyss_job(&line)),
                SwfRules::Standard => trace.job(&line, [line.requested_n, line.allocated_n]),
                SwfRules::Cqsim => trace.job(&line, [line.requested_n, -1]),
            };
            let Some(mut job) = job else { continue };
            if rules != SwfRules::Standard {
                job.after = Predecessors::default();
            }
            jobs.push(job)?;
        }
        trace.with_jobs(jobs)
    }

    /// Jobs from elsewhere, all of which are to be simulated.
    ///
    /// # Errors
    /// As [`Self::with_jobs`].
    pub fn of_jobs(jobs: Vec<Job>) -> Result<Self> {
        let trace = Self {
            read_n: count_u64(jobs.len()),
            ..Self::default()
        };
        let mut sorter = JobSorter::new(ColumnBudget::default());
        for job in jobs {
            sorter.push(job)?;
        }
        trace.with_jobs(sorter)
    }

    /// Counts what is left out.
    pub fn leave_out(&mut self, reason: TraceReason, n: u64) {
        if n > 0 {
            *self.left_out.entry(reason).or_default() += n;
        }
    }

    fn change(&mut self, change: TraceChange) {
        *self.changed.entry(change).or_default() += 1;
    }

    /// Takes jobs, sorted by submission and number: the order of the input does not matter.
    ///
    /// # Errors
    /// [`Kind::Data`] when there are more jobs, or longer ones, than can be counted; [`Kind::Io`] when a temporary file cannot be
    /// written.
    pub fn with_jobs(mut self, jobs: JobSorter) -> Result<Self> {
        let mut taken = jobs.finish()?;
        let named: BTreeSet<i64> = (taken.after.values())
            .flat_map(|after| after.each.iter().map(|one| one.id))
            .collect();
        let mut known = BTreeSet::new();
        let mut after: BTreeMap<u32, WaitingJob> = BTreeMap::new();
        self.changed.clear();
        let mut rows = ColumnWriter::new(taken.budget);
        let mut numbers = Sorter::new(taken.budget.part());
        let (mut job_n, mut last_s, mut length_s) = (0_u64, 0, 0_i128);
        for TakenJob { job, nth } in taken.jobs {
            let own = taken.after.remove(&nth);
            let pause_s = own.as_ref().map_or(0, Predecessors::longest_pause_s);
            last_s = job.submit_s;
            length_s += i128::from(job.ran_s().max(job.run_s).max(job.limit_s)) + i128::from(pause_s);
            let mut changes = job.changes;
            if self.without_predecessor.contains(&job.id) {
                changes.add(TraceChange::UnknownPredecessor);
            }
            for change in changes.each() {
                self.change(change);
            }
            if let (Some(after_own), Ok(place)) = (own, u32::try_from(job_n)) {
                let waiting = WaitingJob {
                    id: job.id,
                    is_counted: changes.has(TraceChange::UnknownPredecessor),
                    after: after_own,
                };
                after.insert(place, waiting);
            }
            if named.contains(&job.id) {
                known.insert(job.id);
            }
            numbers.push(job.id)?;
            rows.push(job)?;
            job_n += 1;
        }
        if i128::from(last_s) + length_s >= i128::from(LATEST_S) || u32::try_from(job_n).is_err() {
            let why = format!("{job_n} jobs, or their times, are too many to simulate");
            return Err(Error::new(Kind::Data, why));
        }
        let mut before = None;
        for number in numbers.finish()? {
            if before == Some(number) {
                self.change(TraceChange::RepeatedNumber);
            }
            before = Some(number);
        }
        for waiting in after.values_mut() {
            let own = &mut waiting.after;
            let named_n = own.each.len();
            own.each.retain(|one| known.contains(&one.id));
            if own.each.len() < named_n {
                // The one that is not simulated may have been enough.
                if own.is_any {
                    *own = Predecessors::default();
                }
                self.without_predecessor.insert(waiting.id);
                if !waiting.is_counted {
                    self.change(TraceChange::UnknownPredecessor);
                }
            }
        }
        let after = after.into_iter().map(|(place, waiting)| (place, waiting.after));
        self.jobs = Jobs::new(rows.finish()?, after.collect());
        Ok(self)
    }

    /// Leaves out the jobs that no empty machine could run, and those that wait for one of them wait for none.
    ///
    /// # Errors
    /// As [`Self::with_jobs`].
    pub fn on(mut self, machine: &Machine) -> Result<Self> {
        let mut never_fitting = Vec::new();
        JobList::from(&self.jobs).each(|_, job| {
            if let Some(kind) = job.need.missing_in(machine.capacity()) {
                never_fitting.push(NeverFitting {
                    id: job.id,
                    kind,
                    requested: job.need.get(kind),
                });
            }
        });
        self.never_fitting.append(&mut never_fitting);
        let all = count_u64(self.never_fitting.len());
        if all == 0 {
            return Ok(self);
        }
        self.left_out.insert(TraceReason::NeverFits, all);
        self.only(|job| job.need.missing_in(machine.capacity()).is_none())
    }

    /// Leaves out jobs by number; those that wait for one of them wait for none.
    ///
    /// # Errors
    /// As [`Self::with_jobs`].
    pub fn without(mut self, ids: &BTreeSet<i64>, reason: TraceReason) -> Result<Self> {
        let job_n = self.jobs.iter().filter(|job| ids.contains(&job.id)).count();
        self.leave_out(reason, count_u64(job_n));
        self.only(|job| !ids.contains(&job.id))
    }

    fn only(self, is_kept: impl Fn(&Job) -> bool) -> Result<Self> {
        let mut kept = JobSorter::new(JobList::from(&self.jobs).budget());
        for job in self.jobs.iter().filter(is_kept) {
            kept.push(job)?;
        }
        self.with_jobs(kept)
    }

    /// That there is a job to simulate. `what` the trace was made of is named otherwise.
    ///
    /// # Errors
    /// [`Kind::Data`] when all were left out.
    pub fn check_any(&self, what: &str) -> Result<()> {
        if !self.jobs.is_empty() {
            return Ok(());
        }
        let left_out = self.left_out.iter().map(|(reason, n)| format!("{} {n}", reason.word()));
        let left_out: Vec<String> = left_out.collect();
        let why = format!(
            "none of {} {what} can be simulated: {}",
            self.read_n,
            left_out.join(", ")
        );
        Err(Error::new(Kind::Data, why))
    }

    /// Whether every line ended somewhere: as a job, or left out.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.left_out.values().sum::<u64>() + count_u64(self.jobs.len()) == self.read_n
    }

    /// A job of a line with the first of these numbers of processors that is known.
    fn job(&mut self, line: &SwfLine, processors: [i64; 2]) -> Option<Job> {
        let processor_n = processors.into_iter().find(|n| *n > 0);
        let reason = match line.status {
            2..=4 => Some(TraceReason::PartOfJob),
            5 if line.run_s <= 0 => Some(TraceReason::CancelledWaiting),
            _ if line.submit_s < 0 => Some(TraceReason::SubmittedBefore),
            _ if line.run_s <= 0 => Some(TraceReason::DidNotRun),
            _ => processor_n.is_none().then_some(TraceReason::NoProcessors),
        };
        let (None, Some(processor_n)) = (reason, processor_n) else {
            // Fallback: of no other reason than those above there are no processors.
            let reason = reason.unwrap_or(TraceReason::NoProcessors);
            self.leave_out(reason, 1);
            return None;
        };
        let mut limit_s = line.requested_s;
        let mut run_s = line.run_s;
        let mut changes = JobChanges::default();
        if limit_s <= 0 {
            changes.add(TraceChange::NoLimit);
            limit_s = run_s;
        } else if run_s > limit_s {
            changes.add(TraceChange::RanOverLimit);
            run_s = limit_s;
        }
        let need = Demand::of(&[processor_n, line.burst_buffer.max(0)]);
        let job = Job::new(line.id, line.submit_s, run_s, limit_s, need);
        Some(described(line, &Job { changes, ..job }))
    }
}

/// What a job waits for while its predecessors are looked for.
struct WaitingJob {
    id: i64,
    /// Whether an unknown predecessor of it is counted already.
    is_counted: bool,
    after: Predecessors,
}

fn pyss_job(line: &SwfLine) -> Job {
    let mut changes = JobChanges::default();
    if line.run_s <= 0 || line.allocated_n <= 0 || line.requested_s <= 0 || line.submit_s < 0 {
        changes.add(TraceChange::MadeMinimal);
        let job = Job::new(line.id, line.submit_s.max(1), 1, 1, Demand::of(&[1]));
        return described(line, &Job { changes, ..job });
    }
    let (run_s, limit_s) = (line.run_s.min(line.requested_s), line.run_s.max(line.requested_s));
    if line.run_s > line.requested_s {
        changes.add(TraceChange::RanOverLimit);
    }
    let need = Demand::of(&[line.allocated_n]);
    let job = Job::new(line.id, line.submit_s, run_s, limit_s, need);
    described(line, &Job { changes, ..job })
}

/// A job with what else its line states.
fn described(line: &SwfLine, job: &Job) -> Job {
    let known = |number: i64| (number >= 0).then_some(number);
    Job {
        after: if line.preceding > 0 {
            Predecessors::end_of(line.preceding, line.think_s.max(0))
        } else {
            Predecessors::default()
        },
        ended: match line.status {
            1 => JobEnd::Completed,
            0 => JobEnd::Failed,
            5 => JobEnd::Cancelled,
            _ => JobEnd::Unknown,
        },
        recorded_start_s: known(line.wait_s).map(|wait_s| line.submit_s + wait_s),
        recorded_run_s: job.changes.has(TraceChange::RanOverLimit).then_some(line.run_s),
        user: known(line.user),
        group: known(line.group),
        ..job.clone()
    }
}
