//! Decay as Slurm computes it: in steps, at every calculation of priorities.
//!
//! At each instant of calculation, one period after the last, stored usage is multiplied by `f` to the power of the
//! period, with `f = 1 - 0.693 / H` per second. That is a first-order form of 2^(-1/H): after one half-life of 30 minutes
//! .500007 is left. Then every running job adds `r * f^r` seconds, where `r` are its seconds since the last calculation.
//! When a job ends, its last `r * f^r` seconds are added at once, and decay by the complete period at the next calculation.
//! (`priority/multifactor`, from code and from runs that were read every 20 seconds.)

use super::calculation_times::CalculationTimes;
use super::decay::HalfLife;
use super::float::of_integer;
use crate::time::SecondSpan;

/// What Slurm writes for ln 2.
const SLURM_LN_2: f64 = 0.693;

/// When and how much Slurm decays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecaySteps {
    half_life: HalfLife,
    times: CalculationTimes,
}

impl DecaySteps {
    /// `PriorityCalcPeriod` of Slurm's default, seconds.
    pub const DEFAULT_PERIOD_S: u32 = CalculationTimes::DEFAULT_PERIOD_S;

    /// Steps of `period_s` (`PriorityCalcPeriod`, which slurm.conf states in minutes), one of which is at the Unix second
    /// `anchor_s`; `None` for a period of zero. A daemon that is started again shifts its steps: no record of a job holds
    /// where they are, so that `anchor_s` may be an assumption; it moves usage by less than one period's decay.
    #[must_use]
    pub fn new(half_life: HalfLife, period_s: u32, anchor_s: i64) -> Option<Self> {
        CalculationTimes::new(period_s, anchor_s).map(|times| Self::at(half_life, times))
    }

    /// Steps at instants of calculation.
    #[must_use]
    pub fn at(half_life: HalfLife, times: CalculationTimes) -> Self {
        Self { half_life, times }
    }

    /// The half-life.
    #[must_use]
    pub fn half_life(self) -> HalfLife {
        self.half_life
    }

    /// Its instants of calculation.
    #[must_use]
    pub fn times(self) -> CalculationTimes {
        self.times
    }

    /// The same instants of calculation with another half-life.
    #[must_use]
    pub fn with_half_life(self, half_life: HalfLife) -> Self {
        Self { half_life, ..self }
    }

    /// Seconds from one calculation to the next.
    #[must_use]
    pub fn period_s(self) -> i64 {
        self.times.period_s()
    }

    /// The first instant of calculation that is not before `unix_s`.
    #[must_use]
    pub fn next_at(self, unix_s: i64) -> i64 {
        self.times.next_at(unix_s)
    }

    /// The last instant of calculation that is not after `unix_s`.
    #[must_use]
    pub fn last_at(self, unix_s: i64) -> i64 {
        self.times.last_at(unix_s)
    }

    /// The number of the last instant of calculation up to `unix_s`, and the seconds since then.
    fn place(self, unix_s: i64) -> (i128, i128) {
        self.times.place(unix_s)
    }

    fn number(self, unix_s: i64) -> i128 {
        self.times.number(unix_s)
    }

    /// ln f.
    pub(super) fn ln_factor(self) -> f64 {
        libm::log1p(-SLURM_LN_2 / of_integer(i128::from(self.half_life.seconds())))
    }

    /// f to the power of so many seconds.
    pub(super) fn factor(self, seconds: i128) -> f64 {
        libm::exp(self.ln_factor() * of_integer(seconds))
    }

    /// f to the power of so many periods.
    fn periods(self, number: i128) -> f64 {
        self.factor(number * i128::from(self.period_s()))
    }

    /// What so many seconds of a job add at a calculation, or at its end.
    pub(super) fn piece(self, seconds: i64) -> f64 {
        of_integer(i128::from(seconds)) * self.factor(i128::from(seconds))
    }

    /// What a job adds that was found running for so many complete periods, as stored at the last of them.
    pub(super) fn series(self, periods: i64) -> f64 {
        if periods <= 0 {
            return 0.0;
        }
        let period = i128::from(self.period_s());
        let series = libm::expm1(self.ln_factor() * of_integer(i128::from(periods) * period))
            / libm::expm1(self.ln_factor() * of_integer(period));
        self.piece(self.period_s()) * series
    }

    /// What is left at `to_s` of usage that is stored at `from_s`.
    pub(super) fn remaining(self, from_s: i64, to_s: i64) -> f64 {
        self.periods(self.number(to_s) - self.number(from_s))
    }

    /// The seconds of a job that are added after `after_s` and up to `at_s`, as stored at `at_s`. Its calculations in
    /// between are a geometric series.
    pub(super) fn seconds(self, span: SecondSpan, after_s: i64, at_s: i64) -> f64 {
        if span.is_empty() || after_s >= at_s {
            return 0.0;
        }
        let period = i128::from(self.period_s());
        let piece = |seconds: i128| of_integer(seconds) * self.factor(seconds);
        let (first_of_job, now) = (self.number(span.start_s) + 1, self.number(at_s));
        let (mut first, last) = (
            first_of_job.max(self.number(after_s) + 1),
            self.number(span.end_s).min(now),
        );
        let mut sum = 0.0;
        if first == first_of_job && first <= last {
            // The first calculation that finds the job running: it may have begun within the period.
            let (_, into) = self.place(span.start_s);
            sum += piece(period - into) * self.periods(now - first);
            first += 1;
        }
        if first <= last {
            // The others find it running for a complete period.
            let series = libm::expm1(self.ln_factor() * of_integer((last - first + 1) * period))
                / libm::expm1(self.ln_factor() * of_integer(period));
            sum += piece(period) * self.periods(now - last) * series;
        }
        if after_s < span.end_s && span.end_s <= at_s {
            // What is added when it ends.
            let (number, since) = self.place(span.end_s);
            let seconds = since.min(i128::from(span.end_s) - i128::from(span.start_s));
            sum += piece(seconds) * self.periods(now - number);
        }
        sum
    }

    /// Seconds from `at_s` to the first calculation after which at most the fraction `left`, between 0 and 1, remains.
    pub(super) fn seconds_until(self, left: f64, at_s: i64) -> f64 {
        let (_, since) = self.place(at_s);
        let period = of_integer(i128::from(self.period_s()));
        let steps = (libm::log(left) / (self.ln_factor() * period)).ceil().max(1.0);
        steps * period - of_integer(since)
    }
}
