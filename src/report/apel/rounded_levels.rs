//! Benchmarks of more than three decimals: APEL's server stores three, and so its messages have three, and the reports that
//! count as it does.

use crate::amounts::add;
use crate::error::Result;
use crate::reference::benchmark::Benchmark;

/// Jobs whose benchmark is rounded, by [`Benchmark::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundedLevels([i64; 3]);

impl RoundedLevels {
    /// Of one job.
    #[must_use]
    pub fn of_job(is_rounded: [bool; 3]) -> Self {
        Self(is_rounded.map(i64::from))
    }

    /// The same of some benchmarks alone, by their places.
    #[must_use]
    pub fn only(mut self, is_used: impl Fn(usize) -> bool) -> Self {
        for (place, job_n) in self.0.iter_mut().enumerate() {
            if !is_used(place) {
                *job_n = 0;
            }
        }
        self
    }

    /// Adds others.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when the jobs are too many.
    pub fn add(&mut self, other: Self) -> Result<()> {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            add(sum, more, "job_n")?;
        }
        Ok(())
    }

    /// The note about them; `None` where no benchmark is rounded.
    #[must_use]
    pub fn note(self) -> Option<String> {
        let rounded = Benchmark::ALL.into_iter().zip(self.0).filter(|(_, job_n)| *job_n > 0);
        let rounded: Vec<String> = rounded
            .map(|(benchmark, job_n)| format!("{} of {job_n} jobs", benchmark.as_str()))
            .collect();
        (!rounded.is_empty()).then(|| {
            format!(
                "benchmarks of more than three decimals are rounded to three, as APEL's server stores them: {}",
                rounded.join(", ")
            )
        })
    }
}
