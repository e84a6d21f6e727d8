//! Cells of the tables of energy: days and hours, and decimals.

use crate::numbers::Comparand;
use crate::reference::decimal::scaled;
use crate::time::instant::parse_instant_s;
use crate::time::month::day_of;
use crate::time::{DAY_MS, Date};

/// Length of `2026-01-01`.
const DAY_LENGTH: usize = 10;

/// A day (midnight UTC) or an instant with an offset, Unix milliseconds; `open` for an empty cell.
pub(super) fn instant_ms(column: &str, cell: &str, open: i64) -> Result<i64, String> {
    if cell.is_empty() {
        return Ok(open);
    }
    let day = (cell.len() == DAY_LENGTH)
        .then(|| cell.parse::<Date>().ok())
        .flatten()
        .map(|date| i64::from(day_of(date)) * DAY_MS);
    let instant = day.or_else(|| parse_instant_s(cell).and_then(|s| s.checked_mul(1000)));
    instant.ok_or_else(|| {
        format!("{column}: \"{cell}\" is neither a day such as 2026-04-01 nor an instant such as 2026-04-01T13:00:00Z")
    })
}

/// When a row holds, Unix milliseconds: `valid_from` is included, `valid_to` is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WrittenSpan {
    pub(super) from_ms: i64,
    pub(super) until_ms: i64,
    /// When it was learnt, Unix milliseconds; the earliest instant when the row does not state it.
    pub(super) learnt_at: i64,
}

impl WrittenSpan {
    /// Of the cells `valid_from`, `valid_to` and `recorded_at`.
    pub(super) fn read<'c>(cell: &impl Fn(&str) -> &'c str) -> Result<Self, String> {
        let at = |column: &str, open: i64| instant_ms(column, cell(column), open);
        let span = Self {
            from_ms: at("valid_from", i64::MIN)?,
            until_ms: at("valid_to", i64::MAX)?,
            learnt_at: at("recorded_at", i64::MIN)?,
        };
        if span.until_ms <= span.from_ms {
            let (to, from) = (cell("valid_to"), cell("valid_from"));
            return Err(format!("valid_to {to} is not after valid_from {from}"));
        }
        Ok(span)
    }
}

/// A decimal of at most four places, zero included, in ten-thousandths; `None` for an empty cell.
pub(super) fn decimal_e4<'c>(cell: &impl Fn(&str) -> &'c str, column: &str, most: i64) -> Result<Option<i64>, String> {
    let text = cell(column);
    if text.is_empty() {
        return Ok(None);
    }
    let value = scaled(text, 4).map_err(|why| format!("{column}: {why}"))?;
    let value = i64::try_from(value)
        .ok()
        .filter(|value| *value <= most.product_to_compare(ONE_E4));
    value
        .map(Some)
        .ok_or_else(|| format!("{column}: \"{text}\" is more than {most}, which is not plausible"))
}

/// Ten-thousandths of one.
pub(super) const ONE_E4: i64 = 10_000;

/// A whole number above zero; `None` for an empty cell.
pub(super) fn count<'c>(cell: &impl Fn(&str) -> &'c str, column: &str) -> Result<Option<i64>, String> {
    let text = cell(column);
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<u32>() {
        Ok(n) if n > 0 => Ok(Some(i64::from(n))),
        _ => Err(format!("{column}: \"{text}\" is not a whole number above zero")),
    }
}
