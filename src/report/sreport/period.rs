//! The time a report is about.

use crate::error::{Error, Kind, Result};
use crate::report::lake::Selection;
use crate::time::instant::parse_local_ms;
use crate::time::zone::Local;
use crate::time::{Day, Month, MsSpan, Zone};

/// Milliseconds of an hour, the grain of Slurm's roll-up.
pub(super) const HOUR_MS: i64 = 3_600_000;

/// From an instant to another, Unix milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SreportPeriod {
    /// First instant.
    pub from_ms: i64,
    /// First instant behind it.
    pub until_ms: i64,
    /// Where local hours begin, after the hours of UTC.
    hour_ms: i64,
}

impl SreportPeriod {
    /// The days of a selection, in a zone; open at an end where the selection is.
    #[must_use]
    pub fn of_days(selection: &Selection, zone: &Zone) -> Self {
        let begins = |day: Day| zone.begins_ms(day);
        let from_ms = selection.days.from.map_or(i64::MIN, begins);
        // Fallback: the last day of all has no day after it.
        let until_ms = selection.days.to.map_or(i64::MAX, |day| begins(day.saturating_add(1)));
        Self::new(from_ms, until_ms, zone)
    }

    /// Between two printed local times, as `start=` and `end=` of sreport: `2026-11-21T01:00`, whole hours.
    ///
    /// # Errors
    /// [`Kind::Usage`] when one is no such time, or none is between them.
    pub fn between(start: &str, end: &str, zone: &Zone) -> Result<Self> {
        let (from_ms, until_ms) = (instant(start, zone)?, instant(end, zone)?);
        if until_ms <= from_ms {
            return Err(Error::new(
                Kind::Usage,
                format!("--end {end} is not after --start {start}"),
            ));
        }
        Ok(Self::new(from_ms, until_ms, zone))
    }

    fn new(from_ms: i64, until_ms: i64, zone: &Zone) -> Self {
        let near = if from_ms == i64::MIN { until_ms } else { from_ms };
        let near = if near == i64::MAX { 0 } else { near };
        let hour_ms = zone.offset_at(near.div_euclid(1000)).rem_euclid(3600) * 1000;
        Self {
            from_ms,
            until_ms,
            hour_ms: (HOUR_MS - hour_ms).rem_euclid(HOUR_MS),
        }
    }

    /// Whether both ends are known.
    #[must_use]
    pub fn is_closed(self) -> bool {
        self.from_ms != i64::MIN && self.until_ms != i64::MAX
    }

    /// How long it is.
    pub(super) fn seconds(self) -> i64 {
        // Fallback: a period without an end is as long as the type can state.
        self.until_ms.saturating_sub(self.from_ms) / 1000
    }

    /// The part of a span that is in the period; `None` when none does.
    #[must_use]
    pub fn clip(self, from_ms: i64, until_ms: i64) -> Option<MsSpan> {
        MsSpan { from_ms, until_ms }.common(MsSpan {
            from_ms: self.from_ms,
            until_ms: self.until_ms,
        })
    }

    /// Whether a month is completely in it.
    pub(super) fn holds(self, month: Month, zone: &Zone) -> bool {
        let begins = |month: Month| zone.begins_ms(month.first_day());
        self.from_ms <= begins(month) && begins(month.next()) <= self.until_ms
    }

    /// Whether any part of a month is in it.
    pub(super) fn touches(self, month: Month, zone: &Zone) -> bool {
        let begins = |month: Month| zone.begins_ms(month.first_day());
        self.clip(begins(month), begins(month.next())).is_some()
    }

    /// The local hours of a span: their numbers, and the part of the span that is in each.
    pub(super) fn hours(self, span: MsSpan) -> impl Iterator<Item = (i64, i64, i64)> {
        let shift_ms = self.hour_ms;
        let first = (span.from_ms - shift_ms).div_euclid(HOUR_MS);
        let behind = (span.until_ms - shift_ms + HOUR_MS - 1).div_euclid(HOUR_MS);
        (first..behind).map(move |hour| {
            let begins_ms = hour * HOUR_MS + shift_ms;
            (
                hour,
                span.from_ms.max(begins_ms),
                span.until_ms.min(begins_ms + HOUR_MS),
            )
        })
    }
}

fn instant(text: &str, zone: &Zone) -> Result<i64> {
    let wrong = |why: &str| Error::new(Kind::Usage, format!("{text:?} {why}: write it as 2026-11-21T01:00"));
    let local_ms = parse_local_ms(text).ok_or_else(|| wrong("is not a local time"))?;
    if local_ms % 3_600_000 != 0 {
        return Err(wrong("is no whole hour, and Slurm's roll-up knows only those"));
    }
    match zone.resolve(local_ms / 1000) {
        Local::Unique(unix_s) | Local::Fold { earlier: unix_s, .. } | Local::Gap(unix_s) => Ok(unix_s * 1000),
    }
}
