//! The joules of a node and day, by what its cores did.

use super::core_day::{CoreDay, PARTS};
use super::cpu_day::CpuDay;
use super::meter_day::MeterDay;
use crate::amounts::{add, add_known};
use crate::error::Result;
use crate::summarise::apportion::apportion;

/// Energy of a node in a month, joules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeEnergy {
    /// Of the meters.
    pub meter_j: i128,
    /// In the order of [`PARTS`].
    pub parts_j: [i128; PARTS.len()],
    /// Of no node or capacity that the lake knows.
    pub unlisted_j: i128,
    /// Of the part of jobs, that of days on which the CPU time of all of them is known.
    pub cpu_known_j: i128,
    /// Of these days, the part of jobs by their CPU time; `None` while there is none.
    pub jobs_cpu_j: Option<i128>,
    /// Of these days, that of cores that jobs were given and did not compute on; `None` while there is none.
    pub idle_j: Option<i128>,
    /// Of the parts, what jobs bear under the billing of the pipeline.
    pub billed_j: Option<i128>,
    /// How long meters counted, milliseconds.
    pub metered_ms: i128,
    /// How long there was such a node, seconds.
    pub node_s: i128,
}

impl NodeEnergy {
    /// Adds what a meter counted on a day, by what the cores of the node did and the CPU time of jobs there; `None` where the lake
    /// does not list the node, or its records do not state the CPU time of all jobs.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when a sum is too large.
    pub fn add(&mut self, day: &MeterDay, cores: Option<&CoreDay>, cpu: Option<CpuDay>) -> Result<()> {
        let energy_j = day.energy_j;
        add(&mut self.meter_j, i128::from(energy_j), "meter_j")?;
        add(&mut self.metered_ms, i128::from(day.metered_ms), "metered_ms")?;
        let known = cores.filter(|cores| cores.core_s.iter().any(|core_s| *core_s > 0));
        let Some(cores) = known else {
            return add(&mut self.unlisted_j, i128::from(energy_j), "unlisted_j");
        };
        let mut shares = Vec::new();
        apportion(energy_j, &cores.core_s, &mut shares);
        for ((sum, share), name) in self.parts_j.iter_mut().zip(&shares).zip(PARTS) {
            add(sum, i128::from(*share), name)?;
        }
        if let ([jobs_j, ..], [allocated_core_s, ..]) = (shares.as_slice(), cores.core_s) {
            self.add_cpu(*jobs_j, allocated_core_s, cpu)?;
        }
        if let Some(billed) = cores.billed_core_s {
            let capacity: i64 = cores.core_s.iter().sum();
            let billed = billed.clamp(0, capacity);
            apportion(energy_j, &[billed, capacity - billed], &mut shares);
            let of_jobs = shares.first().copied().map(i128::from);
            add_known(&mut self.billed_j, of_jobs, "billed_j")?;
        }
        Ok(())
    }

    /// Each sum: of the parts of a month that two allocation years have.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when one is too large.
    pub fn plus(&mut self, more: &Self) -> Result<()> {
        add(&mut self.meter_j, more.meter_j, "meter_j")?;
        for ((sum, part), name) in self.parts_j.iter_mut().zip(more.parts_j).zip(PARTS) {
            add(sum, part, name)?;
        }
        add(&mut self.unlisted_j, more.unlisted_j, "unlisted_j")?;
        add(&mut self.cpu_known_j, more.cpu_known_j, "cpu_known_j")?;
        add_known(&mut self.jobs_cpu_j, more.jobs_cpu_j, "jobs_cpu_j")?;
        add_known(&mut self.idle_j, more.idle_j, "idle_j")?;
        add_known(&mut self.billed_j, more.billed_j, "billed_j")?;
        add(&mut self.metered_ms, more.metered_ms, "metered_ms")?;
        add(&mut self.node_s, more.node_s, "node_s")
    }

    /// Splits the part of jobs on a day by their CPU time.
    fn add_cpu(&mut self, jobs_j: i64, allocated_core_s: i64, cpu: Option<CpuDay>) -> Result<()> {
        let cpu_ms = match (allocated_core_s, cpu) {
            (0, _) => Some(0),
            (_, cpu) => cpu.and_then(CpuDay::known_ms),
        };
        let (Some(cpu_ms), Some(core_ms)) = (cpu_ms, allocated_core_s.checked_mul(1000)) else {
            return Ok(());
        };
        let busy_ms = cpu_ms.min(core_ms);
        let mut shares = Vec::new();
        apportion(jobs_j, &[busy_ms, core_ms - busy_ms], &mut shares);
        let [busy_j, idle_j] = shares.as_slice() else {
            return Ok(());
        };
        add(&mut self.cpu_known_j, i128::from(jobs_j), "cpu_known_j")?;
        add_known(&mut self.jobs_cpu_j, Some(i128::from(*busy_j)), "jobs_cpu_j")?;
        add_known(&mut self.idle_j, Some(i128::from(*idle_j)), "idle_j")
    }

    /// What does not add up; `None` where all does.
    #[must_use]
    pub fn unbalanced(&self) -> Option<String> {
        let parts = self.parts_j.iter().sum::<i128>() + self.unlisted_j;
        if parts != self.meter_j {
            let meter = self.meter_j;
            return Some(format!("the meter counted {meter} J, {parts} J are accounted for"));
        }
        let cpu = crate::absent::entry(self.jobs_cpu_j) + crate::absent::entry(self.idle_j);
        (cpu != self.cpu_known_j).then(|| {
            format!(
                "{} J are of days of known CPU time, {cpu} J are accounted for",
                self.cpu_known_j
            )
        })
    }
}
