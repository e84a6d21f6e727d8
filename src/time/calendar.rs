//! Days, months and allocation years as the pipeline cuts them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::grain::Grain;
use super::interval::MsSpan;
use super::month::{Day, Month, date_of};
use super::zone::Zone;

/// A period of `usage`: a day or a month, and the allocation year it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period {
    /// Its first instant, Unix milliseconds.
    pub from_ms: i64,
    /// The instant after its last (half-open), Unix milliseconds.
    pub until_ms: i64,
    /// First day of its calendar month.
    pub month: Day,
    /// The day, at day grain.
    pub day: Option<Day>,
    /// Year in which its allocation year begins.
    pub allocation_year: i64,
}

/// What a period has of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeriodPart {
    /// The period.
    pub period: Period,
    /// How much of the span is in it, milliseconds.
    pub length_ms: i64,
}

/// The day on which allocation years begin. It is stored as month and day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "[i8; 2]", into = "[i8; 2]")]
pub struct YearStart {
    /// Month of the year, from 1.
    pub month: i8,
    /// Day of the month, from 1.
    pub day: i8,
}

impl YearStart {
    /// The first of January.
    pub const CALENDAR_YEAR: Self = Self { month: 1, day: 1 };
}

impl From<[i8; 2]> for YearStart {
    fn from([month, day]: [i8; 2]) -> Self {
        Self { month, day }
    }
}

impl From<YearStart> for [i8; 2] {
    fn from(start: YearStart) -> Self {
        [start.month, start.day]
    }
}

/// Cuts time into periods in one zone. Remembers the periods it has cut: there are few.
#[derive(Clone, Debug)]
pub struct Calendar {
    zone: Zone,
    grain: Grain,
    year_start: YearStart,
    cut: BTreeMap<i64, Period>,
}

impl Calendar {
    /// A calendar of `grain` in `zone` whose allocation years begin on `year_start`.
    #[must_use]
    pub fn new(zone: Zone, grain: Grain, year_start: YearStart) -> Self {
        Self {
            zone,
            grain,
            year_start,
            cut: BTreeMap::new(),
        }
    }

    /// The period that holds an instant; `None` outside the years gridtally can name.
    pub fn period(&mut self, ms: i64) -> Option<Period> {
        if let Some((_, known)) = self.cut.range(..=ms).next_back()
            && ms < known.until_ms
        {
            return Some(*known);
        }
        let unix_s = ms.div_euclid(1000);
        let local_s = unix_s.checked_add(self.zone.offset_at(unix_s))?;
        let day = Day::try_from(local_s.div_euclid(86_400)).ok()?;
        let date = date_of(day)?;
        let month = Month::of_day(day)?;
        // An allocation year that begins inside a month cuts that month in two.
        let start = self.year_start;
        let started = (date.month(), date.day()) >= (start.month, start.day);
        let allocation_year = i64::from(date.year()) - i64::from(!started);
        let (first, after) = match self.grain {
            Grain::Day => (day, day.checked_add(1)?),
            Grain::Month => {
                let (first, after) = (month.first_day(), month.next().first_day());
                let cut = first + i32::from(start.day) - 1;
                match (date.month() == start.month && start.day > 1, day >= cut) {
                    (false, _) => (first, after),
                    (true, true) => (cut, after),
                    (true, false) => (first, cut),
                }
            }
        };
        let period = Period {
            from_ms: self.begins_ms(first),
            until_ms: self.begins_ms(after),
            month: month.first_day(),
            day: (self.grain == Grain::Day).then_some(day),
            allocation_year,
        };
        self.cut.insert(period.from_ms, period);
        Some(period)
    }

    /// A span cut into its periods, in order; `None` where a part of it is outside the years gridtally can name.
    pub fn parts(&mut self, of: MsSpan) -> Option<Vec<PeriodPart>> {
        let mut parts = Vec::new();
        let mut at_ms = of.from_ms;
        while at_ms < of.until_ms {
            let period = self.period(at_ms)?;
            parts.push(PeriodPart {
                period,
                length_ms: period.until_ms.min(of.until_ms) - at_ms,
            });
            at_ms = period.until_ms;
        }
        Some(parts)
    }

    /// The length of the allocation year that begins in `year`, seconds; `None` outside the years gridtally can name.
    #[must_use]
    pub fn year_s(&self, year: i64) -> Option<i64> {
        let YearStart { month, day } = self.year_start;
        let first = |year: i64| {
            let date = super::date::Date::new(i16::try_from(year).ok()?, month, day)?;
            Some(self.begins_ms(super::month::day_of(date)))
        };
        Some((first(year + 1)? - first(year)?) / 1000)
    }

    /// The first instant of a local day, Unix milliseconds. A midnight that clocks skip or repeat begins at its first
    /// possible instant.
    #[must_use]
    pub fn begins_ms(&self, day: Day) -> i64 {
        self.zone.begins_ms(day)
    }
}
