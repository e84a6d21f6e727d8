//! What one side of a comparison is computed under.

use std::sync::Arc;

use super::super::charges::tariffs;
use super::super::lake::Lake;
use crate::config::fairshare_change::{FairshareChange, UsageChange};
use crate::config::fairshare_plan::{FairsharePlan, UsageBasis};
use crate::config::fairshare_spec::{RECORDED_BILLING, seconds_of_unit};
use crate::diagnostics::did_you_mean;
use crate::error::{Error, Result};
use crate::share_history::changed_shares::ChangedShares;
use crate::share_history::factor_course::FactorScan;
use crate::share_history::files::ClusterFiles;
use crate::share_history::instant::ClusterInstant;
use crate::share_history::listing::DatedTrees;
use crate::share_history::settings::FairshareSettings;

/// Rules, files and trees of one side.
#[derive(Clone, Debug)]
pub(super) struct FairshareSide {
    pub(super) plan: FairsharePlan,
    pub(super) settings: FairshareSettings,
    pub(super) files: ClusterFiles,
    pub(super) trees: DatedTrees,
}

impl FairshareSide {
    /// As the pipeline states it.
    pub(super) fn of_plan(lake: &Lake, plan: &FairsharePlan) -> Result<Self> {
        let files = ClusterFiles::of_manifest(&lake.manifest, plan);
        Ok(Self {
            plan: plan.clone(),
            settings: FairshareSettings::resolve(plan, &lake.zone()?, &lake.store, &files)?,
            trees: DatedTrees::read(&lake.store, &files, plan)?,
            files,
        })
    }

    /// As it is assumed, and which shares differ at an instant.
    pub(super) fn changed(
        &self,
        lake: &Lake,
        change: &FairshareChange,
        at_s: i64,
    ) -> Result<(Self, Vec<ChangedShares>)> {
        let mut plan = change.applied_to(&self.plan)?;
        let mut tariff = None;
        match &change.usage {
            Some(UsageChange::Named { name, place }) => plan.usage = named_usage(lake, name, place)?,
            Some(UsageChange::Priced(priced)) => tariff = Some(Arc::clone(priced)),
            None => {}
        }
        let files = ClusterFiles::of_manifest(&lake.manifest, &plan);
        let mut settings = FairshareSettings::resolve(&plan, &lake.zone()?, &lake.store, &files)?;
        settings.tariff = tariff;
        let (trees, shares) = self.trees.with_shares(&change.shares, at_s)?;
        let side = Self {
            plan,
            settings,
            files,
            trees,
        };
        Ok((side, shares))
    }

    /// Its state at an instant, from the jobs.
    pub(super) fn instant(&self, lake: &Lake, at_s: i64) -> Result<ClusterInstant> {
        let threads = std::thread::available_parallelism().map_or(1, Into::into);
        ClusterInstant::read(&lake.store, &self.files, &self.settings, &self.trees, at_s, threads)
    }

    /// Its state at an instant, given that of the other side: where usage counts the same the jobs are not read again.
    pub(super) fn instant_like(&self, lake: &Lake, other: &Self, of_other: &ClusterInstant) -> Result<ClusterInstant> {
        if !self.settings.counts_like(&other.settings) {
            return self.instant(lake, of_other.at_s);
        }
        // Fallback: an instant beyond all milliseconds has the last tree.
        let tree = self.trees.at(of_other.at_s.saturating_mul(1000));
        let tree = tree.ok_or_else(|| Error::internal("a cluster without a tree"))?;
        of_other.rescored(&self.settings, tree.clone())
    }

    /// What its days are computed from.
    pub(super) fn scan<'a>(&'a self, lake: &'a Lake) -> FactorScan<'a> {
        FactorScan {
            store: &lake.store,
            files: &self.files,
            settings: &self.settings,
            trees: &self.trees,
        }
    }
}

/// What a name counts jobs by: the recorded billing, or a policy that the lake charged by.
fn named_usage(lake: &Lake, name: &str, place: &str) -> Result<UsageBasis> {
    if name == RECORDED_BILLING {
        return Ok(UsageBasis::RecordedBilling);
    }
    let known: Vec<_> = (tariffs(lake)?.into_iter())
        .filter(|tariff| !tariff.is_of_nodes())
        .collect();
    let full = |policy: &str, options: &str| format!("{policy}[{options}]");
    let found: Vec<_> = (known.iter())
        .filter(|tariff| tariff.policy == name || full(&tariff.policy, &tariff.options) == name)
        .collect();
    match found.as_slice() {
        [tariff] if seconds_of_unit(&tariff.unit).is_none() => Err(Error::config(format!(
            "{place}: usage = \"{name}\" counts in {}, which is no amount for a time",
            tariff.unit
        ))),
        [tariff] => Ok(UsageBasis::Policy {
            policy: tariff.policy.clone(),
            options: tariff.options.clone(),
        }),
        [] => {
            let words = known
                .iter()
                .map(|tariff| tariff.policy.as_str())
                .chain([RECORDED_BILLING]);
            let hint = did_you_mean(name, words);
            Err(Error::config(format!(
                "{place}: usage = \"{name}\" is neither \"{RECORDED_BILLING}\" nor a policy that the lake charged by{hint}; \
                 policy = \"FILE.toml\" prices the jobs under any policy"
            )))
        }
        several => {
            let names: Vec<String> = several
                .iter()
                .map(|tariff| full(&tariff.policy, &tariff.options))
                .collect();
            Err(Error::config(format!(
                "{place}: usage = \"{name}\" may be any of {}",
                names.join(", ")
            )))
        }
    }
}
