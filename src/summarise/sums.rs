//! The measures of `usage`, as exact sums.

use crate::reference::benchmark::{Each, WorkDone};

/// Work columns, in the order of [`crate::reference::benchmark::Benchmark::ALL`]: CPU and core wall of each.
pub const WORK_COLUMNS: [&str; 6] = [
    "cpu_hs06_s",
    "core_wall_hs06_s",
    "cpu_hs23_s",
    "core_wall_hs23_s",
    "cpu_si00_s",
    "core_wall_si00_s",
];

/// CPU and core wall work in the order of [`WORK_COLUMNS`].
#[must_use]
pub fn work_e7(cpu: Each<WorkDone>, core_wall: Each<WorkDone>) -> [Option<i128>; 6] {
    let ([cpu_hs06, cpu_hs23, cpu_si00], [wall_hs06, wall_hs23, wall_si00]) = (cpu.scaled(), core_wall.scaled());
    [cpu_hs06, wall_hs06, cpu_hs23, wall_hs23, cpu_si00, wall_si00]
}

/// Integer measures that are never null, in the order of the schema up to `alloc_billing_s`, then the counts.
pub const COUNTED: [&str; 12] = [
    "job_n",
    "wall_s",
    "wall_fraction_ms",
    "alloc_core_s",
    "alloc_gpu_s",
    "alloc_node_s",
    "alloc_billing_s",
    "cpu_unknown_job_n",
    "core_unknown_job_n",
    "core_assumed_job_n",
    "benchmark_missing_job_n",
    "benchmark_fallback_job_n",
];

/// Sums of one group. Decimals are in units of 10^-7.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// In the order of [`COUNTED`].
    pub counted: [i64; 12],
    /// CPU time; null while nothing is known.
    pub cpu_ms: Option<i64>,
    /// In the order of [`WORK_COLUMNS`].
    pub work_e7: [Option<i128>; 6],
    /// Earliest end counted.
    pub earliest_end_ms: Option<i64>,
    /// Latest end counted.
    pub latest_end_ms: Option<i64>,
}

impl Sums {
    /// What takes these sums out again; the ends it counted stay known elsewhere.
    #[must_use]
    pub fn negated(&self) -> Self {
        Self {
            counted: self.counted.map(i64::saturating_neg),
            cpu_ms: self.cpu_ms.map(i64::saturating_neg),
            work_e7: self.work_e7.map(|work| work.map(i128::saturating_neg)),
            earliest_end_ms: None,
            latest_end_ms: None,
        }
    }

    /// Adds another group's sums. Saturates at the ends of 63 bits, which no real lake reaches.
    pub fn add(&mut self, other: &Self) {
        for (sum, part) in self.counted.iter_mut().zip(other.counted) {
            *sum = sum.saturating_add(part);
        }
        self.cpu_ms = plus(self.cpu_ms, other.cpu_ms, i64::saturating_add);
        for (sum, part) in self.work_e7.iter_mut().zip(other.work_e7) {
            *sum = plus(*sum, part, i128::saturating_add);
        }
        self.earliest_end_ms = plus(self.earliest_end_ms, other.earliest_end_ms, i64::min);
        self.latest_end_ms = plus(self.latest_end_ms, other.latest_end_ms, i64::max);
    }
}

fn plus<T>(a: Option<T>, b: Option<T>, with: impl Fn(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(with(a, b)),
        (one, None) | (None, one) => one,
    }
}
