//! How much is held in memory at a time.

/// Sizes in bytes.
#[derive(Clone, Copy, Debug)]
pub struct ApelLimits {
    /// How much is read at a time; a piece is about as large.
    pub block: usize,
    /// Longest message that is accepted or refused as a whole. Beyond it, the strict rule refuses every record as too
    /// long, and salvage goes on record by record.
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
