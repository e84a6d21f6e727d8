//! Resource minutes of associations at one instant: used, decayed as usage is, and still granted to running jobs.

use std::collections::BTreeSet;

use super::context::FairshareContext;
use super::job_associations::JobAssociations;
use super::jobs::{CountedJob, JobDetail, read_detail};
use super::resource_columns::JobResources;
use crate::error::Result;
use crate::fairshare::float::too_large;
use crate::fairshare::{AssociationTree, UsageSegment};
use crate::runtime::pool;
use crate::store::Store;
use crate::time::SecondSpan;

/// One of a rate, 10^-9.
const E9: i128 = 1_000_000_000;
/// Units of decayed seconds, 10^-6, in a minute.
const MINUTE_E6: i128 = 60_000_000;

/// Which of both is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceMinutes {
    /// What running jobs may still use (`TRESRunMins`).
    Running,
    /// That, and what was used (`GrpTRESRaw`).
    RunningAndUsed,
}

/// Sums of one association and one resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ResourceSums {
    /// Amount times seconds that running jobs may still take.
    running_s: i128,
    /// Amount times seconds that were used, decayed, 10^-6.
    used_e6: i128,
}

/// Resource minutes of the associations of a tree, in its order, with all that is in each.
#[derive(Clone, Debug)]
pub struct ClusterResources {
    /// Names of the resources, in the order of the scheduler.
    pub names: Vec<String>,
    sums: Vec<Vec<ResourceSums>>,
    /// Resources that jobs of the records may have and the records do not hold.
    pub unknown: BTreeSet<String>,
    /// Running jobs whose time limit is unknown: nothing of them is in the running minutes.
    pub unlimited_n: u64,
}

/// The jobs of one file.
#[derive(Default)]
struct FileResources {
    associations: JobAssociations,
    sums: Vec<Vec<ResourceSums>>,
    unknown: BTreeSet<String>,
    unlimited_n: u64,
}

impl ClusterResources {
    /// Reads all jobs that began before an instant.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when a file cannot be read, [`crate::error::Kind::Data`] when a sum does not fit.
    pub fn read(
        store: &Store,
        context: &FairshareContext,
        at_s: i64,
        names: Vec<String>,
        which: ResourceMinutes,
        threads: usize,
    ) -> Result<Self> {
        let all = SecondSpan {
            start_s: i64::MIN,
            end_s: at_s,
        };
        let scan = ResourceScan {
            context,
            at_s,
            calculated_s: context.calculated_s(at_s),
            names: &names,
            which,
        };
        let of_files = pool::each(&context.files.jobs, threads, |file| {
            let mut of_file = FileResources::default();
            read_detail(store, file, &context.settings, all, JobDetail::Resources, |job| {
                scan.add(&job, &mut of_file)
            })?;
            Ok(of_file)
        })?;
        let tree = &context.listed_at(at_s)?.tree;
        let mut sums = vec![vec![ResourceSums::default(); names.len()]; tree.len()];
        let (mut unknown, mut unlimited_n) = (BTreeSet::new(), 0);
        for of_file in of_files {
            unknown.extend(of_file.unknown);
            unlimited_n += of_file.unlimited_n;
            for (key, of_association) in of_file.associations.keys.into_iter().zip(of_file.sums) {
                if let Some(id) = tree.place_of(&key)
                    && let Some(into) = sums.get_mut(id.index())
                {
                    add_all(into, &of_association)?;
                }
            }
        }
        add_up(tree, &mut sums)?;
        Ok(Self {
            names,
            sums,
            unknown,
            unlimited_n,
        })
    }

    /// What running jobs may still use, in whole minutes, as `name=minutes` for every resource (`TRESRunMins`).
    #[must_use]
    pub fn running_text(&self, index: usize) -> Option<String> {
        self.text(index, |sums| sums.running_s.div_euclid(60))
    }

