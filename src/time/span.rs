//! Days from one to another, and the months they touch.

use std::fmt;
use std::str::FromStr;

use super::month::{date_of, day_of};
use super::{DAY_MS, Day, Month};

/// Days from one to another, both included; `None` is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DaySpan {
    /// First day.
    pub from: Option<Day>,
    /// Last day.
    pub to: Option<Day>,
}

impl DaySpan {
    /// Whole months, both included.
    #[must_use]
    pub fn of_months(from: Option<Month>, to: Option<Month>) -> Self {
        Self {
            from: from.map(Month::first_day),
            to: to.map(Month::last_day),
        }
    }

    /// Whether a day is among them.
    #[must_use]
    pub fn has(self, day: Day) -> bool {
        self.overlaps(day, day)
    }

    /// Whether the UTC day of an instant in Unix milliseconds is among them.
    #[must_use]
    pub fn has_ms(self, ms: i64) -> bool {
        let day = ms.div_euclid(DAY_MS);
        self.from.is_none_or(|from| i64::from(from) <= day) && self.to.is_none_or(|to| day <= i64::from(to))
    }

    /// Whether any day from `first` to `last` is among them.
    #[must_use]
    pub fn overlaps(self, first: Day, last: Day) -> bool {
        self.from.is_none_or(|from| from <= last) && self.to.is_none_or(|to| first <= to)
    }

    /// Whether any day of a month is among them.
    #[must_use]
    pub fn touches(self, month: Month) -> bool {
        self.overlaps(month.first_day(), month.last_day())
    }

    /// Whether some days of a month are among them, and some are not.
    #[must_use]
    pub fn cuts(self, month: Month) -> bool {
        self.touches(month)
            && (self.from.is_some_and(|from| from > month.first_day())
                || self.to.is_some_and(|to| to < month.last_day()))
    }

    /// Whether they are whole months.
    #[must_use]
    pub fn is_of_months(self) -> bool {
        let mut ends = self.from.iter().chain(&self.to).filter_map(|day| Month::of_day(*day));
        !ends.any(|month| self.cuts(month))
    }

    /// The month of the first day.
    #[must_use]
    pub fn first_month(self) -> Option<Month> {
        Month::of_day(self.from?)
    }

    /// The month of the last day.
    #[must_use]
    pub fn last_month(self) -> Option<Month> {
        Month::of_day(self.to?)
    }
}

impl fmt::Display for DaySpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gap = "";
        for (word, day) in [("from", self.from), ("to", self.to)] {
            if let Some(date) = day.and_then(date_of) {
                write!(f, "{gap}{word} {date}")?;
                gap = " ";
            }
        }
        Ok(())
    }
}

/// An end of a period, as people name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MonthOrDay {
    /// `2026-10`
    Month(Month),
    /// `2026-10-01`
    Day(Day),
}

impl MonthOrDay {
    /// Its first day.
    #[must_use]
    pub fn first_day(self) -> Day {
        match self {
            Self::Month(month) => month.first_day(),
            Self::Day(day) => day,
        }
    }

    /// Its last day.
    #[must_use]
    pub fn last_day(self) -> Day {
        match self {
            Self::Month(month) => month.last_day(),
            Self::Day(day) => day,
        }
    }
}

impl FromStr for MonthOrDay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const DAY_LETTERS: usize = 10;
        if text.len() == DAY_LETTERS
            && let Ok(date) = text.parse()
        {
            return Ok(Self::Day(day_of(date)));
        }
        let month = text.parse().map(Self::Month);
        month.map_err(|_| format!("{text:?} is not a month such as 2026-03, and no day such as 2026-03-31"))
    }
}

impl fmt::Display for MonthOrDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Month(month) => month.fmt(f),
            Self::Day(day) => date_of(*day).map_or(Ok(()), |date| date.fmt(f)),
        }
    }
}
