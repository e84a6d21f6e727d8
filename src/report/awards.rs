//! Use of awards: by compute resource, by project and by submitter, with projections and drill-downs.

use std::collections::BTreeMap;

use super::award_use::{AwardUseRow, LakeAwards, UsedAmounts, by_day, of_days};
use super::award_views::{project_details, resources};
use super::running_use::JobUse;
use super::stored_use::stored_use;
use super::table::{Cell, ColumnKind, Table};
use crate::award::apply::{RuleAward, RuleGrant, RuleOutcome, apply};
use crate::award::projection::ProjectionMethod;
use crate::award::rule_use::RuleUse;
use crate::award::unit::{AwardMeasure, CountedUse};
use crate::award::{Award, AwardLimit, AwardUser};
use crate::charge::charged_tariff::BalanceTariff;
use crate::charge::span::{spanned, times_over};
use crate::error::{Error, Kind, Result};
use crate::reference::node_type::day_text;
use crate::time::Day;
use crate::time::month::day_after;

/// Billionths of one.
const ONE_E9: i128 = 1_000_000_000;

/// What rows of the report are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwardView {
    /// Clusters.
    Resource,
    /// Awards, and accounts that used something without one.
    Project,
    /// Those who submitted.
    Submitter,
}

/// What rows are divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwardDetail {
    /// Months.
    Monthly,
    /// Those who submitted.
    Submitter,
}

/// What is requested of the report.
#[derive(Clone, Debug)]
pub struct AwardQuestion {
    /// Rows.
    pub view: AwardView,
    /// What divides them.
    pub detail: Option<AwardDetail>,
    /// Allocation year.
    pub year: i64,
    /// The last day that counts.
    pub on: Day,
    /// How use continues.
    pub method: ProjectionMethod,
    /// Accounts; all when empty.
    pub accounts: Vec<String>,
    /// Digits after the point of amounts.
    pub digits: u8,
}

/// One award with what was made of it by a day.
pub struct AwardState<'a> {
    /// Its place in the ledger.
    pub at: usize,
    /// The award.
    pub award: &'a Award,
    /// How use becomes its units.
    pub measure: &'a AwardMeasure,
    /// Its amount as known on the day, in billionths of its unit.
    pub amount_e9: i128,
    /// Use in billionths of its unit: of stored bytes the latest that a table states. `None` where it is unknown: no job states
    /// what is stored.
    pub used_e9: Option<i128>,
    /// The most that was stored on a day, likewise; `None` for other awards.
    pub peak_e9: Option<i128>,
    /// Use at its end at the rate of the method; `None` when it is over or not known.
    pub projected_e9: Option<i128>,
    /// What running jobs will still use before it ends, to their limits and at their rate so far, in billionths of its unit;
    /// `None` where no dump states running jobs, or only later ones.
    pub in_flight_e9: Option<i128>,
    /// What waiting jobs will use before it ends, to their limits and with what they request, in billionths of its unit;
    /// `None` where no listing states waiting jobs, or only later ones.
    pub pending_e9: Option<i128>,
    /// What running and waiting jobs will use, as the award counts it; `None` where neither is known.
    pub to_limits: Option<i128>,
    /// Days that the rest lasts at that rate.
    pub days_left: Option<i128>,
    /// What its period rule came to.
    pub period: Option<RuleOutcome>,
    /// All amounts of its use.
    pub amounts: UsedAmounts,
    /// The rows of its use.
    pub rows: Vec<&'a AwardUseRow>,
}

impl AwardState<'_> {
    /// Whether it is a user's part of another award.
    #[must_use]
    pub fn is_part_of(&self, whole: &Self) -> bool {
        self.award.user.is_some() && self.award.parent == Some(whole.at)
    }

    /// What is left of the amount; negative when more was used. Nothing is refused for that.
    #[must_use]
    pub fn remaining_e9(&self) -> Option<i128> {
        Some(self.amount_e9 - self.used_e9?)
    }

    /// What its period rule took away; `None` without a rule.
    #[must_use]
    pub fn lost_e9(&self) -> Option<i128> {
        let outcome = self.period.as_ref()?;
        Some(outcome.sum(|period| period.lost_e9 + period.reduced_e9))
    }
}

