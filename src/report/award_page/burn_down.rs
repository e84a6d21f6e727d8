//! What is left of an award, day by day.

use std::collections::{BTreeMap, BTreeSet};

use crate::award::projection::UseOfDays;
use crate::award::{Award, AwardLimit};
use crate::error::{Error, Kind, Result};
use crate::reference::decimal;
use crate::reference::node_type::day_text;
use crate::report::award_use::UsedByDay;
use crate::report::awards::AwardState;
use crate::report::table::{Cell, ColumnKind, Table};
use crate::time::{Day, Month};

/// Billionths of one.
const ONE_E9: i128 = 1_000_000_000;
/// Digits after the point of amounts.
const DIGITS: u32 = 9;

/// An award at the end of a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BurnPoint {
    /// The day.
    pub day: Day,
    /// What entries of the ledger did on that day.
    pub entries: Vec<&'static str>,
    /// What was granted by then, in billionths of the unit.
    pub granted_e9: i128,
    /// What was used by then, likewise.
    pub used_e9: i128,
}

impl BurnPoint {
    /// What is left; below zero when more was used.
    #[must_use]
    pub fn remaining_e9(&self) -> i128 {
        self.granted_e9 - self.used_e9
    }
}

/// An award on its first day, on each day that changed it, and on the last one that counts. Where only months are known, the
/// use of a month counts on its last day. Empty for stored bytes.
pub(super) fn points(state: &AwardState<'_>, used: &UseOfDays<'_>, on: Day) -> Result<Vec<BurnPoint>> {
    let misfit =
        || Error::new(Kind::Data, "the use of an award is too large to be counted").at("award", &state.award.id);
    let award = state.award;
    let last = on.min(used.until - 1);
    if award.limit == AwardLimit::Maximum || last < award.from {
        return Ok(Vec::new());
    }
    let mut by_day = UsedByDay::new();
    for (day, counted) in used.used {
        let month_end = Month::of_day(*day).map_or(*day, Month::last_day);
        let at = if used.is_by_day { *day } else { month_end };
        *by_day.entry(at.clamp(award.from, last)).or_default() += counted;
    }
    let mut entries: BTreeMap<Day, Vec<&'static str>> = BTreeMap::new();
    for change in award.changes.iter().filter(|change| change.day <= on) {
        let of_day = entries.entry(change.day.clamp(award.from, last)).or_default();
        of_day.push(change.kind.as_str());
    }
    let mut days: BTreeSet<Day> = BTreeSet::from([award.from, last]);
    days.extend(by_day.keys().chain(entries.keys()));
    let mut counted: i128 = 0;
    let mut points = Vec::new();
    for day in days {
        // Fallback: on a day without use nothing is added.
        counted += by_day.get(&day).copied().unwrap_or_default();
        points.push(BurnPoint {
            day,
            // Fallback: most days have no entry.
            entries: entries.remove(&day).unwrap_or_default(),
            granted_e9: award.amount_e9(if day == last { on } else { day }),
            used_e9: state.measure.in_units_e9(counted).ok_or_else(misfit)?,
        });
    }
    Ok(points)
}

/// What is granted, used and left.
pub(super) fn amounts(point: &BurnPoint, digits: u8) -> [Cell; 3] {
    [point.granted_e9, point.used_e9, point.remaining_e9()].map(|value| Cell::ratio(value, ONE_E9, digits))
}

/// One award at the end of each month, and on the last day.
pub(super) fn by_month(points: &[BurnPoint], digits: u8) -> Table {
    let amount = ColumnKind::Decimal(digits);
    let mut table = Table::new(
        "By month",
        &[
            ("end_of", "", ColumnKind::Text),
            ("granted", "", amount),
            ("used", "", amount),
            ("remaining", "", amount),
        ],
    );
    let mut points = points.iter().peekable();
    while let Some(point) = points.next() {
        let month = Month::of_day(point.day);
        let is_last = points.peek().is_none_or(|next| Month::of_day(next.day) != month);
        if is_last {
            let is_end = points.peek().is_none();
            let month = month.map_or_else(String::new, |month| month.to_string());
            let name = if is_end { day_text(Some(point.day), "") } else { month };
            let mut row = vec![Cell::text(name)];
            row.extend(amounts(point, digits));
            table.push(row);
        }
    }
    table
}

/// The entries of the ledger about one award, as known on the day. Who signed them is left out.
pub(super) fn entries(award: &Award, on: Day) -> Table {
    let mut table = Table::new(
        "Entries",
        &[
            ("day", "", ColumnKind::Text),
            ("entry", "", ColumnKind::Text),
            ("amount", "", ColumnKind::Text),
            ("last_day", "", ColumnKind::Text),
            ("other_account", "", ColumnKind::Text),
            ("reason", "", ColumnKind::Text),
        ],
    );
    let changes = award.changes.iter();
    for change in changes.filter(|change| change.day <= on) {
        let amount = decimal::text(change.delta_e9, DIGITS);
        let sign = if change.delta_e9 > 0 { "+" } else { "" };
        let last = change.until.map(|until| day_text(Some(until - 1), ""));
        table.push(vec![
            Cell::text(day_text(Some(change.day), "")),
            Cell::text(change.kind.as_str()),
            Cell::word(Some(format!("{sign}{amount}").as_str()).filter(|_| change.delta_e9 != 0)),
            Cell::word(last.as_deref()),
            Cell::word(change.counterpart.as_deref()),
            Cell::word(change.reason.as_deref()),
        ]);
    }
    table
}
