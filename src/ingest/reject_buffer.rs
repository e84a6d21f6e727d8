//! Refusals of one file until it is read to its end. Pieces arrive in any order; what does not fit memory goes to an
//! unnamed temporary file, so that a file that is refused whole does not end in memory whole.

use std::borrow::Cow;
use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use arrow_select::interleave::interleave_record_batch;

use super::first_refusal::FirstRefusal;
use super::reject_rows;
use super::reject_rows::RefusedRow;
use crate::dedupe::Reject;
use crate::error::{Error, Result};
use crate::ledger::Reason;
use crate::numbers::{counted_i64, stored_u64};
use crate::runtime::scratch;
use crate::runtime::scratch::{Scratch, SpillRange};
use crate::schema::batch::{int, text, texts};

/// Bytes of refusals kept in memory per file.
const MEMORY_LIMIT: usize = 8 << 20;

/// The refusals of one file.
#[derive(Default)]
pub(crate) struct RejectBuffer {
    resident: Vec<Reject>,
    bytes: usize,
    scratch: Scratch,
    /// Each batch on disk.
    batches: Vec<SpillRange>,
    /// The first refusal for each reason, with its place.
    first: BTreeMap<Reason, (u64, u64, FirstRefusal)>,
}

/// What every row of a file's refusals shares; known once the file is read.
#[derive(Clone, Copy, Default)]
pub(crate) struct RejectOrigin<'a> {
    /// Source.
    pub(crate) source: &'a str,
    /// Id in the ledger.
    pub(crate) file_id: &'a str,
    /// The path it is accounted to.
    pub(crate) path: &'a str,
}

impl RejectBuffer {
    /// Adds the refusals of one piece.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be written.
    pub(crate) fn push(&mut self, mut rejects: Vec<Reject>) -> Result<()> {
        for reject in &rejects {
            self.bytes += 256 + reject.detail.len() + reject.raw.as_ref().map_or(0, Vec::len);
            let place = (reject.at.line, reject.at.byte_offset);
            let is_first = |(line, offset, _): &(u64, u64, FirstRefusal)| place < (*line, *offset);
            if self.first.get(&reject.reason).is_none_or(is_first) {
                let first = FirstRefusal::new(place.0, &reject.detail, reject.raw.as_deref());
                self.first.insert(reject.reason, (place.0, place.1, first));
            }
        }
        if rejects.is_empty() {
            return Ok(());
        }
        self.resident.append(&mut rejects);
        if self.bytes > MEMORY_LIMIT {
            self.flush()?;
        }
        Ok(())
    }

    /// The first refusal for each reason, which are taken out.
    pub(crate) fn take_first(&mut self) -> BTreeMap<Reason, FirstRefusal> {
        let first = std::mem::take(&mut self.first).into_iter();
        first.map(|(reason, (_, _, first))| (reason, first)).collect()
    }