/// The awards of a year that are requested, as of a day.
///
/// # Errors
/// [`Kind::Data`] when an amount does not fit.
pub fn states<'a>(lake: &'a LakeAwards, question: &AwardQuestion) -> Result<Vec<AwardState<'a>>> {
    let (first, after) = year_days(lake, question.year)?;
    let mut states = Vec::new();
    let mut by_award: BTreeMap<&str, Vec<&AwardUseRow>> = BTreeMap::new();
    for row in lake.rows.iter().filter(|row| row.day <= question.on) {
        if let Some(award) = &row.award {
            by_award.entry(award).or_default().push(row);
        }
    }
    for (at, award) in lake.plan.ledger.awards.iter().enumerate() {
        let is_of_year = award.from < after && award.last_until().is_none_or(|until| first < until);
        let is_asked = question.accounts.is_empty() || question.accounts.contains(&award.account);
        if is_of_year && is_asked && award.from <= question.on {
            // Fallback: an award that no row names was not used.
            let rows = by_award.remove(award.id.as_str()).unwrap_or_default();
            states.push(state(lake, at, rows, question)?);
        }
    }
    Ok(states)
}

/// An award of the ledger to which use is to come.
#[derive(Clone, Copy, Debug)]
struct OpenAward {
    at: usize,
    /// What it counts.
    counted: CountedUse,
    /// The day of the report.
    on: Day,
    /// The first day on which it is no longer good.
    end: Day,
}

/// What jobs that run, or that wait, will still use of an award before it ends, as it counts it. `known_on` is the day they
/// were listed on; `None` where nothing lists them, or only on a later day.
fn still_used(lake: &LakeAwards, award: OpenAward, known_on: Option<Day>, listed: &[JobUse]) -> Result<Option<i128>> {
    let OpenAward { at, counted, on, end } = award;
    let misfit = || Error::new(Kind::Data, "what jobs will still use is too large to be counted");
    if known_on.is_none_or(|known_on| on < known_on) {
        return Ok(None);
    }
    let mut to_come: i128 = 0;
    for job in listed {
        let user = AwardUser {
            site: &job.site,
            cluster: job.cluster.as_deref(),
            account: &job.account,
            submitter: job.submitter.as_deref(),
            day: on,
        };
        let is_counted = |award: &Award| award.tariff.as_ref() == Some(&job.tariff);
        if lake.plan.ledger.counting(user, is_counted).contains(&at) {
            let of_job = job.before(lake.begins_ms(end), counted).ok_or_else(misfit)?;
            to_come = to_come.checked_add(of_job).ok_or_else(misfit)?;
        }
    }
    Ok(Some(to_come))
}

