//! How much is held in memory at a time.

use crate::numbers::Extent;
use crate::sources::dialect::ReadSizes;

/// Sizes in bytes.
#[derive(Clone, Copy, Debug)]
pub struct ApelLimits {
    /// How much is read at a time; a piece is about as large.
    pub block: usize,
    /// Longest message that is accepted or refused as a whole. Beyond it, the strict rule refuses every record as too
    /// long, and salvage continues record by record.
    pub message: usize,
    /// Longest record.
    pub record: usize,
    /// How much of a record that is too long is kept as raw text; at most `record`.
    pub kept: usize,
}

impl Default for ApelLimits {
    fn default() -> Self {
        Self {
            block: 2 << 20,
            message: 64 << 20,
            record: 1 << 20,
            kept: 64 << 10,
        }
    }
}

impl ApelLimits {
    /// The default with other sizes.
    #[must_use]
    pub(super) fn of(sizes: ReadSizes) -> Self {
        let own = Self::default();
        let record = sizes.record_byte.unwrap_or(own.record);
        Self {
            block: sizes.block_byte.unwrap_or(own.block),
            message: sizes.record_byte.map_or(own.message, |byte| byte.times(4)),
            record,
            kept: own.kept.min(record),
        }
    }
}
