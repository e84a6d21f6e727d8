//! The priority of two terms that FASRC's page describes: fair share and age.

use super::float::{of_integer, to_integer};
use crate::error::{Error, Kind, Result};

/// How much the two terms count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoTermPriority {
    /// What a factor of 1 counts for.
    pub fairshare_max: u32,
    /// What an age of `age_full_s` and more counts for.
    pub age_max: u32,
    /// Seconds of waiting after which the age no longer counts more; not 0.
    pub age_full_s: u32,
}

/// The two terms of a job, and their sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoTermScore {
    /// Fair share, rounded to a whole number.
    pub fairshare: i128,
    /// Age, rounded to a whole number.
    pub age: i128,
    /// Both.
    pub total: i128,
}

impl TwoTermPriority {
    /// FASRC's: 20 000 000 for fair share, and up to 10 000 000 after seven days, so that a factor of 0 that waited seven
    /// days is equal to a factor of 0.5 that was just submitted.
    pub const FASRC: Self = Self {
        fairshare_max: 20_000_000,
        age_max: 10_000_000,
        age_full_s: 604_800,
    };

    /// The priority of a job with a factor from 0 to 1 that has waited `waiting_s`.
    ///
    /// # Errors
    /// [`Kind::Data`] for a factor that is not from 0 to 1.
    pub fn score(&self, factor: f64, waiting_s: i64) -> Result<TwoTermScore> {
        if !(0.0..=1.0).contains(&factor) {
            return Err(Error::new(Kind::Data, "a fair share factor is not from 0 to 1").at("factor", factor));
        }
        let fairshare = to_integer(factor * f64::from(self.fairshare_max))?;
        let full_s = i64::from(self.age_full_s.max(1));
        let age = of_integer(i128::from(waiting_s.clamp(0, full_s))) / of_integer(i128::from(full_s));
        let age = to_integer(age * f64::from(self.age_max))?;
        Ok(TwoTermScore {
            fairshare,
            age,
            total: fairshare + age,
        })
    }
}
