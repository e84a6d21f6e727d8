//! Dates of the Gregorian calendar.

use std::fmt;
use std::str::FromStr;

use chrono::{Datelike, NaiveDate};

use super::month::{Day, day_number};

/// A date of the Gregorian calendar, in the years -9999 to 9999. Prints and reads as `2026-03-01`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: i16,
    month: i8,
    day: i8,
}

impl Date {
    /// The date, if there is one.
    #[must_use]
    pub fn new(year: i16, month: i8, day: i8) -> Option<Self> {
        let is_named = (-9999..=9999).contains(&year);
        day_number(i32::from(year), i32::from(month), i32::from(day)).filter(|_| is_named)?;
        Some(Self { year, month, day })
    }

    /// The date of a day number.
    #[must_use]
    pub fn of_day(day: Day) -> Option<Self> {
        let date = NaiveDate::from_epoch_days(day)?;
        let (month, day) = (i8::try_from(date.month()).ok()?, i8::try_from(date.day()).ok()?);
        Self::new(i16::try_from(date.year()).ok()?, month, day)
    }

    /// Its year.
    #[must_use]
    pub fn year(self) -> i16 {
        self.year
    }

    /// Its month, from 1.
    #[must_use]
    pub fn month(self) -> i8 {
        self.month
    }

    /// Its day of the month, from 1.
    #[must_use]
    pub fn day(self) -> i8 {
        self.day
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl FromStr for Date {
    type Err = String;

    /// Reads `YYYY-MM-DD` and no other form.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not a day such as 2026-03-01");
        let shape = text.len() == 10
            && text.bytes().enumerate().all(|(nth, byte)| match nth {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !shape {
            return Err(wrong());
        }
        let mut parts = text.split('-');
        let mut next = || parts.next().ok_or_else(wrong);
        let (year, month, day) = (next()?, next()?, next()?);
        let year = year.parse().map_err(|_| wrong())?;
        let (month, day) = (month.parse().map_err(|_| wrong())?, day.parse().map_err(|_| wrong())?);
        Self::new(year, month, day).ok_or_else(wrong)
    }
}
