//! The jobs of a cluster with what they count for: usage of a schedule that was not is made of the same jobs at other times.

use std::collections::BTreeMap;

use super::context::FairshareContext;
use super::job_associations::JobAssociations;
use super::jobs::{JobDetail, read_detail};
use super::uncounted::UncountedJobs;
use crate::error::Result;
use crate::fairshare::{AssociationKey, AssociationTree, UsageSegment};
use crate::runtime::pool;
use crate::store::Store;
use crate::time::SecondSpan;

/// A job that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedUse {
    /// Identity of its record.
    pub record_id: u128,
    /// The place of its association.
    pub association: usize,
    /// When it ran, and for how much.
    pub segment: UsageSegment,
}

/// All jobs of a cluster that count.
#[derive(Clone, Debug, Default)]
pub struct ClusterUse {
    /// Associations of jobs, each once.
    pub associations: Vec<AssociationKey>,
    /// Jobs, in the order of their files.
    pub jobs: Vec<CountedUse>,
    /// Jobs that cannot be counted.
    pub uncounted: UncountedJobs,
}

/// A tree, and the first second in which it is in force.
#[derive(Clone, Copy, Debug)]
pub struct TreeSince<'a> {
    /// The second.
    pub from_s: i64,
    /// The tree.
    pub tree: &'a AssociationTree,
}

impl ClusterUse {
    /// Reads the records of a cluster.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when a file cannot be read, [`crate::error::Kind::Data`] when usage does not fit.
    pub fn read(store: &Store, context: &FairshareContext, threads: usize) -> Result<Self> {
        let all = SecondSpan {
            start_s: i64::MIN,
            end_s: i64::MAX,
        };
        let of_files = pool::each(&context.files.jobs, threads, |file| {
            let mut associations = JobAssociations::default();
            let mut jobs = Vec::new();
            let uncounted = read_detail(store, file, &context.settings, all, JobDetail::Whole, |job| {
                jobs.push(CountedUse {
                    record_id: job.record_id,
                    association: associations.number(&job, &context.trees),
                    segment: job.segment,
                });
                Ok(())
            })?;
            Ok((associations.keys, jobs, uncounted))
        })?;
        let mut found = Self::default();
        let mut known: BTreeMap<AssociationKey, usize> = BTreeMap::new();
        for (keys, jobs, uncounted) in of_files {
            found.uncounted.append(uncounted);
            let places: Vec<usize> = (keys.into_iter())
                .map(|key| {
                    *known.entry(key).or_insert_with_key(|key| {
                        found.associations.push(key.clone());
                        found.associations.len() - 1
                    })
                })
                .collect();
            found.jobs.extend(jobs.into_iter().map(|job| CountedUse {
                association: places[job.association],
                ..job
            }));
        }
        Ok(found)
    }
}

impl FairshareContext {
    /// The trees in the order of time.
    pub fn trees_since(&self) -> impl Iterator<Item = TreeSince<'_>> {
        self.trees.dated().map(|(from_ms, tree)| TreeSince {
            // A listing without an instant holds before all others.
            from_s: from_ms.map_or(i64::MIN, |ms| ms.div_euclid(1000) + i64::from(ms.rem_euclid(1000) > 0)),
            tree,
        })
    }
}
