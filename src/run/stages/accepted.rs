//! Sixth stage: no limit is broken; sums, overhead and the ledger are staged.

use std::collections::BTreeSet;
use std::sync::Arc;

use tracing::warn;

use super::context::{RunContext, RunMonitor};
use super::merge_inputs::{MergeInputs, Partitions};
use super::open_lake::OpenLake;
use super::scope::RunScope;
use super::staged::StagedRun;
use crate::energy::{EnergyPlan, EnergyTableGap};
use crate::error::{Error, Result};
use crate::lake::found::FoundFile;
use crate::lake::state::State;
use crate::overhead;
use crate::overhead::sweep::Sweep;
use crate::record::SiteMonth;
use crate::run::charges::{self, ChargePart};
use crate::run::partition_context::PartitionContext;
use crate::run::priced::PolicyReport;
use crate::run::run_report::RunReport;
use crate::run::usage::{UsagePart, publish_usage};
use crate::run::{awards, corrections, edited_policies, energy_tables, listed_nodes, recompute, recompute_energy};
use crate::schema;
use crate::share_history;
use crate::store::{Publication, lake};

/// Merged records that the pipeline's limits allow to be published.
pub(super) struct AcceptedRecords<'a> {
    pub(super) scope: RunScope<'a>,
    /// Ids of the files that were read.
    pub(super) file_ids: Vec<Arc<str>>,
    pub(super) inputs: MergeInputs,
    pub(super) partitions: Partitions,
    /// What places contribute to usage.
    pub(super) parts: Vec<UsagePart>,
    /// What places were charged.
    pub(super) charged: Vec<ChargePart>,
}

impl<'a> AcceptedRecords<'a> {
    /// Stages usage, charges, overhead, corrections and all facts of the lake.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the ledger does not close, [`crate::error::Kind::Data`] when a sum does not fit
    /// its column, [`crate::error::Kind::Config`] as [`overhead::publish`], [`crate::error::Kind::Io`] when the lake cannot
    /// be read or written.
    pub(super) fn stage(self, monitor: &mut RunMonitor<'_>) -> Result<StagedRun<'a>> {
        let Self {
            scope,
            file_ids,
            inputs,
            partitions,
            parts,
            charged,
        } = self;
        let RunScope {
            context: run,
            mut lake,
            found,
            files,
            selection,
            ..
        } = scope;
        let present = found.iter().filter_map(FoundFile::file_id).chain(file_ids).collect();
        // They take much memory where files are many, and are not needed any more.
        drop((found, files));
        let RunContext { plan, progress, .. } = run;
        let extent = selection.extent;
        let OpenLake {
            publication,
            state,
            new_corrections,
            ..
        } = &mut lake;
        let publication = &*publication;
        let context = inputs.context(run, publication, &selection);
        let is_fresh = |place: &SiteMonth| partitions.get(place).is_some_and(|days| !days.is_empty());
        monitor.report.recomputed = recompute::compare(&context, &selection.outdated, &parts, is_fresh)?;
        monitor.report.recomputed_energy =
            recompute_energy::compare(&context, &selection.outdated.energy, &parts, is_fresh)?;
        if extent.is_rebuild() {
            // Before the files are listed that there will be.
            forget_stale(publication, state, &partitions);
        }
        if let Some(energy) = &plan.energy {
            monitor.report.energy_table_gaps = hold_sites(publication, energy)?;
            monitor.report.energy_core_gaps = listed_nodes::core_gaps(publication, energy)?;
        }
        let sweep = Sweep {
            plan,
            publication,
            present,
            threads: run.threads,
            memory_byte_n: run.memory_byte_n,
            progress,
        };
        monitor.report.overhead = overhead::publish(&sweep, state, &partitions, new_corrections, extent.is_rebuild())?;
        overhead::node_energy::publish(&sweep, state)?;
        let corrected = publish_sums(&context, state, &parts, &charged, extent.is_of_all_sums())?;
        monitor.report.edited_policies = edited_policies::compare(&context)?;
        awards::publish(plan, publication, state)?;
        monitor.report.unmatched_corrections =
            corrections::publish(plan, publication, &parts, &corrected, extent.is_rebuild())?;
        note_corrections(monitor.report);
        drop(inputs);
        state.book.close()?;
        monitor.report.fairshare_uncounted =
            share_history::publish(plan, publication, state, &sweep.present, run.threads)?;
        state.publish(plan, publication)?;
        monitor.report.settle(state);
        monitor.end_phase("summarise");
        Ok(StagedRun { context: run, lake })
    }
}

/// Stages usage and charges: what contributions come to. Returns the corrections that charges have entries of.
fn publish_sums(
    context: &PartitionContext<'_>,
    state: &State,
    parts: &[UsagePart],
    charged: &[ChargePart],
    is_everything: bool,
) -> Result<BTreeSet<String>> {
    // Neither looks at what the other stages.
    std::thread::scope(|scope| {
        let usage = scope.spawn(|| publish_usage(context, state, parts, is_everything));
        let published = charges::publish(context, charged, is_everything);
        let dead = |_| Err(Error::internal("a summarising thread died"));
        usage.join().unwrap_or_else(dead).and(published)
    })?;
    energy_tables::publish(context)?;
    charges::corrections(context, charged)
}

/// Refuses tables of energy that are good for one site alone where the lake has several; gives those that state nothing of some.
fn hold_sites(publication: &Publication, energy: &EnergyPlan) -> Result<Vec<EnergyTableGap>> {
    let records = publication.current("records");
    let places = records.iter().filter_map(|file| lake::parse_month_path(&file.path));
    let sites: BTreeSet<String> = places.map(|place| place.site).collect();
    let sites: BTreeSet<&str> = sites.iter().map(String::as_str).collect();
    energy.meters.hold_sites(sites.iter().copied())?;
    Ok(energy.gaps(&sites))
}

fn note_corrections(report: &RunReport) {
    for id in &report.unmatched_corrections {
        warn!(correction = id, "correction {id} matches nothing");
    }
    for addition in &report.unpriced_corrections {
        warn!("{}", addition.text());
    }
    for policy in &report.edited_policies {
        warn!("{}", policy.text());
    }
    for warning in report.policies.iter().flat_map(PolicyReport::billing_warnings) {
        warn!("{warning}");
    }
}

/// After a rebuild, takes away what the lake held before and no longer should.
fn forget_stale(publication: &Publication, state: &State, partitions: &Partitions) {
    let Some(published) = publication.published() else {
        return;
    };
    let inputs = state.book.inputs();
    let rejects: BTreeSet<String> = inputs.keys().map(|file_id| lake::rejects_path(file_id)).collect();
    for file in published.files() {
        let is_stale = match file.dataset.as_str() {
            // Charges of other subjects are not made of records.
            "job_charges" | "charge_part" if !lake::is_month_path(&file.dataset, &file.path) => false,
            "records" | "history" | "usage_part" | "job_charges" | "charge_part" => {
                lake::parse_month_path(&file.path).is_none_or(|partition| !partitions.contains_key(&partition))
            }
            "rejects" => !rejects.contains(&file.path),
            dataset if schema::listing_datasets().any(|listed| listed.name == dataset) => !inputs
                .iter()
                .any(|(file_id, input)| lake::inventory_path(dataset, &input.source, file_id) == file.path),
            _ => false,
        };
        if is_stale {
            publication.remove(&file.path);
        }
    }
}
