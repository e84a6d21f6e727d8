//! Corrections as entries of their own: what a record contributes stays, and a correction posts beside it what it takes
//! and what it gives. The sum is the corrected number; without the entries of one id it is what it was before.

use arrow::array::{FixedSizeBinaryArray, RecordBatch, StringArray};

use super::group::{Groups, KeyRef};
use super::sums::{COUNTED, Sums};
use crate::error::Result;
use crate::reference::correction::{Action, Correction, CorrectionTable};
use crate::schema::batch::{id, text, word};
use crate::time::calendar::Period;
use crate::time::{Calendar, Month};

/// What stands in `source` and `view` of added usage when the correction does not say.
pub(super) const ADDED_SOURCE: &str = "corrections";
pub(super) const ADDED_VIEW: &str = "batch";

/// The corrections of one site.
pub(super) struct Corrector<'a> {
    /// Active voids and remaps, in their order.
    rules: Vec<&'a Correction>,
    additions: Vec<&'a Correction>,
}

/// Columns of `records` that only corrections look at.
pub(super) struct Names<'a> {
    user: &'a StringArray,
    job_id: &'a StringArray,
    record_id: &'a FixedSizeBinaryArray,
}

impl<'a> Corrector<'a> {
    pub(super) fn new(table: Option<&'a CorrectionTable>, site: &str) -> Self {
        let own = table.into_iter().flat_map(|table| &table.rows);
        let own = own.filter(|row| row.is_active() && row.site.as_deref().is_none_or(|own| own == site));
        let (additions, rules) = own.partition(|row| row.action == Action::Add);
        Self { rules, additions }
    }

    /// The columns to look at; `None` when there is nothing to correct.
    pub(super) fn names<'b>(&self, batch: &'b RecordBatch) -> Result<Option<Names<'b>>> {
        if self.rules.is_empty() {
            return Ok(None);
        }
        Ok(Some(Names {
            user: text(batch, "user")?,
            job_id: text(batch, "job_id")?,
            record_id: id(batch, "record_id")?,
        }))
    }

    /// Posts what corrections make of one contribution of a record.
    pub(super) fn post(&self, names: &Names<'_>, row: usize, key: KeyRef<'_>, part: &Sums, groups: &mut Groups) {
        self.moves(names, row, key, |key, is_taken| {
            if is_taken {
                groups.sums(key).add(&part.negated());
            } else {
                groups.sums(key).add(part);
            }
        });
    }

    /// What corrections take of one contribution of a record, and where they give it to, in their order: each under the
    /// id of the correction, with whether it is taken.
    pub(super) fn moves<'b>(
        &'b self,
        names: &Names<'_>,
        row: usize,
        key: KeyRef<'b>,
        mut post: impl FnMut(KeyRef<'b>, bool),
    ) {
        let mut now = key;
        for rule in &self.rules {
            let is_there = rule.action == Action::Remap && rule.gives(now.vo, now.account());
            if is_there || !takes(rule, names, row, &now) {
                continue;
            }
            now.correction_id = Some(&rule.id);
            post(now, true);
            if rule.action == Action::Void {
                return;
            }
            now.vo = rule.to_vo.as_deref().or(now.vo);
            if let Some(account) = &rule.to_account {
                now.set_account(account);
            }
            post(now, false);
        }
    }

    /// What is added to the records of a month.
    pub(super) fn additions(&self, month: Month) -> impl Iterator<Item = &'a Correction> {
        let own = self.additions.iter().copied();
        own.filter(move |rule| rule.month == Some(month))
    }

    /// Posts what corrections add to the records of a month.
    pub(super) fn post_additions(&self, month: Month, calendar: &mut Calendar, groups: &mut Groups) {
        for rule in self.additions(month) {
            let Some(period) = period_of(month, calendar) else {
                continue;
            };
            let says = |column: &str| rule.filter(column).flatten();
            let mut dimensions = [None; 9];
            for (name, value) in super::group::DIMENSIONS.iter().zip(&mut dimensions) {
                *value = match *name {
                    "source" => says("source").or(Some(ADDED_SOURCE)),
                    "view" => says("view").or(Some(ADDED_VIEW)),
                    name => says(name),
                };
            }
            let mut part = Sums {
                cpu_ms: rule.adds("cpu_ms"),
                ..Sums::default()
            };
            for (name, sum) in COUNTED.iter().zip(&mut part.counted) {
                *sum = rule.adds(name).unwrap_or(0);
            }
            let key = KeyRef {
                vo: says("vo"),
                allocation_year: period.allocation_year,
                month: period.month,
                day: period.day,
                dimensions,
                correction_id: Some(&rule.id),
            };
            groups.sums(key).add(&part);
        }
    }
}

/// The period in which a month's additions lie: that of noon in UTC of its first day, which is in the month everywhere.
pub(super) fn period_of(month: Month, calendar: &mut Calendar) -> Option<Period> {
    calendar.period(noon_ms(month))
}

/// Noon in UTC of the first day of a month, Unix milliseconds.
pub(super) fn noon_ms(month: Month) -> i64 {
    i64::from(month.first_day()) * 86_400_000 + 43_200_000
}

fn takes(rule: &Correction, names: &Names<'_>, row: usize, key: &KeyRef<'_>) -> bool {
    rule.takes(key.month, Some(names.record_id.value(row)), |name| match name {
        "vo" => key.vo,
        "user" => word(names.user, row),
        "job_id" => Some(names.job_id.value(row)),
        name => key.dimension(name),
    })
}
