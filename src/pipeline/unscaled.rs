//! Records refused at the normalise room's door: `missing = "reject"` and no benchmark known.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, FixedSizeBinaryBuilder, Int64Builder, RecordBatch, StringBuilder};
use arrow::datatypes::Int64Type;

use super::partition::Settled;
use crate::error::{Error, Result};
use crate::ledger::Reason;
use crate::schema;
use crate::store::Publication;
use crate::store::lake::LakeTable;

/// One refused record. It stays in `records`; `usage` does not hold it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Refused {
    file_id: Arc<str>,
    line: i64,
    byte_offset: i64,
    step_n: i64,
    source: String,
    detail: String,
    record_id: [u8; 16],
}

/// The refused records of one partition.
pub(super) struct Unscaled<'a> {
    paths: &'a BTreeMap<Arc<str>, String>,
    rows: Vec<Refused>,
}

impl<'a> Unscaled<'a> {
    /// None yet; `paths` by file id.
    #[must_use]
    pub(super) fn new(paths: &'a BTreeMap<Arc<str>, String>) -> Self {
        Self {
            paths,
            rows: Vec::new(),
        }
    }

    /// Refuses one row of a batch of `records`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the batch is not of `records`.
    pub(super) fn push(&mut self, batch: &RecordBatch, row: usize) -> Result<()> {
        let column = |name: &str| {
            batch
                .column_by_name(name)
                .ok_or_else(|| Error::internal(format!("no column {name}")))
        };
        let text = |name: &str| Ok::<_, Error>(column(name)?.as_string::<i32>().value(row));
        let int = |name: &str| Ok::<_, Error>(column(name)?.as_primitive::<Int64Type>().value(row));
        let record_id = column("record_id")?.as_fixed_size_binary().value(row);
        self.rows.push(Refused {
            file_id: Arc::from(text("file_id")?),
            line: int("line")?,
            byte_offset: int("byte_offset")?,
            step_n: int("step_n")?,
            source: text("source")?.to_owned(),
            detail: format!(
                "no benchmark for job {} of cluster {:?} at its end",
                text("job_id")?,
                text("cluster")?
            ),
            record_id: record_id
                .try_into()
                .map_err(|_| Error::internal("a record id of odd length"))?,
        });
        Ok(())
    }

    /// Moves the refused rows from accepted to rejected.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a refused row was never accepted.
    pub(super) fn settle(&self, settled: &mut Settled) -> Result<()> {
        for refused in &self.rows {
            let steps = u64::try_from(refused.step_n).unwrap_or(0);
            for (reason, n) in [(Reason::Job, 1), (Reason::Step, steps)] {
                if n == 0 {
                    continue;
                }
                let key = (Arc::clone(&refused.file_id), reason);
                let left = settled.get(&key).and_then(|have| have.checked_sub(n));
                match left.ok_or_else(|| Error::internal("a record was refused that was never accepted"))? {
                    0 => settled.remove(&key),
                    left => settled.insert(key, left),
                };
                *settled
                    .entry((Arc::clone(&refused.file_id), Reason::BenchmarkMissing))
                    .or_default() += n;
            }
        }
        Ok(())
    }

    /// Publishes them at `path`, or removes what is published there.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be written.
    pub(super) fn publish(mut self, publication: &Publication, path: &str) -> Result<()> {
        if self.rows.is_empty() {
            publication.remove(path);
            return Ok(());
        }
        self.rows.sort();
        let text = |pick: &dyn Fn(&Refused) -> String| -> ArrayRef {
            let mut builder = StringBuilder::new();
            self.rows.iter().for_each(|row| builder.append_value(pick(row)));
            Arc::new(builder.finish())
        };
        let int = |pick: &dyn Fn(&Refused) -> i64| -> ArrayRef {
            let mut builder = Int64Builder::new();
            self.rows.iter().for_each(|row| builder.append_value(pick(row)));
            Arc::new(builder.finish())
        };
        let mut ids = FixedSizeBinaryBuilder::new(16);
        let mut no_text = StringBuilder::new();
        for row in &self.rows {
            ids.append_value(row.record_id)?;
            no_text.append_null();
        }
        let arrays: Vec<ArrayRef> = vec![
            text(&|row| row.source.clone()),
            text(&|row| row.file_id.to_string()),
            text(&|row| self.paths.get(&row.file_id).cloned().unwrap_or_default()),
            int(&|row| row.line),
            int(&|row| row.byte_offset),
            text(&|_| Reason::BenchmarkMissing.code().to_owned()),
            text(&|row| row.detail.clone()),
            int(&|row| 1 + row.step_n),
            int(&|_| 0),
            Arc::new(no_text.finish()),
            Arc::new(ids.finish()),
        ];
        let dataset = schema::dataset("rejects")?;
        let mut table = LakeTable::create(publication, "rejects", path)?;
        table.write(&RecordBatch::try_new(dataset.arrow(), arrays)?)?;
        table.finish(&[])?;
        Ok(())
    }
}
