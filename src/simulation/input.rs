//! What is simulated once it is read: jobs, the machine, and what the jobs wait by.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::lake_source::LakeSource;
use super::lake_trace::{LakeJob, LakeJobReader};
use crate::simulate::job::Job;
use crate::simulate::limits::GroupLimits;
use crate::simulate::machine::Machine;
use crate::simulate::multifactor::Multifactor;
use crate::simulate::trace::Trace;

/// The jobs and the machine.
#[derive(Clone, Debug)]
pub struct SimulationInput {
    /// The jobs, and what became of the others.
    pub trace: Trace,
    /// The machine.
    pub machine: Machine,
    /// Priorities of its jobs, where they wait in their order.
    pub multifactor: Option<Arc<Multifactor>>,
    /// Limits of its jobs, where there are any.
    pub limits: Option<Arc<GroupLimits>>,
    /// What somebody who reads the figures must know.
    pub notes: Vec<String>,
    /// Where jobs of a lake come from; `None` for those of a log.
    pub lake: Option<LakeSource>,
}

impl SimulationInput {
    /// What people call a job. Who needs many takes [`Self::names`].
    #[must_use]
    pub fn name(&self, id: i64) -> String {
        let lake = self.lake.as_ref().and_then(|lake| lake.jobs.of(id));
        lake.map_or_else(|| id.to_string(), |job| job.job_id)
    }

    /// What people call jobs of the trace, many of them.
    #[must_use]
    pub fn names(&self) -> JobNames<'_> {
        JobNames {
            jobs: self.lake.as_ref().map(|lake| lake.jobs.reader()),
        }
    }

    /// The numbers of the jobs that people call so: of a lake each attempt has its own.
    #[must_use]
    pub fn ids(&self, name: &str) -> BTreeSet<i64> {
        match &self.lake {
            Some(lake) => lake.jobs.ids(name),
            None => name.parse().into_iter().collect(),
        }
    }

    /// Notes what became of lines or records that are not simulated as they are.
    pub(super) fn note_outcomes(&mut self, what: &str) {
        for (reason, n) in &self.trace.left_out {
            self.notes.push(format!(
                "left out, {}: {n} of {} {what}",
                reason.word(),
                self.trace.read_n
            ));
        }
        for (change, n) in &self.trace.changed {
            let note = format!("simulated other than written, {}: {n} jobs", change.word());
            self.notes.push(note);
        }
    }
}

/// What people call jobs.
#[derive(Debug)]
pub struct JobNames<'a> {
    jobs: Option<LakeJobReader<'a>>,
}

impl JobNames<'_> {
    /// What a lake knows of a job.
    pub fn known(&mut self, job: &Job) -> Option<&LakeJob> {
        self.jobs.as_mut()?.of(job)
    }

    /// What people call a job.
    pub fn of(&mut self, job: &Job) -> String {
        let known = self.known(job);
        known.map_or_else(|| job.id.to_string(), |known| known.job_id.clone())
    }
}
