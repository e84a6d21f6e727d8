//! What each method would have projected of awards at the end of past months, and how wrong it was.

use super::award_use::{LakeAwards, by_day, of_days};
use super::awards::{AwardQuestion, end_of, states, title};
use super::table::{Cell, ColumnKind, Table};
use crate::award::AwardLimit;
use crate::error::Result;

/// Billionths of one.
const ONE_E9: i128 = 1_000_000_000;

/// How wrong each method would have been, month by month, for each award.
///
/// # Errors
/// As [`states`].
pub fn back_test(lake: &LakeAwards, question: &AwardQuestion) -> Result<Table> {
    let amount = ColumnKind::Decimal(question.digits);
    let mut table = Table::new(
        title(question, "Projections of past months, and what was used"),
        &[
            ("award", "", ColumnKind::Text),
            ("method", "", ColumnKind::Text),
            ("month", "", ColumnKind::Text),
            ("unit", "", ColumnKind::Text),
            ("projected", "unit", amount),
            ("used", "unit", amount),
            ("error", "unit", amount),
            ("error_percent", "%", ColumnKind::Decimal(1)),
        ],
    );
    for state in states(lake, question)? {
        let (award, measure) = (state.award, state.measure);
        let end = end_of(lake, question, award)?;
        if award.limit == AwardLimit::Maximum {
            continue;
        }
        let used = by_day(state.rows.iter().copied(), measure.counted);
        let of_award = of_days(award.from, end, &used, lake.is_by_day);
        for test in of_award.back_test(question.on, lake.plan.window_days) {
            let cell = |counted: i128| {
                let units = measure.in_units_e9(counted);
                units.map_or(Cell::Empty, |units| Cell::ratio(units, ONE_E9, question.digits))
            };
            let error = test.error().checked_mul(100);
            table.push(vec![
                Cell::text(award.id.as_str()),
                Cell::text(test.method.as_str()),
                Cell::text(test.month.to_string()),
                Cell::text(measure.unit.as_str()),
                cell(test.projected),
                cell(test.actual),
                cell(test.error()),
                error.map_or(Cell::Empty, |error| Cell::ratio(error, test.actual, 1)),
            ]);
        }
    }
    Ok(table)
}
