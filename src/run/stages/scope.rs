//! Second stage: which files are read, and how much of the lake is rebuilt.

use super::context::{RunContext, RunMonitor};
use super::open_lake::OpenLake;
use crate::error::Result;
use crate::ingest::file_hashes::FileHashes;
use crate::ingest::identity_sources::IdentitySources;
use crate::ingest::inputs;
use crate::ingest::reading::Reading;
use crate::ingest::reread::{ReadAgain, read_again};
use crate::ingest::seen::SeenFiles;
use crate::lake::capacity;
use crate::lake::found::FoundFile;
use crate::lake::new_corrections;
use crate::ledger::Book;
use crate::overhead;
use crate::run::awards;
use crate::run::extent::{RunExtent, RunSelection};
use crate::run::former_snapshots::FormerSnapshots;
use crate::run::outdated::Outdated;
use crate::shard::collected::CollectedShards;
use crate::share_history;

/// The input files of a run, and what shards have read of them.
pub(super) struct RunInputs {
    pub(super) found: Vec<FoundFile>,
    pub(super) shards: Option<CollectedShards>,
}

/// What a run has to do.
pub(super) struct RunScope<'a> {
    pub(super) context: RunContext<'a>,
    pub(super) lake: OpenLake<'a>,
    /// All input files that are there.
    pub(super) found: Vec<FoundFile>,
    /// The hashes of those that were hashed.
    pub(super) hashes: FileHashes,
    /// What shards have read of them.
    pub(super) shards: Option<CollectedShards>,
    /// Those to read.
    pub(super) files: Vec<Reading>,
    /// Known files that were seen under new names.
    pub(super) seen: Vec<SeenFiles>,
    /// Logs that complete the records of other files.
    pub(super) identity_sources: IdentitySources,
    /// The ledger before a rebuild; empty without one.
    pub(super) former_book: Book,
    pub(super) selection: RunSelection,
    /// Whether nothing is to be rebuilt but what new files bring.
    is_settled: bool,
}

impl<'a> RunScope<'a> {
    /// Compares the input files and the settings with what the lake knows.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] when files that have to be read again are gone, or names are to be withheld that
    /// stay in the lake; [`crate::error::Kind::Io`] when a file or the lake cannot be read.
    pub(super) fn survey(
        context: RunContext<'a>,
        mut lake: OpenLake<'a>,
        inputs: RunInputs,
        monitor: &mut RunMonitor<'_>,
    ) -> Result<Self> {
        let RunContext {
            plan, window, progress, ..
        } = context;
        let RunInputs { mut found, shards } = inputs;
        let state = &mut lake.state;
        let has_former = state.drop_former_inventories(plan, &lake.publication);
        let is_everything = state.settings_changed(plan);
        let mut hashes = if context.options.rehash {
            FileHashes::forgotten()
        } else {
            FileHashes::load(&lake.publication, &found)?
        };
        // A former reader took the bytes that a store sent before it failed for all of an object.
        hashes.forget(&state.hashes_refused_by_former_readers());
        let threads = context.threads;
        inputs::hash(&mut found, &state.book, &mut hashes, is_everything, threads, progress)?;
        monitor.end_phase("hash");
        let inventories = state.stale_inventories(plan, &found)?;
        state.forget_redated(plan, &found, &inventories, &lake.publication);
        let is_rebuild = state.wants_rebuild(plan, &found, window)? || state.is_reordered(plan, &found, window);
        if state.withholds_more(plan) {
            monitor.report.former_snapshots = FormerSnapshots::of(lake.publication.store())?;
        }
        let (identity_sources, completion) =
            IdentitySources::prepare(plan, &found, state, &lake.publication, is_rebuild, window)?;
        let again = ReadAgain {
            inventories,
            files: read_again(completion, state, &found),
        };
        let former_book = if is_rebuild {
            state.forget_records()
        } else {
            Book::default()
        };
        let output = (!context.options.dry_run).then(|| lake.publication.store());
        monitor.report.find(output, found.len());
        let (mut files, seen) = inputs::to_read(&mut state.book, &former_book, &found, window, &again);
        identity_sources.assign(&mut files);
        let extent = if is_rebuild {
            RunExtent::Records
        } else if state.plan_changed(plan) || !state.is_laid_out() {
            RunExtent::Sums
        } else {
            RunExtent::NewRecords
        };
        // After a rebuild the state knows of no place.
        let outdated = Outdated::find(state, plan);
        let is_same = extent == RunExtent::NewRecords && outdated.is_empty() && !overhead::is_changed(plan, state);
        let is_same = is_same && !overhead::node_energy::is_changed(plan, state);
        let is_settled = is_same
            && !has_former
            && lake.new_corrections.is_empty()
            && !new_corrections::adds_otherwise(plan, state)
            && !capacity::is_changed(plan, state)
            && !awards::is_changed(plan, state)
            && state.is_laid_out();
        let is_settled = is_settled && !share_history::is_changed(plan, state) && !state.is_keeping_changed(plan);
        Ok(Self {
            context,
            lake,
            found,
            hashes,
            shards,
            files,
            seen,
            identity_sources,
            former_book,
            selection: RunSelection {
                extent,
                read_again: again.files,
                outdated,
            },
            is_settled,
        })
    }

    /// Whether there is nothing to do.
    pub(super) fn is_unchanged(&self) -> bool {
        self.files.is_empty() && self.seen.is_empty() && self.is_settled
    }

    /// Keeps the hashes of input files for the next run; not in a dry run.
    pub(super) fn keep_hashes(&self) {
        if !self.context.options.dry_run {
            self.hashes.save(&self.lake.publication);
        }
    }

    /// Ends the run: the lake stays as it is.
    pub(super) fn finish_unchanged(self, monitor: &mut RunMonitor<'_>) {
        self.keep_hashes();
        monitor.report.settle(&self.lake.state);
        let runs_head = self.lake.publication.seal().head("runs").blake3;
        monitor.report.finish_unchanged(runs_head);
    }
}
