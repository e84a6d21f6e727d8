//! The daily history of a cluster's fairshare: who was granted what, and what their decayed usage was at the end of every day.
//!
//! In: `[[fairshare]]` of the pipeline, the records of a lake with what they are charged, its listings of associations, QOS
//! and settings. Out: the `fairshare` dataset, one file per cluster and month, and the same at any instant for reports.
//!
//! What it promises:
//! * The number of an association does not depend on the order of files or jobs, on threads, or on whether the history was
//!   built in one go or run by run: jobs are added as integers, and a day continues from the stored usage of the day
//!   before.
//! * A run computes the days from the first one on that its records or listings change. Files of earlier months are not
//!   touched, and records are only read of files whose jobs reach into these days.
//! * What cannot be counted is reported with its number of jobs: no account, no billing, no association.
//!
//! ```text
//! files      which files of a lake are read
//! settings   the pipeline, completed by listings of settings and QOS
//! listed     the newest value of each name in other listings
//! listing    listings of associations -> trees with the day from which they hold
//! jobs       records -> segments of usage of associations
//! usage_cuts the parts of days that usage is added up by
//! usage_days usage that each day adds, by association
//! days       trees + usage -> scores, day by day
//! rows       scores -> rows of the dataset
//! factor_course   factors at the end of every day of a period, under any settings
//! changed_shares  trees with other shares than listings state
//! basis      what a lake remembers, to find the first changed day
//! daemon     runs of the scheduler's daemon, stated and listed
//! context    a cluster of a published lake: plan, files, settings and trees, for the rooms after this one
//! listed_instants  the instants whose usage one listing of a scheduler mixes
//! listed_priorities  weights, partitions and QOS that priorities follow from
//! instant    the same at one instant
//! simulated_usage  jobs with what they count for, for schedules that were not
//! resources  resource minutes at one instant: used, and still granted to running jobs
//! counters   listings of shares -> what the scheduler itself counted
//! evidence   jobs by association, for why both differ
//! ```

mod basis;
pub mod changed_shares;
pub mod context;
pub mod counters;
pub mod daemon;
mod days;
pub mod evidence;
pub mod factor_course;
pub mod files;
pub mod instant;
mod job_associations;
mod jobs;
mod lake_fairshare;
pub(crate) mod listed;
mod listed_instants;
pub mod listed_priorities;
pub mod listing;
mod resource_columns;
pub mod resources;
mod rows;
pub mod settings;
pub mod simulated_usage;
mod uncounted;
mod usage_cuts;
mod usage_days;

pub use self::lake_fairshare::LakeFairshare;
pub use self::uncounted::UncountedReport;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tracing::warn;

use self::basis::{Basis, BasisSettings, ClusterBasis, ClusterInputs, FirstChange, Reaches};
use self::days::{DayRange, History};
use self::files::ClusterFiles;
use self::listing::DatedTrees;
use self::settings::FairshareSettings;
use self::uncounted::UncountedJobs;
use self::usage_days::{UsageDays, UsageScan};
use crate::config::Plan;
use crate::config::fairshare_plan::FairsharePlan;
use crate::error::Result;
use crate::lake::state::State;
use crate::ledger::Book;
use crate::numbers::Comparand;
use crate::store::lake::{LakeTable, fairshare_path, parse_fairshare_path};
use crate::store::{Fact, Publication};
use crate::time::instant::instant_text;

/// Whether the dataset was made under other settings, or not at all.
pub(crate) fn is_changed(plan: &Plan, state: &State) -> bool {
    let basis = Basis::of_fact(state.fact(Fact::Fairshare));
    let settings: BTreeMap<String, String> = (plan.fairshare.iter())
        .map(|of| (basis::name(of), settings::fingerprint(of, &plan.calendar_zone)))
        .collect();
    // Runs of a daemon change no day, and reports of an instant.
    let runs = |of: &FairsharePlan| basis.cluster(of).is_some_and(|known| known.has_runs_of(of));
    basis.settings() != settings || !plan.fairshare.iter().all(runs)
}

/// Stages the months of every cluster that changed, and takes away those of clusters without `[[fairshare]]`. `present` are
/// the ids of the inputs that exist. Returns the jobs that are not counted.
///
/// # Errors
/// [`crate::error::Kind::Config`] when a listing or a half-life is missing or a listing is no tree,
/// [`crate::error::Kind::Data`] when usage does not fit its column, [`crate::error::Kind::Io`] when the lake cannot be read
/// or written.
pub(crate) fn publish(
    plan: &Plan,
    publication: &Publication,
    state: &mut State,
    present: &BTreeSet<Arc<str>>,
    threads: usize,
) -> Result<Vec<UncountedReport>> {
    let mut reports = Vec::new();
    let former = Basis::of_fact(state.fact(Fact::Fairshare));
    let mut basis = Basis::default();
    for of in &plan.fairshare {
        let cluster = Cluster {
            plan,
            of,
            publication,
            present,
            book: &state.book,
            threads,
        };
        let made = cluster
            .publish(former.cluster(of), &mut reports)
            .map_err(|why| why.at("site", &of.site).at("cluster", &of.cluster))?;
        basis.insert(of, made);
    }
    let kept: BTreeSet<(&str, &str)> = plan.fairshare.iter().map(|of| (&*of.site, &*of.cluster)).collect();
    for path in publication.paths("fairshare") {
        let place = parse_fairshare_path(&path);
        if place.is_none_or(|(site, cluster, _)| !kept.contains(&(&*site, &*cluster))) {
            publication.remove(&path);
        }
    }
    state.set_fact(Fact::Fairshare, basis.to_fact()?);
    Ok(reports)
}

