//! Sums of a lake that its datasets must agree in.

/// Totals that must be conserved between `records`, `usage_part` and `usage`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct VerifiedTotals {
    pub(super) job_n: i128,
    pub(super) wall_s: i128,
    pub(super) alloc_core_s: i128,
    pub(super) cpu_ms: i128,
}

impl VerifiedTotals {
    /// Both together.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            job_n: self.job_n + other.job_n,
            wall_s: self.wall_s + other.wall_s,
            alloc_core_s: self.alloc_core_s + other.alloc_core_s,
            cpu_ms: self.cpu_ms + other.cpu_ms,
        }
    }
}
