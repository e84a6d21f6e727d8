//! Shares as tables.

use super::super::table::{Cell, ColumnKind, Table};
use super::day::{DayShares, GrantedAccount};
use super::history::ShareHistory;
use crate::fairshare::RawShares;
use crate::reference::node_type::day_text;

/// Digits after the point of CPU TRES.
const DIGITS: u8 = 6;

const AMOUNTS: [(&str, &str, ColumnKind); 5] = [
    ("gratis", "CPU TRES", ColumnKind::Decimal(DIGITS)),
    ("lab", "CPU TRES", ColumnKind::Decimal(DIGITS)),
    ("communal", "CPU TRES", ColumnKind::Decimal(DIGITS)),
    ("total", "CPU TRES", ColumnKind::Decimal(DIGITS)),
    ("shares", "shares", ColumnKind::Number),
];

/// The shares of a day, and what the newest listing of associations has.
#[must_use]
pub fn day_table(shares: &DayShares, cluster: &str) -> Table {
    let mut columns = vec![("account", "", ColumnKind::Text), ("parent", "", ColumnKind::Text)];
    columns.extend(AMOUNTS);
    columns.push(("listed", "shares", ColumnKind::Text));
    columns.push(("difference", "shares", ColumnKind::Number));
    let title = format!("Shares granted on {cluster} for {}", day_text(Some(shares.day), ""));
    let mut table = Table::new(title, &columns);
    for of in &shares.accounts {
        let mut row = vec![Cell::text(&of.account), Cell::word(of.parent.as_deref())];
        row.extend(amounts(of));
        row.push(of.listed.map_or(Cell::Empty, |listed| Cell::text(listed_text(listed))));
        let number = of.listed.and_then(RawShares::number);
        row.push(number.map_or(Cell::Empty, |number| {
            Cell::int(i128::from(of.whole) - i128::from(number))
        }));
        table.push(row);
    }
    table
}

/// The days on which shares change.
#[must_use]
pub fn history_table(history: &ShareHistory, cluster: &str) -> Table {
    let mut columns = vec![("day", "", ColumnKind::Text), ("account", "", ColumnKind::Text)];
    columns.extend(AMOUNTS);
    let mut table = Table::new(format!("Days on which shares of {cluster} change"), &columns);
    for of_day in &history.days {
        let day = day_text(Some(of_day.day), "");
        for of in &of_day.changed {
            let mut row = vec![Cell::text(&day), Cell::text(&of.account)];
            row.extend(amounts(of));
            table.push(row);
        }
        for account in &of_day.gone {
            let mut row = vec![Cell::text(&day), Cell::text(account)];
            row.extend(AMOUNTS.iter().map(|_| Cell::Empty));
            table.push(row);
        }
    }
    table
}

/// Shares as listings have them.
#[must_use]
pub fn listed_text(shares: RawShares) -> String {
    match shares {
        RawShares::Number(shares) => shares.to_string(),
        RawShares::Parent => "parent".to_owned(),
    }
}

fn amounts(of: &GrantedAccount) -> [Cell; 5] {
    let decimal = |value: i128| Cell::Decimal { value, scale: DIGITS };
    [
        decimal(of.shares.gratis_e6),
        decimal(of.shares.lab_e6),
        decimal(of.shares.communal_e6),
        decimal(of.total_e6),
        Cell::int(of.whole),
    ]
}
