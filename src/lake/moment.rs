//! A state of a lake as people name it: a time, a run, a snapshot, a tag.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Kind, Result};
use crate::numbers::Extent;
use crate::schema::batch::time;
use crate::store::snapshots::{SnapshotName, TagName, names, snapshots, tags};
use crate::store::{Fact, Manifest, Seal, Store, read_table};
use crate::time::instant::{parse_instant_s, parse_local_ms, second_text};
use crate::time::month::{day_after, day_of};
use crate::time::{Date, Day, Local, Zone};

/// Milliseconds of the second that a time names.
const REST_OF_SECOND_MS: i64 = 999;

/// A state of a lake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LakeMoment {
    written: String,
    kind: MomentKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum MomentKind {
    /// The newest.
    Latest,
    /// Number of a snapshot.
    Number(u64),
    /// The end of a day in the zone of the lake.
    Day(Day),
    /// The end of a second, Unix milliseconds.
    Instant(i64),
    /// The end of a second on the clocks of the lake, milliseconds.
    Clock(i64),
    /// What a run left.
    Run(String),
    /// What has a tag.
    Tag(TagName),
}

impl FromStr for LakeMoment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let wrong = || {
            format!(
                "{text:?} is not a day (2026-05-03), a time (2026-05-03T02:00, or with Z or an offset), a run as `gridtally \
                 snapshots` lists it, the number of a snapshot, a tag, or latest"
            )
        };
        let kind = if text == "latest" {
            MomentKind::Latest
        } else if is_number(text) {
            MomentKind::Number(text.parse().map_err(|_| wrong())?)
        } else if let Ok(date) = text.parse::<Date>() {
            MomentKind::Day(day_of(date))
        } else if let Some(at_s) = parse_instant_s(text) {
            MomentKind::Instant(at_s * 1000 + REST_OF_SECOND_MS)
        } else if let Some(at_ms) = parse_local_ms(text) {
            MomentKind::Clock(at_ms)
        } else if text.split_once('-').is_some_and(|(a, b)| is_number(a) && is_number(b)) {
            MomentKind::Run(text.to_owned())
        } else {
            MomentKind::Tag(text.parse().map_err(|_| wrong())?)
        };
        Ok(Self {
            written: text.to_owned(),
            kind,
        })
    }
}

impl fmt::Display for LakeMoment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl LakeMoment {
    /// The state after the last run.
    #[must_use]
    pub fn latest() -> Self {
        Self {
            written: "latest".to_owned(),
            kind: MomentKind::Latest,
        }
    }

    /// The snapshot of the lake at a path or URL that is this state.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when there is no lake, or it does not keep the state: another one is never taken for it.
    pub fn find(&self, lake: &str) -> Result<SnapshotName> {
        let store = Store::open_existing(lake)?;
        let Some(Manifest { facts, .. }) = Manifest::load(&store)? else {
            let message = format!("{lake} is not a lake: it has no manifest.json");
            return Err(Error::new(Kind::NoInput, message));
        };
        // Before the list: a run that commits in between has its snapshot on it.
        let run_n = Seal::load(&store)?.map_or(0, |seal| seal.head("runs").page_n);
        let known = names(&store)?;
        if known.is_empty() {
            let message = "the lake has no snapshots: a run makes one where its [pipeline] has keep = { nights = 30, months = \
                           24 }";
            return Err(Error::new(Kind::NoInput, message).at("lake", lake));
        }
        let absent = || {
            Error::new(
                Kind::NoInput,
                format!("no snapshot is {self}: gridtally snapshots lists them"),
            )
            .at("lake", lake)
        };
        let at_ms = match &self.kind {
            MomentKind::Number(number) => {
                let found = known.into_iter().rfind(|name| name.number == *number);
                return found.ok_or_else(absent);
            }
            MomentKind::Run(run_id) => {
                let mut all = snapshots(&store, &known)?.into_iter();
                let found = all.rfind(|snapshot| snapshot.run_id.as_ref() == Some(run_id));
                return found.map(|snapshot| snapshot.name).ok_or_else(absent);
            }
            MomentKind::Tag(tag) => {
                let found = tags(&store)?.into_iter().find(|known| known.name == *tag);
                return found.map(|tag| tag.snapshot).ok_or_else(absent);
            }
            MomentKind::Latest => i64::MAX,
            MomentKind::Instant(at_ms) => *at_ms,
            MomentKind::Day(day) => zone(facts.get(Fact::CalendarTimezone))?.begins_ms(day_after(*day)) - 1,
            MomentKind::Clock(at_ms) => on_clock(&zone(facts.get(Fact::CalendarTimezone))?, *at_ms),
        };
        let is_before = |name: &&SnapshotName| name.made_ms <= at_ms;
        let found = known.iter().rfind(is_before);
        if let (Some(found), Some(ahead)) = (found, known.iter().find(|name| !is_before(name)))
            && ahead.number < found.number
        {
            return Err(self.not_in_order(ahead, found).at("lake", lake));
        }
        let mut later = known.iter().filter(|name| !is_before(name));
        let next_n = later.next().map_or(run_n.further(1), |next| next.number);
        match found {
            Some(found) if !self.is_missed(&store, found, next_n, at_ms)? => Ok(found.clone()),
            _ => Err(self.not_kept(&known, at_ms).at("lake", lake)),
        }
    }

