//! When nothing could run, or nothing did.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::award::Award;
use crate::error::Result;
use crate::report::award_use::LakeAwards;
use crate::report::lake::Lake;
use crate::schema::batch::{text, time, word};
use crate::time::{DAY_MS, Day};

/// The flag of reservations for maintenance.
const MAINTENANCE: &str = "MAINT";

/// Why a day counts as one without use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DowntimeKind {
    /// A listing of reservations states maintenance.
    Maintenance,
    /// No award and no account without one used anything there.
    Unused,
}

/// One day of a site, or of a cluster of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Downtime {
    /// Day.
    pub day: Day,
    /// Why.
    pub kind: DowntimeKind,
    /// Site; `None` where the listing does not state it.
    pub site: Option<String>,
    /// Cluster; likewise.
    pub cluster: Option<String>,
}

impl Downtime {
    /// Whether an award is good at its place: what either does not state matches any.
    pub(super) fn is_of(&self, award: &Award) -> bool {
        let may_be = |own: &Option<String>, other: &Option<String>| own.is_none() || other.is_none() || own == other;
        may_be(&self.site, &award.site) && may_be(&self.cluster, &award.cluster)
    }
}

/// Days of maintenance by listings of reservations (in UTC), and days on which a cluster was not used at all, between days on
/// which it was; the latter only where use is known by day.
pub(super) fn downtimes(lake: &Lake, awards: &LakeAwards, days: RangeInclusive<Day>) -> Result<Vec<Downtime>> {
    let mut found = BTreeSet::new();
    for file in lake.manifest.dataset("reservation") {
        for batch in lake.batches(&file.path, None)? {
            let batch = batch?;
            let (site, cluster, flags) = (text(&batch, "site")?, text(&batch, "cluster")?, text(&batch, "flags")?);
            let (start, end) = (time(&batch, "start_utc")?, time(&batch, "end_utc")?);
            for row in 0..batch.num_rows() {
                let is_maintenance = |flags: &str| flags.split([',', '+', '|']).any(|flag| flag == MAINTENANCE);
                if !word(flags, row).is_some_and(is_maintenance) {
                    continue;
                }
                let day_of = |ms: i64| Day::try_from(ms.div_euclid(DAY_MS)).ok();
                // A day that does not fit is none of the page.
                let (Some(first), Some(last)) = (day_of(start.value(row)), day_of(end.value(row) - 1)) else {
                    continue;
                };
                for day in first.max(*days.start())..=last.min(*days.end()) {
                    found.insert(Downtime {
                        day,
                        kind: DowntimeKind::Maintenance,
                        site: word(site, row).map(str::to_owned),
                        cluster: word(cluster, row).map(str::to_owned),
                    });
                }
            }
        }
    }
    if awards.is_by_day {
        add_unused(awards, days, &mut found);
    }
    Ok(found.into_iter().collect())
}

fn add_unused(awards: &LakeAwards, days: RangeInclusive<Day>, found: &mut BTreeSet<Downtime>) {
    let places: BTreeSet<(&str, Option<&str>)> = awards
        .rows
        .iter()
        .map(|row| (row.site.as_str(), row.cluster.as_deref()))
        .collect();
    for (site, cluster) in places {
        let used: BTreeSet<Day> = awards
            .rows
            .iter()
            .filter(|row| row.site == site && row.cluster.as_deref() == cluster && days.contains(&row.day))
            .map(|row| row.day)
            .collect();
        for (day, next) in used.iter().zip(used.iter().skip(1)) {
            for between in day + 1..*next {
                found.insert(Downtime {
                    day: between,
                    kind: DowntimeKind::Unused,
                    site: Some(site.to_owned()),
                    cluster: cluster.map(str::to_owned),
                });
            }
        }
    }
}
