//! Prints a report in the format that was requested.

use tracing::info;

use crate::cli::output;
use crate::error::Result;
use crate::report::render::{TableFormat, render};
use crate::report::table::Table;

/// Prints a table; where the format has no place for its title, the title goes to people.
pub(crate) fn print(table: &Table, format: TableFormat) -> Result<()> {
    let is_shown = match format {
        TableFormat::Html | TableFormat::Markdown => true,
        // The text format marks a title without content.
        TableFormat::Table => table.rows.is_empty(),
        TableFormat::Csv | TableFormat::Json | TableFormat::Ndjson | TableFormat::Parquet => false,
    };
    if !is_shown {
        info!("{}", table.title);
    }
    output::data(&render(table, format)?)
}
