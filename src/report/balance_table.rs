//! Balances as people read them: with the digits that matter, and without empty or constant columns.

use std::collections::BTreeMap;

use super::balance::{Balance, BalanceWording, worded};
use super::shown::digits_that_matter;
use super::table::{Cell, Table};
use crate::amounts::finer;
use crate::charge::amount::CHARGE_PLACES;
use crate::charge::amount::CHARGE_SCALE;
use crate::reference::currency::is_currency;
use crate::time::Day;

/// Digits after the point of money.
const CENTS: u8 = 2;

/// The balances as a table for people.
#[must_use]
pub fn table(balances: &[Balance], on: Day) -> Table {
    let digits = digits(balances);
    let mut table = worded(balances, on, |balance| {
        let (unit, per) = balance.tariff.unit_for_people();
        let digits = digits.get(unit).copied().unwrap_or(CENTS);
        let amount = |value: i128| Cell::ratio(value, finer(10_i128.pow(CHARGE_SCALE), per), digits);
        BalanceWording {
            policy: balance.tariff.title_among(balances.iter().map(|other| &other.tariff)),
            unit: unit.replace('_', " "),
            amounts: [balance.allocation.amount_e9, balance.charged_e9, balance.left_e9()].map(amount),
        }
    });
    for column in &mut table.columns {
        // The unit of amounts has a separate column.
        if column.unit == "unit" {
            column.unit = "";
        }
    }
    let at = |name: &str| table.columns.iter().position(|column| column.name == name);
    // People look for what is left first, and for its time behind it.
    if let (Some(from), Some(behind)) = (at("valid_from"), at("unpriced_jobs")) {
        if let Some(columns) = table.columns.get_mut(from..behind) {
            columns.rotate_left(2);
        }
        for cells in table.rows.iter_mut().filter_map(|row| row.get_mut(from..behind)) {
            cells.rotate_left(2);
        }
    }
    drop_dull(&mut table);
    table
}

/// Digits after the point by unit.
fn digits(balances: &[Balance]) -> BTreeMap<&str, u8> {
    let mut largest: BTreeMap<&str, i128> = BTreeMap::new();
    for balance in balances {
        let (unit, per) = balance.tariff.unit_for_people();
        let of = largest.entry(unit).or_default();
        for amount in [balance.allocation.amount_e9, balance.charged_e9, balance.left_e9()] {
            // Fallback: only how many digits are shown depends on it.
            *of = (amount.saturating_abs() / per.max(1)).max(*of);
        }
    }
    let scale = CHARGE_PLACES;
    let digits = largest.into_iter().map(|(unit, largest)| {
        let is_money = is_currency(&unit.to_uppercase());
        (
            unit,
            if is_money {
                CENTS
            } else {
                digits_that_matter(largest, scale)
            },
        )
    });
    digits.collect()
}

/// Removes empty columns and columns equal to others.
fn drop_dull(table: &mut Table) {
    let is_dull = |at: usize, name: &str| {
        let mut cells = table.rows.iter().map(|row| (row.first(), row.get(at)));
        match name {
            "project" => cells.all(|(account, project)| account == project),
            "site" | "cluster" | "valid_to" => cells.all(|(_, cell)| cell == Some(&Cell::Empty)),
            "unpriced_jobs" => cells.all(|(_, cell)| cell == Some(&Cell::Int(0))),
            "unpriced_core_hours" => cells.all(|(_, cell)| matches!(cell, Some(Cell::Decimal { value: 0, .. }))),
            _ => false,
        }
    };
    let names = table.columns.iter().map(|column| column.name.as_str());
    let kept: Vec<bool> = names.enumerate().map(|(at, name)| !is_dull(at, name)).collect();
    let mut is_kept = kept.iter().copied();
    table.columns.retain(|_| is_kept.next().unwrap_or(true));
    for row in &mut table.rows {
        let mut is_kept = kept.iter().copied();
        row.retain(|_| is_kept.next().unwrap_or(true));
    }
}
