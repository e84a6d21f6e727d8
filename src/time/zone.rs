//! A time zone as a table of offset changes, for converting millions of printed times.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::month::Day;
use crate::error::{Error, Result};

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

/// A named zone of the IANA database (bundled, so that results do not depend on the machine).
#[derive(Clone, Debug)]
pub struct Zone {
    name: String,
    /// `(Unix second from which it holds, offset east of UTC in seconds)`, ascending; the first holds from always.
    offsets: Vec<(i64, i64)>,
}

impl Zone {
    /// UTC.
    #[must_use]
    pub fn utc() -> Self {
        Self {
            name: "UTC".to_owned(),
            offsets: vec![(i64::MIN, 0)],
        }
    }

    /// The zone called `name`, such as `Europe/Zurich`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] when there is no such zone.
    pub fn named(name: &str) -> Result<Self> {
        let zone = TimeZone::get(name).map_err(|_| Error::config(format!("there is no time zone called {name:?}")))?;
        let from = Timestamp::from_second(TABLE_FROM_S).map_err(|e| Error::internal("zone table").because(e))?;
        let mut offsets = vec![(i64::MIN, i64::from(zone.to_offset(from).seconds()))];
        for change in zone.following(from) {
            let at = change.timestamp().as_second();
            if at >= TABLE_UNTIL_S {
                break;
            }
            let offset = i64::from(change.offset().seconds());
            if offsets.last().is_some_and(|&(_, last)| last != offset) {
                offsets.push((at, offset));
            }
        }
        Ok(Self {
            name: name.to_owned(),
            offsets,
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
        let after = self.offsets.partition_point(|&(from, _)| from <= unix_s);
        self.offsets
            .get(after.saturating_sub(1))
            .map_or(0, |&(_, offset)| offset)
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

    /// What local wall-clock seconds (days since 1970 times 86 400 plus second of day, read off the clock) mean.
    #[must_use]
    pub fn resolve(&self, local_s: i64) -> Local {
        // Any zone's offset is within a day of UTC, so the change that matters lies in this window.
        const DAY_S: i64 = 86_400;
        let before = self.offset_at(local_s.saturating_sub(DAY_S));
        let after = self.offset_at(local_s.saturating_add(DAY_S));
        let (first, second) = (local_s.saturating_sub(before), local_s.saturating_sub(after));
        let holds = |unix_s: i64| self.offset_at(unix_s) == local_s.saturating_sub(unix_s);
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
