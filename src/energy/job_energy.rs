//! The energy of one job, by one rule.
//!
//! 1. The source states a reading. Batch systems read the meters of nodes (Slurm's `acct_gather_energy` plugins have counters of
//!    whole nodes alone), so that the reading is the job's own only where nothing else ran there ([`OwnNodes`]): where each node is
//!    given to one job at a time, or where the job was given all cores of its nodes, or, where their cores are not known, requested
//!    nodes of its own. It is `exclusive` then.
//! 2. Of a reading of nodes it shared the job has a part: by the cores it was given, or by its CPU time. It is `apportioned`. The rest
//!    is of other jobs and of cores that were idle.
//! 3. Without a reading of the source the meters of its nodes count, where they do for all of its run and all of its nodes: the job
//!    has the same part of what they counted meanwhile. It is of the class `node meter`, also where the job had its nodes to itself.
//! 4. Without either it is `modelled`: cores at idle power for the time they were given, and the step to full power for the CPU
//!    time; GPUs likewise by the time they were busy, at full power where that is not stated; memory by what was given.
//! 5. Else it is unknown.

use std::sync::Arc;

use super::energy_class::EnergyClass;
use super::energy_plan::SharedRule;
use super::job_load::JobLoad;
use super::node_part::{NodePart, core_n};
use super::nodes_share::{NodesShare, OwnNodes};
use crate::numbers::common_divisor;
use crate::reference::energy::half_up::half_up;
use crate::reference::energy::meter_readings::UJ_PER_J;
use crate::reference::energy::node_row::{NodeEnergyRow, PowerRange};

/// Ten-thousandths of a watt times milliseconds times bytes of a GB, of a joule.
const UNITS_PER_J: i128 = 10_000 * 1000 * BYTE_PER_GB;
const BYTE_PER_GB: i128 = 1_000_000_000;
/// Milliseconds in a ten-thousandth of a year of 365 days.
const MS_PER_E4_YEAR: i128 = 365 * 86_400_000 / 10_000;
/// mg in a ten-thousandth of a kg.
const MG_PER_E4_KG: i128 = 100;

/// Energy of a job, and what it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassedEnergy {
    /// How it is known.
    pub class: EnergyClass,
    /// Joules.
    pub energy_j: i64,
}

/// What is known of a job: its energy, and its nodes.
#[derive(Clone, Debug)]
pub struct JobEnergy {
    /// Its energy; `None` where it is unknown.
    pub energy: Option<ClassedEnergy>,
    /// The rows of its nodes; none where a node has no row.
    pub nodes: Arc<[NodePart]>,
    /// Why what was measured of its nodes is all its own; `None` where it is not, or nothing was measured.
    pub own_nodes: Option<OwnNodes>,
}

impl JobEnergy {
    /// Of a job on nodes of these rows.
    pub(super) fn of(load: &JobLoad<'_>, nodes: Arc<[NodePart]>, shared: Option<SharedRule>) -> Self {
        let is_measured = load.stated_j.is_some() || load.metered_uj.is_some();
        let share = is_measured.then(|| NodesShare::of(load, &nodes, shared)).flatten();
        let energy = share.and_then(|share| match (load.stated_j, load.metered_uj) {
            (Some(stated_j), _) => read(stated_j, share),
            (None, Some(metered_uj)) => metered(metered_uj, share),
            (None, None) => None,
        });
        Self {
            own_nodes: energy.and(share).and_then(NodesShare::own_nodes),
            energy: energy.or_else(|| modelled(load, &nodes)),
            nodes,
        }
    }

    /// CO2 equivalent (mg) that making its nodes took, for so much of their core time (milliseconds times cores); `None` where
    /// that of a node is unknown.
    #[must_use]
    pub fn embodied_mg(&self, core_ms: i64) -> Option<i64> {
        let core_n = i128::from(core_n(&self.nodes, None)?);
        let life_e4_years = common_life_e4_years(&self.nodes)?;
        let mut sum = 0_i128;
        for part in &*self.nodes {
            let carbon = part.row.embodied?;
            // Fallback: a row without a number of nodes is of all of them, and one stands for all.
            let nodes_e4_kg = i128::from(carbon.node_e4_kg) * i128::from(part.node_n.unwrap_or(1));
            let lives = i128::from(life_e4_years / carbon.lifetime_e4_years);
            sum = sum.checked_add(nodes_e4_kg.checked_mul(lives)?)?;
        }
        let mg_core_ms = i128::from(core_ms).checked_mul(sum.checked_mul(MG_PER_E4_KG)?)?;
        let life_core_ms = core_n.checked_mul(i128::from(life_e4_years).checked_mul(MS_PER_E4_YEAR)?)?;
        half_up(mg_core_ms, life_core_ms)
    }
}

