//! What CPU time a job used, from its own row and its steps.
//!
//! `sacct` itself adds up a job's `TotalCPU` from the step rows it fetched, so the figure of the job row holds when the
//! steps are in the dump. Without steps (`-X`, or steps purged from the database) it prints `00:00:00` for every job: a
//! job that ran, has no step row and has no CPU time is *unknown*, not idle. A job that has steps and no CPU time (its
//! node died) stays at zero. `CPUTime` and `CPUTimeRAW` are allocated time and never taken for CPU.

use super::step::Steps;
use crate::numbers::Comparand;

/// The figures of a job row, milliseconds.
#[expect(clippy::struct_field_names, reason = "a unit belongs to its name")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CpuMeasured {
    /// User and system.
    pub(super) total_ms: Option<i64>,
    /// User part.
    pub(super) user_ms: Option<i64>,
    /// System part.
    pub(super) system_ms: Option<i64>,
}

impl CpuMeasured {
    /// CPU time, and whether it comes from the job row. `has_run`: the job started and some time passed;
    /// `has_ended`: steps that have not ended are not counted yet, so that zero is meaningless for a running job.
    pub(super) fn used_ms(self, has_run: bool, has_ended: bool, steps: &Steps) -> (Option<i64>, bool) {
        let from_steps = steps.cpu_ms.filter(|_| !steps.is_incomplete);
        match self.total_ms {
            // What was only polled is not in the sum of the job row: Slurm 25.05 prints no TotalCPU for some steps.
            Some(ms) if ms > 0 => (Some(ms.sum_to_compare(steps.polled_ms)), steps.polled_ms == 0),
            Some(_) if !has_run => (Some(0), true),
            Some(_) => match from_steps {
                Some(ms) if ms > 0 => (Some(ms), false),
                Some(_) if has_ended => (Some(0), true),
                None if has_ended && steps.count > 0 && !steps.is_incomplete => (Some(0), true),
                _ => (None, false),
            },
            None if from_steps.is_some() => (from_steps, false),
            None => match (self.user_ms, self.system_ms) {
                (Some(user), Some(system)) if user.sum_to_compare(system) > 0 => {
                    (Some(user.sum_to_compare(system)), true)
                }
                _ if !has_run => (Some(0), false),
                _ => (None, false),
            },
        }
    }
}
