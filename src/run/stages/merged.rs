//! Fifth stage: records and summaries are staged, and every row that was read has its outcome.

use std::sync::Arc;

use super::accepted::AcceptedRecords;
use super::context::RunMonitor;
use super::merge_inputs::{MergeInputs, Partitions};
use super::scope::RunScope;
use crate::error::Result;
use crate::ingest::findings::Notes;
use crate::ingest::reading::LedgerFiles;
use crate::ingest::shared_bytes::warn_of_shared_bytes;
use crate::ingest::shared_jobs::shared_jobs;
use crate::run::charges::ChargePart;
use crate::run::limits;
use crate::run::usage::UsagePart;

/// What was merged, not yet held against the limits of the pipeline.
pub(super) struct MergedRecords<'a> {
    pub(super) scope: RunScope<'a>,
    /// Ids of the files that were read.
    pub(super) file_ids: Vec<Arc<str>>,
    pub(super) inputs: MergeInputs,
    /// What is to be reported of the files.
    pub(super) notes: Notes,
    pub(super) partitions: Partitions,
    /// What places contribute to usage.
    pub(super) parts: Vec<UsagePart>,
    /// What places were charged.
    pub(super) charged: Vec<ChargePart>,
}

impl<'a> MergedRecords<'a> {
    /// Reports what became of the files, and holds it against the limits of the pipeline and its sources.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] with every limit that is broken, and the files that broke it.
    pub(super) fn hold_limits(self, monitor: &mut RunMonitor<'_>) -> Result<AcceptedRecords<'a>> {
        let Self {
            scope,
            file_ids,
            inputs,
            notes,
            partitions,
            parts,
            charged,
        } = self;
        let files = LedgerFiles {
            readings: &scope.files,
            ids: &file_ids,
        };
        let findings = notes.settle(files, &scope.seen, &scope.lake.state.book);
        limits::hold(scope.context.plan, findings, monitor.report)?;
        let (book, corrections) = (&scope.lake.state.book, scope.context.plan.corrections.as_deref());
        monitor.report.shared_jobs = shared_jobs(book, &file_ids, corrections);
        warn_of_shared_bytes(book, &file_ids, &monitor.report.shared_jobs);
        Ok(AcceptedRecords {
            scope,
            file_ids,
            inputs,
            partitions,
            parts,
            charged,
        })
    }
}