/// The state of the `at`-th award of the ledger, of which these rows are the use.
fn state<'a>(
    lake: &'a LakeAwards,
    at: usize,
    rows: Vec<&'a AwardUseRow>,
    question: &AwardQuestion,
) -> Result<AwardState<'a>> {
    let award = (lake.plan.ledger.awards.get(at)).ok_or_else(|| Error::internal("there is no such award"))?;
    let misfit = || Error::new(Kind::Data, "the use of an award is too large to be counted").at("award", &award.id);
    let measure =
        (award.measure.as_ref()).ok_or_else(|| Error::internal("an award has no measure").at("award", &award.id))?;
    let on = question.on;
    let mut amounts = UsedAmounts::default();
    for row in &rows {
        amounts.add(&row.used);
    }
    let mut state = AwardState {
        at,
        award,
        measure,
        amount_e9: award.amount_e9(on),
        used_e9: None,
        peak_e9: None,
        projected_e9: None,
        in_flight_e9: None,
        pending_e9: None,
        to_limits: None,
        days_left: None,
        period: None,
        amounts,
        rows,
    };
    if award.limit == AwardLimit::Maximum {
        if let Some(stored) = &lake.stored {
            let stored = stored_use(stored, award, measure, on)?;
            state.used_e9 = stored.map(|stored| stored.latest_e9);
            state.peak_e9 = stored.map(|stored| stored.peak_e9);
        }
        return Ok(state);
    }
    let used = amounts.counted(measure.counted);
    state.used_e9 = Some(measure.in_units_e9(used).ok_or_else(misfit)?);
    let end = end_of(lake, question, award)?;
    let used_by_day = by_day(state.rows.iter().copied(), measure.counted);
    let of_award = of_days(award.from, end, &used_by_day, lake.is_by_day);
    let window_days = lake.plan.window_days;
    let open = OpenAward {
        at,
        counted: measure.counted,
        on,
        end,
    };
    let to_come = |known_on, listed: &[JobUse]| still_used(lake, open, known_on, listed);
    let in_flight = to_come(lake.running.known_on, &lake.running.uses)?;
    let pending = to_come(lake.pending.known_on, &lake.pending.uses)?;
    let in_units = |to_come: Option<i128>| to_come.map(|to_come| measure.in_units_e9(to_come).ok_or_else(misfit));
    state.in_flight_e9 = in_units(in_flight).transpose()?;
    state.pending_e9 = in_units(pending).transpose()?;
    // Where one of both is not listed, the projection is of the other alone.
    let to_limits = match (in_flight, pending) {
        (Some(in_flight), Some(pending)) => Some(in_flight.checked_add(pending).ok_or_else(misfit)?),
        (in_flight, pending) => in_flight.or(pending),
    };
    state.to_limits = to_limits;
    let projected = of_award.projected(question.method, on, window_days, to_limits);
    state.projected_e9 = projected.and_then(|projected| measure.in_units_e9(projected));
    if let Some(rule) = lake.plan.rule(award) {
        let grants = award.changes.iter().map(|change| RuleGrant {
            day: change.day,
            amount_e9: change.delta_e9,
        });
        let of_rule = RuleAward {
            from: award.from,
            until: end,
            grants: grants.collect(),
        };
        let used = RuleUse {
            by_day: &used_by_day,
            measure: Some(measure),
        };
        let applied = apply(rule, &of_rule, &used, on);
        state.period = Some(applied.map_err(|why| why.at("award", &award.id).at("line", award.line))?);
    }
    if day_after(on) < end {
        // Fallback: without a period rule nothing is lost.
        let granted_e9 = state.amount_e9 - state.lost_e9().unwrap_or_default();
        let left = measure.counted(granted_e9).ok_or_else(misfit)? - used;
        state.days_left = of_award.days_left(question.method, on, window_days, left);
    }
    Ok(state)
}

/// The first day on which an award is no longer good, as it is known on the day. An award without an end is projected to the
/// end of the allocation year.
pub(super) fn end_of(lake: &LakeAwards, question: &AwardQuestion, award: &Award) -> Result<Day> {
    let until = award.until(question.on);
    until.map_or_else(|| year_days(lake, question.year).map(|(_, after)| after), Ok)
}

pub(super) fn year_days(lake: &LakeAwards, year: i64) -> Result<(Day, Day)> {
    let message = || Error::new(Kind::Usage, format!("{year} is no year of the calendar"));
    lake.year_days(year).ok_or_else(message)
}

/// The report.
///
/// # Errors
/// As [`states`].
pub fn table(lake: &LakeAwards, question: &AwardQuestion) -> Result<Table> {
    match (question.view, question.detail) {
        (AwardView::Project, None) => projects(lake, question),
        (AwardView::Project, Some(detail)) => project_details(lake, question, detail),
        (view, detail) => resources(lake, question, view, detail),
    }
}

/// The kind of an allocation that the name of an account states: `def`, `rrg` or `rpp` before the first dash.
fn kind_of(account: &str) -> Option<&str> {
    const KINDS: [&str; 3] = ["def", "rrg", "rpp"];
    let (kind, _) = account.split_once('-')?;
    KINDS.contains(&kind).then_some(kind)
}

pub(super) fn title(question: &AwardQuestion, what: &str) -> String {
    format!(
        "{what}, allocation year {}, settled use up to {}; projected: {}",
        question.year,
        day_text(Some(question.on), ""),
        question.method.as_str()
    )
}

