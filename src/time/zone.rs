//! A time zone as a table of offset changes, for converting millions of printed times.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, Offset, TimeZone};
use chrono_tz::{TZ_VARIANTS, Tz};

use super::month::{Day, Month};
use super::zone_amendments::amend;
use crate::error::{Error, Result};
use crate::numbers::Extent;

/// Unix seconds of 1970-01-01 and 2100-01-01: the changes between them are tabulated.
const TABLE_FROM_S: i64 = 0;
const TABLE_UNTIL_S: i64 = 4_102_444_800;

/// What a printed local time can mean. All values are Unix seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Local {
    /// One instant.
    Unique(i64),
    /// Two instants: clocks were turned back.
    Fold {
        /// The first pass through this time.
        earlier: i64,
        /// The second pass.
        later: i64,
    },
    /// None: clocks were turned forward. The instant is what the offset before the change gives.
    Gap(i64),
}

/// No two changes of a zone are closer than this, seconds.
const STEP_S: i64 = 4 * 86_400;

/// The names of all zones.
pub fn zone_names() -> impl Iterator<Item = &'static str> {
    TZ_VARIANTS.iter().map(|zone| zone.name())
}

/// From when on which offset holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OffsetChange {
    /// Unix second.
    pub(super) from_s: i64,
    /// Seconds east of UTC.
    pub(super) offset_s: i64,
}

impl OffsetChange {
    pub(super) const fn new(from_s: i64, offset_s: i64) -> Self {
        Self { from_s, offset_s }
    }
}

/// The changes of a zone as `chrono-tz` has them; the first holds from always.
fn changes(zone: Tz) -> Result<Vec<OffsetChange>> {
    let offset = |unix_s: i64| {
        let at = DateTime::from_timestamp(unix_s, 0).ok_or_else(|| Error::internal("zone table"))?;
        let offset = zone.offset_from_utc_datetime(&at.naive_utc()).fix().local_minus_utc();
        Ok::<i64, Error>(i64::from(offset))
    };
    let mut last = offset(TABLE_FROM_S)?;
    let mut changes = vec![OffsetChange::new(i64::MIN, last)];
    let mut from = TABLE_FROM_S;
    while from < TABLE_UNTIL_S - 1 {
        let until = (from + STEP_S).min(TABLE_UNTIL_S - 1);
        let next = offset(until)?;
        if next != last {
            let (mut before, mut after) = (from, until);
            while after - before > 1 {
                let middle = before + (after - before) / 2;
                if offset(middle)? == last {
                    before = middle;
                } else {
                    after = middle;
                }
            }
            changes.push(OffsetChange::new(after, next));
            last = next;
        }
        from = until;
    }
    Ok(changes)
}

/// The tables of the zones that were named before: a table takes thousands of questions, and a run names a zone often.
static TABLES: Mutex<BTreeMap<&'static str, Vec<OffsetChange>>> = Mutex::new(BTreeMap::new());

/// The changes of a zone, with what `chrono-tz` lacks.
fn table(zone: Tz) -> Result<Vec<OffsetChange>> {
    // A table is whole once it is among the others.
    let known = || TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(table) = known().get(zone.name()) {
        return Ok(table.clone());
    }
    let mut table = changes(zone)?;
    amend(zone.name(), &mut table);
    known().insert(zone.name(), table.clone());
    Ok(table)
}

/// Instants between which one offset of a zone is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetSpan {
    /// First Unix second of it.
    pub from_s: i64,
    /// First Unix second after it; the end of the type where no change follows.
    pub until_s: i64,
    /// Seconds east of UTC.
    pub offset_s: i64,
}

impl OffsetSpan {
    /// Whether a Unix second is in it.
    #[must_use]
    pub fn has(&self, unix_s: i64) -> bool {
        self.from_s <= unix_s && unix_s < self.until_s
    }
}

