//! Usage by one of its columns.

use std::collections::BTreeMap;

use super::data::{FILE_DIGITS, SitePageSums, amounts, largest_first};
use crate::report::html;
use crate::report::table::{Cell, ColumnKind, Table};

/// Usage by the values of a column, the most first, with its share of all; `None` where no value is known.
#[must_use]
pub(super) fn by_column(title: &str, column: &str, by_value: &BTreeMap<Option<String>, SitePageSums>) -> Option<Table> {
    if !by_value.keys().any(Option::is_some) {
        return None;
    }
    let hour = ColumnKind::DecimalSum(FILE_DIGITS);
    let mut table = Table::new(
        title,
        &[
            (column, "", ColumnKind::Text),
            ("jobs", "1", ColumnKind::Sum),
            ("core_hours", "core h", hour),
            ("cpu_hours", "h", hour),
            ("efficiency", "%", ColumnKind::Decimal(1)),
            ("gpu_hours", "gpu h", hour),
            ("share", "% of core hours", ColumnKind::Decimal(1)),
        ],
    );
    let mut total = SitePageSums::default();
    for sums in by_value.values() {
        total.add(sums);
    }
    let row = |name: &str, sums: &SitePageSums| {
        let mut cells = vec![Cell::text(name)];
        cells.extend(amounts(sums).into_iter().take(5));
        cells.push(Cell::percent(sums.core_s, total.core_s, 1));
        cells
    };
    let values = by_value.iter().map(|(value, sums)| (value.as_deref(), *sums)).collect();
    for (value, sums) in largest_first(values) {
        table.push(row(value.unwrap_or("(unknown)"), &sums));
    }
    table.exact_totals = Some(row("total", &total));
    Some(table)
}

/// A table on the page: without columns that have no value in any row.
///
/// # Errors
/// [`crate::error::Kind::Data`] naming the column whose total is too large.
pub(super) fn table(shown: &Table) -> crate::error::Result<String> {
    html::table(&shown.without_empty_columns())
}
