//! What some usage comes to, exactly.

use super::level::DifferenceLevel;
use crate::amounts::{add, finer, product};
use crate::error::Result;
use crate::numbers::Comparand;

/// Parts of a second of work: a thousandth of a second times a thousandth of a value, and SI00 divided by 250.
pub const WORK_UNITS_PER_S: i128 = 250_000_000;

/// What some usage comes to. Differences of two are negative where less is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Jobs.
    pub job_n: i128,
    /// Wall time, not times cores, seconds.
    pub wall_s: i128,
    /// Wall time times cores, seconds.
    pub core_wall_s: i128,
    /// CPU time, milliseconds.
    pub cpu_ms: i128,
    /// CPU time times cores, milliseconds.
    pub core_cpu_ms: i128,
    /// Wall work, not times cores, in parts of a second.
    pub wall_work: i128,
    /// CPU work, in parts of a second.
    pub cpu_work: i128,
}

impl Amount {
    /// Jobs of so many cores and one benchmark value.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] naming the product that is too large.
    pub fn of_jobs(
        job_n: i128,
        wall_s: i128,
        cpu_ms: i128,
        core_n: i64,
        level: Option<DifferenceLevel>,
    ) -> Result<Self> {
        let cores = i128::from(core_n.max(1));
        let scale = level.map_or(0, DifferenceLevel::work_units);
        Ok(Self {
            job_n,
            wall_s,
            core_wall_s: product(wall_s, cores, "core_wall_s")?,
            cpu_ms,
            core_cpu_ms: product(cpu_ms, cores, "core_cpu_ms")?,
            wall_work: product(product(wall_s, 1000, "wall_ms")?, scale, "wall work")?,
            cpu_work: product(cpu_ms, scale, "CPU work")?,
        })
    }

    /// Adds what a row comes to, whatever its sign: the bound of every sum and difference of such rows.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] naming the sum that is too large.
    pub fn add_size(&mut self, row: Self) -> Result<()> {
        for (bound, part, what) in [
            (&mut self.job_n, row.job_n, "job_n"),
            (&mut self.wall_s, row.wall_s, "wall_s"),
            (&mut self.core_wall_s, row.core_wall_s, "core_wall_s"),
            (&mut self.cpu_ms, row.cpu_ms, "cpu_ms"),
            (&mut self.core_cpu_ms, row.core_cpu_ms, "core_cpu_ms"),
            (&mut self.wall_work, row.wall_work, "wall work"),
            (&mut self.cpu_work, row.cpu_work, "CPU work"),
        ] {
            add(bound, part.abs(), what)?;
        }
        Ok(())
    }

    /// The sum. It is exact: the rows of a side all together are within the bound of [`crate::amounts::add`], and here no
    /// more than a few of their sums are added.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    /// The difference, exact as the sum.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    /// So many times, at most ten, exact as the sum.
    #[must_use]
    pub fn times(self, n: i128) -> Self {
        self.zip(self, |a, _| a * n)
    }

    /// The same without work.
    #[must_use]
    pub fn without_work(self) -> Self {
        Self {
            wall_work: 0,
            cpu_work: 0,
            ..self
        }
    }

    fn zip(self, other: Self, of: impl Fn(i128, i128) -> i128) -> Self {
        Self {
            job_n: of(self.job_n, other.job_n),
            wall_s: of(self.wall_s, other.wall_s),
            core_wall_s: of(self.core_wall_s, other.core_wall_s),
            cpu_ms: of(self.cpu_ms, other.cpu_ms),
            core_cpu_ms: of(self.core_cpu_ms, other.core_cpu_ms),
            wall_work: of(self.wall_work, other.wall_work),
            cpu_work: of(self.cpu_work, other.cpu_work),
        }
    }

    /// Whether jobs, wall and CPU time are the same; `rounded_n` values of CPU time may have been rounded to seconds.
    #[must_use]
    pub fn has_same_time(self, other: Self, rounded_n: i128) -> bool {
        (self.job_n, self.wall_s) == (other.job_n, other.wall_s)
            && (self.cpu_ms - other.cpu_ms).abs() <= rounded_n * 500
    }

    /// By how much work may be off that publishers round once for each of so many rows.
    #[must_use]
    pub fn wall_work_slack(rounded_n: i128) -> i128 {
        finer(rounded_n, WORK_UNITS_PER_S)
    }

    /// By how much work of CPU time may be off where each of so many rows rounds its CPU time to seconds, and its work: half a second
    /// of each at the mean factor comes on top.
    #[must_use]
    pub fn cpu_work_slack(self, rounded_n: i128) -> i128 {
        let halves = finer(rounded_n, self.wall_work) / self.wall_s.product_to_compare(2).max(1);
        Self::wall_work_slack(rounded_n).sum_to_compare(halves)
    }

    /// Whether there is work.
    #[must_use]
    pub fn has_work(self) -> bool {
        self.wall_work > 0 || self.cpu_work > 0
    }

    /// Jobs and core hours, for people: `12 jobs, 34.50 core h`.
    #[must_use]
    pub fn in_words(self) -> String {
        let hours = crate::report::table::Cell::ratio(self.core_wall_s.abs(), 3600, 2);
        format!("{} jobs, {hours} core h", self.job_n.abs())
    }
}
