//! Jobs by association, as evidence for why counters and computed usage differ.

use super::context::FairshareContext;
use super::job_associations::JobAssociations;
use super::jobs::read;
use crate::error::Result;
use crate::fairshare::float::too_large;
use crate::fairshare::{ChainedDecay, UsageDecay, UsageSegment};
use crate::runtime::pool;
use crate::store::Store;
use crate::time::SecondSpan;

/// Units of 10^-18 (a rate times a factor) in one of 10^-6 (usage).
const E12: i128 = 1_000_000_000_000;

/// The jobs of one association.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssociationJobs {
    /// Those that began before the instant, 48 bytes each.
    pub segments: Vec<UsageSegment>,
    /// The most that running ones may have used that is not computed, 10^-6 billing seconds: what they use in one
    /// calculation period, and from the end of what their records state to the instant.
    pub running_e6: i128,
}

/// The jobs of every association of the tree in force, in its order. Jobs of users that it does not list are those of their
/// account.
#[derive(Clone, Debug)]
pub struct JobEvidence {
    /// By association.
    pub associations: Vec<AssociationJobs>,
}

impl JobEvidence {
    /// Reads all jobs that began before an instant.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when a file cannot be read, [`crate::error::Kind::Data`] when usage does not fit.
    pub fn read(store: &Store, context: &FairshareContext, at_s: i64, threads: usize) -> Result<Self> {
        let all = SecondSpan {
            start_s: i64::MIN,
            end_s: at_s,
        };
        let period_s = match (context.settings.calculations.known(), context.settings.rule.decay) {
            (Some(times), _) => times.period_s(),
            (None, UsageDecay::Chained(ChainedDecay::Steps(steps))) => steps.period_s(),
            (None, _) => 0,
        };
        let of_files = pool::each(&context.files.jobs, threads, |file| {
            let mut associations = JobAssociations::default();
            let mut of_file: Vec<AssociationJobs> = Vec::new();
            read(store, file, &context.settings, all, |job| {
                let number = associations.number(&job, &context.trees);
                if of_file.len() <= number {
                    of_file.resize_with(number + 1, AssociationJobs::default);
                }
                let Some(of) = of_file.get_mut(number) else {
                    return Ok(());
                };
                of.segments.push(job.segment);
                let span = job.segment.span;
                if job.is_open || span.end_s > at_s {
                    let not_computed_s = i128::from(period_s) + (i128::from(at_s) - i128::from(span.end_s)).max(0);
                    let rate_e18 = job.segment.rate_e9.checked_mul(job.segment.factor_e9);
                    let usage = rate_e18.and_then(|rate_e18| rate_e18.checked_mul(not_computed_s));
                    of.running_e6 += usage.ok_or_else(too_large)? / E12;
                }
                Ok(())
            })?;
            Ok((associations.keys, of_file))
        })?;
        let tree = &context.listed_at(at_s)?.tree;
        let mut found = vec![AssociationJobs::default(); tree.len()];
        for (keys, of_file) in of_files {
            for (key, jobs) in keys.into_iter().zip(of_file) {
                if let Some(into) = tree.place_of(&key).and_then(|id| found.get_mut(id.index())) {
                    into.segments.extend(jobs.segments);
                    into.running_e6 += jobs.running_e6;
                }
            }
        }
        Ok(Self { associations: found })
    }
}
