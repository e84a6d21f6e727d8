//! A value over time, constant between its steps, and its mean over any span of time.
//!
//! What a job used is spread evenly over its run. What it emits is then its energy times the mean of the intensity over the run,
//! be that one step of a year or thousands of hours: sums up to each step are made once, so that a run of any length takes two
//! of them.

use super::span_value::SpanValue;
use crate::numbers::Part;

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
pub struct Course(Vec<CourseStep>);

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
        let mut edges: Vec<i64> = self.0.iter().chain(&other.0).map(|step| step.from_ms).collect();
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
        Self(course)
    }

    fn place(&self, at_ms: i64) -> Option<usize> {
        self.0.partition_point(|step| step.from_ms <= at_ms).checked_sub(1)
    }

    /// The value at an instant (Unix milliseconds); `None` where it is unknown.
    #[must_use]
    pub fn at(&self, at_ms: i64) -> Option<i64> {
        self.0.get(self.place(at_ms)?)?.value
    }

    /// The mean from an instant until another, which is not included (Unix milliseconds); of one instant its value. `None` where
    /// any part of it is unknown.
    #[must_use]
    pub fn mean(&self, from_ms: i64, until_ms: i64) -> Option<CourseMean> {
        let first_at = self.place(from_ms)?;
        let first = self.0.get(first_at)?;
        if until_ms <= from_ms {
            let sum = i128::from(first.value?);
            return Some(CourseMean { sum, ms: 1 });
        }
        let ms = i128::from(until_ms) - i128::from(from_ms);
        let behind = self.0.part(first_at + 1..);
        // Nearly every run ends before the next step, or a few steps on.
        let more_n = behind.partition_point(|step| step.from_ms < until_ms);
        let (Some(second), Some(last)) = (behind.first(), more_n.checked_sub(1).and_then(|at| behind.get(at))) else {
            let sum = i128::from(first.value?) * ms;
            return Some(CourseMean { sum, ms });
        };
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
        let numerator = i128::from(amount).checked_mul(self.sum)?;
        let whole = self.ms.checked_mul(divisor)?;
        // 2 n + d over 2 d is n / d rounded half up.
        let rounded = numerator
            .checked_mul(2)?
            .checked_add(whole)?
            .div_euclid(whole.checked_mul(2)?);
        i64::try_from(rounded).ok()
    }
}
