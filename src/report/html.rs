//! The frame of every HTML page: one file, no network, fit for print.

use crate::error::Result;
use std::fmt::Write as _;

use super::shown::{digits, shown};
use super::table::{Cell, Table};
use crate::display_text::is_steering;

/// Cells longer than this may take several lines.
const WRAPPED_CHARS: usize = 40;

const STYLE: &str = include_str!("page.css");

/// Text as it may be between tags or in a quoted attribute.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if is_steering(c) && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A page around a body that is HTML already.
#[must_use]
pub fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n"
    )
}

/// A table with units in its head and totals in its foot; numbers as people read them.
///
/// # Errors
/// [`crate::error::Kind::Data`] naming the column whose total is too large.
pub fn table(table: &Table) -> Result<String> {
    let mut out = String::from("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>");
    let class = |at: usize| match table.columns.get(at) {
        Some(column) if column.kind.is_number() => " class=\"n\"",
        _ => "",
    };
    for (at, column) in table.columns.iter().enumerate() {
        let unit = match column.unit {
            // Hours of what is in the name already: "core hours", "installed hs06 hours".
            unit if unit.is_empty() || unit == "1" || column.name.ends_with("_hours") => String::new(),
            unit => format!(" <span class=\"unit\">{}</span>", escape(unit)),
        };
        let name = escape(&column.name.replace('_', " "));
        let _ = write!(out, "<th scope=\"col\"{}>{name}{unit}</th>", class(at));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    let digits: Vec<Option<u8>> = (0..table.columns.len()).map(|at| digits(table, at)).collect();
    let row = |out: &mut String, cells: &[Cell]| {
        out.push_str("<tr>");
        for (at, cell) in cells.iter().enumerate() {
            let shown = shown(cell, table.columns.get(at), digits.get(at).copied().flatten());
            let class = if shown.text.chars().count() > WRAPPED_CHARS {
                " class=\"w\""
            } else {
                class(at)
            };
            // What rows are sorted by.
            let exact = shown
                .exact
                .map_or_else(String::new, |exact| format!(" data-v=\"{}\"", escape(&exact)));
            let _ = write!(out, "<td{class}{exact}>{}</td>", escape(&shown.text));
        }
        out.push_str("</tr>\n");
    };
    for cells in &table.rows {
        row(&mut out, cells);
    }
    out.push_str("</tbody>\n");
    if let Some(totals) = table.totals()? {
        out.push_str("<tfoot>");
        row(&mut out, &totals);
        out.push_str("</tfoot>\n");
    }
    out.push_str("</table></div>\n");
    Ok(out)
}
