//! Lengths of allocation years, of rows most of which are of the year of the row before.

use crate::time::Calendar;

/// Looks up the lengths of allocation years in a calendar.
pub(super) struct YearLengths<'a> {
    calendar: &'a Calendar,
    last: Option<(i64, Option<i64>)>,
}

impl<'a> YearLengths<'a> {
    /// Of the years of a calendar.
    pub(super) fn new(calendar: &'a Calendar) -> Self {
        Self { calendar, last: None }
    }

    /// Length of an allocation year, seconds; `None` beyond the years that can be written.
    pub(super) fn of(&mut self, year: i64) -> Option<i64> {
        match self.last {
            Some((known, year_s)) if known == year => year_s,
            _ => {
                let year_s = self.calendar.year_s(year);
                self.last = Some((year, year_s));
                year_s
            }
        }
    }
}
