//! Why a row is refused, and the numbers that lines of logs are made of.

use super::decimal;
use super::truncate::clip;
use crate::ledger::Reason;

/// Why a row is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Code.
    pub(super) reason: Reason,
    /// Field, value and why.
    pub(super) detail: String,
}

impl Refusal {
    pub(super) fn new(reason: Reason, detail: impl Into<String>) -> Self {
        Self {
            reason,
            detail: detail.into(),
        }
    }

    /// A row with NUL bytes, as a file has where a machine stopped before its text was on disk. What they stand for is not known: two
    /// rows may be one now, and those between them gone.
    pub(super) fn lost_text() -> Self {
        let detail = "there are NUL bytes where text was lost: rows may be missing";
        Self::new(Reason::Truncated, detail)
    }

    /// This, unless the row has NUL bytes: then that is why it cannot be read.
    pub(super) fn or_lost_text(self, row: &[u8]) -> Self {
        without_nul(row).err().unwrap_or(self)
    }

    /// A field that must be there and is not.
    pub(super) fn missing(name: &str) -> Self {
        Self::new(Reason::MissingField, format!("there is no {name}"))
    }
}

/// Whether there are NUL bytes: text was lost.
pub(super) fn holds_nul(text: &[u8]) -> bool {
    memchr::memchr(0, text).is_some()
}

/// Refuses a row with NUL bytes, whatever else can be read of it.
pub(super) fn without_nul(row: &[u8]) -> Result<(), Refusal> {
    if holds_nul(row) {
        return Err(Refusal::lost_text());
    }
    Ok(())
}

/// A whole number; a fraction of zeros (`30171136.0`) is let through, as some systems print counts as floats.
pub(super) fn whole(name: &str, text: &str) -> Result<i64, Refusal> {
    match decimal::scaled(text.trim(), 0) {
        Some(scaled) if scaled.is_exact => Ok(scaled.value),
        _ => Err(Refusal::new(
            Reason::BadNumber,
            format!("{name} {:?} is not a whole number, or too large", clip(text)),
        )),
    }
}

/// Unix seconds, whole or with a fraction, as milliseconds.
pub(super) fn instant_ms(name: &str, text: &str) -> Result<i64, Refusal> {
    decimal::scaled(text.trim(), 3)
        .map(|scaled| scaled.value)
        .ok_or_else(|| {
            Refusal::new(
                Reason::BadTime,
                format!("{name} {:?} is not a time in Unix seconds", clip(text)),
            )
        })
}

/// Seconds, whole or with a fraction, as milliseconds; negative ones are refused.
pub(super) fn seconds_ms(name: &str, text: &str) -> Result<i64, Refusal> {
    match decimal::scaled(text.trim(), 3) {
        Some(scaled) if scaled.value >= 0 => Ok(scaled.value),
        _ => Err(Refusal::new(
            Reason::BadDuration,
            format!("{name} {:?} is not a duration in seconds", clip(text)),
        )),
    }
}

/// `text` unless it is blank.
pub(super) fn known(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.trim_ascii().is_empty())
}