    /// Whether nothing was refused.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.resident.is_empty() && self.batches.is_empty()
    }

    fn flush(&mut self) -> Result<()> {
        let mut resident = std::mem::take(&mut self.resident);
        self.bytes = 0;
        resident.sort_by_key(key);
        // One batch per run of 1 000, so that reading back in order needs little memory.
        for run in resident.chunks(1000) {
            let bytes = scratch::to_bytes(&batch(run, RejectOrigin::default())?)?;
            self.batches.push(self.scratch.push(&bytes)?);
        }
        Ok(())
    }

    /// Calls `see` with line, byte offset, reason and rows of every refusal.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read back.
    pub(crate) fn visit(&mut self, mut see: impl FnMut(u64, u64, Reason, u64)) -> Result<()> {
        for reject in &self.resident {
            see(reject.at.line, reject.at.byte_offset, reject.reason, reject.rows);
        }
        for at in 0..self.batches.len() {
            let batch = self.load(at)?;
            let (line, offset) = (int(&batch, "line")?, int(&batch, "byte_offset")?);
            let (reason, rows) = (text(&batch, "reason")?, int(&batch, "row_n")?);
            for row in 0..batch.num_rows() {
                if let Some(reason) = Reason::parse(reason.value(row)) {
                    see(
                        stored_u64(line.value(row), "line")?,
                        stored_u64(offset.value(row), "byte_offset")?,
                        reason,
                        stored_u64(rows.value(row), "row_n")?,
                    );
                }
            }
        }
        Ok(())
    }

    /// Every refusal as batches of `rejects`, in the order of the file.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read back.
    pub(crate) fn into_batches(
        mut self,
        origin: RejectOrigin<'_>,
        mut write: impl FnMut(&RecordBatch) -> Result<()>,
    ) -> Result<()> {
        if self.batches.is_empty() {
            self.resident.sort_by_key(key);
            return write(&batch(&self.resident, origin)?);
        }
        self.flush()?;
        // Flushes may interleave: find the order of all rows first, then gather them a thousand at a time.
        let mut order: Vec<(i64, i64, usize, usize)> = Vec::new();
        for at in 0..self.batches.len() {
            let read = self.load(at)?;
            let lines = int(&read, "line")?;
            let offsets = int(&read, "byte_offset")?;
            order.extend((0..read.num_rows()).map(|row| (lines.value(row), offsets.value(row), at, row)));
        }
        order.sort_unstable();
        let gone = || Error::internal("the buffer of rejects lost a batch");
        for window in order.chunks(1000) {
            let mut wanted: Vec<usize> = window.iter().map(|(_, _, at, _)| *at).collect();
            wanted.sort_unstable();
            wanted.dedup();
            let batches: Vec<RecordBatch> = wanted.iter().map(|at| self.load(*at)).collect::<Result<_>>()?;
            let rows: Vec<(usize, usize)> = window
                .iter()
                .map(|(_, _, at, row)| Ok((wanted.binary_search(at).map_err(|_| gone())?, *row)))
                .collect::<Result<_>>()?;
            let refs: Vec<&RecordBatch> = batches.iter().collect();
            write(&of_file(&interleave_record_batch(&refs, &rows)?, origin)?)?;
        }
        Ok(())
    }

    fn load(&mut self, at: usize) -> Result<RecordBatch> {
        let gone = || Error::internal("the buffer of rejects lost a batch");
        let batch = self.batches.get(at).copied().ok_or_else(gone)?;
        scratch::from_bytes(&self.scratch.load(batch)?)
    }
}

fn key(reject: &Reject) -> (u64, u64, Reason) {
    (reject.at.line, reject.at.byte_offset, reject.reason)
}

fn batch(rejects: &[Reject], origin: RejectOrigin<'_>) -> Result<RecordBatch> {
    let count = counted_i64;
    let refused = rejects.iter().map(|reject| RefusedRow {
        source: origin.source,
        file_id: origin.file_id,
        path: origin.path,
        line: count(reject.at.line),
        byte_offset: count(reject.at.byte_offset),
        reason: reject.reason,
        detail: Cow::Borrowed(&reject.detail),
        rows: count(reject.rows),
        raw_byte_n: count(reject.raw_byte_n),
        raw: reject.raw.as_deref().map(String::from_utf8_lossy),
        record_id: None,
    });
    reject_rows::batch(&refused.collect::<Vec<_>>())
}

/// Refusals that went to disk, with what is known of their file by now.
fn of_file(batch: &RecordBatch, origin: RejectOrigin<'_>) -> Result<RecordBatch> {
    let mut columns = batch.columns().to_vec();
    for (name, value) in [
        ("source", origin.source),
        ("file_id", origin.file_id),
        ("path", origin.path),
    ] {
        let at = batch.schema_ref().index_of(name)?;
        if let Some(column) = columns.get_mut(at) {
            *column = texts(std::iter::repeat_n(Some(value), batch.num_rows()));
        }
    }
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}