/// Columns of the project view: name, unit and kind.
fn project_columns(digits: u8) -> Vec<(&'static str, &'static str, ColumnKind)> {
    let amount = ColumnKind::Decimal(digits);
    vec![
        ("account", "", ColumnKind::Text),
        ("kind", "", ColumnKind::Text),
        ("award", "", ColumnKind::Text),
        ("level", "1", ColumnKind::Number),
        ("user", "", ColumnKind::Text),
        ("site", "", ColumnKind::Text),
        ("cluster", "", ColumnKind::Text),
        ("policy", "", ColumnKind::Text),
        ("limit", "", ColumnKind::Text),
        ("unit", "", ColumnKind::Text),
        ("allocated", "unit", amount),
        ("used", "unit", amount),
        ("utilisation", "%", ColumnKind::Decimal(1)),
        ("projected", "unit", amount),
        ("projected_utilisation", "%", ColumnKind::Decimal(1)),
        ("remaining", "unit", amount),
        ("days_left", "d", ColumnKind::Number),
        ("target_to_date", "unit", amount),
        ("available_now", "unit", amount),
        ("lost", "unit", amount),
        ("in_flight", "unit", amount),
        ("pending", "unit", amount),
        ("peak", "unit", amount),
        ("valid_from", "", ColumnKind::Text),
        ("valid_to", "", ColumnKind::Text),
        ("raw_core_years", "core years", amount),
        ("raw_gpu_years", "GPU years", amount),
        ("equivalent_years", "equivalent_unit", amount),
        ("equivalent_unit", "", ColumnKind::Text),
        ("unpriced_jobs", "1", ColumnKind::Number),
        ("unpriced_core_hours", "core h", amount),
    ]
}

fn projects(lake: &LakeAwards, question: &AwardQuestion) -> Result<Table> {
    let columns = project_columns(question.digits);
    let mut table = Table::new(title(question, "Use of awards by project"), &columns);
    let digits = question.digits;
    let cell = |value: Option<i128>| value.map_or(Cell::Empty, |value| Cell::ratio(value, ONE_E9, digits));
    let percent = |part: Option<i128>, whole: i128| {
        part.and_then(|part| part.checked_mul(100))
            .map_or(Cell::Empty, |part| Cell::ratio(part, whole, 1))
    };
    for state in states(lake, question)? {
        let award = state.award;
        let until = award.until(question.on);
        let mut row = vec![
            Cell::text(award.account.as_str()),
            Cell::word(kind_of(&award.account)),
            Cell::text(award.id.as_str()),
            Cell::Int(i128::try_from(award.level).map_err(|why| Error::internal("a level does not fit").because(why))?),
            Cell::word(award.user.as_deref()),
            Cell::word(award.site.as_deref()),
            Cell::word(award.cluster.as_deref()),
            Cell::text(award.policy.as_str()),
            Cell::text(award.limit.as_str()),
            Cell::text(state.measure.unit.as_str()),
            cell(Some(state.amount_e9)),
            cell(state.used_e9),
            percent(state.used_e9, state.amount_e9),
            cell(state.projected_e9),
            percent(state.projected_e9, state.amount_e9),
            cell(state.remaining_e9()),
            state.days_left.map_or(Cell::Empty, Cell::Int),
            cell(award.target_e9(question.on)),
            cell(state.period.as_ref().map(RuleOutcome::available_now_e9)),
            cell(state.lost_e9()),
            cell(state.in_flight_e9),
            cell(state.pending_e9),
            cell(state.peak_e9),
            Cell::text(day_text(Some(award.from), "")),
            Cell::word(until.map(|until| day_text(Some(until), "")).as_deref()),
        ];
        row.extend(years(&state.rows, award.tariff.as_ref(), digits));
        row.extend(state.amounts.unpriced(digits));
        table.push(row);
    }
    for (key, rows) in without_award(lake, question)? {
        let mut row = vec![
            Cell::word(key.account.as_deref()),
            Cell::word(key.account.as_deref().and_then(kind_of)),
            Cell::Empty,
            Cell::Int(0),
            Cell::Empty,
            Cell::text(key.site.as_str()),
            Cell::word(key.cluster.as_deref()),
            Cell::text(key.tariff.to_string()),
            Cell::Empty,
            Cell::text(key.tariff.unit.as_str()),
            Cell::Empty,
        ];
        let mut amounts = UsedAmounts::default();
        for of in &rows {
            amounts.add(&of.used);
        }
        let used = by_day(rows.iter().copied(), CountedUse::Charge);
        let (first, after) = year_days(lake, question.year)?;
        let days = of_days(first, after, &used, lake.is_by_day);
        let projected = days.projected(question.method, question.on, lake.plan.window_days, None);
        row.extend([cell(Some(amounts.charge_e9)), Cell::Empty, cell(projected)]);
        // Without an award there is nothing to be left of, to be lost, or to end.
        row.extend(vec![Cell::Empty; 11]);
        row.extend(years(&rows, Some(&key.tariff), digits));
        row.extend(amounts.unpriced(digits));
        table.push(row);
    }
    Ok(table)
}

