//! Numbers as people read them: thousands apart, and as many digits as matter. Files have every digit.

use super::table::{Cell, ColumnKind, Table, TableColumn, divide};
use crate::reference::decimal;

/// Milliseconds of an hour.
pub const HOUR_MS: i128 = 3_600_000;

/// Digits before and after the point that the largest number of a column is shown with.
const SIGNIFICANT: u32 = 4;
/// The same where all numbers are below one.
const SIGNIFICANT_BELOW_ONE: u32 = 3;
/// Places that numbers are compared with.
const SCALE: u32 = 12;
const SCALE_PLACES: u8 = 12;
const _: () = assert!(SCALE == SCALE_PLACES as u32);

/// A number on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// What is shown.
    pub text: String,
    /// All of its digits, where these are others.
    pub exact: Option<String>,
}

/// Thousands apart.
#[must_use]
pub fn grouped(value: i128) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    if value < 0 { format!("\u{2212}{out}") } else { out }
}

/// Milliseconds of cores or GPUs in hours, with as many of three digits after the point as they need.
#[must_use]
pub fn hours(ms: i128) -> String {
    decimal::text(ms * 1000 / HOUR_MS, 3)
}

/// How many digits after the point matter of numbers of which this is the largest, in units of 10^-`scale`.
#[must_use]
pub fn digits_that_matter(largest: i128, scale: u8) -> u8 {
    let Some(largest) = largest.checked_abs().filter(|largest| *largest > 0) else {
        return 0;
    };
    let written_n = largest.ilog10() + 1;
    let digits = match written_n.checked_sub(u32::from(scale)) {
        // Fallback: a number of many whole digits needs none after the point.
        Some(whole_n) if whole_n > 0 => SIGNIFICANT.saturating_sub(whole_n),
        _ => u32::from(scale) - written_n + SIGNIFICANT_BELOW_ONE,
    };
    // Fallback: more digits than the column has are as many as it has.
    u8::try_from(digits).unwrap_or(u8::MAX).min(scale)
}

/// Digits after the point of the numbers of a column; `None` for as many as they have.
#[must_use]
pub fn digits(table: &Table, at: usize) -> Option<u8> {
    let column = table.columns.get(at)?;
    let is_time = column.unit == "h" || column.unit.ends_with(" h");
    let scale = match column.kind {
        ColumnKind::DecimalSum(scale) => scale,
        ColumnKind::Decimal(scale) if is_time => scale,
        _ => return None,
    };
    if column.has_all_digits {
        return None;
    }
    // Fallback: a total that is too large is refused where the table is shown.
    let totals = table.totals().ok().flatten();
    let cells = table.rows.iter().chain(&totals).filter_map(|row| row.get(at));
    let largest = cells.filter_map(|cell| match cell {
        Cell::Decimal { value, scale } => {
            // Fallback: never taken, no column is finer than SCALE.
            let more = SCALE.saturating_sub(u32::from(*scale));
            // Fallback: a number at the end of the type needs no digits after the point.
            Some(value.unsigned_abs().saturating_mul(10_u128.pow(more)))
        }
        _ => None,
    });
    let largest = largest.max()?.cast_signed();
    let digits = digits_that_matter(largest, SCALE_PLACES);
    Some(digits.min(scale))
}

/// A cell of a column; `digits` after the point, or as many as it has.
#[must_use]
pub fn shown(cell: &Cell, column: Option<&TableColumn>, digits: Option<u8>) -> Shown {
    let exact = cell.to_string();
    // Whole numbers of no unit are names: years.
    let is_name = column.is_some_and(|column| column.kind == ColumnKind::Number && column.unit.is_empty());
    let text = match cell {
        Cell::Int(value) | Cell::Decimal { value, scale: 0 } if !is_name => grouped(*value),
        Cell::Decimal { value, scale } => decimal(*value, *scale, digits.unwrap_or(*scale)),
        _ => exact.clone(),
    };
    let exact = (text != exact).then_some(exact);
    Shown { text, exact }
}

/// A number by itself, with the digits that matter of it.
#[must_use]
pub fn alone(cell: &Cell) -> Shown {
    let digits = match cell {
        Cell::Decimal { value, scale } => Some(digits_that_matter(*value, *scale)),
        _ => None,
    };
    shown(cell, None, digits)
}

/// A decimal with fewer digits, rounded half away from zero; what is not nothing is not shown as nothing.
fn decimal(value: i128, scale: u8, digits: u8) -> String {
    let digits = digits.min(scale);
    let cut = 10_i128.pow(u32::from(scale - digits));
    let rounded = divide(value, cut).unwrap_or(value);
    let power = 10_i128.pow(u32::from(digits));
    let fraction = |value: i128| {
        let rest = (value % power).unsigned_abs();
        if digits == 0 {
            String::new()
        } else {
            format!(".{rest:0width$}", width = usize::from(digits))
        }
    };
    if rounded == 0 && value != 0 {
        let least = format!("{}{}", 1 / power, fraction(1));
        return if value > 0 {
            format!("< {least}")
        } else {
            format!("> \u{2212}{least}")
        };
    }
    let sign = if rounded < 0 { "\u{2212}" } else { "" };
    format!("{sign}{}{}", grouped((rounded / power).abs()), fraction(rounded))
}
