//! Instants at which usage begins again at zero.

use serde::{Deserialize, Serialize};

use crate::time::month::{date_of, day_of};
use crate::time::{Date, Day, Zone};

/// How often usage is set to zero (`PriorityUsageResetPeriod`), at 00:00 of local time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum UsageReset {
    /// Never.
    #[default]
    None,
    /// Every day.
    Daily,
    /// On Sundays.
    Weekly,
    /// On the first day of a month.
    Monthly,
    /// On the first day of January, April, July and October.
    Quarterly,
    /// On the first of January.
    Yearly,
}

impl UsageReset {
    /// The words of slurm.conf. `NOW` sets usage to zero once and is no period.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("NONE", Self::None),
        ("DAILY", Self::Daily),
        ("WEEKLY", Self::Weekly),
        ("MONTHLY", Self::Monthly),
        ("QUARTERLY", Self::Quarterly),
        ("YEARLY", Self::Yearly),
    ];

    /// The last reset up to and including an instant, Unix seconds; `None` when there is none, and outside the years
    /// gridtally can name.
    #[must_use]
    pub fn last_s(self, zone: &Zone, at_s: i64) -> Option<i64> {
        let local_s = at_s.checked_add(zone.offset_at(at_s))?;
        let day = Day::try_from(local_s.div_euclid(86_400)).ok()?;
        let begins_s = |day: Day| Some(zone.begins_ms(self.first_day(day)?).div_euclid(1000));
        // Where clocks change at midnight, a local day may begin after an instant that reads as its first second.
        begins_s(day)
            .filter(|begins_s| *begins_s <= at_s)
            .or_else(|| begins_s(day.checked_sub(1)?))
    }

    /// The first day of the period that a day is in.
    fn first_day(self, day: Day) -> Option<Day> {
        let date = date_of(day)?;
        let first_of = |month: i8| Date::new(date.year(), month, 1).map(day_of);
        match self {
            Self::None => None,
            Self::Daily => Some(day),
            // 1970-01-04 was a Sunday.
            Self::Weekly => Some(day - (day - 3).rem_euclid(7)),
            Self::Monthly => first_of(date.month()),
            Self::Quarterly => first_of(date.month() - (date.month() - 1) % 3),
            Self::Yearly => first_of(1),
        }
    }
}
