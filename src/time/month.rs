//! A calendar month.

use std::fmt;
use std::str::FromStr;

/// A month of a year, ordered in time. Which instants lie in it depends on a calendar zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Month {
    year: i16,
    month: i8,
}

impl Month {
    /// The month `month` (1 to 12) of `year` (1 to 9999).
    #[must_use]
    pub fn new(year: i16, month: i8) -> Option<Self> {
        ((1..=9999).contains(&year) && (1..=12).contains(&month)).then_some(Self { year, month })
    }

    /// Its year.
    #[must_use]
    pub fn year(self) -> i16 {
        self.year
    }

    /// Its number, 1 to 12.
    #[must_use]
    pub fn month(self) -> i8 {
        self.month
    }
}

impl FromStr for Month {
    type Err = String;

    /// Reads `YYYY-MM`.
    fn from_str(text: &str) -> Result<Self, String> {
        let shape = text.len() == 7
            && text.bytes().enumerate().all(|(nth, byte)| match nth {
                4 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        text.split_once('-')
            .filter(|_| shape)
            .and_then(|(year, month)| Self::new(year.parse().ok()?, month.parse().ok()?))
            .ok_or_else(|| format!("\"{text}\" is no month such as 2026-03"))
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}
