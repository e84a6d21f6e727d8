//! A value over time, constant between its steps, and its mean over any span of time.
//!
//! What a job used is spread evenly over its run. What it emits is then its energy times the mean of the intensity over the run,
//! be that one step of a year or thousands of hours: sums up to each step are made once, so that a run of any length takes two
//! of them.

use super::half_up::half_up;
use super::span_value::SpanValue;
use crate::numbers::count_u64;

/// How far from its likely place a step is looked for.
const NEAR_STEPS: usize = 4;

/// One value, until the next step.
#[derive(Clone, Copy, Debug)]
struct CourseStep {
    from_ms: i64,
    value: Option<i64>,
    /// Value times milliseconds from the second step to this one; what is unknown adds nothing.
    sum: i128,
    /// Unknown steps before this one.
    unknown_n: u32,
}

/// A value over time. Before the first and after the last step it is unknown.
#[derive(Clone, Debug, Default)]
pub struct Course {
    steps: Vec<CourseStep>,
    /// Where the second step begins, from which on steps have a length.
    first_ms: i64,
    /// Their mean length, milliseconds: tables of hours have steps of one length. Zero where there are none.
    mean_ms: u64,
}

/// The mean of a value over a span: `sum / ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CourseMean {
    /// Value times milliseconds.
    pub sum: i128,
    /// Milliseconds; at least one.
    pub ms: i128,
}

/// A value from an instant on, until the next step.
#[derive(Clone, Copy)]
struct StatedStep {
    from_ms: i64,
    value: Option<i64>,
}

impl Course {
    /// Of values in the order of time that do not overlap.
    #[must_use]
    pub fn new(values: &[SpanValue]) -> Self {
        let mut steps = Vec::with_capacity(values.len() + 2);
        let mut until_ms = i64::MIN;
        for span in values {
            if span.from_ms > until_ms {
                steps.push(StatedStep {
                    from_ms: until_ms,
                    value: None,
                });
            }
            steps.push(StatedStep {
                from_ms: span.from_ms,
                value: span.value_e4,
            });
            until_ms = span.until_ms;
        }
        if until_ms < i64::MAX {
            steps.push(StatedStep {
                from_ms: until_ms,
                value: None,
            });
        }
        Self::of_steps(&steps)
    }

    /// The product of two values over time; unknown where one is.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let mut edges: Vec<i64> = self.steps.iter().chain(&other.steps).map(|step| step.from_ms).collect();
        edges.sort_unstable();
        edges.dedup();
        let product = |at_ms: i64| self.at(at_ms)?.checked_mul(other.at(at_ms)?);
        let step = |from_ms| StatedStep {
            from_ms,
            value: product(from_ms),
        };
        let steps: Vec<_> = edges.into_iter().map(step).collect();
        Self::of_steps(&steps)
    }

    fn of_steps(steps: &[StatedStep]) -> Self {
        let (mut sum, mut unknown_n) = (0_i128, 0_u32);
        let mut course = Vec::with_capacity(steps.len());
        for (nth, StatedStep { from_ms, value }) in steps.iter().copied().enumerate() {
            course.push(CourseStep {
                from_ms,
                value,
                sum,
                unknown_n,
            });
            // The first step has no beginning: sums start with the second.
            if let Some(next) = steps.get(nth + 1).filter(|_| nth > 0)
                && let Some(value) = value
            {
                sum += i128::from(value) * (i128::from(next.from_ms) - i128::from(from_ms));
            }
            unknown_n += u32::from(value.is_none());
        }
        // The first step has no beginning, and the last one no end.
        let (first_ms, mean_ms) = match course.as_slice() {
            [_, second, between @ .., last] => {
                let step_n = count_u64(between.len()) + 1;
                (second.from_ms, last.from_ms.abs_diff(second.from_ms) / step_n)
            }
            _ => (0, 0),
        };
        Self {
            steps: course,
            first_ms,
            mean_ms,
        }
    }

    /// The step that holds at an instant: where it would be if all had one length, or a few steps from there, or by halving.
    #[inline]
    fn place(&self, at_ms: i64) -> Option<usize> {
        if let Some(nth) = (at_ms.wrapping_sub(self.first_ms).cast_unsigned()).checked_div(self.mean_ms)
            && at_ms >= self.first_ms
        {
            // Fallback: a place that no memory has is behind the last step.
            let mut at = usize::try_from(nth).unwrap_or(usize::MAX).min(self.steps.len() - 2) + 1;
            for _ in 0..NEAR_STEPS {
                let (step, next) = (self.steps.get(at)?, self.steps.get(at + 1));
                if step.from_ms > at_ms {
                    at -= 1;
                } else if next.is_some_and(|next| next.from_ms <= at_ms) {
                    at += 1;
                } else {
                    return Some(at);
                }
            }
        }
        self.steps.partition_point(|step| step.from_ms <= at_ms).checked_sub(1)
    }

    /// The value at an instant (Unix milliseconds); `None` where it is unknown.
    #[must_use]
    pub fn at(&self, at_ms: i64) -> Option<i64> {
        self.steps.get(self.place(at_ms)?)?.value
    }

    /// The mean from an instant until another, which is not included (Unix milliseconds); of one instant its value. `None` where
    /// any part of it is unknown.
    #[must_use]
    pub fn mean(&self, from_ms: i64, until_ms: i64) -> Option<CourseMean> {
        let first_at = self.place(from_ms)?;
        let first = self.steps.get(first_at)?;
        if until_ms <= from_ms {
            let sum = i128::from(first.value?);
            return Some(CourseMean { sum, ms: 1 });
        }
        let ms = i128::from(until_ms) - i128::from(from_ms);
        let last_at = match self.steps.get(first_at + 1) {
            Some(second) if second.from_ms < until_ms => self.place(until_ms - 1)?,
            _ => first_at,
        };
        if last_at == first_at {
            let sum = i128::from(first.value?) * ms;
            return Some(CourseMean { sum, ms });
        }
        let (second, last) = (self.steps.get(first_at + 1)?, self.steps.get(last_at)?);
        if last.unknown_n != first.unknown_n {
            return None;
        }
        let head = i128::from(first.value?) * (i128::from(second.from_ms) - i128::from(from_ms));
        let tail = i128::from(last.value?) * (i128::from(until_ms) - i128::from(last.from_ms));
        let sum = head + (last.sum - second.sum) + tail;
        Some(CourseMean { sum, ms })
    }
}

impl CourseMean {
    /// The mean itself with so many more digits, rounded half up; `None` when it does not fit.
    #[must_use]
    pub fn scaled(self, by: i64) -> Option<i64> {
        self.of(by, 1)
    }

    /// An amount times the mean over a divisor, rounded half up; `None` when it does not fit.
    #[must_use]
    pub fn of(self, amount: i64, divisor: i128) -> Option<i64> {
        // Of most runs the sum is of 64 bits, and the product cannot be too large.
        let numerator = match i64::try_from(self.sum) {
            Ok(sum) => i128::from(amount) * i128::from(sum),
            Err(_) => i128::from(amount).checked_mul(self.sum)?,
        };
        half_up(numerator, self.ms.checked_mul(divisor)?)
    }
}
