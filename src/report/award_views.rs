//! Use of awards divided by month and submitter, and use of clusters and submitters.

use std::collections::BTreeMap;

use super::award_use::{AwardUseRow, LakeAwards, UsedAmounts, by_day, of_days};
use super::awards::{
    AwardDetail, AwardQuestion, AwardView, UserKey, of_year, states, title, without_award, year_days, years,
};
use super::table::{Cell, ColumnKind, Table};
use crate::award::unit::CountedUse;
use crate::charge::charged_tariff::BalanceTariff;
use crate::charge::span::{spanned, times_over};
use crate::error::{Error, Kind, Result};
use crate::time::Month;

/// Billionths of one.
const ONE_E9: i128 = 1_000_000_000;

/// The label of a part of a row.
fn part_of(row: &AwardUseRow, detail: AwardDetail) -> Option<String> {
    match detail {
        AwardDetail::Monthly => Month::of_day(row.day).map(|month| month.to_string()),
        AwardDetail::Submitter => row.submitter.clone(),
    }
}

fn detail_column(detail: AwardDetail) -> &'static str {
    match detail {
        AwardDetail::Monthly => "month",
        AwardDetail::Submitter => "submitter",
    }
}

/// The use of each award by month or submitter. Each cell is what its part adds to the rounded sum of those before it, so
/// that the parts add up to the row of the award to the last digit.
pub(super) fn project_details(lake: &LakeAwards, question: &AwardQuestion, detail: AwardDetail) -> Result<Table> {
    let amount = ColumnKind::Decimal(question.digits);
    let mut table = Table::new(
        title(question, "Use of awards by project"),
        &[
            ("account", "", ColumnKind::Text),
            ("award", "", ColumnKind::Text),
            ("level", "1", ColumnKind::Number),
            (detail_column(detail), "", ColumnKind::Text),
            ("unit", "", ColumnKind::Text),
            ("used", "unit", amount),
            ("jobs", "1", ColumnKind::Number),
        ],
    );
    for state in states(lake, question)? {
        let level =
            i128::try_from(state.award.level).map_err(|why| Error::internal("a level does not fit").because(why))?;
        let counted = state.measure.counted;
        let in_units = |used: i128| state.measure.in_units_e9(used);
        for part in parts(&state.rows, detail, question.digits, |used| {
            in_units(used.counted(counted))
        }) {
            table.push(vec![
                Cell::text(state.award.account.as_str()),
                Cell::text(state.award.id.as_str()),
                Cell::Int(level),
                Cell::word(part.label.as_deref()),
                Cell::text(state.measure.unit.as_str()),
                part.used,
                Cell::Int(part.job_n),
            ]);
        }
    }
    for (key, rows) in without_award(lake, question)? {
        for part in parts(&rows, detail, question.digits, |used| Some(used.charge_e9)) {
            table.push(vec![
                Cell::word(key.account.as_deref()),
                Cell::Empty,
                Cell::Int(0),
                Cell::word(part.label.as_deref()),
                Cell::text(key.tariff.unit.as_str()),
                part.used,
                Cell::Int(part.job_n),
            ]);
        }
    }
    Ok(table)
}

/// A part of a row.
struct UsePart {
    label: Option<String>,
    used: Cell,
    job_n: i128,
}

fn parts(
    rows: &[&AwardUseRow],
    detail: AwardDetail,
    digits: u8,
    in_units: impl Fn(&UsedAmounts) -> Option<i128>,
) -> Vec<UsePart> {
    let mut grouped: BTreeMap<Option<String>, UsedAmounts> = BTreeMap::new();
    for row in rows {
        grouped.entry(part_of(row, detail)).or_default().add(&row.used);
    }
    let (mut sum, mut before) = (UsedAmounts::default(), 0);
    let mut parts = Vec::new();
    for (label, amounts) in grouped {
        sum.add(&amounts);
        let to_here = in_units(&sum).map(|used| Cell::ratio(used, ONE_E9, digits));
        let used = match to_here {
            Some(Cell::Decimal { value, scale }) => {
                let own = value - before;
                before = value;
                Cell::Decimal { value: own, scale }
            }
            _ => Cell::Empty,
        };
        parts.push(UsePart {
            label,
            used,
            job_n: amounts.job_n,
        });
    }
    parts
}

