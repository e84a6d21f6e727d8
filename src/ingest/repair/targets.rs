//! What is refused and may be mended.

use std::collections::BTreeMap;

use super::entry::{self, RepairKey};
use super::{RepairMark, RepairMarks};
use crate::error::Result;
use crate::ingest::reading::{LedgerFiles, ReadFile};
use crate::lake::state::State;
use crate::numbers::stored_u64;
use crate::schema::batch::{int, text};
use crate::store::{Publication, lake};

/// The refusals that repair files may name: of files read now, and of files that are published.
pub(crate) struct Targets<'a> {
    pub(crate) files: LedgerFiles<'a>,
    pub(crate) read: &'a mut [ReadFile],
    pub(crate) publication: &'a Publication,
    pub(crate) state: &'a State,
    /// What is mended already.
    pub(crate) marks: BTreeMap<String, RepairMarks>,
    /// What was mended before this run: whoever mended it keeps it, its rows are in the lake.
    pub(crate) before: &'a BTreeMap<String, RepairMarks>,
    /// Refusals by file, as far as anybody asked.
    pub(crate) known: BTreeMap<String, BTreeMap<RepairKey, u64>>,
    /// How many were named that are mended already.
    pub(crate) mended_before_n: u64,
}

impl Targets<'_> {
    /// How many rows were refused there; `None` when nothing is, or it is mended.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when refusals cannot be read.
    pub(crate) fn open(&mut self, source: &str, file_id: &str, key: RepairKey, by: &str) -> Result<Option<u64>> {
        let owner = self.before.get(file_id).and_then(|marks| marks.get(&key));
        let is_of_other = owner.is_some_and(|mark| mark.by != by);
        if is_of_other || self.marks.get(file_id).is_some_and(|marks| marks.contains_key(&key)) {
            self.mended_before_n += 1;
            return Ok(None);
        }
        if !self.known.contains_key(file_id) {
            let refusals = self.refusals(source, file_id)?;
            self.known.insert(file_id.to_owned(), refusals);
        }
        Ok(self.known.get(file_id).and_then(|known| known.get(&key)).copied())
    }

    /// Notes that one is mended now.
    pub(crate) fn mend(&mut self, file_id: &str, key: RepairKey, by: &str, row_n: u64) {
        let mark = RepairMark {
            by: by.to_owned(),
            row_n,
        };
        self.marks.entry(file_id.to_owned()).or_default().insert(key, mark);
    }

    fn refusals(&mut self, source: &str, file_id: &str) -> Result<BTreeMap<RepairKey, u64>> {
        let mut refusals = BTreeMap::new();
        let now = self.files.ids.iter().position(|id| **id == *file_id);
        if let Some(at) = now {
            let is_ours = self
                .files
                .readings
                .get(at)
                .is_some_and(|reading| reading.source.name == source);
            if let (true, Some(read)) = (is_ours, self.read.get_mut(at)) {
                read.rejects.visit(|line, byte_offset, reason, row_n| {
                    let key = RepairKey {
                        line,
                        byte_offset,
                        reason,
                    };
                    refusals.insert(key, row_n);
                })?;
            }
            return Ok(refusals);
        }
        let input = self.state.book.inputs().get(file_id);
        if input.is_none_or(|input| input.source != source) {
            return Ok(refusals);
        }
        let path = lake::rejects_path(file_id);
        for batch in lake::batches(self.publication, &path)?.into_iter().flatten() {
            let batch = batch?;
            let (line, offset) = (int(&batch, "line")?, int(&batch, "byte_offset")?);
            let (reason, rows) = (text(&batch, "reason")?, int(&batch, "row_n")?);
            for row in 0..batch.num_rows() {
                let key = entry::key(line.value(row), offset.value(row), reason.value(row))?;
                refusals.insert(key, stored_u64(rows.value(row), "row_n")?);
            }
        }
        Ok(refusals)
    }
}
