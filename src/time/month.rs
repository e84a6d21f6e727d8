//! Calendar months and days, as numbers.

use std::fmt;
use std::str::FromStr;

use super::date::Date;

/// Milliseconds of a day of UTC.
pub const DAY_MS: i64 = 86_400_000;

/// Days since 1970-01-01 as Arrow's `Date32` counts them.
pub type Day = i32;

/// The day after a day.
#[must_use]
pub fn day_after(day: Day) -> Day {
    // Fallback: the last day of the type is millions of years beyond the calendar.
    day.saturating_add(1)
}

/// A calendar month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month {
    year: i16,
    month: i8,
}

/// The civil date of a day number.
#[must_use]
pub fn date_of(day: Day) -> Option<Date> {
    Date::of_day(day)
}

/// The day number of a civil date.
#[must_use]
pub fn day_of(date: Date) -> Day {
    days_since_1970(i32::from(date.year()), i32::from(date.month()), i32::from(date.day()))
}

/// The day number of a printed date; `None` when there is no such day.
pub(crate) fn day_number(year: i32, month: i32, day: i32) -> Option<Day> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_in_month = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=days_in_month)
        .contains(&day)
        .then(|| days_since_1970(year, month, day))
}

/// Days since the epoch of a civil date, by the well-known era arithmetic: 400 years are 146 097 days, and years are
/// counted from March, so that the leap day is the last of its year.
fn days_since_1970(year: i32, month: i32, day: i32) -> Day {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

impl Month {
    /// The month `month` (1 to 12) of `year` (1 to 9999).
    #[must_use]
    pub fn new(year: i16, month: i8) -> Option<Self> {
        Date::new(year, month, 1).filter(|_| year > 0).map(Self::of_date)
    }

    /// The month of a civil date.
    #[must_use]
    pub fn of_date(date: Date) -> Self {
        Self {
            year: date.year(),
            month: date.month(),
        }
    }

    /// The month of a day number; `None` outside the years gridtally can name.
    #[must_use]
    pub fn of_day(day: Day) -> Option<Self> {
        // The reverse of `days_since_1970`, without the detour over a civil date: every record requests its month.
        let day = i64::from(day) + 719_468;
        let era = day.div_euclid(146_097);
        let day_of_era = day.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let month = if from_march < 10 {
            from_march + 3
        } else {
            from_march - 9
        };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        Some(Self {
            year: i16::try_from(year).ok().filter(|year| (-9999..=9999).contains(year))?,
            month: i8::try_from(month).ok()?,
        })
    }

    /// The UTC month of an instant in Unix milliseconds.
    #[must_use]
    pub fn of_ms(ms: i64) -> Option<Self> {
        Self::of_day(i32::try_from(ms.div_euclid(86_400_000)).ok()?)
    }

    /// Its year.
    #[must_use]
    pub fn year(self) -> i16 {
        self.year
    }

    /// Its number in the year, from 1.
    #[must_use]
    pub fn number(self) -> i8 {
        self.month
    }

    /// Its first day.
    #[must_use]
    pub fn first_day(self) -> Day {
        Date::new(self.year, self.month, 1).map_or(0, day_of)
    }

    /// Its last day.
    #[must_use]
    pub fn last_day(self) -> Day {
        // Fallback: never taken, the first day of a month after another is not the first of all.
        self.next().first_day().saturating_sub(1)
    }

    /// The month after it.
    #[must_use]
    pub fn next(self) -> Self {
        if self.month == 12 {
            Self {
                // Fallback: a month of the last year of the type is followed by one of the same, which no date has.
                year: self.year.saturating_add(1),
                month: 1,
            }
        } else {
            Self {
                month: self.month + 1,
                ..self
            }
        }
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

impl FromStr for Month {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split_once('-')
            .filter(|(year, month)| year.len() == 4 && month.len() == 2)
            .and_then(|(year, month)| Some((year.parse().ok()?, month.parse().ok()?)))
            .and_then(|(year, month)| Date::new(year, month, 1))
            .map(Self::of_date)
            .ok_or_else(|| format!("{text:?} is not a month such as 2026-03"))
    }
}
