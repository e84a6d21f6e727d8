//! Tables as lines: aligned for people, as CSV for spreadsheets.

use std::fmt::Write as _;

use crate::error::{Error, Result};

/// The first characters of a text, with a mark where there are more.
pub(crate) fn shortened(text: &str, char_n: usize) -> String {
    match text.char_indices().nth(char_n) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or(text)),
    }
}

/// How many characters each column takes. The first row has all columns.
pub(crate) fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    (0..rows.first().map_or(0, Vec::len)).map(width).collect()
}

/// One row: names to the left, numbers to the right, two blanks between, none at the end.
pub(crate) fn aligned<C: AsRef<str>>(row: &[C], widths: &[usize], is_number: impl Fn(usize) -> bool) -> String {
    let mut line = String::new();
    for ((column, cell), width) in row.iter().enumerate().zip(widths) {
        let (gap, cell) = (if column == 0 { "" } else { "  " }, cell.as_ref());
        // Writing to a string cannot fail.
        let _ = if is_number(column) {
            write!(line, "{gap}{cell:>width$}")
        } else {
            write!(line, "{gap}{cell:<width$}")
        };
    }
    line.truncate(line.trim_end().len());
    line
}

/// A header and rows as CSV.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it cannot be written into memory.
pub(crate) fn csv<C: AsRef<[u8]>>(
    header: impl IntoIterator<Item = C>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Result<Vec<u8>> {
    let failed = || Error::internal("a table cannot be written as CSV");
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header).map_err(|why| failed().because(why))?;
    for row in rows {
        writer.write_record(row).map_err(|why| failed().because(why))?;
    }
    writer.into_inner().map_err(|why| failed().because(why.into_error()))
}
