//! Which snapshots of a lake a policy keeps, and why.

use std::collections::{BTreeMap, BTreeSet};

use super::moment::zone;
use crate::error::{Error, Kind, Result};
use crate::store::snapshots::{KeepPolicy, SnapshotName, names, tags};
use crate::store::{Fact, Manifest, Store};
use crate::time::{Day, Month, Zone};

/// Why a snapshot is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeepReason {
    /// It is the last one.
    Newest,
    /// It is the last one of a day.
    Night,
    /// It is the last one of a month.
    Month,
    /// It has a tag.
    Tag,
}

impl KeepReason {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Night => "night",
            Self::Month => "month",
            Self::Tag => "tag",
        }
    }
}

/// Snapshots, and why each is kept; one without a reason is not.
pub type Retention = BTreeMap<SnapshotName, BTreeSet<KeepReason>>;

/// Which snapshots of a lake are kept: by the policy, or where none is given, by that of the lake.
///
/// # Errors
/// [`Kind::NoInput`] when there is no lake; [`Kind::Usage`] when no policy is given, and the lake states none.
pub fn retention(store: &Store, policy: Option<KeepPolicy>) -> Result<Retention> {
    let manifest = Manifest::load(store)?.ok_or_else(|| {
        let message = format!("{} is not a lake: it has no manifest.json", store.url());
        Error::new(Kind::NoInput, message)
    })?;
    let policy = match (policy, manifest.facts.get(Fact::Keep)) {
        (Some(policy), _) => policy,
        (None, Some(stated)) => stated.parse()?,
        (None, None) => {
            let message =
                "the lake states no policy (keep of its [pipeline]): give one, as in --keep nights=30,months=24";
            return Err(Error::new(Kind::Usage, message).at("lake", store.url()));
        }
    };
    let tagged = tags(store)?.into_iter().map(|tag| tag.snapshot).collect();
    let zone = zone(manifest.facts.get(Fact::CalendarTimezone))?;
    Ok(retained(&names(store)?, &tagged, policy, &zone))
}

/// Which of these snapshots, in the order in which they were made, a policy keeps.
#[must_use]
pub fn retained(names: &[SnapshotName], tagged: &BTreeSet<SnapshotName>, policy: KeepPolicy, zone: &Zone) -> Retention {
    let mut retention: Retention = names.iter().map(|name| (name.clone(), BTreeSet::new())).collect();
    let mut keep = |name: &SnapshotName, reason: KeepReason| {
        retention.entry(name.clone()).or_default().insert(reason);
    };
    let (mut days, mut months) = (BTreeSet::new(), BTreeSet::new());
    for (nth, name) in names.iter().rev().enumerate() {
        if nth == 0 {
            keep(name, KeepReason::Newest);
        }
        if tagged.contains(name) {
            keep(name, KeepReason::Tag);
        }
        // Fallback: never taken, a clock shows no day that has no number.
        let Some(day) = local_day(name.made_ms, zone) else {
            continue;
        };
        let is_more = |known: usize, most: u32| u32::try_from(known).is_ok_and(|known| known < most);
        if is_more(days.len(), policy.night_n) && days.insert(day) {
            keep(name, KeepReason::Night);
        }
        if is_more(months.len(), policy.month_n) && months.insert(Month::of_day(day)) {
            keep(name, KeepReason::Month);
        }
    }
    retention
}

/// The day that calendars of a zone show.
fn local_day(made_ms: i64, zone: &Zone) -> Option<Day> {
    let at_s = made_ms.div_euclid(1000);
    let local_s = at_s.checked_add(zone.offset_at(at_s))?;
    Day::try_from(local_s.div_euclid(86_400)).ok()
}
