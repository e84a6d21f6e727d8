//! Factors and ranks of all associations at the end of every day of a period.

use std::collections::BTreeMap;

use super::context::FairshareContext;
use super::days::{DayRange, History, OwnUsage, PlacedKeys, UsageSeries};
use super::files::JobFile;
use super::jobs;
use super::lake_fairshare::LakeFairshare;
use super::uncounted::UncountedJobs;
use super::usage_days::{UsageDays, UsageScan};
use crate::error::{Error, Result};
use crate::fairshare::AssociationKey;
use crate::fairshare::standing::{Standing, standings};
use crate::store::Store;
use crate::time::{Day, DaySpan};

/// The days of a cluster of which jobs are known.
///
/// # Errors
/// [`crate::error::Kind::Io`] when a file cannot be read.
pub fn job_days(store: &Store, known: &LakeFairshare, context: &FairshareContext) -> Result<Option<DaySpan>> {
    let (jobs, of) = (&context.files.jobs, &context.plan);
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    let reaches = jobs::reaches(store, jobs, &of.cluster, known.basis(of), threads)?;
    Ok(
        DayRange::of(&reaches, &context.settings.rule.zone).map(|range| DaySpan {
            from: Some(range.first),
            to: Some(range.last),
        }),
    )
}

/// What a course is computed from.
#[derive(Clone, Copy, Debug)]
pub struct FactorScan<'a> {
    /// The lake.
    pub store: &'a Store,
    /// The cluster: its files, how usage counts, and its trees.
    pub context: &'a FairshareContext,
}

/// Where associations stand, day by day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactorCourse {
    /// The days.
    pub days: Vec<Day>,
    /// Of every association that a tree of these days has, where it stands on each of the days. It stands nowhere where the
    /// tree of a day does not have it.
    pub standings: BTreeMap<AssociationKey, Vec<Standing>>,
}

impl FactorCourse {
    /// The factors at the end of each day from `first` to `last`, from the jobs of `since` and later, as the `fairshare`
    /// dataset has them.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when a file cannot be read, [`crate::error::Kind::Data`] when usage does not fit.
    pub fn read(scan: FactorScan<'_>, since: Day, first: Day, last: Day) -> Result<Self> {
        let range = DayRange {
            first: since.min(first),
            last,
        };
        let threads = std::thread::available_parallelism().map_or(1, Into::into);
        // Jobs that are not counted are reported with the instant.
        let mut uncounted = UncountedJobs::default();
        let files: Vec<&JobFile> = scan.context.files.jobs.iter().collect();
        let usage_scan = UsageScan {
            store: scan.store,
            files: &files,
            settings: &scan.context.settings,
            trees: &scan.context.trees,
            range,
            threads,
        };
        let added = UsageDays::read(&usage_scan, &mut uncounted)?;
        let history = History {
            settings: &scan.context.settings,
            trees: &scan.context.trees,
            added: &added,
            range,
        };
        let edges_s = range.edges_s(&scan.context.settings.rule.zone);
        let before = OwnUsage::new();
        let keys = history.keys(&before);
        let mut usage = UsageSeries::new(&keys, &before, &history)?;
        let mut course = Self::default();
        let mut placed: Option<PlacedKeys<'_>> = None;
        for (day, edge) in (range.first..=range.last).zip(edges_s.windows(2)) {
            let &[begins_s, ends_s] = edge else { continue };
            usage.end_day(begins_s, ends_s)?;
            if day < first {
                continue;
            }
            // Fallback: an edge beyond all milliseconds has the last tree.
            let tree = scan.context.trees.at(ends_s.saturating_mul(1000) - 1);
            let tree = tree.ok_or_else(|| Error::internal("a cluster without a tree"))?;
            if placed.as_ref().is_none_or(|placed| !std::ptr::eq(placed.tree, tree)) {
                placed = Some(PlacedKeys::new(tree, &keys));
            }
            if let Some(placed) = &placed {
                let scores = scan.context.settings.method.scores(tree, &placed.tree_usage(&usage)?)?;
                for ((_, association), standing) in tree.iter().zip(standings(tree, &scores)?) {
                    course.push(&association.key, standing);
                }
            }
            course.end_day(day);
        }
        Ok(course)
    }

    fn push(&mut self, key: &AssociationKey, standing: Standing) {
        let day_n = self.days.len();
        if let Some(of_days) = self.standings.get_mut(key) {
            of_days.push(standing);
        } else {
            let mut of_days = vec![Standing::default(); day_n];
            of_days.push(standing);
            self.standings.insert(key.clone(), of_days);
        }
    }

    /// Ends a day: what the tree of the day does not have stands nowhere.
    fn end_day(&mut self, day: Day) {
        self.days.push(day);
        let day_n = self.days.len();
        for of_days in self.standings.values_mut() {
            of_days.resize(day_n, Standing::default());
        }
    }
}
