//! Records that are no usage: `missing = "reject"` and no benchmark known, or more than the sums of their month can take.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;

use super::partition::Settled;
use crate::error::{Error, Result};
use crate::ingest::reject_rows;
use crate::ingest::reject_rows::RefusedRow;
use crate::ledger::{FileReason, Reason};
use crate::numbers::stored_u64;
use crate::schema::batch::{id, identity, int, words};
use crate::store::Publication;
use crate::store::lake::LakeTable;
use crate::summarise::RefusedJob;

/// One refused record. It stays in `records`; `usage` does not hold it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UsageRefusal {
    file_id: Arc<str>,
    line: i64,
    byte_offset: i64,
    step_n: i64,
    reason: Reason,
    source: String,
    detail: String,
    record_id: u128,
}

/// The refused records of one partition.
pub(crate) struct UsageRejects<'a> {
    paths: &'a BTreeMap<Arc<str>, Arc<str>>,
    rows: Vec<UsageRefusal>,
}

impl<'a> UsageRejects<'a> {
    /// None yet; `paths` by file id.
    #[must_use]
    pub(crate) fn new(paths: &'a BTreeMap<Arc<str>, Arc<str>>) -> Self {
        Self {
            paths,
            rows: Vec::new(),
        }
    }

    /// Refuses one row of a batch of `records`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the batch is not of `records`.
    pub(crate) fn push(&mut self, batch: &RecordBatch, RefusedJob { row, reason }: RefusedJob) -> Result<()> {
        let job = format!(
            "job {} of cluster {:?}",
            words(batch, "job_id")?.value(row),
            words(batch, "cluster")?.value(row)
        );
        self.rows.push(UsageRefusal {
            file_id: Arc::from(words(batch, "file_id")?.value(row)),
            line: int(batch, "line")?.value(row),
            byte_offset: int(batch, "byte_offset")?.value(row),
            step_n: int(batch, "step_n")?.value(row),
            reason,
            source: words(batch, "source")?.value(row).to_owned(),
            detail: match reason {
                Reason::SumLimit => {
                    format!("the sums of the month cannot take {job}: jobs like it come to more than any site has")
                }
                _ => format!("no benchmark for {job} at its end"),
            },
            record_id: identity(id(batch, "record_id")?, row)?,
        });
        Ok(())
    }

    /// Moves the refused rows from accepted to rejected.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a refused row was never accepted.
    pub(crate) fn settle(&self, settled: &mut Settled) -> Result<()> {
        for refused in &self.rows {
            let steps = stored_u64(refused.step_n, "step_n")?;
            for (reason, n) in [(Reason::Job, 1), (Reason::Step, steps)] {
                if n == 0 {
                    continue;
                }
                let key = FileReason::new(&refused.file_id, reason);
                let left = settled.get(&key).and_then(|have| have.checked_sub(n));
                match left.ok_or_else(|| Error::internal("a record was refused that was never accepted"))? {
                    0 => settled.remove(&key),
                    left => settled.insert(key, left),
                };
                *settled
                    .entry(FileReason::new(&refused.file_id, refused.reason))
                    .or_default() += n;
            }
        }
        Ok(())
    }

    /// Publishes them at `path`, or removes what is published there.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be written.
    pub(crate) fn publish(mut self, publication: &Publication, path: &str) -> Result<()> {
        if self.rows.is_empty() {
            publication.remove(path);
            return Ok(());
        }
        self.rows.sort();
        let refused = self.rows.iter().map(|row| RefusedRow {
            source: &row.source,
            file_id: &row.file_id,
            path: self.paths.get(&row.file_id).map_or("", |path| path),
            line: row.line,
            byte_offset: row.byte_offset,
            reason: row.reason,
            detail: Cow::Borrowed(&row.detail),
            rows: 1 + row.step_n,
            raw_byte_n: 0,
            raw: None,
            record_id: Some(row.record_id),
        });
        let mut table = LakeTable::create(publication, "rejects", path)?;
        table.write(&reject_rows::batch(&refused.collect::<Vec<_>>())?)?;
        table.finish(&[])?;
        Ok(())
    }
}