/// The fairshare of one cluster in one run.
struct Cluster<'a> {
    plan: &'a Plan,
    of: &'a FairsharePlan,
    publication: &'a Publication,
    present: &'a BTreeSet<Arc<str>>,
    /// The ledger, which has the paths of inputs.
    book: &'a Book,
    threads: usize,
}

impl Cluster<'_> {
    /// Makes the days that changed again, with `reports` of jobs that are not counted; returns what they were made of.
    fn publish(&self, former: Option<&ClusterBasis>, reports: &mut Vec<UncountedReport>) -> Result<ClusterBasis> {
        let files = ClusterFiles::of_publication(self.publication, self.of, self.present).with_input_paths(self.book);
        let store = self.publication.store();
        let zone = &self.plan.calendar_zone;
        let settings = FairshareSettings::resolve(self.of, zone, store, &files)?;
        let inputs = ClusterInputs {
            settings: BasisSettings {
                stated: settings::fingerprint(self.of, zone),
                resolved: settings.fingerprint(),
            },
            listings: listing::listing_reaches(store, &files, self.of, former)?,
            reaches: jobs::reaches(store, &files.jobs, &self.of.cluster, former, self.threads)?,
            files: &files,
        };
        let change = former.map_or(FirstChange::Everything, |former| former.first_change(&inputs, zone));
        // Usage in halving steps cannot be continued from a stored day.
        let changed = match change {
            FirstChange::Nothing => return Ok(ClusterBasis::new(self.of, inputs)),
            FirstChange::From(day) => Some(day).filter(|_| settings.rule.decay.chained().is_some()),
            FirstChange::Everything => None,
        };
        let trees = DatedTrees::read(store, &files, self.of)?;
        let Some(all) = DayRange::of(&inputs.reaches, zone) else {
            self.remove_from(None);
            return Ok(ClusterBasis::new(self.of, inputs));
        };
        let continued = changed.and_then(|changed| all.continued_from(changed));
        let range = continued.unwrap_or(all);
        let before = match continued {
            Some(range) => days::stored_usage(self.publication, self.of, range.first - 1)?,
            None => BTreeMap::new(),
        };
        let job_files = match continued {
            Some(range) => inputs.job_files_of(range.span_s(zone)),
            None => files.jobs.iter().collect(),
        };
        let scan = UsageScan {
            store,
            files: &job_files,
            settings: &settings,
            trees: &trees,
            range,
            threads: self.threads,
        };
        let mut uncounted = UncountedJobs::default();
        let added = UsageDays::read(&scan, &mut uncounted)?;
        uncounted.report(self.of, reports);
        report_assumed_shares(self.of, &trees, &inputs.reaches);
        let history = History {
            settings: &settings,
            trees: &trees,
            added: &added,
            range,
        };
        self.remove_from(continued);
        history.each_month(&before, |month, rows| {
            let path = fairshare_path(&self.of.site, &self.of.cluster, month);
            let mut table = LakeTable::create(self.publication, "fairshare", &path)?;
            if continued.is_some() {
                for batch in days::stored_before(self.publication, &path, range.first)? {
                    table.write(&batch)?;
                }
            }
            table.write(&rows::to_batch(rows)?)?;
            table.finish(&[("gridtally.fairshare".to_owned(), inputs.settings.stated.clone())])?;
            Ok(())
        })?;
        Ok(ClusterBasis::new(self.of, inputs))
    }

    /// Takes away the files of months that are made again, all of them where nothing is.
    fn remove_from(&self, range: Option<DayRange>) {
        for path in self.publication.paths("fairshare") {
            let Some((site, cluster, month)) = parse_fairshare_path(&path) else {
                continue;
            };
            let is_own = site == self.of.site && cluster == self.of.cluster;
            if is_own && range.is_none_or(|range| month.last_day() >= range.first) {
                self.publication.remove(&path);
            }
        }
    }
}

/// Reports that shares are assumed for the time before the first listing.
fn report_assumed_shares(of: &FairsharePlan, trees: &DatedTrees, reaches: &Reaches) {
    let first_s = reaches
        .values()
        .filter_map(|file| file.span)
        .map(|span| span.start_s)
        .min();
    let is_later = |(stated_ms, first_s): &(i64, i64)| first_s.product_to_compare(1000) < *stated_ms;
    if let Some((stated_ms, _)) = trees.first_stated_ms().zip(first_s).filter(is_later) {
        let since = instant_text(stated_ms).unwrap_or_else(|| stated_ms.to_string());
        warn!(
            cluster = %of.cluster,
            "fairshare of {}: the first listing of associations is of {since}; its shares are assumed before",
            of.cluster
        );
    }
}