/// The least time (ten-thousandths of a year) that is a multiple of the lifetime of every node.
fn common_life_e4_years(nodes: &[NodePart]) -> Option<i64> {
    let mut life_e4_years = 1_i64;
    for part in nodes {
        let of_row = part.row.embodied?.lifetime_e4_years;
        life_e4_years = life_e4_years.checked_mul(of_row / common_divisor(life_e4_years, of_row))?;
    }
    Some(life_e4_years)
}

/// A row's part of the cores of a job's nodes.
#[derive(Clone, Copy, Debug)]
struct Share {
    part: i128,
    whole: i128,
}

impl Share {
    fn of(part: &NodePart, total: i64) -> Option<Self> {
        Some(match part.node_n {
            None => Self { part: 1, whole: 1 },
            Some(node_n) => Self {
                part: i128::from(node_n) * i128::from(part.row.core_n?),
                whole: i128::from(total),
            },
        })
    }
}

/// The job's part of what the meters of its nodes counted while it ran, microjoules.
fn metered(metered_uj: i128, share: NodesShare) -> Option<ClassedEnergy> {
    let energy_j = match share {
        NodesShare::Whole(_) => half_up(metered_uj, UJ_PER_J),
        NodesShare::Part { part, whole } => half_up(metered_uj.checked_mul(part)?, whole.checked_mul(UJ_PER_J)?),
    };
    Some(ClassedEnergy {
        class: EnergyClass::NodeMeter,
        energy_j: energy_j?,
    })
}

/// The job's part of a reading of its nodes.
fn read(stated_j: i64, share: NodesShare) -> Option<ClassedEnergy> {
    Some(match share {
        NodesShare::Whole(_) => ClassedEnergy {
            class: EnergyClass::Exclusive,
            energy_j: stated_j,
        },
        NodesShare::Part { part, whole } => ClassedEnergy {
            class: EnergyClass::Apportioned,
            energy_j: half_up(i128::from(stated_j).checked_mul(part)?, whole)?,
        },
    })
}

/// What nodes of their power would have taken for the job.
fn modelled(load: &JobLoad<'_>, nodes: &[NodePart]) -> Option<ClassedEnergy> {
    let core_ms = i128::from(load.core_n?).checked_mul(i128::from(load.wall_ms))?;
    let busy_ms = i128::from(load.cpu_ms?).min(core_ms);
    let total = match nodes {
        [] => return None,
        [_] => 1,
        several => core_n(several, None)?,
    };
    let mut sum = 0_i128;
    let mut whole = 1;
    for part in nodes {
        let cores = draw(part.row.core?, core_ms, busy_ms)?;
        let gpus = gpu_units(load, &part.row)?;
        let memory = memory_units(load, &part.row)?;
        let of_row = cores.checked_add(gpus)?.checked_mul(BYTE_PER_GB)?.checked_add(memory)?;
        let share = if let [_] = nodes {
            Share { part: 1, whole: 1 }
        } else {
            Share::of(part, total)?
        };
        sum = sum.checked_add(of_row.checked_mul(share.part)?)?;
        whole = share.whole;
    }
    let energy_j = half_up(sum, UNITS_PER_J.checked_mul(whole)?)?;
    Some(ClassedEnergy {
        class: EnergyClass::Modelled,
        energy_j,
    })
}

/// Ten-thousandths of a watt times milliseconds: idle power for the time held, and the step to full power for the time busy.
fn draw(power: PowerRange, held_ms: i128, busy_ms: i128) -> Option<i128> {
    let step = i128::from(power.full_e4_w) - i128::from(power.idle_e4_w);
    held_ms
        .checked_mul(i128::from(power.idle_e4_w))?
        .checked_add(busy_ms.checked_mul(step)?)
}

/// Of the GPUs of a job: none where it was given none. GPUs of a type whose power is not stated make the job's energy unknown.
fn gpu_units(load: &JobLoad<'_>, row: &NodeEnergyRow) -> Option<i128> {
    let held_ms = match load.gpu_n {
        None | Some(0) => return Some(0),
        Some(gpu_n) => i128::from(gpu_n).checked_mul(i128::from(load.held_ms))?,
    };
    let busy_ms = match (load.gpu_busy_ms, load.gpu_stated_ms) {
        // What is stated of part of the time holds for all of it.
        (Some(busy_ms), Some(stated_ms)) if stated_ms > 0 => {
            held_ms.checked_mul(i128::from(busy_ms.min(stated_ms)))? / i128::from(stated_ms)
        }
        _ => held_ms,
    };
    draw(row.gpu?, held_ms, busy_ms)
}

/// Of the memory of a job, times bytes of a GB: unknown memory of a type whose memory counts makes its energy unknown.
fn memory_units(load: &JobLoad<'_>, row: &NodeEnergyRow) -> Option<i128> {
    let Some(power_e4) = row.memory_e4_w_per_gb else {
        return Some(0);
    };
    let byte_ms = i128::from(load.memory_byte?).checked_mul(i128::from(load.held_ms))?;
    byte_ms.checked_mul(i128::from(power_e4))
}
