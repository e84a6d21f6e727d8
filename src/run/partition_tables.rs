//! The large tables of a partition, written behind the merging.

use arrow_array::RecordBatch;

use super::partition_context::PartitionContext;
use crate::error::Result;
use crate::record::SiteMonth;
use crate::store::lake::{self, LakeTable};

/// Rows of a table.
pub(crate) enum PartitionRows {
    /// Of `records`.
    Records(RecordBatch),
    /// Of `job_charges`.
    Charges(RecordBatch),
}

/// The tables `records` and `job_charges` of a partition.
pub(crate) struct PartitionTables<'a> {
    context: &'a PartitionContext<'a>,
    of: &'a SiteMonth,
    /// `None` where records stay as they are.
    records: Option<LakeTable<'a>>,
    /// Begun with its first rows.
    job_charges: Option<LakeTable<'a>>,
}

impl<'a> PartitionTables<'a> {
    /// Without rows. Where records stay as they are, theirs are dropped.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be written.
    pub(crate) fn new(context: &'a PartitionContext<'a>, of: &'a SiteMonth, are_records_written: bool) -> Result<Self> {
        let path = lake::month_path("records", &of.site, of.month);
        let records = are_records_written.then(|| LakeTable::create(context.publication, "records", &path));
        Ok(Self {
            context,
            of,
            records: records.transpose()?,
            job_charges: None,
        })
    }

    /// Adds rows, each page on two threads while it is hurried.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be written.
    pub(crate) fn write(&mut self, rows: &PartitionRows, is_hurried: impl Fn() -> bool) -> Result<()> {
        match rows {
            PartitionRows::Records(rows) => match &mut self.records {
                Some(table) => table.write_hurried(rows, is_hurried),
                None => Ok(()),
            },
            PartitionRows::Charges(rows) => {
                let table = match &mut self.job_charges {
                    Some(table) => table,
                    none => {
                        let path = lake::month_path("job_charges", &self.of.site, self.of.month);
                        none.insert(LakeTable::create(self.context.publication, "job_charges", &path)?)
                    }
                };
                table.write_hurried(rows, is_hurried)
            }
        }
    }

    /// Ends both with what they are made of.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub(crate) fn finish(self, provenance: &[(String, String)]) -> Result<()> {
        for table in [self.records, self.job_charges].into_iter().flatten() {
            table.finish(provenance)?;
        }
        Ok(())
    }
}