    /// Whether a run between a snapshot and the next one that is kept published at or before a time.
    fn is_missed(&self, store: &Store, found: &SnapshotName, next_n: u64, at_ms: i64) -> Result<bool> {
        let between = found.number.further(1)..next_n;
        if between.is_empty() {
            return Ok(false);
        }
        if self.kind == MomentKind::Latest {
            return Ok(true);
        }
        for (path, number) in store.pages("runs")?.iter().zip(1..) {
            if !between.contains(&number) {
                continue;
            }
            for batch in read_table(store.reader(path)?, Some(&["finished_utc"]), 1024)? {
                let batch = batch?;
                let finished = time(&batch, "finished_utc")?;
                if finished.iter().flatten().any(|ms| ms <= at_ms) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The error for a time before a snapshot and after a later one: a clock was wrong, and which of them it was is not known.
    fn not_in_order(&self, ahead: &SnapshotName, found: &SnapshotName) -> Error {
        let message = format!(
            "what the lake was as of {self} is not known, because a clock went back: {} was published before {}. A snapshot is \
             taken by its number, as in --as-of {}",
            shown(ahead),
            shown(found),
            found.number
        );
        Error::new(Kind::NoInput, message)
    }

    fn not_kept(&self, known: &[SnapshotName], at_ms: i64) -> Error {
        let before = known.iter().take_while(|name| name.made_ms <= at_ms).last();
        let after = known.iter().find(|name| name.made_ms > at_ms);
        let near = match (before, after) {
            (Some(before), Some(after)) => format!(
                "the last one kept before is {}, the first after it {}",
                shown(before),
                shown(after)
            ),
            (Some(before), None) => format!("the last one kept is {}", shown(before)),
            (None, Some(after)) => format!("the first one kept is {}", shown(after)),
            (None, None) => "none is kept".to_owned(),
        };
        let message = format!(
            "the lake as of {self} is not kept: {near}. A snapshot is taken by its number, as in --as-of {}",
            before.or(after).map_or(0, |name| name.number)
        );
        Error::new(Kind::NoInput, message)
    }
}

/// A snapshot for people: its number and its time.
pub(crate) fn shown(name: &SnapshotName) -> String {
    let at = second_text(name.made_ms).map_or_else(String::new, |text| format!(" of {text}"));
    format!("snapshot {}{at}", name.number)
}

/// The zone that a lake states.
pub(crate) fn zone(stated: Option<&str>) -> Result<Zone> {
    let name = stated.ok_or_else(|| {
        let message = "the lake does not state in which zone its days are cut: run its pipeline again";
        Error::new(Kind::Data, message)
    })?;
    Zone::named(name)
}

/// The end of the second that clocks of a zone show, Unix milliseconds. Of one that they show twice it is the later.
fn on_clock(zone: &Zone, shown_ms: i64) -> i64 {
    let at_s = match zone.resolve(shown_ms.div_euclid(1000)) {
        Local::Unique(at_s) | Local::Fold { later: at_s, .. } | Local::Gap(at_s) => at_s,
    };
    at_s * 1000 + REST_OF_SECOND_MS
}
