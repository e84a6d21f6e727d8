//! One award, with every change it went through.

use crate::charge::charged_tariff::BalanceTariff;
use crate::reference::allocation::EntryKind;
use crate::time::Day;
use crate::time::month::day_after;

use super::unit::AwardMeasure;

/// What the amount of an award limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AwardLimit {
    /// Use on average over its days: more at a time is no offence, and neither is more in the end.
    Average,
    /// What is held at any instant, such as stored bytes.
    Maximum,
}

impl AwardLimit {
    /// The word in datasets and reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Average => "average",
            Self::Maximum => "maximum",
        }
    }
}

/// What one entry made of an award.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwardChange {
    /// Day it takes effect.
    pub day: Day,
    /// Line of the table.
    pub line: usize,
    /// What the entry does.
    pub kind: EntryKind,
    /// What it adds, in billionths of the unit; negative when it takes away.
    pub delta_e9: i128,
    /// The end from then on; `None` leaves it.
    pub until: Option<Day>,
    /// The other account of a transfer.
    pub counterpart: Option<String>,
    /// Who signed it.
    pub author: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// An award.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Award {
    /// Its name: the one the table states, or one made of account, policy, place, user and begin.
    pub id: String,
    /// What its amount limits.
    pub limit: AwardLimit,
    /// Site it is good at; `None` is any.
    pub site: Option<String>,
    /// Cluster it is good on; `None` is any.
    pub cluster: Option<String>,
    /// Account whose jobs use it.
    pub account: String,
    /// User whose part of the account's award it is.
    pub user: Option<String>,
    /// Policy as the table names it.
    pub policy: String,
    /// Unit as the table states it; `None` is the policy's.
    pub unit: Option<String>,
    /// Place of the award above it.
    pub parent: Option<usize>,
    /// How many awards are above it.
    pub level: usize,
    /// First day.
    pub from: Day,
    /// First day on which it is no longer good, as it was granted: what its average is taken over.
    pub reference_until: Option<Day>,
    /// What happened to it, in the order of days; the grant is the first.
    pub changes: Vec<AwardChange>,
    /// Its display name; the account if the table gives none.
    pub project: Option<String>,
    /// Who sees it; empty when the table does not state it.
    pub users: Vec<String>,
    /// Its attribute in `ColdFront`: the primary key.
    pub coldfront_attribute: Option<i64>,
    /// Id of the period rule it is used under.
    pub period_rule: Option<String>,
    /// Line of the table.
    pub line: usize,
    /// Under what its use is counted; `None` for stored bytes, and before a plan resolved it.
    pub tariff: Option<BalanceTariff>,
    /// How use becomes its units; likewise.
    pub measure: Option<AwardMeasure>,
}

impl Award {
    /// Its amount as it was known on a day, in billionths of its unit.
    #[must_use]
    pub fn amount_e9(&self, on: Day) -> i128 {
        let known = self.changes.iter().filter(|change| change.day <= on);
        known.map(|change| change.delta_e9).sum()
    }

    /// The first day on which it is no longer good, as it was known on a day; `None` is open.
    #[must_use]
    pub fn until(&self, on: Day) -> Option<Day> {
        let ends = self.changes.iter().filter(|change| change.day <= on);
        ends.filter_map(|change| change.until)
            .next_back()
            .or(self.reference_until)
    }

    /// The first day on which it is no longer good, by all entries.
    #[must_use]
    pub fn last_until(&self) -> Option<Day> {
        self.until(Day::MAX)
    }

    /// Whether use of a day counts for it.
    #[must_use]
    pub fn is_good_on(&self, day: Day) -> bool {
        self.from <= day && self.last_until().is_none_or(|until| day < until)
    }

    /// Whether both are good on some day and at some place: one that names no site or cluster is good at all of them.
    pub(super) fn meets(&self, other: &Self) -> bool {
        let is_same = |a: &Option<String>, b: &Option<String>| a.is_none() || b.is_none() || a == b;
        let begins_in = |later: &Self, award: &Self| award.last_until().is_none_or(|until| later.from < until);
        is_same(&self.site, &other.site)
            && is_same(&self.cluster, &other.cluster)
            && begins_in(self, other)
            && begins_in(other, self)
    }

    /// What people call it.
    #[must_use]
    pub fn title(&self) -> &str {
        self.project.as_deref().unwrap_or(&self.account)
    }

    /// What should have been used by the end of a day to meet the average, in billionths of its unit: the amount over the
    /// days it was granted for, times the days that went by. Days on which the machine was down count, and an extension
    /// continues at the same rate. `None` for a maximum and for an award without an end.
    #[must_use]
    pub fn target_e9(&self, on: Day) -> Option<i128> {
        let reference = i128::from(self.reference_until?.checked_sub(self.from)?);
        let end = self.last_until()?.min(day_after(on));
        let gone = i128::from(end.checked_sub(self.from)?.max(0));
        match self.limit {
            AwardLimit::Average => crate::charge::span::times_over(self.amount_e9(on), gone, reference),
            AwardLimit::Maximum => None,
        }
    }
}
