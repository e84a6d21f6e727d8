//! What is wrong with a row of an inventory.

use crate::error::Result;
use crate::ledger::Reason;
use crate::reference::inventory::InventoryRow;
use crate::sources::refusal::Refusal;
use crate::sources::{Position, Sink};

/// Gives a row its outcome.
pub(super) fn settle(row: Result<InventoryRow, Refusal>, at: Position, raw: &[u8], sink: &mut dyn Sink) {
    match row {
        Ok(row) => sink.inventory(&row, at, 1),
        Err(Refusal { reason, detail }) => sink.reject(reason, at, 1, &detail, raw),
    }
}

/// A last row without an end of line: the file was cut off there.
pub(super) fn cut_off() -> Refusal {
    Refusal::new(Reason::Truncated, "the last row has no line end")
}

pub(super) fn missing(field: &str) -> Refusal {
    Refusal::new(Reason::MissingField, format!("{field} is missing or empty"))
}
