//! Sums of the jobs of one key.

use super::rounded_levels::RoundedLevels;
use crate::amounts::add;
use crate::error::Result;

/// Sums of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApelSums {
    /// Jobs.
    pub job_n: i64,
    /// Wall time, not times cores, seconds.
    pub wall_s: i64,
    /// What whole seconds leave of the wall time, milliseconds: no message has it.
    pub wall_fraction_ms: i64,
    /// CPU time, milliseconds.
    pub cpu_ms: i64,
    /// Jobs whose CPU time is unknown: it counts as nothing.
    pub cpu_unknown_job_n: i64,
    /// Jobs whose benchmark is rounded.
    pub rounded_levels: RoundedLevels,
    /// Earliest end, Unix milliseconds.
    pub earliest_end_ms: Option<i64>,
    /// Latest end, Unix milliseconds.
    pub latest_end_ms: Option<i64>,
}

impl ApelSums {
    /// Adds others.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] naming the sum that is too large.
    pub(super) fn add(&mut self, other: &Self) -> Result<()> {
        add(&mut self.job_n, other.job_n, "job_n")?;
        add(&mut self.wall_s, other.wall_s, "wall_s")?;
        add(&mut self.wall_fraction_ms, other.wall_fraction_ms, "wall_fraction_ms")?;
        add(&mut self.cpu_ms, other.cpu_ms, "cpu_ms")?;
        add(
            &mut self.cpu_unknown_job_n,
            other.cpu_unknown_job_n,
            "cpu_unknown_job_n",
        )?;
        self.rounded_levels.add(other.rounded_levels)?;
        let ends = [self.earliest_end_ms, other.earliest_end_ms];
        self.earliest_end_ms = ends.into_iter().flatten().min();
        self.latest_end_ms = self.latest_end_ms.max(other.latest_end_ms);
        Ok(())
    }

    /// Wall time with what whole seconds leave, milliseconds.
    #[must_use]
    pub fn wall_ms(&self) -> i128 {
        i128::from(self.wall_s) * 1000 + i128::from(self.wall_fraction_ms)
    }

    /// CPU time in seconds, rounded once.
    #[must_use]
    pub fn cpu_s(&self) -> i64 {
        let (whole_s, rest_ms) = (self.cpu_ms / 1000, self.cpu_ms % 1000);
        // Halves away from zero; a thousandth of 63 bits has room for one more.
        whole_s + i64::from(rest_ms >= 500) - i64::from(rest_ms <= -500)
    }
}
