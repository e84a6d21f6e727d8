//! Sizes of memory as options take them.

use std::num::NonZeroUsize;

use crate::dedupe::spill::MEMORY_BUDGET;
use crate::numbers::index_u64;

/// The least that a run is started with: under less, small runs end for want of memory.
pub(super) const LEAST_BYTES: u64 = 256 << 20;

/// A size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemorySize(pub(super) u64);

impl MemorySize {
    /// How much of it keeps records before they go to a temporary file: at most what is kept without a limit.
    pub(super) fn of_records(self) -> usize {
        /// The rest is for buffers of threads, encoders and sums.
        const SHARE: u64 = 8;
        MEMORY_BUDGET.min(index_u64(self.0 / SHARE))
    }

    /// How many months of sites it is enough for while they are merged.
    pub(super) fn merged_at_once(self) -> NonZeroUsize {
        /// What a run takes besides, about: records that wait, buffers of threads, stacks.
        const REST: u64 = 128 << 20;
        /// What each takes, about: rows that are published and those on their way to be written, pages, and what fills on its
        /// way to the disk.
        const EACH: u64 = 80 << 20;
        // Fallback: the least that a run is started with is enough for one.
        NonZeroUsize::new(index_u64(self.0.saturating_sub(REST) / EACH)).unwrap_or(NonZeroUsize::MIN)
    }
}

/// Reads a number of bytes, or of KiB (`K`), MiB (`M`), GiB (`G`) or TiB (`T`).
pub(super) fn parse(text: &str) -> Result<MemorySize, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match text.trim_start_matches(digits).to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        _ => return Err("a size such as 2G or 512M is needed (K, M, G, T are powers of 1024)".to_owned()),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift));
    let Some(bytes) = bytes else {
        return Err("a size such as 2G or 512M is needed".to_owned());
    };
    if bytes < LEAST_BYTES {
        return Err(format!("a run needs {} MiB at least", LEAST_BYTES >> 20));
    }
    Ok(MemorySize(bytes))
}
