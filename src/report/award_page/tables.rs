//! The tables of all awards: what is left, where use will end, who is owed.

use std::cmp::Reverse;

use super::burn_down::amounts;
use super::data::{AwardPage, PageAward};
use super::forecast::ForecastBand;
use crate::reference::node_type::day_text;
use crate::report::table::{Cell, ColumnKind, Table};

/// Billionths of one.
const ONE_E9: i128 = 1_000_000_000;

impl AwardPage<'_> {
    /// All awards on all days that changed them.
    #[must_use]
    pub fn burn_downs(&self, digits: u8) -> Table {
        let amount = ColumnKind::Decimal(digits);
        let mut table = Table::new(
            "What is left, day by day",
            &[
                ("award", "", ColumnKind::Text),
                ("day", "", ColumnKind::Text),
                ("entries", "", ColumnKind::Text),
                ("unit", "", ColumnKind::Text),
                ("granted", "unit", amount),
                ("used", "unit", amount),
                ("remaining", "unit", amount),
            ],
        );
        for award in &self.awards {
            for point in &award.points {
                let mut row = vec![
                    Cell::text(award.state.award.id.as_str()),
                    Cell::text(day_text(Some(point.day), "")),
                    Cell::word(Some(point.entries.join("; ").as_str()).filter(|entries| !entries.is_empty())),
                    Cell::text(award.state.measure.unit.as_str()),
                ];
                row.extend(amounts(point, digits));
                table.push(row);
            }
        }
        table
    }
}

/// The forecasts of awards.
#[must_use]
pub fn forecast_table<'a>(awards: impl IntoIterator<Item = &'a PageAward<'a>>, digits: u8) -> Table {
    let amount = ColumnKind::Decimal(digits);
    let mut table = Table::new(
        "Projections",
        &[
            ("award", "", ColumnKind::Text),
            ("method", "", ColumnKind::Text),
            ("unit", "", ColumnKind::Text),
            ("projected", "unit", amount),
            ("projected_utilisation", "%", ColumnKind::Decimal(1)),
            ("low", "unit", amount),
            ("high", "unit", amount),
            ("past_months", "1", ColumnKind::Number),
            ("most_too_much", "%", ColumnKind::Decimal(1)),
            ("most_too_little", "%", ColumnKind::Decimal(1)),
        ],
    );
    for award in awards {
        for forecast in &award.forecasts {
            let cell = |value: i128| Cell::ratio(value, ONE_E9, digits);
            let percent = |part: i128, whole: i128| {
                let part = part.checked_mul(100);
                part.map_or(Cell::Empty, |part| Cell::ratio(part, whole, 1))
            };
            let band = forecast.band;
            let of_band = |of: &dyn Fn(ForecastBand) -> Cell| -> Cell { band.map_or(Cell::Empty, of) };
            table.push(vec![
                Cell::text(award.state.award.id.as_str()),
                Cell::text(forecast.method.as_str()),
                Cell::text(award.state.measure.unit.as_str()),
                cell(forecast.projected_e9),
                percent(forecast.projected_e9, award.state.amount_e9),
                of_band(&|band| cell(band.low_e9)),
                of_band(&|band| cell(band.high_e9)),
                of_band(&|band| Cell::Int(band.month_n)),
                of_band(&|band| percent(band.over, band.actual)),
                of_band(&|band| percent(band.under, band.actual)),
            ]);
        }
    }
    table
}

impl AwardPage<'_> {
    /// The forecasts of all awards.
    #[must_use]
    pub fn forecasts(&self, digits: u8) -> Table {
        forecast_table(&self.awards, digits)
    }
}

impl AwardPage<'_> {
    /// The awards with an end, those that are owed most (in per cent of the award) first, those furthest beyond last.
    #[must_use]
    pub fn owed(&self, digits: u8) -> Table {
        let amount = ColumnKind::Decimal(digits);
        let mut table = Table::new(
            "Who is owed",
            &[
                ("award", "", ColumnKind::Text),
                ("account", "", ColumnKind::Text),
                ("user", "", ColumnKind::Text),
                ("level", "1", ColumnKind::Number),
                ("cluster", "", ColumnKind::Text),
                ("unit", "", ColumnKind::Text),
                ("allocated", "unit", amount),
                ("elapsed", "% of days", ColumnKind::Decimal(1)),
                ("target_to_date", "unit", amount),
                ("used", "unit", amount),
                ("owed", "unit", amount),
                ("owed_percent", "% of award", ColumnKind::Decimal(1)),
                ("use", "", ColumnKind::Text),
            ],
        );
        let mut rows: Vec<_> = self
            .awards
            .iter()
            .filter_map(|award| Some((award, award.even?)))
            .collect();
        rows.sort_by_key(|(award, even)| (Reverse(even.part_e9), award.state.award.id.as_str()));
        for (award, even) in rows {
            let cell = |value: i128| Cell::ratio(value, ONE_E9, digits);
            let state = &award.state;
            let percent = even.part_e9.and_then(|part| part.checked_mul(100));
            table.push(vec![
                Cell::text(state.award.id.as_str()),
                Cell::text(state.award.account.as_str()),
                Cell::word(state.award.user.as_deref()),
                Cell::Int(crate::numbers::count_i128(state.award.level)),
                Cell::word(state.award.cluster.as_deref()),
                Cell::text(state.measure.unit.as_str()),
                cell(state.amount_e9),
                Cell::ratio(even.gone_days * 100, even.all_days, 1),
                cell(even.target_e9),
                state.used_e9.map_or(Cell::Empty, cell),
                cell(even.owed_e9),
                percent.map_or(Cell::Empty, |percent| Cell::ratio(percent, ONE_E9, 1)),
                Cell::text(even.word()),
            ]);
        }
        table
    }
}