/// Who used something where, under what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UserKey {
    pub(super) site: String,
    pub(super) cluster: Option<String>,
    pub(super) account: Option<String>,
    pub(super) submitter: Option<String>,
    pub(super) tariff: BalanceTariff,
}

/// Rows of use that no award covers, of the year, by account and cluster.
pub(super) fn without_award<'a>(
    lake: &'a LakeAwards,
    question: &AwardQuestion,
) -> Result<BTreeMap<UserKey, Vec<&'a AwardUseRow>>> {
    let mut grouped: BTreeMap<UserKey, Vec<&AwardUseRow>> = BTreeMap::new();
    for row in of_year(lake, question)?.into_iter().filter(|row| row.award.is_none()) {
        let key = UserKey {
            site: row.site.clone(),
            cluster: row.cluster.clone(),
            account: row.account.clone(),
            submitter: None,
            tariff: row.tariff.clone(),
        };
        grouped.entry(key).or_default().push(row);
    }
    Ok(grouped)
}

/// The rows of the year up to the day, each use once: those without an award, and those of awards without one above.
pub(super) fn of_year<'a>(lake: &'a LakeAwards, question: &AwardQuestion) -> Result<Vec<&'a AwardUseRow>> {
    let (first, after) = year_days(lake, question.year)?;
    let is_asked = |row: &&AwardUseRow| {
        let is_account = |account: &String| row.account.as_ref() == Some(account);
        row.level == 0
            && row.allocation_year == question.year
            && (first..after).contains(&row.day.max(first))
            && row.day <= question.on
            && (question.accounts.is_empty() || question.accounts.iter().any(is_account))
    };
    Ok(lake.rows.iter().filter(is_asked).collect())
}

/// Raw core-years, raw GPU-years, equivalent years and their unit: each row by the length of its own allocation year.
pub(super) fn years(rows: &[&AwardUseRow], tariff: Option<&BalanceTariff>, digits: u8) -> Vec<Cell> {
    let span = tariff.and_then(|tariff| spanned(&tariff.unit));
    let mut by_year: BTreeMap<i64, UsedAmounts> = BTreeMap::new();
    for row in rows {
        if let Some(year_s) = row.year_s {
            by_year.entry(year_s).or_default().add(&row.used);
        }
    }
    let sum = |of: &dyn Fn(&UsedAmounts) -> Option<(i128, i128)>| {
        let years = by_year.iter().map(|(year_s, used)| {
            let (amount, factor) = of(used)?;
            times_over(amount, factor, i128::from(*year_s))
        });
        years.sum::<Option<i128>>()
    };
    let cell = |value: Option<i128>| value.map_or(Cell::Empty, |value| Cell::ratio(value, ONE_E9, digits));
    vec![
        cell(sum(&|used| Some((used.core_ms, ONE_E9 / 1000)))),
        cell(sum(&|used| Some((used.gpu_s, ONE_E9)))),
        cell(sum(&|used| Some((used.charge_e9, span?.1)))),
        Cell::word(span.map(|(held, _)| format!("{held}_year")).as_deref()),
    ]
}
