//! The section of the page on the quality of the data.

use std::collections::BTreeMap;

use super::data::SiteData;
use super::page::basis;
use super::quality::RowOutcome;
use super::split::table;
use crate::error::Result;
use crate::ledger::Reason;
use crate::report::board::section;
use crate::report::completeness;
use crate::report::table::{Cell, ColumnKind, Table};

/// The section of the page.
///
/// # Errors
/// [`crate::error::Kind::Data`] naming the column whose total is too large.
pub(super) fn write(body: &mut String, data: &SiteData) -> Result<()> {
    let quality = &data.quality;
    // Days and rows are of the site: the ledger knows no VO.
    let [of_days, of_rows] = if data.period.vos.is_empty() {
        ["By day.", "All that was read for the site, whatever its month."]
    } else {
        [
            "By day, all VOs of the site together.",
            "All that was read for the site, whatever its month and VO.",
        ]
    };
    let mut inside = basis(data, of_days);
    if data.incomplete.is_empty() {
        inside.push_str("<p>No day looks incomplete, judged by the site's own history.</p>\n");
    } else {
        inside.push_str(&table(&completeness::table(&data.incomplete))?);
    }
    let mut flags = Table::new(
        "Flags",
        &[
            ("flag", "", ColumnKind::Text),
            ("jobs", "1", ColumnKind::Number),
            ("meaning", "", ColumnKind::Text),
        ],
    );
    for flag in &quality.flags {
        flags.push(vec![
            Cell::text(&flag.name),
            Cell::Int(flag.job_n),
            Cell::text(&flag.meaning),
        ]);
    }
    inside.push_str("<h3>What is odd about single jobs</h3>\n");
    inside.push_str(&basis(data, "Records as read, in the lake's months, corrected or not."));
    inside.push_str(&if flags.rows.is_empty() {
        "<p>Nothing.</p>\n".to_owned()
    } else {
        table(&flags)?
    });
    inside.push_str("<h3>Where the input rows of the site went</h3>\n<p class=\"basis\">");
    inside.push_str(of_rows);
    inside.push_str("</p>\n");
    inside.push_str(&table(&rows(&quality.rows))?);
    if !quality.rows_without_site.is_empty() {
        inside.push_str(
            "<h3>Rows without a site of the same sources</h3>\n<p class=\"basis\">Most were refused or left out before their site \
             was known. Those of a source with several sites may be of any of them.</p>\n",
        );
        inside.push_str(&table(&rows(&quality.rows_without_site))?);
    }
    section(body, "quality", "Quality of the data", &inside);
    Ok(())
}

fn rows(by_outcome: &BTreeMap<RowOutcome, i128>) -> Table {
    let mut table = Table::new(
        "Rows",
        &[
            ("source", "", ColumnKind::Text),
            ("outcome", "", ColumnKind::Text),
            ("reason", "", ColumnKind::Text),
            ("rows", "1", ColumnKind::Sum),
            ("meaning", "", ColumnKind::Text),
        ],
    );
    for (of, row_n) in by_outcome {
        table.push(vec![
            Cell::word(of.source.as_deref()),
            Cell::text(&of.outcome),
            Cell::text(&of.reason),
            Cell::Int(*row_n),
            Cell::text(Reason::parse(&of.reason).map_or("", Reason::meaning)),
        ]);
    }
    let is_by_source = by_outcome.keys().any(|of| of.source.is_some());
    table.with_columns(|at, _| is_by_source || at > 0)
}
