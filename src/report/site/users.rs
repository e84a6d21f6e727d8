//! The users who used most: people are named only where that is requested, and by the names the lake has.

use super::data::FILE_DIGITS;
use crate::error::Result;
use crate::report::lake::{Lake, Selection};
use crate::report::sreport::answer::{SreportKind, SreportRequest};
use crate::report::sreport::{SreportPeriod, TimeUnit, answer};
use crate::report::table::{Cell, ColumnKind, Table};

/// Those who used most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopUsers {
    /// Cluster, login, account and core hours.
    pub table: Table,
    /// What is not in the table.
    pub notes: Vec<String>,
}

/// The users of a selection who used most cores, as `sreport` lists them: their time within the period, whatever the
/// lake's attribution.
///
/// # Errors
/// As [`answer`].
pub fn top_users(lake: &Lake, selection: &Selection) -> Result<TopUsers> {
    let period = SreportPeriod::of_days(selection, &lake.zone()?);
    let request = SreportRequest {
        unit: TimeUnit::Seconds,
        tres: std::iter::once("cpu".to_owned()).collect(),
        ..SreportRequest::new(SreportKind::TopUsage, selection.clone(), period)
    };
    let answer = answer(lake, &request)?;
    let mut table = Table::new(
        answer.table.title,
        &[
            ("cluster", "", ColumnKind::Text),
            ("user", "", ColumnKind::Text),
            ("account", "", ColumnKind::Text),
            ("core_hours", "core h", ColumnKind::Decimal(FILE_DIGITS)),
        ],
    );
    for row in answer.table.rows {
        // Between account and seconds is the name of the resource; only one is requested.
        if let [cluster, user, account, _, used] = row.as_slice() {
            let hours = match used {
                Cell::Int(core_s) => Cell::ratio(*core_s, 3600, FILE_DIGITS),
                _ => Cell::Empty,
            };
            table.push(vec![cluster.clone(), user.clone(), account.clone(), hours]);
        }
    }
    Ok(TopUsers {
        table,
        notes: answer.notes,
    })
}
