//! Recorded starts held against a machine: where they take more than there is, when first, when most, for how long.

use super::demand::Demand;
use super::jobs::JobList;
use super::machine::Machine;
use super::reserved_use::ReservedUse;
use super::schedule::Schedule;
use super::use_change::UseChange;
use crate::error::Result;
use crate::runtime::sorter::Sorter;

/// One kind of resource under the recorded starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCheck {
    /// The most that was in use at a time.
    pub peak: i64,
    /// When that was first.
    pub peak_s: i64,
    /// How many jobs were running then.
    pub peak_job_n: u64,
    /// Amount times seconds of all jobs.
    pub used_s: i128,
    /// More than the machine has.
    pub beyond: Excess,
    /// Not more than the machine has, but more than took jobs then.
    pub beyond_available: Excess,
}

/// How often, how long and by how much a limit is exceeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Excess {
    /// Times without a break in which it is.
    pub time_n: u64,
    /// Their seconds.
    pub length_s: i64,
    /// Amount beyond the limit times seconds.
    pub excess_s: i128,
    /// When it is exceeded first.
    pub first_s: Option<i64>,
    /// When it is exceeded most, the first time of several.
    pub worst_s: Option<i64>,
    /// By how much then.
    pub worst: i64,
}

impl Excess {
    fn add(&mut self, from_s: i64, until_s: i64, by: i64, is_new: bool) {
        if by <= 0 {
            return;
        }
        self.time_n += u64::from(is_new);
        self.length_s += until_s - from_s;
        self.excess_s += i128::from(by) * i128::from(until_s - from_s);
        self.first_s = self.first_s.or(Some(from_s));
        if by > self.worst {
            self.worst = by;
            self.worst_s = Some(from_s);
        }
    }
}

/// Holds a schedule against the machine, kind by kind, in the order of the kinds.
///
/// # Errors
/// [`crate::error::Kind::Io`] when many starts cannot be put into a temporary file.
pub fn check<'a>(jobs: impl Into<JobList<'a>>, machine: &Machine, schedule: &'a Schedule) -> Result<Vec<KindCheck>> {
    let jobs = jobs.into();
    let kind_n = machine.kinds().len();
    let mut checks = vec![KindCheck::default(); kind_n];
    let mut changes = Sorter::new(jobs.budget().part());
    for started in schedule.started(jobs).filter(|started| started.job.run_s > 0) {
        let change = |at_s: i64, is_start: bool| UseChange {
            at_s,
            is_start,
            amounts: started.job.need,
        };
        changes.push(change(started.start.start_s, true))?;
        changes.push(change(started.end_s(), false))?;
    }
    let mut reserved = ReservedUse::new(jobs, machine, schedule);
    let mut steps = reserved.instants();
    steps.extend(machine.steps().iter().map(|step| step.from_s));
    steps.sort_unstable();
    let (mut used, mut running_n) = (Demand::NOTHING, 0_u64);
    let mut changes = changes.finish()?.peekable();
    let mut steps = steps.into_iter().peekable();
    let mut was = vec![[false; 2]; kind_n];
    let mut next_s = changes
        .peek()
        .map(|change| change.at_s)
        .into_iter()
        .chain(steps.peek().copied())
        .min();
    while let Some(at_s) = next_s {
        while let Some(change) = changes.next_if(|change| change.at_s == at_s) {
            if change.is_start {
                used.add(&change.amounts);
                running_n += 1;
            } else {
                used.take(&change.amounts);
                running_n -= 1;
            }
        }
        while steps.next_if(|from_s| *from_s <= at_s).is_some() {}
        let event_s = changes.peek().map(|change| change.at_s);
        next_s = event_s.into_iter().chain(steps.peek().copied()).min();
        let Some(until_s) = next_s else { break };
        let lacking = reserved.lacking_at(at_s, &used);
        for (kind, (check, was)) in checks.iter_mut().zip(&mut was).enumerate() {
            let now = used.get(kind);
            check.used_s += i128::from(now) * i128::from(until_s - at_s);
            if now > check.peak {
                (check.peak, check.peak_s, check.peak_job_n) = (now, at_s, running_n);
            }
            let beyond = now - machine.capacity().get(kind);
            // What is beyond the machine is counted as that alone.
            let beyond_available = lacking.get(kind) - beyond.max(0);
            let [was_beyond, was_unavailable] = *was;
            check.beyond.add(at_s, until_s, beyond, !was_beyond);
            check
                .beyond_available
                .add(at_s, until_s, beyond_available, !was_unavailable);
            *was = [beyond > 0, beyond_available > 0];
        }
    }
    Ok(checks)
}
