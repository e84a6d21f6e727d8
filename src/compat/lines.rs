//! The report as text, JSON and CSV.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::cell::{MEASURES, PeerCell};
use super::report::{Left, WorkReport};
use crate::error::Result;
use crate::lines;
use crate::report::table::{Cell as TableCell, ColumnKind, Table};

/// What people are shown, and under which heading; programs get every column.
const SHOWN: [(&str, &str); 11] = [
    ("job_n", "jobs"),
    ("wall_s", "wall s"),
    ("cpu_s", "CPU s"),
    ("normalised_wall_s", "published wall"),
    ("normalised_cpu_s", "published CPU"),
    ("native_wall_s", "exact wall"),
    ("native_cpu_s", "exact CPU"),
    ("wall_difference_s", "off wall"),
    ("cpu_difference_s", "off CPU"),
    ("egi_cpu_efficiency_percent", "EGI %"),
    ("wlcg_cpu_efficiency_percent", "WLCG %"),
];

impl Left {
    /// What is not published, in sentences.
    fn sentences(&self) -> Vec<String> {
        let reported = [
            (self.not_ended_job_n, "had not ended"),
            (
                self.other_view_job_n,
                "describe hours that other jobs describe too (another view)",
            ),
            (
                self.benchmark_missing_job_n,
                "have no benchmark and never become its records",
            ),
            (self.no_wall_job_n, "have no wall time"),
        ];
        let reported = reported.into_iter().filter(|(n, _)| *n > 0);
        let reported = reported.map(|(n, why)| format!("not published: {n} jobs {why}"));
        let added = (self.added_job_n != 0).then(|| {
            format!(
                "not published: {} jobs were added by corrections, which have no benchmark",
                self.added_job_n
            )
        });
        let summarised = (self.summary_job_n != 0).then(|| {
            format!(
                "not published: {} jobs are in received summaries, which count in place of single jobs",
                self.summary_job_n
            )
        });
        reported.chain(summarised).chain(added).collect()
    }
}

impl WorkReport {
    fn header(&self) -> Vec<&'static str> {
        let dimensions = self.by.iter().map(|dimension| dimension.as_str());
        ["site", "month"].into_iter().chain(dimensions).collect()
    }

    fn place(cell: &PeerCell) -> Vec<String> {
        // Fallback: an unknown dimension is an empty cell of the table.
        let dimensions = cell.dimensions.iter().map(|value| value.clone().unwrap_or_default());
        [cell.site.clone(), cell.month.to_string()]
            .into_iter()
            .chain(dimensions)
            .collect()
    }

    /// The report for people.
    #[must_use]
    pub fn text(&self) -> String {
        let names = self.header();
        let headings = SHOWN.iter().map(|(_, heading)| *heading);
        let mut rows = vec![
            names
                .iter()
                .copied()
                .chain(headings)
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        ];
        for cell in &self.cells {
            // Fallback: never taken, every name shown is that of a measure.
            let measures = SHOWN.iter().map(|(name, _)| cell.measure(name).unwrap_or_default());
            rows.push(Self::place(cell).into_iter().chain(measures).collect());
        }
        let widths = lines::widths(&rows);
        let mut text = format!("{}: {}\n", self.mode.as_str(), self.mode.meaning());
        for row in &rows {
            let line = lines::aligned(row, &widths, |column| column >= names.len());
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{line}");
        }
        for sentence in self.left.sentences() {
            let _ = writeln!(text, "{sentence}");
        }
        text
    }

    /// The report for programs. Numbers other than integers are texts, so that no digit is lost.
    #[must_use]
    pub fn json(&self) -> Value {
        let cells = self.cells.iter().map(|cell| {
            let mut row = Map::new();
            row.insert("site".to_owned(), json!(cell.site));
            row.insert("month".to_owned(), json!(cell.month.to_string()));
            for (dimension, value) in self.by.iter().zip(&cell.dimensions) {
                row.insert(dimension.as_str().to_owned(), json!(value));
            }
            for ((name, is_integer), text) in MEASURES.iter().zip(cell.measures()) {
                let integer = text.parse::<i64>().ok().filter(|_| *is_integer);
                let text = Some(text).filter(|text| !text.is_empty());
                row.insert((*name).to_owned(), integer.map_or_else(|| json!(text), |n| json!(n)));
            }
            Value::Object(row)
        });
        json!({
            "output": self.output,
            "mode": self.mode.as_str(),
            "meaning": self.mode.meaning(),
            "cells": cells.collect::<Vec<_>>(),
            "left": self.left,
        })
    }

    /// A line for each cell, as CSV.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when it cannot be written into memory.
    pub fn csv(&self) -> Result<Vec<u8>> {
        let measures = MEASURES.iter().map(|(name, _)| *name);
        let rows = self.cells.iter();
        lines::csv(
            self.header().into_iter().chain(measures),
            rows.map(|cell| Self::place(cell).into_iter().chain(cell.measures()).collect()),
        )
    }

    /// A row for each cell, numbers exact.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut columns: Vec<(&str, &'static str, ColumnKind)> = Vec::new();
        columns.extend(self.header().into_iter().map(|name| (name, "", ColumnKind::Text)));
        columns.extend(MEASURES.map(|(name, is_integer)| (name, "", kind(name, is_integer))));
        let mut table = Table::new(format!("Work as {}", self.mode.as_str()), &columns);
        for cell in &self.cells {
            let place = Self::place(cell).into_iter().map(|word| match word.as_str() {
                "" => TableCell::Empty,
                _ => TableCell::Text(word),
            });
            let measures = MEASURES.iter().zip(cell.measures());
            let measures = measures.map(|((name, is_integer), text)| measure(kind(name, *is_integer), text));
            table.push(place.chain(measures).collect());
        }
        table
    }
}

/// What a measure is in a table.
fn kind(name: &str, is_integer: bool) -> ColumnKind {
    match name {
        _ if is_integer => ColumnKind::Number,
        name if name.ends_with("_utc") => ColumnKind::Text,
        name if name.ends_with("_percent") => ColumnKind::Decimal(2),
        _ => ColumnKind::Decimal(10),
    }
}

fn measure(kind: ColumnKind, text: String) -> TableCell {
    if text.is_empty() {
        return TableCell::Empty;
    }
    let (whole, places) = text.split_once('.').unwrap_or((&text, ""));
    match kind {
        ColumnKind::Decimal(scale) => {
            let digits = format!("{whole}{places:0<width$}", width = usize::from(scale));
            digits
                .parse()
                .map_or(TableCell::Empty, |value| TableCell::Decimal { value, scale })
        }
        ColumnKind::Number => text.parse().map_or(TableCell::Empty, TableCell::Int),
        _ => TableCell::Text(text),
    }
}

/// What is not published, for those who read the numbers elsewhere.
#[must_use]
pub fn remarks(report: &WorkReport) -> Vec<String> {
    report.left.sentences()
}
