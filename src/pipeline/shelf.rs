//! Refusals of one file until it is read to its end. Pieces arrive in any order; what does not fit memory goes to an
//! unnamed temporary file, so that a file that is refused whole does not end in memory whole.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, FixedSizeBinaryBuilder, Int64Builder, RecordBatch, StringBuilder};
use arrow::compute::interleave_record_batch;
use arrow::datatypes::Int64Type;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;

use crate::error::{Error, Result};
use crate::ledger::Reason;
use crate::records::Reject;
use crate::records::columns::with_text;
use crate::schema;

/// Raw text kept per refusal; `raw_byte_n` tells the full length and the file still holds the rest.
const RAW_LIMIT: usize = 64 << 10;
/// Bytes of refusals kept in memory per file.
const MEMORY_LIMIT: usize = 8 << 20;

/// The refusals of one file.
pub(super) struct RejectShelf {
    origin: Origin,
    resident: Vec<Reject>,
    bytes: usize,
    file: Option<File>,
    end: u64,
    /// Place and length of each batch on disk.
    batches: Vec<(u64, u64)>,
}

/// What every row of a file's refusals shares.
struct Origin {
    source: String,
    file_id: String,
    path: String,
}

impl RejectShelf {
    /// An empty shelf for one file of a source.
    #[must_use]
    pub(super) fn new(source: &str, path: &str) -> Self {
        Self {
            origin: Origin {
                source: source.to_owned(),
                file_id: String::new(),
                path: path.to_owned(),
            },
            resident: Vec::new(),
            bytes: 0,
            file: None,
            end: 0,
            batches: Vec::new(),
        }
    }

    /// Adds the refusals of one piece.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be written.
    pub(super) fn push(&mut self, mut rejects: Vec<Reject>) -> Result<()> {
        for reject in &rejects {
            self.bytes += 256 + reject.detail.len() + reject.raw.len().min(RAW_LIMIT);
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

    /// Whether nothing was refused.
    #[must_use]
    pub(super) fn is_empty(&self) -> bool {
        self.resident.is_empty() && self.batches.is_empty()
    }

    fn flush(&mut self) -> Result<()> {
        let mut resident = std::mem::take(&mut self.resident);
        self.bytes = 0;
        resident.sort_by_key(key);
        // One batch per run of 1 000, so that reading back in order needs little memory.
        for run in resident.chunks(1000) {
            let batch = batch(run, &self.origin)?;
            let mut bytes = Vec::new();
            let mut writer = StreamWriter::try_new(&mut bytes, batch.schema_ref())?;
            writer.write(&batch)?;
            writer.finish()?;
            drop(writer);
            let file = match &mut self.file {
                Some(file) => file,
                none => {
                    none.insert(tempfile::tempfile().map_err(|e| Error::io("cannot make a temporary file").because(e))?)
                }
            };
            file.seek(SeekFrom::Start(self.end))?;
            file.write_all(&bytes)?;
            let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            self.batches.push((self.end, len));
            self.end += len;
        }
        Ok(())
    }

    /// Every refusal as batches of `rejects`, in the order of the file, whose id is known by now.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be read back.
    pub(super) fn into_batches(
        mut self,
        file_id: &str,
        mut write: impl FnMut(&RecordBatch) -> Result<()>,
    ) -> Result<()> {
        file_id.clone_into(&mut self.origin.file_id);
        if self.batches.is_empty() {
            self.resident.sort_by_key(key);
            return write(&batch(&self.resident, &self.origin)?);
        }
        self.flush()?;
        // Flushes may interleave: find the order of all rows first, then gather them a thousand at a time.
        let mut order: Vec<(i64, i64, usize, usize)> = Vec::new();
        for at in 0..self.batches.len() {
            let read = self.load(at)?;
            let lines = column(&read, "line")?.as_primitive::<Int64Type>();
            let offsets = column(&read, "byte_offset")?.as_primitive::<Int64Type>();
            order.extend((0..read.num_rows()).map(|row| (lines.value(row), offsets.value(row), at, row)));
        }
        order.sort_unstable();
        for window in order.chunks(1000) {
            let mut wanted: Vec<usize> = window.iter().map(|(_, _, at, _)| *at).collect();
            wanted.sort_unstable();
            wanted.dedup();
            let batches: Vec<RecordBatch> = wanted.iter().map(|at| self.load(*at)).collect::<Result<_>>()?;
            let rows: Vec<(usize, usize)> = window
                .iter()
                .map(|(_, _, at, row)| (wanted.binary_search(at).unwrap_or(0), *row))
                .collect();
            let refs: Vec<&RecordBatch> = batches.iter().collect();
            write(&with_text(&interleave_record_batch(&refs, &rows)?, "file_id", |_| {
                file_id
            })?)?;
        }
        Ok(())
    }

    fn load(&mut self, at: usize) -> Result<RecordBatch> {
        let gone = || Error::internal("the shelf of rejects lost a batch");
        let (place, len) = self.batches.get(at).copied().ok_or_else(gone)?;
        let file = self.file.as_mut().ok_or_else(gone)?;
        let mut bytes = vec![0; usize::try_from(len).map_err(|_| gone())?];
        file.seek(SeekFrom::Start(place))?;
        file.read_exact(&mut bytes)?;
        Ok(StreamReader::try_new(bytes.as_slice(), None)?
            .next()
            .ok_or_else(gone)??)
    }
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    batch
        .column_by_name(name)
        .ok_or_else(|| Error::internal(format!("no column {name}")))
}

fn key(reject: &Reject) -> (u64, u64, Reason) {
    (reject.at.line, reject.at.byte_offset, reject.reason)
}

fn batch(rejects: &[Reject], origin: &Origin) -> Result<RecordBatch> {
    let text = |pick: &dyn Fn(&Reject) -> String| -> ArrayRef {
        let mut builder = StringBuilder::new();
        rejects.iter().for_each(|reject| builder.append_value(pick(reject)));
        Arc::new(builder.finish())
    };
    let int = |pick: &dyn Fn(&Reject) -> u64| -> ArrayRef {
        let mut builder = Int64Builder::new();
        rejects
            .iter()
            .for_each(|reject| builder.append_value(i64::try_from(pick(reject)).unwrap_or(i64::MAX)));
        Arc::new(builder.finish())
    };
    let mut no_id = FixedSizeBinaryBuilder::new(16);
    rejects.iter().for_each(|_| no_id.append_null());
    let arrays: Vec<ArrayRef> = vec![
        text(&|_| origin.source.clone()),
        text(&|_| origin.file_id.clone()),
        text(&|_| origin.path.clone()),
        int(&|reject| reject.at.line),
        int(&|reject| reject.at.byte_offset),
        text(&|reject| reject.reason.code().to_owned()),
        text(&|reject| reject.detail.clone()),
        int(&|reject| reject.rows),
        int(&|reject| u64::try_from(reject.raw.len()).unwrap_or(u64::MAX)),
        text(&|reject| String::from_utf8_lossy(reject.raw.get(..RAW_LIMIT).unwrap_or(&reject.raw)).into_owned()),
        Arc::new(no_id.finish()),
    ];
    let dataset = schema::dataset("rejects")?;
    let batch = RecordBatch::try_new(dataset.arrow(), arrays)?;
    dataset.admit(&batch)?;
    Ok(batch)
}
