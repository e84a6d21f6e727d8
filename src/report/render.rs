//! Tables as text, CSV, JSON, Markdown, HTML and Parquet.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::{ArrayRef, Decimal128Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};
use arrow_schema::{Field, Schema};

use super::html;
use super::table::{Cell, ColumnKind, Table, TableColumn};
use crate::amounts::too_large;
use crate::error::{Error, Result};
use crate::store::{TableOptions, TableWriter};
use crate::{display_text, lines};

/// How a report is written to stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum TableFormat {
    /// For people: aligned, with units and totals.
    #[default]
    #[value(alias = "text")]
    Table,
    /// For spreadsheets: one header line, no totals.
    Csv,
    /// For programs: an array of objects, numbers exact.
    Json,
    /// For programs: the same objects, one to a line.
    Ndjson,
    /// For programs that read much: one row group, decimals exact.
    Parquet,
    /// A page of its own.
    Html,
    /// For tickets and wikis.
    Markdown,
}

/// The table in a format.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it cannot be written.
pub fn render(table: &Table, format: TableFormat) -> Result<Vec<u8>> {
    Ok(match format {
        TableFormat::Table => text(table)?.into_bytes(),
        TableFormat::Csv => csv(table)?,
        TableFormat::Json => json(&objects(table)?).into_bytes(),
        TableFormat::Ndjson => ndjson(&objects(table)?).into_bytes(),
        TableFormat::Parquet => parquet(table)?,
        TableFormat::Html => html::page(&table.title, &html::table(table)?).into_bytes(),
        TableFormat::Markdown => markdown(table)?.into_bytes(),
    })
}

/// Aligned columns under names and units, totals below a rule. Numbers are aligned to the right.
///
/// # Errors
/// [`crate::error::Kind::Data`] naming the column whose total is too large.
pub fn text(table: &Table) -> Result<String> {
    if table.rows.is_empty() {
        return Ok(format!("{}: nothing\n", table.title));
    }
    let totals = table.totals()?;
    let units: Vec<String> = (table.columns.iter())
        .map(|column| match column.unit {
            "" => String::new(),
            unit => format!("[{unit}]"),
        })
        .collect();
    let has_units = units.iter().any(|unit| !unit.is_empty());
    let shown = (table.rows.iter())
        .chain(&totals)
        .map(|row| row.iter().map(|cell| one_line(&cell.to_string())).collect());
    let mut rows = vec![table.columns.iter().map(|column| column.name.clone()).collect()];
    if has_units {
        rows.push(units);
    }
    let heading_n = rows.len();
    rows.extend(shown);
    let widths = lines::widths(&rows);
    let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    rows.insert(heading_n, rule.clone());
    if totals.is_some() {
        rows.insert(rows.len() - 1, rule);
    }
    let is_number = |at: usize| table.columns.get(at).is_some_and(|column| column.kind.is_number());
    let lines = rows.iter().map(|row| lines::aligned(row, &widths, is_number) + "\n");
    Ok(lines.collect())
}

/// A name with a line end in it must not break the table.
fn one_line(text: &str) -> String {
    display_text::line(text).into_owned()
}

fn csv(table: &Table) -> Result<Vec<u8>> {
    let header = table.columns.iter().map(|column| column.name.as_str());
    lines::csv(
        header,
        table.rows.iter().map(|row| row.iter().map(Cell::to_string).collect()),
    )
}

fn quoted(text: &str) -> Result<String> {
    serde_json::to_string(text).map_err(|e| Error::internal("a report cannot be written as JSON").because(e))
}

/// One row as an object; the digits of decimals as they are.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a text cannot be written as JSON.
pub fn json_object(columns: &[TableColumn], row: &[Cell]) -> Result<String> {
    let mut fields = Vec::with_capacity(row.len());
    for (column, cell) in columns.iter().zip(row) {
        let value = match cell {
            Cell::Empty => "null".to_owned(),
            Cell::Text(text) => quoted(text)?,
            Cell::Instant(_) => quoted(&cell.to_string())?,
            number => number.to_string(),
        };
        fields.push(format!("{}: {value}", quoted(&column.name)?));
    }
    Ok(format!("{{{}}}", fields.join(", ")))
}

