//! A period rule applied to an award: what each period makes available, what was used of it, and what became of the rest.

use super::decay::decayed;
use super::parts::split;
use super::rule::{Carry, PERCENT_E4, PeriodRule, Reduction};
use super::rule_use::RuleUse;
use crate::error::{Error, Kind, Result};
use crate::reference::decimal;
use crate::reference::node_type::day_text;
use crate::time::month::day_after;
use crate::time::month::{date_of, day_of};
use crate::time::{Date, Day};

/// Digits after the point of amounts.
const DIGITS: u32 = 9;

/// An amount that is granted from a day on; negative when it is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleGrant {
    /// The day; one before the award is its first day, and one from its end on its last.
    pub day: Day,
    /// How much, in billionths of the unit.
    pub amount_e9: i128,
}

/// An award as a rule sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleAward {
    /// First day.
    pub from: Day,
    /// First day no longer.
    pub until: Day,
    /// What was granted, in the order of days. Each grant is spread over the period it falls in and those after it.
    pub grants: Vec<RuleGrant>,
}

/// One period of an award.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeriodState {
    /// First day.
    pub from: Day,
    /// First day no longer.
    pub until: Day,
    /// Its own part of the award. All amounts are billionths of the unit.
    pub granted_e9: i128,
    /// What the period before left to it.
    pub carried_in_e9: i128,
    /// What the period before used of it ahead.
    pub used_ahead_e9: i128,
    /// What was taken because too little was used by a day.
    pub reduced_e9: i128,
    /// What may be used in it: the part and what was carried in, less what was used ahead and what was taken.
    pub available_e9: i128,
    /// What was used in it.
    pub used_e9: i128,
    /// What was used beyond what is available; nothing is refused for it.
    pub over_e9: i128,
    /// What of that is taken from the next period.
    pub borrowed_e9: i128,
    /// What it leaves to the next period; 0 while it continues.
    pub carried_out_e9: i128,
    /// What is lost at its end; 0 while it continues.
    pub lost_e9: i128,
    /// What is still there: nothing once it has ended.
    pub remaining_e9: i128,
    /// Whether use is beyond what is available and the rule's grace.
    pub is_over_grace: bool,
}

/// One step, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleStep {
    /// When.
    pub day: Day,
    /// What happened.
    pub text: String,
}

/// What a rule came to on a day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleOutcome {
    /// The periods that began, and those to come.
    pub periods: Vec<PeriodState>,
    /// The place of the period of the day; `None` before and after the award.
    pub current: Option<usize>,
    /// What a formula that looks at decayed use would have carried, period by period; more than is carried where it is
    /// more than was not used.
    pub formula_carry_e9: Vec<i128>,
    /// Every step.
    pub steps: Vec<RuleStep>,
}

impl RuleOutcome {
    /// A sum over all periods.
    #[must_use]
    pub fn sum(&self, of: impl Fn(&PeriodState) -> i128) -> i128 {
        self.periods.iter().map(of).sum()
    }

    /// What may be used today: what the current period has left.
    #[must_use]
    pub fn available_now_e9(&self) -> i128 {
        let current = self.current.and_then(|at| self.periods.get(at));
        current.map_or(0, |period| period.remaining_e9)
    }
}

