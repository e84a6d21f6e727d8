//! What partitions are merged from, and which of them there are to merge.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::context::RunContext;
use super::scope::RunScope;
use crate::config::Plan;
use crate::dedupe::file_order::FileOrder;
use crate::dedupe::shifted::ShiftedCopies;
use crate::dedupe::spill::Spill;
use crate::lake::addition_fact;
use crate::lake::found::FoundFile;
use crate::lake::new_corrections;
use crate::lake::state::State;
use crate::lake::views::Views;
use crate::ledger::{Places, Reason};
use crate::record::SiteMonth;
use crate::run::copied::{self, CopiedFiles};
use crate::run::extent::RunSelection;
use crate::run::partition_context::PartitionContext;
use crate::store::Publication;
use crate::time::Day;

/// Sites and months to merge, each with the days that have candidates.
pub(super) type Partitions = BTreeMap<SiteMonth, Vec<Day>>;

/// No view of any place.
static NO_VIEWS: Views = Views::new();

/// Candidates, and what the lake knows of the files they are of.
pub(super) struct MergeInputs {
    spill: Spill,
    order: FileOrder,
    hashes: BTreeMap<Arc<str>, Arc<str>>,
    paths: BTreeMap<Arc<str>, Arc<str>>,
    read_now: BTreeSet<Arc<str>>,
}

impl MergeInputs {
    /// Of the files in `read_now` the spill holds the candidates.
    pub(super) fn new(state: &State, spill: Spill, read_now: &[Arc<str>]) -> Self {
        Self {
            spill,
            order: FileOrder::new(state.arrivals()),
            hashes: state.hashes(),
            paths: state.paths(),
            read_now: read_now.iter().cloned().collect(),
        }
    }

    /// What finds jobs that are there twice in sites as many as these partitions have.
    pub(super) fn shifted_copies<'a>(&'a self, plan: &'a Plan, partitions: &Partitions) -> ShiftedCopies<'a> {
        let site_n = copied::site_n(partitions);
        ShiftedCopies::new(&self.order, &self.read_now, site_n, plan.corrections.as_deref())
    }

    /// The files that were read, and those of the lake that were `found` among the inputs.
    pub(super) fn copied_files<'a>(&'a self, found: &'a [FoundFile]) -> CopiedFiles<'a> {
        CopiedFiles::new(&self.paths, &self.read_now, found)
    }

    /// What every partition needs to know.
    pub(super) fn context<'a>(
        &'a self,
        run: RunContext<'a>,
        publication: &'a Publication,
        selection: &'a RunSelection,
    ) -> PartitionContext<'a> {
        PartitionContext {
            plan: run.plan,
            threads: run.threads,
            publication,
            spill: &self.spill,
            order: &self.order,
            hashes: &self.hashes,
            paths: &self.paths,
            fresh: &self.read_now,
            selection,
            shifted: None,
            displaced: &NO_VIEWS,
        }
    }
}

/// The partitions to build, each with the days that have something new: those with candidates, and those that other
/// new records affect.
pub(super) fn partitions(scope: &RunScope<'_>, mut partitions: Partitions, file_ids: &[Arc<str>]) -> Partitions {
    let (plan, state, selection) = (scope.context.plan, &scope.lake.state, &scope.selection);
    for place in selection.outdated.jobs.iter().chain(&selection.outdated.energy) {
        partitions.entry(place.clone()).or_default();
    }
    if selection.extent.is_of_published_records() {
        // Additions make contributions where there are no records.
        for published in state.partitions().iter().chain(state.contributions()) {
            partitions.entry(published.clone()).or_default();
        }
    }
    for touched in new_corrections::touched(plan, scope.lake.new_corrections, state) {
        partitions.entry(touched).or_default();
    }
    if selection.extent.is_rebuild() {
        for made in addition_fact::additions(plan) {
            partitions.entry(made).or_default();
        }
    }
    for file_id in file_ids {
        // Records that are no usage are with their month, and may be outside the months requested.
        for place in state.book.places(file_id).into_iter().flat_map(Places::keys) {
            let is_of_usage = matches!(place.reason, Reason::BenchmarkMissing | Reason::SumLimit);
            if let (Some(site), Some(month), true) = (&place.site, place.month, is_of_usage) {
                partitions.entry(SiteMonth::new(site.as_str(), month)).or_default();
            }
        }
    }
    partitions
}
