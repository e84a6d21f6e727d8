//! When a scheduler calculates priorities: at whole periods from one instant.

use std::num::NonZeroU32;

/// Instants of calculation, one period apart.
///
/// Slurm's first one is when its daemon has started (`BOOT_TIME` of `scontrol show config`, and what reading its state took).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalculationTimes {
    period: NonZeroU32,
    anchor_s: i64,
}

impl CalculationTimes {
    /// `PriorityCalcPeriod` of Slurm's default, seconds.
    pub const DEFAULT_PERIOD_S: u32 = 300;

    /// Every `period_s` (`PriorityCalcPeriod`, which slurm.conf states in minutes), one of them at the Unix second
    /// `anchor_s`; `None` for a period of zero.
    #[must_use]
    pub fn new(period_s: u32, anchor_s: i64) -> Option<Self> {
        NonZeroU32::new(period_s).map(|period| Self { period, anchor_s })
    }

    /// As often, from another instant on.
    #[must_use]
    pub fn anchored_at(self, anchor_s: i64) -> Self {
        Self { anchor_s, ..self }
    }

    /// Seconds from one to the next.
    #[must_use]
    pub fn period_s(self) -> i64 {
        i64::from(self.period.get())
    }

    /// The first one that is not before `unix_s`.
    #[must_use]
    pub fn next_at(self, unix_s: i64) -> i64 {
        let (number, rest) = self.place(unix_s);
        self.instant(if rest == 0 { number } else { number + 1 })
    }

    /// The last one that is not after `unix_s`.
    #[must_use]
    pub fn last_at(self, unix_s: i64) -> i64 {
        self.instant(self.number(unix_s))
    }

    /// The number of the last one up to `unix_s`, and the seconds since then.
    pub(super) fn place(self, unix_s: i64) -> (i128, i128) {
        let since = i128::from(unix_s) - i128::from(self.anchor_s);
        let period = i128::from(self.period_s());
        (since.div_euclid(period), since.rem_euclid(period))
    }

    /// The number of the last one up to `unix_s`.
    pub(super) fn number(self, unix_s: i64) -> i128 {
        self.place(unix_s).0
    }

    /// The instant of a number; those outside 64 bits are as far away as can be.
    fn instant(self, number: i128) -> i64 {
        let at = i128::from(self.anchor_s) + number * i128::from(self.period_s());
        i64::try_from(at).unwrap_or(if at < 0 { i64::MIN } else { i64::MAX })
    }
}