/// Every row as an object.
///
/// # Errors
/// As [`json_object`].
pub fn objects(table: &Table) -> Result<Vec<String>> {
    table.rows.iter().map(|row| json_object(&table.columns, row)).collect()
}

/// Objects as an array.
#[must_use]
pub fn json(objects: &[String]) -> String {
    if objects.is_empty() {
        return "[]\n".to_owned();
    }
    format!("[\n  {}\n]\n", objects.join(",\n  "))
}

/// Objects, one to a line.
#[must_use]
pub fn ndjson(objects: &[String]) -> String {
    objects.iter().flat_map(|object| [object.as_str(), "\n"]).collect()
}

/// A Markdown table with totals in bold.
///
/// # Errors
/// As [`text`].
pub fn markdown(table: &Table) -> Result<String> {
    // Pages that show it take HTML.
    let cell = |text: &str| {
        let text = one_line(text)
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        text.replace('|', "\\|")
    };
    let mut out = String::new();
    let names = table.columns.iter().map(|column| match column.unit {
        "" => column.name.clone(),
        unit => format!("{} [{unit}]", column.name),
    });
    let _ = writeln!(out, "| {} |", names.collect::<Vec<_>>().join(" | "));
    let rules = table
        .columns
        .iter()
        .map(|column| if column.kind.is_number() { "--:" } else { "---" });
    let _ = writeln!(out, "|{}|", rules.collect::<Vec<_>>().join("|"));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|value| cell(&value.to_string())).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    if let Some(totals) = table.totals()? {
        let cells = totals.iter().map(|value| match value {
            Cell::Empty => String::new(),
            value => format!("**{}**", cell(&value.to_string())),
        });
        let _ = writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    Ok(out)
}

fn parquet(table: &Table) -> Result<Vec<u8>> {
    let mut fields = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for (at, column) in table.columns.iter().enumerate() {
        let cells = || table.rows.iter().filter_map(|row| row.get(at));
        let array: ArrayRef = match column.kind {
            ColumnKind::Text => Arc::new(
                cells()
                    .map(|cell| match cell {
                        Cell::Empty => None,
                        cell => Some(cell.to_string()),
                    })
                    .collect::<StringArray>(),
            ),
            ColumnKind::Instant => {
                let values = cells().map(|cell| match cell {
                    Cell::Instant(ms) => Some(*ms),
                    _ => None,
                });
                Arc::new(values.collect::<TimestampMillisecondArray>().with_timezone("UTC"))
            }
            kind => {
                let scale = match kind {
                    ColumnKind::Decimal(scale) | ColumnKind::DecimalSum(scale) => scale,
                    _ => 0,
                };
                // Fallback: never taken, no column has more than 38 places.
                let scale = i8::try_from(scale).unwrap_or(0);
                let values = cells().map(|cell| match cell {
                    Cell::Int(value) | Cell::Decimal { value, .. } => Some(*value),
                    _ => None,
                });
                if scale == 0 {
                    let short = |value: i128| i64::try_from(value).map_err(|_| too_large(&column.name));
                    let values = values.map(|value| value.map(short).transpose());
                    Arc::new(values.collect::<Result<Int64Array>>()?)
                } else {
                    Arc::new(
                        values
                            .collect::<Decimal128Array>()
                            .with_precision_and_scale(38, scale)?,
                    )
                }
            }
        };
        let metadata = [("unit".to_owned(), column.unit.to_owned())];
        let metadata = metadata.into_iter().filter(|(_, unit)| !unit.is_empty());
        fields.push(
            Field::new(&column.name, array.data_type().clone(), true)
                .with_metadata(metadata.collect::<std::collections::HashMap<String, String>>()),
        );
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    let mut writer = TableWriter::create(Vec::new(), Arc::clone(&schema), &TableOptions::default())?;
    writer.write(&RecordBatch::try_new(schema, arrays)?)?;
    Ok(writer.finish()?.1)
}