/// Applies a rule to an award and its use; use after the day does not count.
///
/// # Errors
/// [`crate::error::Kind::Data`] when a number does not fit or a day is beyond the calendar.
pub fn apply(rule: &PeriodRule, award: &RuleAward, used: &RuleUse<'_>, on: Day) -> Result<RuleOutcome> {
    let misfit = || {
        Error::new(
            Kind::Data,
            "an amount or a day of an award is too large for its period rule",
        )
    };
    let edges = rule.edges(award.from, award.until).ok_or_else(misfit)?;
    let mut periods: Vec<PeriodState> = (edges.iter().zip(edges.iter().skip(1)))
        .map(|(from, until)| PeriodState {
            from: *from,
            until: *until,
            ..PeriodState::default()
        })
        .collect();
    let mut outcome = RuleOutcome::default();
    let mut parts: Vec<Vec<RuleGrant>> = vec![Vec::new(); periods.len()];
    for grant in award.grants.iter().filter(|grant| grant.day <= on) {
        assign_grant(rule, grant, &periods, &mut parts).ok_or_else(misfit)?;
    }
    let mut before = PeriodState::default();
    for nth in 0..periods.len() {
        let (own, next) = (parts.get(nth), parts.get(nth + 1));
        let (Some(period), Some(own)) = (periods.get_mut(nth), own) else {
            break;
        };
        // What may be used ahead is what the next period has by the end of this one.
        let next_e9 = next.map(|parts| granted_by(parts, period.until - 1));
        period.granted_e9 = granted_by(own, Day::MAX);
        period.carried_in_e9 = before.carried_out_e9;
        period.used_ahead_e9 = before.borrowed_e9;
        period.available_e9 = period.granted_e9 + period.carried_in_e9 - period.used_ahead_e9;
        if on < period.from {
            period.remaining_e9 = period.available_e9;
            before = PeriodState::default();
            continue;
        }
        let end = period.until.min(day_after(on));
        period.used_e9 = used.of_days(period.from..end).ok_or_else(misfit)?;
        let by_day = PeriodDays { granted: own, used };
        reduce(rule, period, &by_day, on, &mut outcome.steps).ok_or_else(misfit)?;
        spend(rule, period, next_e9).ok_or_else(misfit)?;
        if on < period.until - 1 {
            outcome.current = Some(nth);
            period.remaining_e9 = (period.available_e9 - period.used_e9).max(0);
        } else {
            if on == period.until - 1 {
                outcome.current = Some(nth);
            }
            let formula_e9 = close(rule, period, next_e9.is_some()).ok_or_else(misfit)?;
            outcome.formula_carry_e9.push(formula_e9);
        }
        explain(period, on, &mut outcome.steps);
        before = period.clone();
    }
    outcome.periods = periods;
    outcome.steps.sort_by_key(|step| step.day);
    Ok(outcome)
}

/// Spreads a grant over the period of its day and those after it.
fn assign_grant(
    rule: &PeriodRule,
    grant: &RuleGrant,
    periods: &[PeriodState],
    parts: &mut [Vec<RuleGrant>],
) -> Option<()> {
    let is_to_come = |period: &PeriodState| grant.day < period.until;
    // Fallback: an entry of the day on which an award ends comes after all its periods, and is of the last.
    let first = (periods.iter().position(is_to_come)).unwrap_or(periods.len().checked_sub(1)?);
    let open = periods.get(first..)?;
    let days: Vec<i128> = open
        .iter()
        .map(|period| i128::from(period.until) - i128::from(period.from))
        .collect();
    let amounts = split(grant.amount_e9, &days, rule.share, rule.digits, rule.remainder)?;
    for (of_period, amount_e9) in parts.get_mut(first..)?.iter_mut().zip(amounts) {
        of_period.push(RuleGrant {
            day: grant.day,
            amount_e9,
        });
    }
    Some(())
}

/// What parts of grants come to that were granted by a day.
fn granted_by(parts: &[RuleGrant], day: Day) -> i128 {
    let by_day = parts.iter().filter(|part| part.day <= day);
    by_day.map(|part| part.amount_e9).sum()
}

/// What a period was granted and what was used, by day.
struct PeriodDays<'d> {
    granted: &'d [RuleGrant],
    used: &'d RuleUse<'d>,
}

/// Takes what the reductions of the rule take by the day. Each is of what was granted by its own day: entries that come later
/// change nothing of it.
fn reduce(
    rule: &PeriodRule,
    period: &mut PeriodState,
    by_day: &PeriodDays<'_>,
    on: Day,
    steps: &mut Vec<RuleStep>,
) -> Option<()> {
    let all_e9 = period.available_e9;
    let mut dated: Vec<(Day, &Reduction)> = rule
        .reductions
        .iter()
        .filter_map(|reduction| Some((reduction_day(reduction, period)?, reduction)))
        .filter(|(day, _)| *day <= on)
        .collect();
    dated.sort_by_key(|(day, _)| *day);
    for (day, reduction) in dated {
        let later_e9 = period.granted_e9 - granted_by(by_day.granted, day);
        let award_e9 = all_e9 - later_e9;
        let used_e9 = by_day.used.of_days(period.from..day)?;
        let share = used_e9.checked_mul(PERCENT_E4)?;
        let is_above = match reduction.above_e4 {
            Some(above) => share > award_e9.checked_mul(above)?,
            None => true,
        };
        let rest_e9 = period.available_e9 - later_e9 - used_e9;
        if !is_above || share > award_e9.checked_mul(reduction.at_most_e4)? || rest_e9 <= 0 {
            continue;
        }
        let taken_e9 = part_of(rest_e9, reduction.loses_e4)?;
        period.reduced_e9 += taken_e9;
        period.available_e9 -= taken_e9;
        steps.push(RuleStep {
            day,
            text: format!(
                "{} of {} were used before {}: {} % of the rest of {}, which is {}, are taken",
                amount(used_e9),
                amount(award_e9),
                day_text(Some(day), ""),
                decimal::text(reduction.loses_e4, 4),
                amount(rest_e9),
                amount(taken_e9)
            ),
        });
    }
    Some(())
}

