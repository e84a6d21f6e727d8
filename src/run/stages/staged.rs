//! Last stage: all that a run publishes is staged, and becomes the lake in one commit.

use super::context::{RunContext, RunMonitor};
use super::open_lake::OpenLake;
use crate::error::Result;
use crate::run::run_log;

/// A run that is ready to be published.
pub(super) struct StagedRun<'a> {
    pub(super) context: RunContext<'a>,
    pub(super) lake: OpenLake<'a>,
}

impl StagedRun<'_> {
    /// Publishes all that was staged together with the row of the run, which belongs to the commit; nothing in a dry run.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be written, [`crate::error::Kind::Busy`] when another run has taken
    /// it over.
    pub(super) fn publish(self, mut monitor: RunMonitor<'_>) -> Result<()> {
        let RunContext {
            plan,
            options,
            progress,
            ..
        } = self.context;
        if options.dry_run {
            monitor.report.finish_dry();
            return Ok(());
        }
        let OpenLake { publication, state, .. } = self.lake;
        progress.begin("publishing", 0, "files");
        let mut head = String::new();
        publication.commit_recorded(state.facts(plan), |committed, seal| {
            monitor.report.finish(committed);
            let (path, page) = run_log::page(plan, options, monitor.report, &monitor.stopwatch, seal)?;
            head = blake3::hash(&page).to_hex().to_string();
            Ok(Some((path, page)))
        })?;
        progress.end();
        monitor.end_phase("publish");
        monitor.report.end(head);
        Ok(())
    }
}
