//! Fairshare of a cluster at one instant, from its jobs directly.

use std::collections::BTreeMap;

use super::context::FairshareContext;
use super::job_associations::JobAssociations;
use super::jobs::read;
use super::settings::FairshareSettings;
use super::uncounted::UncountedJobs;
use crate::error::Result;
use crate::fairshare::float::too_large;
use crate::fairshare::{AssociationKey, AssociationScore, AssociationTree, TreeUsage};
use crate::runtime::pool;
use crate::store::Store;
use crate::time::SecondSpan;

/// Shares, usage and factors of a cluster at an instant.
#[derive(Clone, Debug)]
pub struct ClusterInstant {
    /// Unix seconds.
    pub at_s: i64,
    /// The tree in force.
    pub tree: AssociationTree,
    /// Usage of its associations.
    pub usage: TreeUsage,
    /// Their scores, in its order.
    pub scores: Vec<AssociationScore>,
    /// Usage of what it does not list, 10^-6 billing seconds.
    pub unlisted_e6: BTreeMap<AssociationKey, i128>,
    /// Jobs that are not counted.
    pub uncounted: UncountedJobs,
}

impl ClusterInstant {
    /// Reads all jobs that began before an instant.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when a file cannot be read, [`crate::error::Kind::Data`] when usage does not fit.
    pub fn read(store: &Store, context: &FairshareContext, at_s: i64, threads: usize) -> Result<Self> {
        let (settings, trees) = (&context.settings, &context.trees);
        let all = SecondSpan {
            start_s: i64::MIN,
            end_s: at_s,
        };
        let of_files = pool::each(&context.files.jobs, threads, |file| {
            let mut associations = JobAssociations::default();
            let mut sums_e6: Vec<i128> = Vec::new();
            let uncounted = read(store, file, settings, all, |job| {
                let number = associations.number(&job, trees);
                if sums_e6.len() <= number {
                    sums_e6.resize(number + 1, 0);
                }
                let usage_e6 = settings.rule.usage_e6(&job.segment, at_s)?;
                if let Some(sum) = sums_e6.get_mut(number) {
                    *sum = sum.checked_add(usage_e6).ok_or_else(too_large)?;
                }
                Ok(())
            })?;
            Ok((associations.keys, sums_e6, uncounted))
        })?;
        let tree = context.listed_at(at_s)?.tree.clone();
        let (mut usage, mut uncounted) = (TreeUsage::none(&tree), UncountedJobs::default());
        let mut unlisted_e6 = BTreeMap::new();
        for (keys, sums_e6, of_file) in of_files {
            uncounted.append(of_file);
            for (key, sum_e6) in keys.into_iter().zip(sums_e6) {
                let account = || tree.find(&AssociationKey::account(key.account.as_str()));
                let listed = tree.find(&key);
                if let Some(id) = listed.or_else(account) {
                    usage.add(id, sum_e6)?;
                }
                if listed.is_none() {
                    let sum: &mut i128 = unlisted_e6.entry(key).or_default();
                    *sum = sum.checked_add(sum_e6).ok_or_else(too_large)?;
                }
            }
        }
        let scores = settings.method.scores(&tree, &usage)?;
        Ok(Self {
            at_s,
            tree,
            usage,
            scores,
            unlisted_e6,
            uncounted,
        })
    }

    /// The same usage under other shares and another algorithm. The tree has the same associations.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when usage does not fit.
    pub fn rescored(&self, settings: &FairshareSettings, tree: AssociationTree) -> Result<Self> {
        let scores = settings.method.scores(&tree, &self.usage)?;
        Ok(Self {
            tree,
            scores,
            ..self.clone()
        })
    }
}
