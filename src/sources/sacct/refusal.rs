//! Why a row cannot be believed, in one sentence.

use super::column::Role;
use super::layout::ColumnLayout;
use crate::ledger::Reason;

pub(super) use crate::sources::refusal::Refusal;

impl Refusal {
    /// `COLUMN: "VALUE" WHY`.
    pub(super) fn of(reason: Reason, layout: &ColumnLayout, role: Role, value: &[u8], why: &str) -> Self {
        let column = layout.name(role);
        Self::new(reason, format!("{column}: {} {why}", quoted(value)))
    }
}

/// The value in quotes, shortened.
pub(super) fn quoted(value: &[u8]) -> String {
    const SHOWN: usize = 80;
    match value.get(..SHOWN) {
        Some(head) if value.len() > SHOWN => format!("{:?}...", String::from_utf8_lossy(head)),
        _ => format!("{:?}", String::from_utf8_lossy(value)),
    }
}