    /// What was used, decayed, in whole minutes (`GrpTRESRaw`).
    #[must_use]
    pub fn used_text(&self, index: usize) -> Option<String> {
        self.text(index, |sums| sums.used_e6.div_euclid(MINUTE_E6))
    }

    fn text(&self, index: usize, minutes: impl Fn(&ResourceSums) -> i128) -> Option<String> {
        let known = self.names.iter().zip(self.sums.get(index)?);
        let known = known.filter(|(name, _)| !self.unknown.contains(*name));
        let each: Vec<String> = known.map(|(name, sums)| format!("{name}={}", minutes(sums))).collect();
        Some(each.join(","))
    }
}

/// What is computed of every job.
struct ResourceScan<'a> {
    context: &'a FairshareContext,
    at_s: i64,
    calculated_s: i64,
    names: &'a [String],
    which: ResourceMinutes,
}

impl ResourceScan<'_> {
    fn add(&self, job: &CountedJob<'_>, into: &mut FileResources) -> Result<()> {
        let Some(resources) = &job.resources else {
            return Ok(());
        };
        let number = into.associations.number(job, &self.context.trees);
        if into.sums.len() <= number {
            into.sums
                .resize(number + 1, vec![ResourceSums::default(); self.names.len()]);
        }
        let remaining_s = self.remaining_s(job, resources, &mut into.unlimited_n);
        let Some(sums) = into.sums.get_mut(number) else {
            return Ok(());
        };
        for (name, sums) in self.names.iter().zip(sums) {
            let Some(amount) = resources.amount(name).map(i128::from) else {
                into.unknown.insert(name.clone());
                continue;
            };
            let running_s = amount.checked_mul(i128::from(remaining_s)).ok_or_else(too_large)?;
            sums.running_s = sums.running_s.checked_add(running_s).ok_or_else(too_large)?;
            // The scheduler does not count energy.
            if self.which == ResourceMinutes::RunningAndUsed && name != "energy" && amount != 0 {
                let segment = UsageSegment {
                    rate_e9: amount.checked_mul(E9).ok_or_else(too_large)?,
                    ..job.segment
                };
                let used_e6 = self.context.settings.rule.usage_e6(&segment, self.at_s)?;
                sums.used_e6 = sums.used_e6.checked_add(used_e6).ok_or_else(too_large)?;
            }
        }
        Ok(())
    }

    /// Seconds of the time limit that a job has left, as of the last calculation; none of one that has ended.
    fn remaining_s(&self, job: &CountedJob<'_>, resources: &JobResources, unlimited_n: &mut u64) -> i64 {
        let span = job.segment.span;
        if !job.is_open && span.end_s <= self.at_s {
            return 0;
        }
        let Some(limit_s) = resources.limit_s else {
            *unlimited_n += 1;
            return 0;
        };
        let used_s = self.calculated_s.checked_sub(span.start_s).filter(|used_s| *used_s > 0);
        match used_s {
            None => limit_s,
            Some(used_s) => limit_s.checked_sub(used_s).map_or(0, |left_s| left_s.max(0)),
        }
    }
}

fn add_all(into: &mut [ResourceSums], more: &[ResourceSums]) -> Result<()> {
    for (sums, more) in into.iter_mut().zip(more) {
        sums.running_s = sums.running_s.checked_add(more.running_s).ok_or_else(too_large)?;
        sums.used_e6 = sums.used_e6.checked_add(more.used_e6).ok_or_else(too_large)?;
    }
    Ok(())
}

/// Adds what is in each account to it, from the end of the tree on: what is in an account comes after it.
fn add_up(tree: &AssociationTree, sums: &mut [Vec<ResourceSums>]) -> Result<()> {
    for (id, association) in tree.iter().rev() {
        let Some(parent) = association.parent else { continue };
        let of_child = sums.get(id.index()).cloned();
        if let (Some(of_child), Some(into)) = (of_child, sums.get_mut(parent.index())) {
            add_all(into, &of_child)?;
        }
    }
    Ok(())
}
