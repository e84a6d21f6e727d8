//! Charges of a site added up, with what has no charge.

use crate::report::charges::AccountCharge;
use crate::report::shown::{grouped, hours};
use crate::report::table::known_sum;

/// A sum of charges.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SiteChargeSum {
    /// The charge; `None` where none is known.
    pub(super) charge_e9: Option<i128>,
    /// Jobs charged that ended in the period.
    pub(super) job_n: i128,
    /// Jobs without a charge that ended in the period.
    pub(super) unpriced_job_n: i128,
    /// Core time without a charge, also of jobs that end in another period or under another version of the policy.
    pub(super) unpriced_core_ms: i128,
}

impl SiteChargeSum {
    /// Of one row.
    pub(super) fn of(row: &AccountCharge) -> Self {
        Self {
            charge_e9: row.charge_e9,
            job_n: row.job_n.into(),
            unpriced_job_n: row.unpriced_job_n.into(),
            unpriced_core_ms: if row.charge_e9.is_none() { row.alloc_core_ms } else { 0 },
        }
    }

    /// Adds another one.
    pub(super) fn add(&mut self, other: &Self) {
        self.charge_e9 = known_sum(self.charge_e9, other.charge_e9);
        self.job_n += other.job_n;
        self.unpriced_job_n += other.unpriced_job_n;
        self.unpriced_core_ms += other.unpriced_core_ms;
    }

    /// Jobs and core hours without a charge; `None` where all have one.
    pub(super) fn unpriced(&self) -> Option<String> {
        let is_any = self.unpriced_job_n != 0 || self.unpriced_core_ms != 0;
        is_any.then(|| {
            format!(
                "{} that ended, and {} core hours",
                grouped(self.unpriced_job_n),
                hours(self.unpriced_core_ms)
            )
        })
    }
}
