//! A cluster of a published lake: what its fairshare is computed from.

use super::daemon::KnownRuns;
use super::files::ClusterFiles;
use super::lake_fairshare::LakeFairshare;
use super::listing::{DatedTrees, ListedTree};
use super::settings::FairshareSettings;
use crate::config::fairshare_plan::FairsharePlan;
use crate::error::{Error, Result};
use crate::fairshare::{ChainedDecay, UsageDecay};
use crate::store::{Manifest, Store};
use crate::time::Zone;

/// Plan, files, settings and trees of one cluster.
#[derive(Clone, Debug)]
pub struct FairshareContext {
    /// What the pipeline states, or a what-if of it.
    pub plan: FairsharePlan,
    /// The files that are read.
    pub files: ClusterFiles,
    /// The plan, completed by listings.
    pub settings: FairshareSettings,
    /// The trees of its listings.
    pub trees: DatedTrees,
    /// The runs of the scheduler's daemon.
    pub daemon: KnownRuns,
}

impl FairshareContext {
    /// Reads the listings of a cluster.
    ///
    /// # Errors
    /// As [`FairshareSettings::resolve`] and [`DatedTrees::read`].
    pub fn read(
        known: &LakeFairshare,
        manifest: &Manifest,
        store: &Store,
        zone: &Zone,
        plan: FairsharePlan,
    ) -> Result<Self> {
        let files = known.files(manifest, &plan);
        Ok(Self {
            settings: FairshareSettings::resolve(&plan, zone, store, &files)?,
            trees: DatedTrees::read(store, &files, &plan)?,
            daemon: KnownRuns::read(store, &files, &plan)?,
            plan,
            files,
        })
    }

    /// The same with what is known of an instant: when the scheduler calculates follows from the runs of its daemon up to then.
    /// Usage of days is not computed so, because a day is the same after a daemon started again.
    #[must_use]
    pub fn at(mut self, at_s: i64) -> Self {
        self.settings = self.settings.with_runs(self.daemon.up_to(at_s));
        self
    }

    /// The last calculation of the scheduler up to an instant; the instant where usage does not follow calculations, and
    /// where neither decay nor anything else states them.
    #[must_use]
    pub fn calculated_s(&self, at_s: i64) -> i64 {
        match (self.settings.calculations.known(), self.settings.rule.decay) {
            (Some(times), _) => self.settings.rule.last_calculation_s(times, at_s),
            (None, UsageDecay::Chained(ChainedDecay::Steps(steps))) => steps.last_at(at_s),
            (None, _) => at_s,
        }
    }

    /// The tree in force at an instant, with its limits.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when there is none.
    pub fn listed_at(&self, at_s: i64) -> Result<&ListedTree> {
        // Fallback: an instant beyond all milliseconds has the last tree.
        let listed = self.trees.listed_at(at_s.saturating_mul(1000));
        listed.ok_or_else(|| Error::internal("a cluster without a tree"))
    }
}
