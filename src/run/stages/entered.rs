//! Fourth stage: the ledger knows every row that was read; candidates wait to be merged.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::context::RunMonitor;
use super::merge_inputs::{MergeInputs, Partitions, partitions};
use super::merged::MergedRecords;
use super::scope::RunScope;
use crate::config::Plan;
use crate::dedupe::spill::Spill;
use crate::error::Result;
use crate::ingest::findings::Notes;
use crate::lake::benchmark_fact::ScaledData;
use crate::lake::state::State;
use crate::ledger::Book;
use crate::normalise::ScaledBy;
use crate::numbers::count_u64;
use crate::record::{SiteMonth, Summary};
use crate::run::charges::ChargePart;
use crate::run::merge_queue::MergeQueue;
use crate::run::meter_uses;
use crate::run::moved_report::MovedStarts;
use crate::run::partition::{PartitionResult, process};
use crate::run::partition_context::PartitionContext;
use crate::run::run_report::RunReport;
use crate::run::summaries::{self, SettledSummaries};
use crate::run::usage::UsagePart;
use crate::run::{copied, priced, reduced_report, reservations};
use crate::runtime::pool;
use crate::runtime::progress::Progress;
use crate::time::Month;

/// What was read, entered into the ledger.
pub(super) struct EnteredInputs<'a> {
    pub(super) scope: RunScope<'a>,
    /// Ids of the files that were read.
    pub(super) file_ids: Vec<Arc<str>>,
    /// Candidates for records.
    pub(super) spill: Spill,
    /// Summaries that were read, by month.
    pub(super) summaries: BTreeMap<Month, Vec<Summary>>,
    /// What is to be reported of the files.
    pub(super) notes: Notes,
}

impl<'a> EnteredInputs<'a> {
    /// Merges candidates with what is published, partition by partition, and stages records, summaries and what each
    /// contributes to usage and charges.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] when jobs and summaries overlap and the pipeline does not set which count,
    /// [`crate::error::Kind::Data`] when jobs would count twice, [`crate::error::Kind::Io`] when the lake cannot be read or
    /// written.
    pub(super) fn merge(self, monitor: &mut RunMonitor<'_>) -> Result<MergedRecords<'a>> {
        let Self {
            mut scope,
            file_ids,
            spill,
            summaries: fresh,
            notes,
        } = self;
        let (plan, progress, at_once) = (scope.context.plan, scope.context.progress, scope.context.merged_at_once);
        let mut partitions = partitions(&scope, spill.partitions()?, &file_ids);
        let months = summaries::months(plan, &scope.lake.state, &fresh, &mut partitions, &scope.selection);
        let inputs = MergeInputs::new(&scope.lake.state, spill, &file_ids);
        let copies = inputs.shifted_copies(plan, &partitions);
        let context = PartitionContext {
            shifted: Some(&copies),
            ..inputs.context(scope.context, &scope.lake.publication, &scope.selection)
        };
        let merge = |context: &PartitionContext<'_>| process_all(context, &partitions, at_once, progress);
        let (mut summaries, mut done, overlaps) =
            summaries::settle(&context, &scope.lake.state, fresh, &months, merge)?;
        monitor.report.overlaps = overlaps;
        monitor.report.summary_kinds = std::mem::take(&mut summaries.kinds).reports();
        monitor.report.reduced_jobs = reduced_report::reduced(&done);
        meter_uses::hold(&context, &scope.lake.state, &mut done)?;
        monitor.end_phase("merge");
        let mut starts = MovedStarts::of(&mut done);
        let shifted = copied::shifted(&context, &copies, &mut starts, &partitions)?;
        monitor.report.moved_starts = starts.reports();
        let RunReport {
            copied_jobs,
            possible_copies,
            ..
        } = &mut *monitor.report;
        let files = inputs.copied_files(&scope.found);
        copied::judge(plan, &done, shifted, &files, copied_jobs, possible_copies)?;
        note_benchmarks(plan, &done, &summaries, &mut scope.lake.state, monitor.report);
        let book = &mut scope.lake.state.book;
        let (parts, charged) = contributed(&context, done, summaries, book, monitor.report)?;
        scope
            .identity_sources
            .finalize(&mut scope.lake.state.book, &scope.files, &file_ids);
        Ok(MergedRecords {
            scope,
            file_ids,
            inputs,
            notes,
            partitions,
            parts,
            charged,
        })
    }
}

/// Partitions are independent of one another: workers take the next one until none is left.
fn process_all(
    context: &PartitionContext<'_>,
    partitions: &Partitions,
    at_once: usize,
    progress: &dyn Progress,
) -> Result<Vec<PartitionResult>> {
    progress.begin("merging", count_u64(partitions.len()), "partitions");
    // In the order of time, in which dumps mostly are: what waits in memory is given back soonest.
    let work: Vec<_> = partitions.iter().collect();
    let queue = MergeQueue::new(work.len(), at_once);
    let done = pool::each(&work, at_once, |(of, days)| {
        let done = process(context, &queue, of, days);
        queue.end_one();
        progress.add(1);
        done
    });
    progress.end();
    done
}

/// Writes down which benchmarks each place was scaled by, counts where they came from, and jobs by policy.
fn note_benchmarks(
    plan: &Plan,
    done: &[PartitionResult],
    summaries: &SettledSummaries,
    state: &mut State,
    report: &mut RunReport,
) {
    priced::count(done, report);
    for done in done {
        let place = SiteMonth::new(done.site.as_str(), done.month);
        state.note_benchmarks(plan, ScaledData::Jobs, &place, done.asked);
        state.note_energy(plan, &place, done.energy_asked);
        for (ScaledBy { benchmark, origin }, records) in &done.origins {
            let of = report.benchmarks.entry((*benchmark).to_owned()).or_default();
            *of.entry((*origin).to_owned()).or_default() += records;
        }
    }
    // Of a site that knows no benchmarks, none is missed.
    if plan.normalise.is_of_records_alone() && report.benchmarks.keys().all(|benchmark| benchmark == "none") {
        report.benchmarks.clear();
    }
    for (place, asked) in &summaries.asked {
        state.note_benchmarks(plan, ScaledData::Summaries, place, *asked);
    }
}

/// What partitions and summaries contribute to usage, and what was charged for jobs and reservations.
fn contributed(
    context: &PartitionContext<'_>,
    done: Vec<PartitionResult>,
    summaries: SettledSummaries,
    book: &mut Book,
    report: &mut RunReport,
) -> Result<(Vec<UsagePart>, Vec<ChargePart>)> {
    let (parts, mut charged) = summaries::contributions(context, done, summaries, book)?;
    let mut windows = reservations::charge(context, book)?;
    charged.append(&mut windows.parts);
    report.reservations = windows.report;
    Ok((parts, charged))
}