/// The first such day after the first day of a period, if it is one of it.
fn reduction_day(reduction: &Reduction, period: &PeriodState) -> Option<Day> {
    let year = date_of(period.from)?.year();
    let in_year = |year: i16| Date::new(year, reduction.month, reduction.day).map(day_of);
    let days = [in_year(year), year.checked_add(1).and_then(in_year)];
    let mut later = days.into_iter().flatten().filter(|day| *day > period.from);
    later.next().filter(|day| *day < period.until)
}

/// What was used beyond what is available, and what of that the next period pays.
fn spend(rule: &PeriodRule, period: &mut PeriodState, next_e9: Option<i128>) -> Option<()> {
    period.over_e9 = (period.used_e9 - period.available_e9.max(0)).max(0);
    // Fallback: after the last period there is none to borrow from.
    let next_e9 = next_e9.unwrap_or_default();
    let may_borrow_e9 = part_of(next_e9.max(0), rule.borrow_e4)?;
    period.borrowed_e9 = period.over_e9.min(may_borrow_e9);
    let grace_e9 = part_of(period.available_e9.max(0), rule.grace_e4)?;
    period.is_over_grace = period.over_e9 - period.borrowed_e9 > grace_e9;
    Some(())
}

/// Ends a period. Returns what the formula of the rule would carry, before it is held against what was not used.
fn close(rule: &PeriodRule, period: &mut PeriodState, has_next: bool) -> Option<i128> {
    let unused_e9 = (period.available_e9 - period.used_e9).max(0);
    let length = i128::from(period.until) - i128::from(period.from);
    let over_days = |days: Option<u32>| days.map_or(length, i128::from);
    let formula_e9 = match rule.carry {
        Carry::Nothing => 0,
        Carry::All => unused_e9,
        Carry::Limited(limit_e4) => unused_e9.min(part_of(period.granted_e9.max(0), limit_e4)?),
        Carry::Decayed {
            half_life_days,
            decay_days,
        } => decayed(unused_e9, over_days(decay_days), i128::from(half_life_days))?,
        Carry::DecayedUse {
            half_life_days,
            decay_days,
        } => {
            let used_e9 = decayed(period.used_e9, over_days(decay_days), i128::from(half_life_days))?;
            (period.granted_e9 - used_e9).max(0)
        }
    };
    let carried_e9 = formula_e9.min(unused_e9);
    period.carried_out_e9 = if has_next { carried_e9 } else { 0 };
    period.lost_e9 = unused_e9 - period.carried_out_e9;
    period.remaining_e9 = 0;
    Some(formula_e9)
}

/// A part of an amount, in ten-thousandths of a percent, rounded down.
fn part_of(amount_e9: i128, part_e4: i128) -> Option<i128> {
    let whole = (amount_e9 / PERCENT_E4).checked_mul(part_e4)?;
    whole.checked_add((amount_e9 % PERCENT_E4).checked_mul(part_e4)? / PERCENT_E4)
}

fn amount(amount_e9: i128) -> String {
    decimal::text(amount_e9, DIGITS)
}

fn explain(period: &PeriodState, on: Day, steps: &mut Vec<RuleStep>) {
    let mut sum = amount(period.granted_e9);
    for (sign, amount_e9, what) in [
        ("+", period.carried_in_e9, "carried in"),
        ("-", period.used_ahead_e9, "used ahead"),
        ("-", period.reduced_e9, "taken"),
    ] {
        if amount_e9 != 0 {
            sum = format!("{sum} {sign} {} {what}", amount(amount_e9));
        }
    }
    steps.push(RuleStep {
        day: period.from,
        text: format!(
            "{} to {}: {sum} = {} available, {} used",
            day_text(Some(period.from), ""),
            day_text(Some(period.until - 1), ""),
            amount(period.available_e9),
            amount(period.used_e9)
        ),
    });
    let mut end = Vec::new();
    for (amount_e9, what) in [
        (period.over_e9, "used beyond what is available"),
        (period.borrowed_e9, "of that taken from the next period"),
        (period.carried_out_e9, "carried over"),
        (period.lost_e9, "lost"),
    ] {
        if amount_e9 != 0 {
            end.push(format!("{} {what}", amount(amount_e9)));
        }
    }
    if !end.is_empty() {
        steps.push(RuleStep {
            day: on.min(period.until - 1),
            text: end.join(", "),
        });
    }
}