pub(super) fn resources(
    lake: &LakeAwards,
    question: &AwardQuestion,
    view: AwardView,
    detail: Option<AwardDetail>,
) -> Result<Table> {
    let amount = ColumnKind::Decimal(question.digits);
    let by_submitter = view == AwardView::Submitter;
    let what = if by_submitter {
        "Use by submitter"
    } else {
        "Use by compute resource"
    };
    let mut columns = vec![("site", "", ColumnKind::Text), ("cluster", "", ColumnKind::Text)];
    if by_submitter {
        columns.extend([("account", "", ColumnKind::Text), ("submitter", "", ColumnKind::Text)]);
    }
    columns.push(("policy", "", ColumnKind::Text));
    if let Some(detail) = detail {
        let name = if by_submitter && detail == AwardDetail::Submitter {
            return Err(Error::new(
                Kind::Usage,
                "rows are by submitter already: divide them by month",
            ));
        } else {
            detail_column(detail)
        };
        columns.push((name, "", ColumnKind::Text));
    }
    columns.extend([
        ("raw_core_years", "core years", amount),
        ("raw_gpu_years", "GPU years", amount),
        ("equivalent_years", "equivalent_unit", amount),
        ("equivalent_unit", "", ColumnKind::Text),
    ]);
    if detail.is_none() {
        columns.extend([
            ("projected_raw_core_years", "core years", amount),
            ("projected_raw_gpu_years", "GPU years", amount),
            ("projected_equivalent_years", "equivalent_unit", amount),
        ]);
    }
    columns.extend([
        ("used", "unit", amount),
        ("unit", "", ColumnKind::Text),
        ("jobs", "1", ColumnKind::Number),
    ]);
    let mut table = Table::new(title(question, what), &columns);
    let mut grouped: BTreeMap<(UserKey, Option<String>), Vec<&AwardUseRow>> = BTreeMap::new();
    for row in of_year(lake, question)? {
        let key = UserKey {
            site: row.site.clone(),
            cluster: row.cluster.clone(),
            account: row.account.clone().filter(|_| by_submitter),
            submitter: row.submitter.clone().filter(|_| by_submitter),
            tariff: row.tariff.clone(),
        };
        let part = detail.and_then(|detail| part_of(row, detail));
        grouped.entry((key, part)).or_default().push(row);
    }
    for ((key, part), rows) in grouped {
        let mut row = vec![Cell::text(key.site.as_str()), Cell::word(key.cluster.as_deref())];
        if by_submitter {
            row.extend([Cell::word(key.account.as_deref()), Cell::word(key.submitter.as_deref())]);
        }
        row.push(Cell::text(key.tariff.to_string()));
        if detail.is_some() {
            row.push(Cell::word(part.as_deref()));
        }
        row.extend(years(&rows, Some(&key.tariff), question.digits));
        if detail.is_none() {
            row.extend(projected_years(lake, question, &rows, &key.tariff)?);
        }
        let mut amounts = UsedAmounts::default();
        for of in &rows {
            amounts.add(&of.used);
        }
        row.extend([
            Cell::ratio(amounts.charge_e9, ONE_E9, question.digits),
            Cell::text(key.tariff.unit.as_str()),
            Cell::Int(amounts.job_n),
        ]);
        table.push(row);
    }
    Ok(table)
}

/// Raw core-years, raw GPU-years and equivalent years at the end of the year.
fn projected_years(
    lake: &LakeAwards,
    question: &AwardQuestion,
    rows: &[&AwardUseRow],
    tariff: &BalanceTariff,
) -> Result<Vec<Cell>> {
    let (first, after) = year_days(lake, question.year)?;
    let year_s = rows.iter().find_map(|row| row.year_s);
    let of = |counted: CountedUse, factor: Option<i128>| {
        let used = by_day(rows.iter().copied(), counted);
        let projected = of_days(first, after, &used, lake.is_by_day).projected(
            question.method,
            question.on,
            lake.plan.window_days,
            None,
        )?;
        times_over(projected, factor?, i128::from(year_s?))
    };
    let cell = |value: Option<i128>| value.map_or(Cell::Empty, |value| Cell::ratio(value, ONE_E9, question.digits));
    Ok(vec![
        cell(of(CountedUse::RawCore, Some(ONE_E9 / 1000))),
        cell(of(CountedUse::RawGpu, Some(ONE_E9))),
        cell(of(CountedUse::Charge, spanned(&tariff.unit).map(|(_, span_s)| span_s))),
    ])
}
