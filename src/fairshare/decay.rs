//! How past usage counts less: none, continuously, in Slurm's steps, or in steps of a half-life.

use std::num::NonZeroU32;

use super::decay_steps::DecaySteps;
use super::float::of_integer;
use crate::time::SecondSpan;

/// After how many seconds usage counts half (`PriorityDecayHalfLife`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HalfLife {
    seconds: NonZeroU32,
}

impl HalfLife {
    /// The seven days of FASRC, and Slurm's default.
    pub const SEVEN_DAYS: Self = Self {
        // Fallback: never taken, a week has fewer seconds than 32 bits count.
        seconds: NonZeroU32::MIN.saturating_add(604_800 - 1),
    };

    /// So many seconds; `None` for zero. What does not decay has no half-life: [`ChainedDecay::None`].
    #[must_use]
    pub fn of_seconds(half_life_s: u32) -> Option<Self> {
        NonZeroU32::new(half_life_s).map(|seconds| Self { seconds })
    }

    /// Its seconds.
    #[must_use]
    pub fn seconds(self) -> i64 {
        i64::from(self.seconds.get())
    }

    /// Its seconds as a double.
    fn real_s(self) -> f64 {
        f64::from(self.seconds.get())
    }
}

/// How past usage counts. All of them give a second of the last instant full weight and never raise a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageDecay {
    /// A rule under which all usage of the past shrinks by the same factor, so that one number per association is enough
    /// to continue from.
    Chained(ChainedDecay),
    /// The other reading of FASRC's page: the last half-life counts in full, the one before it half, the one before
    /// that a quarter. A second of age `a` has the weight 2^-(ceil(a / H) - 1): full up to 7 days, half up to 14, a quarter
    /// up to 21. Two equal sums of different ages shrink differently, so that it has no [`ChainedDecay`]: usage at a
    /// later instant is computed from the jobs, or from usage of parts of days of which none is over a halving.
    HalvingSteps(HalfLife),
}

/// Decay by one factor for all usage of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainedDecay {
    /// Usage counts in full (`PriorityDecayHalfLife=0`).
    None,
    /// The exact exponential: 2^(-t/H) after `t` seconds.
    Continuous(HalfLife),
    /// What Slurm computes: at every calculation of priorities.
    Steps(DecaySteps),
}

/// Seconds of a job after decay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DecayedSeconds {
    /// Nothing decayed.
    Whole(i64),
    /// Weighted.
    Real(f64),
}

/// ln 2.
const LN_2: f64 = std::f64::consts::LN_2;

impl ChainedDecay {
    /// What is left of usage of `from_s` at `to_s`, as a fraction; 1 where `to_s` is not later.
    #[must_use]
    pub fn remaining(self, from_s: i64, to_s: i64) -> f64 {
        if to_s <= from_s {
            return 1.0;
        }
        match self {
            Self::None => 1.0,
            Self::Continuous(half_life) => {
                libm::exp2(-of_integer(i128::from(to_s) - i128::from(from_s)) / half_life.real_s())
            }
            Self::Steps(steps) => steps.remaining(from_s, to_s),
        }
    }

    /// The seconds of `span` that became usage after `after_s` and up to `at_s`, each with its weight at `at_s`.
    pub(super) fn seconds(self, span: SecondSpan, after_s: i64, at_s: i64) -> DecayedSeconds {
        let common = span.within(SecondSpan {
            start_s: after_s,
            end_s: at_s,
        });
        match self {
            Self::Steps(steps) => DecayedSeconds::Real(steps.seconds(span, after_s, at_s)),
            _ if common.is_empty() => DecayedSeconds::Whole(0),
            Self::None => DecayedSeconds::Whole(common.length_s()),
            Self::Continuous(half_life) => {
                // The integral of 2^(-(at - t)/H) over the seconds of the job.
                let length = of_integer(i128::from(common.length_s())) / half_life.real_s();
                let at_end = self.remaining(common.end_s, at_s);
                DecayedSeconds::Real(at_end * half_life.real_s() / LN_2 * -libm::expm1(-length * LN_2))
            }
        }
    }

    /// After how many seconds, counted from `at_s`, at most the fraction `left` of the usage of `at_s` remains; `None`
    /// where it never does: without decay, or when nothing may remain.
    #[must_use]
    pub fn seconds_until(self, left: f64, at_s: i64) -> Option<f64> {
        if left >= 1.0 {
            return Some(0.0);
        }
        if left.is_nan() || left <= 0.0 {
            return None;
        }
        match self {
            Self::None => None,
            Self::Continuous(half_life) => Some(-libm::log2(left) * half_life.real_s()),
            Self::Steps(steps) => Some(steps.seconds_until(left, at_s)),
        }
    }
}

impl UsageDecay {
    /// No decay.
    pub const NONE: Self = Self::Chained(ChainedDecay::None);

    /// The exact exponential.
    #[must_use]
    pub fn continuous(half_life: HalfLife) -> Self {
        Self::Chained(ChainedDecay::Continuous(half_life))
    }

    /// Slurm's steps.
    #[must_use]
    pub fn steps(steps: DecaySteps) -> Self {
        Self::Chained(ChainedDecay::Steps(steps))
    }

    /// The rule by which stored usage can be aged, if it is one.
    #[must_use]
    pub fn chained(self) -> Option<ChainedDecay> {
        match self {
            Self::Chained(decay) => Some(decay),
            Self::HalvingSteps(_) => None,
        }
    }

    /// The seconds of `span` that became usage after `after_s` and up to `at_s`, each with its weight at `at_s`.
    pub(super) fn seconds(self, span: SecondSpan, after_s: i64, at_s: i64) -> DecayedSeconds {
        match self {
            Self::Chained(decay) => decay.seconds(span, after_s, at_s),
            Self::HalvingSteps(half_life) => {
                let common = span.within(SecondSpan {
                    start_s: after_s,
                    end_s: at_s,
                });
                if common.is_empty() {
                    return DecayedSeconds::Whole(0);
                }
                let older = |than_s: i64| older_than(i128::from(at_s) - i128::from(than_s), half_life);
                DecayedSeconds::Real(older(common.end_s) - older(common.start_s))
            }
        }
    }

    /// The weight of a second that is `age_s` old under the exact exponential or in halving steps. Under Slurm's steps it
    /// depends on the instants of calculation too: `None`.
    #[must_use]
    pub fn weight_of_age(self, age_s: i64) -> Option<f64> {
        match self {
            Self::Chained(ChainedDecay::None) => Some(1.0),
            Self::Chained(ChainedDecay::Continuous(half_life)) => {
                Some(libm::exp2(-of_integer(i128::from(age_s.max(0))) / half_life.real_s()))
            }
            Self::Chained(ChainedDecay::Steps(_)) => None,
            Self::HalvingSteps(half_life) => {
                let halvings = (age_s.max(1) - 1) / half_life.seconds();
                Some(libm::exp2(-of_integer(i128::from(halvings))))
            }
        }
    }
}

/// The weight of all seconds older than `age_s` in halving steps: of the step `age_s` is in what is left, and half as
/// much for every step after it, which together are another whole step.
fn older_than(age_s: i128, half_life: HalfLife) -> f64 {
    let length = i128::from(half_life.seconds());
    let (steps, into) = (age_s.div_euclid(length), age_s.rem_euclid(length));
    of_integer(2 * length - into) * libm::exp2(-of_integer(steps))
}
