//! The users who used most: people are named only where that is asked for, and by the names the lake has.

use crate::error::Result;
use crate::report::lake::{Lake, Selection};
use crate::report::sreport::answer::{Request, SreportKind};
use crate::report::sreport::{Period, TimeUnit, answer};
use crate::report::table::Table;

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
    let period = Period::of_days(selection, &lake.zone()?);
    let request = Request {
        unit: TimeUnit::Hours,
        tres: std::iter::once("cpu".to_owned()).collect(),
        ..Request::new(SreportKind::TopUsage, selection.clone(), period)
    };
    let mut answer = answer(lake, &request)?;
    // One resource is asked for, so that no column has to name it.
    let names = ["cluster", "user", "account", "", "core_hours"];
    for (column, name) in answer.table.columns.iter_mut().zip(names) {
        name.clone_into(&mut column.name);
    }
    if let Some(at) = answer.table.columns.iter().position(|column| column.name.is_empty()) {
        answer.table.columns.remove(at);
        for row in &mut answer.table.rows {
            row.remove(at);
        }
    }
    Ok(TopUsers {
        table: answer.table,
        notes: answer.notes,
    })
}
