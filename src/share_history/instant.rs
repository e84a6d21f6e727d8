//! Fairshare of a cluster at one instant, from its jobs directly.

use std::collections::BTreeMap;

use super::context::FairshareContext;
use super::job_associations::JobAssociations;
use super::jobs::read;
use super::listed_instants::{ListedInstants, ListedSums};
use super::settings::FairshareSettings;
use super::uncounted::UncountedJobs;
use crate::error::Result;
use crate::fairshare::float::too_large;
use crate::fairshare::{AssociationKey, AssociationScore, AssociationTree, ListedUsage, TreeUsage};
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
    /// Usage around the last calculation before it, where that is known: what a listing of the scheduler follows from.
    listed: Option<ListedUsage>,
    /// Their scores, in its order, as the scheduler lists them.
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
        let instants = ListedInstants::new(&settings.rule, settings.calculations.known(), at_s);
        let of_files = pool::each(&context.files.jobs, threads, |file| {
            let mut associations = JobAssociations::default();
            let mut sums: Vec<ListedSums> = Vec::new();
            let uncounted = read(store, file, settings, all, |job| {
                let number = associations.number(&job, trees);
                if sums.len() <= number {
                    sums.resize(number + 1, ListedSums::default());
                }
                let usage = instants.usage_e6(&job)?;
                if let Some(sum) = sums.get_mut(number) {
                    *sum = sum.checked_add(usage).ok_or_else(too_large)?;
                }
                Ok(())
            })?;
            Ok((associations.keys, sums, uncounted))
        })?;
        let tree = context.listed_at(at_s)?.tree.clone();
        let none = TreeUsage::none(&tree);
        let mut listed = ListedUsage {
            now: none.clone(),
            calculated: none.clone(),
            before: none.clone(),
            earlier: none,
        };
        let (mut uncounted, mut unlisted_e6) = (UncountedJobs::default(), BTreeMap::new());
        for (keys, sums, of_file) in of_files {
            uncounted.append(of_file);
            for (key, sums) in keys.into_iter().zip(sums) {
                let own = tree.find(&key);
                if let Some(id) = own.or_else(|| tree.account_of(&key)) {
                    listed.now.add(id, sums.now_e6)?;
                    listed.calculated.add(id, sums.calculated_e6)?;
                    listed.before.add(id, sums.before_e6)?;
                    listed.earlier.add(id, sums.earlier_e6)?;
                }
                if own.is_none() {
                    let sum: &mut i128 = unlisted_e6.entry(key).or_default();
                    *sum = sum.checked_add(sums.now_e6).ok_or_else(too_large)?;
                }
            }
        }
        let usage = listed.now.clone();
        let listed = Some(listed).filter(|_| instants.is_mixed());
        let scores = scores(settings, &tree, &usage, listed.as_ref())?;
        Ok(Self {
            at_s,
            tree,
            usage,
            listed,
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
        let scores = scores(settings, &tree, &self.usage, self.listed.as_ref())?;
        Ok(Self {
            tree,
            scores,
            ..self.clone()
        })
    }
}

/// The scores of a tree as the scheduler lists them, or of one instant where its calculations are not known.
fn scores(
    settings: &FairshareSettings,
    tree: &AssociationTree,
    usage: &TreeUsage,
    listed: Option<&ListedUsage>,
) -> Result<Vec<AssociationScore>> {
    match listed {
        Some(listed) => settings.method.listed_scores(tree, listed),
        None => settings.method.scores(tree, usage),
    }
}
