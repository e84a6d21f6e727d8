//! Where use will end: methods by name, and how wrong each would have been.

use std::collections::BTreeMap;

use crate::charge::span::times_over;
use crate::time::month::day_after;
use crate::time::{Day, Month};

/// How use continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProjectionMethod {
    /// At the average rate of the days that went by.
    ConstantRate,
    /// At the average rate of the last days.
    RecentWindow,
    /// Running and pending jobs run to their limits, and nothing else.
    JobsToLimits,
}

impl ProjectionMethod {
    /// The words of the command line, and of datasets and reports.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("constant-rate", Self::ConstantRate),
        ("recent-window", Self::RecentWindow),
        ("jobs-to-limits", Self::JobsToLimits),
    ];

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let word = Self::WORDS.iter().find(|(_, method)| *method == self);
        word.map_or("", |(word, _)| *word)
    }
}

/// Use by day within some days, in whatever it is counted in. At month grain a month's use is under its first day.
#[derive(Clone, Copy, Debug)]
pub struct UseOfDays<'u> {
    /// First day.
    pub from: Day,
    /// First day no longer.
    pub until: Day,
    /// Use by day; days that are absent had none.
    pub used: &'u BTreeMap<Day, i128>,
    /// Whether days are known one by one.
    pub is_by_day: bool,
}

impl UseOfDays<'_> {
    /// What was used up to a day, and that day included.
    #[must_use]
    pub fn to_date(&self, on: Day) -> i128 {
        let end = self.until.min(day_after(on));
        if end <= self.from {
            return 0;
        }
        self.used.range(self.from..end).map(|(_, used)| used).sum()
    }

    /// The days that went by, and all of them.
    fn elapsed(&self, on: Day) -> Option<(i128, i128)> {
        let end = self.until.min(day_after(on));
        let (gone, all) = (end.checked_sub(self.from)?, self.until.checked_sub(self.from)?);
        (gone > 0 && all > 0).then_some((i128::from(gone), i128::from(all)))
    }

    /// The use by the end of all days when it continues by a method, as of the end of a day. `in_flight` is what running and
    /// pending jobs will use at most, where it is known. `None` when the days are over, for what is over is not projected;
    /// before they begin; and where the method lacks what it needs. Days on which nothing could run count as days: nobody
    /// is compensated for them.
    #[must_use]
    pub fn projected(
        &self,
        method: ProjectionMethod,
        on: Day,
        window_days: i32,
        in_flight: Option<i128>,
    ) -> Option<i128> {
        if self.until <= day_after(on) {
            return None;
        }
        self.expected_at_end(method, on, window_days, in_flight)
    }

    /// The same, whether the days are over or not.
    fn expected_at_end(
        &self,
        method: ProjectionMethod,
        on: Day,
        window_days: i32,
        in_flight: Option<i128>,
    ) -> Option<i128> {
        let (gone, all) = self.elapsed(on)?;
        let used = self.to_date(on);
        match method {
            ProjectionMethod::ConstantRate => times_over(used, all, gone),
            ProjectionMethod::RecentWindow => {
                // Where only months are known, the last days are not.
                let window = i128::from(window_days).min(gone);
                if !self.is_by_day || window <= 0 {
                    return None;
                }
                let first = on.checked_add(1)?.checked_sub(window_days)?.max(self.from);
                let recent: i128 = self.used.range(first..=on).map(|(_, used)| used).sum();
                Some(used + times_over(recent, all - gone, window)?)
            }
            ProjectionMethod::JobsToLimits => Some(used + in_flight?),
        }
    }

    /// How many days the rest lasts at the rate of the method, rounded down; `None` at a rate of nothing, and without days
    /// that went by.
    #[must_use]
    pub fn days_left(&self, method: ProjectionMethod, on: Day, window_days: i32, left: i128) -> Option<i128> {
        if left <= 0 {
            return Some(0);
        }
        let (gone, _) = self.elapsed(on)?;
        let (used, days) = match method {
            ProjectionMethod::RecentWindow if self.is_by_day => {
                let first = on.checked_add(1)?.checked_sub(window_days)?.max(self.from);
                let recent: i128 = self.used.range(first..=on).map(|(_, used)| used).sum();
                (recent, i128::from(window_days).min(gone))
            }
            _ => (self.to_date(on), gone),
        };
        if used <= 0 {
            return None;
        }
        left.checked_mul(days)?.checked_div(used)
    }

    /// What each method would have projected at the end of each month that is over, for the last day of which use is known:
    /// the end of the days, or `on` while they continue; and what was used by then. Jobs that ran and waited in the past are
    /// not known any more, so that their method has none.
    #[must_use]
    pub fn back_test(&self, on: Day, window_days: i32) -> Vec<BackTest> {
        let until = self.until.min(day_after(on));
        let known = UseOfDays { until, ..*self };
        let mut tests = Vec::new();
        let Some(mut month) = Month::of_day(self.from) else {
            return tests;
        };
        let actual = known.to_date(until);
        while month.last_day() + 1 < until {
            let at = month.last_day();
            for method in [ProjectionMethod::ConstantRate, ProjectionMethod::RecentWindow] {
                if let Some(projected) = known.expected_at_end(method, at, window_days, None) {
                    tests.push(BackTest {
                        method,
                        month,
                        projected,
                        actual,
                    });
                }
            }
            month = month.next();
        }
        tests
    }
}

/// What a method projected at the end of a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackTest {
    /// The method.
    pub method: ProjectionMethod,
    /// The month; what was used by its end was known.
    pub month: Month,
    /// What the method projected.
    pub projected: i128,
    /// What was used.
    pub actual: i128,
}

impl BackTest {
    /// How far off it was: above zero where it projected too much.
    #[must_use]
    pub fn error(&self) -> i128 {
        self.projected - self.actual
    }
}
