//! Which snapshots are kept.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// The most days or months that are kept.
const MOST: u32 = 36_500;

/// How many snapshots are kept. The newest, and those with a tag, are always kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepPolicy {
    /// Of so many days on which the lake was published, the newest ones, the last snapshot is kept.
    pub night_n: u32,
    /// Of so many months likewise.
    pub month_n: u32,
}

impl KeepPolicy {
    /// A policy of so many days and months.
    ///
    /// # Errors
    /// Why there is no such policy.
    pub fn new(night_n: i64, month_n: i64) -> Result<Self, String> {
        let count = |what: &str, number: i64| {
            let wrong = |_| format!("{what} = {number} is not a number from 0 to {MOST}");
            u32::try_from(number).map_err(wrong).and_then(|count| {
                if count > MOST {
                    Err(format!("{what} = {number} is more than {MOST}"))
                } else {
                    Ok(count)
                }
            })
        };
        Ok(Self {
            night_n: count("nights", night_n)?,
            month_n: count("months", month_n)?,
        })
    }
}

impl fmt::Display for KeepPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nights={},months={}", self.night_n, self.month_n)
    }
}

impl FromStr for KeepPolicy {
    type Err = Error;

    /// `nights=30,months=24`; what is not named is 0.
    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::config(format!("{text:?} is not a policy such as nights=30,months=24"));
        let (mut nights, mut months) = (None, None);
        for part in text.split(',') {
            let (key, value) = part.split_once('=').ok_or_else(wrong)?;
            let number: i64 = value.trim().parse().map_err(|_| wrong())?;
            let slot = match key.trim() {
                "nights" => &mut nights,
                "months" => &mut months,
                _ => return Err(wrong()),
            };
            if slot.replace(number).is_some() {
                return Err(wrong());
            }
        }
        // Fallback: of what is not named none is kept, as documented.
        Self::new(nights.unwrap_or(0), months.unwrap_or(0)).map_err(Error::config)
    }
}
