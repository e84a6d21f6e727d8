//! What one piece of input came to, but for its candidates.

use super::contradictory_times::ContradictoryTimes;
use super::mapping::MappingCounts;
use super::tool_message::ToolMessage;
use super::unknown_cores::UnknownCores;
use crate::ledger::{JobSample, Places, Reason};
use crate::numbers::count_u64;
use crate::record::Summary;
use crate::reference::inventory::InventoryPlaced;
use crate::sources::Position;

/// Raw text kept per refusal, bytes; `raw_byte_n` is the full length and the file still holds the rest.
pub const RAW_LIMIT: usize = 64 << 10;

/// One refusal, as `rejects` stores it.
#[derive(Clone, Debug)]
pub struct Reject {
    /// Why.
    pub reason: Reason,
    /// Where.
    pub at: Position,
    /// Rows refused together.
    pub rows: u64,
    /// Field, value and why.
    pub detail: String,
    /// Length of the raw text.
    pub raw_byte_n: u64,
    /// Raw text, its first [`RAW_LIMIT`] bytes; `None` when it is withheld for privacy.
    pub raw: Option<Vec<u8>>,
}

impl Reject {
    /// A refusal of a reader. Where names are withheld, so are the raw text and the values in the detail: they
    /// may hold any field, also under the wrong column. The row can still be found in its file.
    #[must_use]
    pub fn new(reason: Reason, at: Position, rows: u64, detail: &str, raw: &[u8], is_withheld: bool) -> Self {
        let detail = if is_withheld { WITHHELD } else { detail };
        Self {
            reason,
            at,
            rows,
            detail: detail.to_owned(),
            raw_byte_n: count_u64(raw.len()),
            raw: (!is_withheld).then(|| raw.get(..RAW_LIMIT).unwrap_or(raw).to_vec()),
        }
    }
}

/// The detail of a refusal whose values may name a person.
const WITHHELD: &str = "withheld for privacy; see this line of the file";

/// What one piece of input came to, but for its candidates.
pub struct IntakeBatch {
    /// The summaries, in reading order.
    pub summaries: Vec<Summary>,
    /// Refusals.
    pub rejects: Vec<Reject>,
    /// The rows about the machine.
    pub inventory: Vec<InventoryPlaced>,
    /// Rows that are not candidates.
    pub tally: Places,
    /// Rules that gave VO and site, and names they do not know.
    pub mapping: MappingCounts,
    /// Jobs whose times contradict one another.
    pub times: ContradictoryTimes,
    /// Jobs whose cores nothing states.
    pub cores: UnknownCores,
    /// A sample of the jobs.
    pub sample: JobSample,
    /// The first message of the tool among the rows.
    pub tool_message: Option<ToolMessage>,
    /// Rows the reader framed.
    pub rows_read: u64,
    /// Rows that are candidates, steps included.
    pub rows_candidate: u64,
}
