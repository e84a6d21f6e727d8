//! One row of `repairs`.

use arrow_array::RecordBatch;

use crate::error::{Error, Result};
use crate::ledger::Reason;
use crate::numbers::stored_u64;
use crate::schema;
use crate::schema::batch::{counts, int, text, texts};

/// Which refusal of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RepairKey {
    pub(crate) line: u64,
    pub(crate) byte_offset: u64,
    pub(crate) reason: Reason,
}

/// What came of a row of a repair file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RepairOutcome {
    /// The mended rows count.
    Repaired,
    /// They are refused again.
    Refused,
    /// They are outside the requested months.
    Later,
    /// There is nothing to mend.
    Unmatched,
}

impl RepairOutcome {
    const ALL: [Self; 4] = [Self::Repaired, Self::Refused, Self::Later, Self::Unmatched];

    fn as_str(self) -> &'static str {
        match self {
            Self::Repaired => "repaired",
            Self::Refused => "refused",
            Self::Later => "later",
            Self::Unmatched => "unmatched",
        }
    }
}

/// One row of a repair file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RepairEntry {
    pub(crate) source: String,
    pub(crate) repair_file_id: String,
    pub(crate) repair_line: u64,
    pub(crate) file_id: String,
    pub(crate) key: RepairKey,
    pub(crate) effect: RepairOutcome,
    pub(crate) row_n: u64,
    pub(crate) repair_row_n: u64,
}

impl RepairEntry {
    pub(crate) fn is_repaired(&self) -> bool {
        self.effect == RepairOutcome::Repaired
    }
}

/// The key of a row of `rejects` or `repairs`.
pub(crate) fn key(line: i64, byte_offset: i64, reason: &str) -> Result<RepairKey> {
    let reason = Reason::parse(reason).ok_or_else(|| Error::internal(format!("an unknown reason {reason:?}")))?;
    Ok(RepairKey {
        line: stored_u64(line, "line")?,
        byte_offset: stored_u64(byte_offset, "byte_offset")?,
        reason,
    })
}

pub(crate) fn to_batch(entries: &[RepairEntry]) -> Result<RecordBatch> {
    schema::dataset("repairs")?.batch(vec![
        texts(entries.iter().map(|entry| Some(&entry.source))),
        texts(entries.iter().map(|entry| Some(&entry.repair_file_id))),
        counts(entries.iter().map(|entry| entry.repair_line)),
        texts(entries.iter().map(|entry| Some(&entry.file_id))),
        counts(entries.iter().map(|entry| entry.key.line)),
        counts(entries.iter().map(|entry| entry.key.byte_offset)),
        texts(entries.iter().map(|entry| Some(entry.key.reason.code()))),
        texts(entries.iter().map(|entry| Some(entry.effect.as_str()))),
        counts(entries.iter().map(|entry| entry.row_n)),
        counts(entries.iter().map(|entry| entry.repair_row_n)),
    ])
}

pub(crate) fn from_batches(batch: &RecordBatch) -> Result<Vec<RepairEntry>> {
    let (source, repair) = (text(batch, "source")?, text(batch, "repair_file_id")?);
    let (repair_line, file_id) = (int(batch, "repair_line")?, text(batch, "file_id")?);
    let (line, offset, reason) = (int(batch, "line")?, int(batch, "byte_offset")?, text(batch, "reason")?);
    let (effect, row_n) = (text(batch, "outcome")?, int(batch, "row_n")?);
    let repair_row_n = int(batch, "repair_row_n")?;
    (0..batch.num_rows())
        .map(|row| {
            let word = effect.value(row);
            let effect = RepairOutcome::ALL.into_iter().find(|effect| effect.as_str() == word);
            Ok(RepairEntry {
                source: source.value(row).to_owned(),
                repair_file_id: repair.value(row).to_owned(),
                repair_line: stored_u64(repair_line.value(row), "repair_line")?,
                file_id: file_id.value(row).to_owned(),
                key: key(line.value(row), offset.value(row), reason.value(row))?,
                effect: effect.ok_or_else(|| Error::internal(format!("an unknown outcome {word:?} of a repair")))?,
                row_n: stored_u64(row_n.value(row), "row_n")?,
                repair_row_n: stored_u64(repair_row_n.value(row), "repair_row_n")?,
            })
        })
        .collect()
}