/// A named zone of the IANA database (bundled, so that results do not depend on the machine).
#[derive(Clone, Debug)]
pub struct Zone {
    name: String,
    /// Ascending; the first holds from always.
    offsets: Vec<OffsetChange>,
}

impl Zone {
    /// UTC.
    #[must_use]
    pub fn utc() -> Self {
        Self {
            name: "UTC".to_owned(),
            offsets: vec![OffsetChange::new(i64::MIN, 0)],
        }
    }

    /// The zone called `name`, such as `Europe/Zurich`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] when there is no such zone.
    pub fn named(name: &str) -> Result<Self> {
        let zone = TZ_VARIANTS.iter().find(|zone| zone.name().eq_ignore_ascii_case(name));
        let zone = zone.ok_or_else(|| Error::config(format!("there is no time zone called {name:?}")))?;
        Ok(Self {
            name: name.to_owned(),
            offsets: table(*zone)?,
        })
    }

    /// Its IANA name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The offset in force at a Unix second, in seconds east of UTC.
    #[must_use]
    pub fn offset_at(&self, unix_s: i64) -> i64 {
        let after = self.offsets.partition_point(|change| change.from_s <= unix_s);
        self.offsets.get(after.less(1)).map_or(0, |change| change.offset_s)
    }

    /// The offset in force at a Unix second, and between which instants it is: for many instants that are near each other.
    #[must_use]
    pub fn offset_span(&self, unix_s: i64) -> OffsetSpan {
        let after = self.offsets.partition_point(|change| change.from_s <= unix_s);
        let current = self.offsets.get(after.less(1));
        OffsetSpan {
            from_s: current.map_or(i64::MIN, |change| change.from_s),
            until_s: self.offsets.get(after).map_or(i64::MAX, |change| change.from_s),
            offset_s: current.map_or(0, |change| change.offset_s),
        }
    }

    /// The first instant of a local day, Unix milliseconds. A midnight that clocks skip or repeat begins at its first
    /// possible instant.
    #[must_use]
    pub fn begins_ms(&self, day: Day) -> i64 {
        let unix_s = match self.resolve(i64::from(day) * 86_400) {
            Local::Unique(unix_s) | Local::Fold { earlier: unix_s, .. } | Local::Gap(unix_s) => unix_s,
        };
        unix_s * 1000
    }

    /// The month of an instant in this zone; `None` outside the years gridtally can name.
    #[must_use]
    pub fn month_of(&self, ms: i64) -> Option<Month> {
        let unix_s = ms.div_euclid(1000);
        let local_s = unix_s.checked_add(self.offset_at(unix_s))?;
        Month::of_day(Day::try_from(local_s.div_euclid(86_400)).ok()?)
    }

    /// What local wall-clock seconds (days since 1970 times 86 400 plus second of day, read off the clock) mean.
    #[must_use]
    pub fn resolve(&self, local_s: i64) -> Local {
        // Any zone's offset is within a day of UTC, so the change that matters is in this window.
        const DAY_S: i64 = 86_400;
        let before = self.offset_at(shifted(local_s, -DAY_S));
        let after = self.offset_at(shifted(local_s, DAY_S));
        let (first, second) = (shifted(local_s, -before), shifted(local_s, -after));
        let holds = |unix_s: i64| self.offset_at(unix_s) == shifted(local_s, -unix_s);
        match (holds(first), holds(second)) {
            (true, true) if first == second => Local::Unique(first),
            (true, true) => Local::Fold {
                earlier: first.min(second),
                later: first.max(second),
            },
            (true, false) => Local::Unique(first),
            (false, true) => Local::Unique(second),
            (false, false) => Local::Gap(first),
        }
    }
}

/// An instant moved by an offset of a zone, or by a day.
fn shifted(at_s: i64, by_s: i64) -> i64 {
    // Fallback: no rule of a zone changes at the ends of 63 bits of seconds.
    at_s.saturating_add(by_s)
}
