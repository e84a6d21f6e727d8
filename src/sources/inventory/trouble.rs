//! What is wrong with a row of an inventory.

use crate::error::Result;
use crate::ledger::Reason;
use crate::reference::inventory::InventoryRow;
use crate::sources::{Position, Sink};

/// Why a row is refused: the reason and a sentence naming field and value.
pub(crate) type RowTrouble = (Reason, String);

/// Gives a row its outcome.
pub(crate) fn settle(row: Result<InventoryRow, RowTrouble>, at: Position, raw: &[u8], sink: &mut dyn Sink) {
    match row {
        Ok(row) => sink.inventory(&row, at, 1),
        Err((reason, detail)) => sink.reject(reason, at, 1, &detail, raw),
    }
}

/// A last row without an end of line: the file was cut off there.
pub(crate) fn cut_off() -> RowTrouble {
    (Reason::Truncated, "the last row has no line end".to_owned())
}

pub(crate) fn missing(field: &str) -> RowTrouble {
    (Reason::MissingField, format!("{field} is missing or empty"))
}
