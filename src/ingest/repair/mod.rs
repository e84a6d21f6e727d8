//! Refused rows that were mended by hand: read again from repair files, each in the place of its original.
//!
//! A mended row counts only while its original is refused, and the first repair file that mends a refusal keeps it: so
//! nothing counts twice, whatever is written into a repair file. The refused rows of the original then move from
//! `rejected` to `superseded` (`repaired`), and both files close.

mod entry;
mod read;
mod targets;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::RecordBatch;
use tracing::warn;

use self::entry::{from_batches, to_batch};
use self::targets::Targets;
use super::reading::{LedgerFiles, ReadFile};
use crate::dedupe::Window;
use crate::dedupe::spill::Spill;
use crate::error::{Error, Result};
use crate::lake::state::State;
use crate::ledger::Reason;
use crate::schema::batch::{int, text, texts};
use crate::store::Publication;
use crate::store::lake::{self, LakeTable};

pub(crate) use self::entry::{RepairEntry, RepairKey};

const PATH: &str = "repairs/repairs.parquet";

/// The refusals of a file that are mended: by which repair file.
pub(crate) type RepairMarks = BTreeMap<RepairKey, RepairMark>;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepairMark {
    by: String,
    row_n: u64,
}

/// All repairs of a lake.
#[derive(Default)]
pub(crate) struct Repairs {
    entries: Vec<RepairEntry>,
    /// What was marked before this run, by file.
    before: BTreeMap<String, RepairMarks>,
}

impl Repairs {
    /// What is published; nothing when everything is rebuilt.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be read.
    pub(crate) fn load(publication: &Publication, is_rebuild: bool) -> Result<Self> {
        if is_rebuild {
            return Ok(Self::default());
        }
        let mut entries = Vec::new();
        for batch in lake::batches(publication, PATH)?.into_iter().flatten() {
            entries.append(&mut from_batches(&batch?)?);
        }
        let before = marks(&entries);
        Ok(Self { entries, before })
    }

    /// Reads the repair files among `files`, in their order, after all others: what was framed as a repair file has its
    /// place in `read` filled.
    ///
    /// # Errors
    /// As reading any file.
    pub(crate) fn read(
        &mut self,
        files: LedgerFiles<'_>,
        read: &mut [ReadFile],
        window: Window,
        spill: &Spill,
        publication: &Publication,
        state: &State,
    ) -> Result<()> {
        let ours: Vec<usize> = (0..read.len())
            .filter(|at| read.get(*at).is_some_and(|read| read.is_repair))
            .collect();
        if ours.is_empty() {
            return Ok(());
        }
        let is_ours = |id: &str| ours.iter().any(|at| files.ids.get(*at).is_some_and(|own| **own == *id));
        self.entries.retain(|entry| !is_ours(&entry.repair_file_id));
        for at in ours {
            let (Some(reading), Some(own)) = (files.readings.get(at), files.ids.get(at)) else {
                continue;
            };
            let mut targets = Targets {
                files,
                read: &mut *read,
                publication,
                state,
                marks: marks(&self.entries),
                before: &self.before,
                known: BTreeMap::new(),
                mended_before_n: 0,
            };
            let (filled, mut entries) = read::read(reading, at, own, window, spill, &mut targets)
                .map_err(|e| e.at("file", &reading.file.path))?;
            if targets.mended_before_n > 0 {
                warn!(
                    file = reading.file.path,
                    row_n = targets.mended_before_n,
                    "repair file: {} of its texts do not count, their rows are mended by another repair file or by what this one held \
                     before; correct what is mended by a correction",
                    targets.mended_before_n
                );
            }
            if let Some(place) = read.get_mut(at) {
                place.fill(filled);
            }
            self.entries.append(&mut entries);
        }
        Ok(())
    }

    /// The mended refusals of every file.
    pub(crate) fn marks(&self) -> BTreeMap<String, RepairMarks> {
        marks(&self.entries)
    }

    /// Brings files that this run does not read into line with what was mended or is no longer.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be read or written.
    pub(crate) fn touch(&self, read_now: &[Arc<str>], publication: &Publication, state: &mut State) -> Result<()> {
        let after = self.marks();
        let files: BTreeSet<&String> = after.keys().chain(self.before.keys()).collect();
        for file_id in files {
            let (was, is) = (self.before.get(file_id), after.get(file_id));
            if was == is || read_now.iter().any(|id| **id == **file_id) {
                continue;
            }
            for (key, mark) in was.into_iter().flatten() {
                state.book.shift(file_id, Reason::Repaired, key.reason, mark.row_n)?;
            }
            settle(&mut state.book, file_id, is)?;
            let path = lake::rejects_path(file_id);
            let Some(batches) = lake::batches(publication, &path)? else {
                return Err(Error::internal("refusals are mended that are not published").at("input", file_id));
            };
            let mut table = LakeTable::create(publication, "rejects", &path)?;
            for batch in batches {
                table.write(&annotate(&batch?, is)?)?;
            }
            let hash = state
                .book
                .inputs()
                .get(file_id.as_str())
                .map(|input| input.blake3.clone());
            table.finish(&[(
                "gridtally.inputs_blake3".to_owned(),
                // Fallback: a file that the ledger does not know has no hash in the footer.
                hash.unwrap_or_default().to_string(),
            )])?;
        }
        Ok(())
    }

    /// Stages the dataset.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be written.
    pub(crate) fn publish(mut self, publication: &Publication) -> Result<()> {
        if self.entries.is_empty() {
            publication.remove(PATH);
            return Ok(());
        }
        self.entries.sort();
        let mut table = LakeTable::create(publication, "repairs", PATH)?;
        table.write(&to_batch(&self.entries)?)?;
        table.finish(&[])?;
        Ok(())
    }
}

/// Moves the mended rows of a file in the ledger.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the ledger does not know them as refused.
pub(crate) fn settle(book: &mut crate::ledger::Book, file_id: &str, marks: Option<&RepairMarks>) -> Result<()> {
    for (key, mark) in marks.into_iter().flatten() {
        book.shift(file_id, key.reason, Reason::Repaired, mark.row_n)?;
    }
    Ok(())
}

/// A batch of `rejects` with who mended what.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it is not of `rejects`.
pub(crate) fn annotate(batch: &RecordBatch, marks: Option<&RepairMarks>) -> Result<RecordBatch> {
    let (line, offset, reason) = (int(batch, "line")?, int(batch, "byte_offset")?, text(batch, "reason")?);
    let mut by = Vec::with_capacity(batch.num_rows());
    for row in 0..batch.num_rows() {
        let key = entry::key(line.value(row), offset.value(row), reason.value(row))?;
        by.push(marks.and_then(|marks| marks.get(&key)).map(|mark| &mark.by));
    }
    let dataset = crate::schema::dataset("rejects")?;
    let by = texts(by);
    let columns = dataset.columns.iter().map(|column| match column.name.as_str() {
        "repaired_by" => Ok(Arc::clone(&by)),
        name => crate::schema::batch::column(batch, name).cloned(),
    });
    dataset.batch(columns.collect::<Result<_>>()?)
}

fn marks(entries: &[RepairEntry]) -> BTreeMap<String, RepairMarks> {
    let mut marks: BTreeMap<String, RepairMarks> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.is_repaired()) {
        let mark = RepairMark {
            by: entry.repair_file_id.clone(),
            row_n: entry.row_n,
        };
        marks.entry(entry.file_id.clone()).or_default().insert(entry.key, mark);
    }
    marks
}
