//! What one side of a comparison is computed under.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::charges::{BalanceTariff, tariffs};
use super::super::lake::Lake;
use super::super::sshare::thread_n;
use crate::config::fairshare_change::{FairshareChange, UsageChange};
use crate::config::fairshare_plan::{FairsharePlan, UsageBasis};
use crate::config::fairshare_spec::{RECORDED_BILLING, seconds_of_unit};
use crate::diagnostics::did_you_mean;
use crate::error::{Error, Result};
use crate::share_history::LakeFairshare;
use crate::share_history::changed_shares::ChangedShares;
use crate::share_history::context::FairshareContext;
use crate::share_history::factor_course::FactorScan;
use crate::share_history::instant::ClusterInstant;

/// Rules, files and trees of one side.
#[derive(Clone, Debug)]
pub(super) struct FairshareSide {
    pub(super) context: FairshareContext,
}

impl FairshareSide {
    /// As the pipeline states it.
    pub(super) fn of_plan(lake: &Lake, known: &LakeFairshare, plan: FairsharePlan) -> Result<Self> {
        let context = FairshareContext::read(known, &lake.manifest, &lake.store, &lake.zone()?, plan)?;
        Ok(Self { context })
    }

    /// As it is assumed, and which shares differ at an instant.
    pub(super) fn changed(
        &self,
        lake: &Lake,
        known: &LakeFairshare,
        change: &FairshareChange,
        at_s: i64,
    ) -> Result<(Self, Vec<ChangedShares>)> {
        let mut plan = change.applied_to(&self.context.plan)?;
        let mut tariff = None;
        match &change.usage {
            Some(UsageChange::Named { name, place }) => {
                plan.usage = named_usage(lake, name, place)?;
                // It holds in place of what the pipeline states of some times as well.
                plan.dated_usage.clear();
            }
            Some(UsageChange::Priced(priced)) => tariff = Some(Arc::clone(priced)),
            None => {}
        }
        let mut context = FairshareContext::read(known, &lake.manifest, &lake.store, &lake.zone()?, plan)?;
        context.settings.tariff = tariff;
        let (trees, shares) = self.context.trees.with_shares(&change.shares, at_s)?;
        context.trees = trees;
        Ok((Self { context }, shares))
    }

    /// Its state at an instant, from the jobs.
    pub(super) fn instant(&self, lake: &Lake, at_s: i64) -> Result<ClusterInstant> {
        ClusterInstant::read(&lake.store, &self.context, at_s, thread_n())
    }

    /// Its state at an instant, given that of the other side: where usage counts the same the jobs are not read again.
    pub(super) fn instant_like(&self, lake: &Lake, other: &Self, of_other: &ClusterInstant) -> Result<ClusterInstant> {
        if !self.context.settings.counts_like(&other.context.settings) {
            return self.instant(lake, of_other.at_s);
        }
        let tree = self.context.listed_at(of_other.at_s)?.tree.clone();
        of_other.rescored(&self.context.settings, tree)
    }

    /// What its days are computed from.
    pub(super) fn scan<'a>(&'a self, lake: &'a Lake) -> FactorScan<'a> {
        FactorScan {
            store: &lake.store,
            context: &self.context,
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
    let full = |tariff: &BalanceTariff| format!("{}[{}]", tariff.policy, tariff.options);
    let found: Vec<_> = (known.iter())
        .filter(|tariff| tariff.policy == name || full(tariff) == name)
        .collect();
    // Versions of one policy may charge in different units and be of different pools.
    let names: BTreeSet<String> = found.iter().map(|tariff| full(tariff)).collect();
    if names.len() > 1 {
        let names: Vec<String> = names.into_iter().collect();
        let message = format!("{place}: usage = \"{name}\" may be any of {}", names.join(", "));
        return Err(Error::config(message));
    }
    let Some(first) = found.first() else {
        let words = known
            .iter()
            .map(|tariff| tariff.policy.as_str())
            .chain([RECORDED_BILLING]);
        let hint = did_you_mean(name, words);
        return Err(Error::config(format!(
            "{place}: usage = \"{name}\" is neither \"{RECORDED_BILLING}\" nor a policy that the lake charged by{hint}; \
             policy = \"FILE.toml\" prices the jobs under any policy"
        )));
    };
    if let Some(tariff) = found.iter().find(|tariff| seconds_of_unit(&tariff.unit).is_none()) {
        return Err(Error::config(format!(
            "{place}: usage = \"{name}\" counts in {}, which is no amount for a time",
            tariff.unit
        )));
    }
    Ok(UsageBasis::Policy {
        policy: first.policy.clone(),
        options: first.options.clone(),
    })
}
