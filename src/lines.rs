//! Tables as lines: aligned for people, as CSV for spreadsheets.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::display_text;
use crate::error::{Error, Result};

/// Whether cells of CSV that begin like a formula are left as they are.
static HAS_FORMULAS: AtomicBool = AtomicBool::new(false);

/// From now on, leaves cells of CSV that begin like a formula as they are.
pub(crate) fn leave_formulas() {
    HAS_FORMULAS.store(true, Ordering::Relaxed);
}

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
        // Fallback: a column without cells has no width.
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

/// A cell of CSV without control characters, and with a quote before what a spreadsheet would take for a formula. Numbers
/// stay numbers.
fn cell(text: &str) -> Cow<'_, str> {
    let is_formula = |text: &str| {
        let is_number = |text: &str| {
            let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
            digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') && text.parse::<f64>().is_ok()
        };
        let first = text.trim_start().chars().next();
        let begins = first.is_some_and(|c| {
            matches!(
                c,
                '=' | '+' | '-' | '@' | '\u{ff1d}' | '\u{ff0b}' | '\u{ff0d}' | '\u{ff20}'
            )
        });
        // A tab or a line end at the front counts as a formula's beginning as well.
        (begins || text.starts_with(['\t', '\r', '\n'])) && !is_number(text)
    };
    let shown = display_text::line(text);
    if is_formula(text) && !HAS_FORMULAS.load(Ordering::Relaxed) {
        return Cow::Owned(format!("'{shown}"));
    }
    shown
}

/// A header and rows as CSV.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it cannot be written into memory.
pub(crate) fn csv<C: AsRef<str>>(
    header: impl IntoIterator<Item = C>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Result<Vec<u8>> {
    let failed = || Error::internal("a table cannot be written as CSV");
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = header.into_iter().map(|name| cell(name.as_ref()).into_owned());
    writer.write_record(header).map_err(|why| failed().because(why))?;
    for row in rows {
        let row = row.iter().map(|text| cell(text).into_owned());
        writer.write_record(row).map_err(|why| failed().because(why))?;
    }
    writer.into_inner().map_err(|why| failed().because(why.into_error()))
}
