//! Corrections as entries of their own: the contribution of a record stays, and a correction posts separate entries of what it takes
//! and what it gives. The sum is the corrected number; without the entries of one id it is what it was before.

use arrow_array::{FixedSizeBinaryArray, RecordBatch};

use super::group::{DIMENSIONS, Groups, KeyRef};
use super::sums::{CountedSums, Sums};
use crate::error::Result;
use crate::reference::correction::{Action, Correction, CorrectionTable};
use crate::schema::batch::{ColumnWords, addend, id, words};
use crate::time::calendar::Period;
use crate::time::{Calendar, Month};

/// The `source` and `view` of added usage when the correction does not set them.
const ADDED_SOURCE: &str = "corrections";
const ADDED_VIEW: &str = "batch";

/// Who usage is counted for: VO and account.
#[derive(Clone, Copy)]
pub(super) struct CorrectedPayer<'a> {
    pub(super) vo: Option<&'a str>,
    pub(super) account: Option<&'a str>,
}

/// Leads usage through voids and remaps, in their order, each applied to what those before it have left. `takes` decides
/// whether one takes it from a payer; `step` receives each that did, the former and the new payer. A void ends the chain.
pub(super) fn lead<'a>(
    rules: &[&'a Correction],
    payer: CorrectedPayer<'a>,
    takes: impl Fn(&Correction, CorrectedPayer<'a>) -> bool,
    mut step: impl FnMut(&'a Correction, CorrectedPayer<'a>, Option<CorrectedPayer<'a>>),
) {
    let mut now = payer;
    for rule in rules {
        let is_there = rule.action == Action::Remap && rule.gives(now.vo, now.account);
        if is_there || !takes(rule, now) {
            continue;
        }
        if rule.action == Action::Void {
            step(rule, now, None);
            return;
        }
        let to = CorrectedPayer {
            vo: rule.to_vo.as_deref().or(now.vo),
            account: rule.to_account.as_deref().or(now.account),
        };
        step(rule, now, Some(to));
        now = to;
    }
}

/// The corrections of one site.
pub(super) struct Corrector<'a> {
    /// Active voids and remaps, in their order.
    rules: Vec<&'a Correction>,
    additions: Vec<&'a Correction>,
}

/// Columns of `records` that only corrections look at.
pub(super) struct CorrectedNames<'a> {
    user: ColumnWords<'a>,
    job_id: ColumnWords<'a>,
    file_id: ColumnWords<'a>,
    record_id: &'a FixedSizeBinaryArray,
}

impl<'a> Corrector<'a> {
    pub(super) fn new(table: Option<&'a CorrectionTable>, site: &str) -> Self {
        let own = table.into_iter().flat_map(|table| table.of_site(site));
        let (additions, rules) = own.partition(|row| row.action == Action::Add);
        Self { rules, additions }
    }

    /// Whether there is something to take or to move.
    pub(super) fn has_rules(&self) -> bool {
        !self.rules.is_empty()
    }

    /// The columns to look at; `None` when there is nothing to correct.
    pub(super) fn names<'b>(&self, batch: &'b RecordBatch) -> Result<Option<CorrectedNames<'b>>> {
        if self.rules.is_empty() {
            return Ok(None);
        }
        Ok(Some(CorrectedNames {
            user: words(batch, "user")?,
            job_id: words(batch, "job_id")?,
            file_id: words(batch, "file_id")?,
            record_id: id(batch, "record_id")?,
        }))
    }

    /// Posts what corrections make of one contribution of a record.
    pub(super) fn post(
        &self,
        names: &CorrectedNames<'_>,
        row: usize,
        key: KeyRef<'_>,
        part: &Sums,
        groups: &mut Groups,
    ) {
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
        names: &CorrectedNames<'_>,
        row: usize,
        key: KeyRef<'b>,
        mut post: impl FnMut(KeyRef<'b>, bool),
    ) {
        let under = |rule: &'b Correction, payer: CorrectedPayer<'b>| {
            let mut under = KeyRef {
                vo: payer.vo,
                correction_id: Some(&rule.id),
                ..key
            };
            if let Some(account) = payer.account {
                under.set_account(account);
            }
            under
        };
        lead(
            &self.rules,
            CorrectedPayer {
                vo: key.vo,
                account: key.account(),
            },
            |rule, payer| takes(rule, names, row, &key, payer),
            |rule, from, to| {
                post(under(rule, from), true);
                if let Some(to) = to {
                    post(under(rule, to), false);
                }
            },
        );
    }

    /// What is added to the records of a month.
    pub(super) fn additions(&self, month: Month) -> impl Iterator<Item = &'a Correction> {
        let own = self.additions.iter().copied();
        own.filter(move |rule| rule.month == Some(month))
    }

    /// Posts what corrections add to the records of a month. What an addition does not state is unknown of its jobs, and they
    /// are counted as such.
    pub(super) fn post_additions(&self, month: Month, calendar: &mut Calendar, groups: &mut Groups) {
        for rule in self.additions(month) {
            let Some(period) = period_of(month, calendar) else {
                continue;
            };
            let dimensions = DIMENSIONS.map(|name| rule_value(rule, name));
            let mut part = Sums {
                cpu_ms: rule.adds("cpu_ms"),
                ..Sums::default()
            };
            for (name, sum) in CountedSums::NAMES.iter().zip(part.counted.each_mut()) {
                *sum = addend(rule.adds(name));
            }
            part.counted = CountedSums {
                cpu_unknown_job_n: rule.unknown_job_n("cpu_ms"),
                core_unknown_job_n: rule.unknown_job_n("alloc_core_s"),
                node_unknown_job_n: rule.unknown_job_n("alloc_node_s"),
                billing_unknown_job_n: rule.unknown_job_n("alloc_billing_s"),
                // Without a number of GPUs there were none.
                gpu_unknown_job_n: 0,
                ..part.counted
            };
            let key = KeyRef {
                vo: rule_value(rule, "vo"),
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

/// The value of an addition in a column of text.
pub(super) fn rule_value<'r>(rule: &'r Correction, column: &str) -> Option<&'r str> {
    let stated = rule.filter(column).flatten();
    match column {
        "source" => stated.or(Some(ADDED_SOURCE)),
        "view" => stated.or(Some(ADDED_VIEW)),
        _ => stated,
    }
}

fn takes(
    rule: &Correction,
    names: &CorrectedNames<'_>,
    row: usize,
    key: &KeyRef<'_>,
    payer: CorrectedPayer<'_>,
) -> bool {
    rule.takes(Some(key.month), Some(names.record_id.value(row)), |name| match name {
        "vo" => payer.vo,
        "account" => payer.account,
        "user" => names.user.get(row),
        "job_id" => Some(names.job_id.value(row)),
        "file_id" => Some(names.file_id.value(row)),
        name => key.dimension(name),
    })
}
