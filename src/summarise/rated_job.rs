//! Energy and carbon of jobs, as columns of usage.

use arrow_array::{Array, Int64Array, RecordBatch};

use super::sums::{MeasuredSums, time_held};
use super::view::RecordView;
use crate::energy::{EnergyClass, EnergyPlan, JobEnergy, JobLoad, MeterUses, RunSpan, SiteEnergy, SiteMeans};
use crate::error::Result;
use crate::normalise::Scale;
use crate::record::Exclusivity;
use crate::reference::benchmark::{AskedSpan, Benchmark};
use crate::reference::energy::node_rows::NodePlace;
use crate::schema::batch::{ColumnWords, column, int, number, words, words_of};
use crate::time::calendar::Period;

/// Ten-thousandths of one.
const ONE_E4: i128 = 10_000;

/// Requests that nobody else is given a part of the nodes.
const OWN_NODES: [Exclusivity; 2] = [Exclusivity::Node, Exclusivity::Topology];

/// The columns of `records` that energy needs besides those of [`RecordView`].
pub(super) struct EnergyColumns<'a> {
    /// `None` where no table names nodes.
    node_list: Option<ColumnWords<'a>>,
    memory_byte: &'a Int64Array,
    gpu_busy_ms: &'a Int64Array,
    gpu_stated_ms: &'a Int64Array,
    energy_j: &'a Int64Array,
    /// `None` where no job of the batch states it.
    requested_exclusive: Option<ColumnWords<'a>>,
}

impl<'a> EnergyColumns<'a> {
    /// Looks up the columns that a rater needs.
    pub(super) fn of(batch: &'a RecordBatch, rater: &EnergyRater<'_>) -> Result<Self> {
        let node_list = words(batch, "node_list")?;
        let exclusive = column(batch, "requested_exclusive")?;
        let is_stated = exclusive.null_count() < exclusive.len();
        Ok(Self {
            node_list: rater.site.needs_node_lists().then_some(node_list),
            memory_byte: int(batch, "alloc_memory_byte")?,
            gpu_busy_ms: int(batch, "gpu_busy_ms")?,
            gpu_stated_ms: int(batch, "gpu_stated_ms")?,
            energy_j: int(batch, "energy_j")?,
            requested_exclusive: is_stated.then(|| words_of(exclusive)).transpose()?,
        })
    }

    /// Whether the job of a row requested nodes of its own.
    fn has_requested_own_nodes(&self, row: usize) -> bool {
        let requested = self.requested_exclusive.and_then(|requested| requested.get(row));
        requested.is_some_and(|word| OWN_NODES.iter().any(|own| own.as_str() == word))
    }

    /// What a row states.
    pub(super) fn load<'r>(&self, view: &RecordView<'r>, row: usize, site: &'r str) -> JobLoad<'r>
    where
        'a: 'r,
    {
        let [_, cluster, _, _, partition, ..] = view.dimensions;
        let held_s = view.held_s(row);
        let fraction_ms = view.wall_fraction_ms.value(row);
        JobLoad {
            place: NodePlace {
                site,
                cluster: cluster.get(row),
                partition: partition.get(row),
                node_list: self.node_list.and_then(|lists| lists.get(row)),
                at_ms: view.record_utc.value(row),
            },
            core_n: number(view.alloc_core_n, row),
            node_n: number(view.alloc_node_n, row),
            gpu_n: number(view.alloc_gpu_n, row),
            memory_byte: number(self.memory_byte, row),
            wall_ms: super::sums::exact_ms(view.wall_s.value(row), fraction_ms),
            held_ms: super::sums::exact_ms(held_s, fraction_ms),
            cpu_ms: number(view.cpu_ms, row),
            gpu_busy_ms: number(self.gpu_busy_ms, row),
            gpu_stated_ms: number(self.gpu_stated_ms, row),
            has_requested_own_nodes: self.has_requested_own_nodes(row),
            stated_j: number(self.energy_j, row),
            metered_uj: None,
        }
    }
}

/// When the job of a row held its nodes, as the node ledger has it: from its start for its wall time and the time it was suspended, at
/// most to its end. Its energy is spread evenly over that.
fn run_of(view: &RecordView<'_>, row: usize) -> RunSpan {
    let (start_ms, end_ms) = (view.start_ms(row), number(view.end_utc, row));
    let held_ms = super::sums::exact_ms(view.held_s(row), view.wall_fraction_ms.value(row));
    let at = |at_ms: i64| RunSpan {
        from_ms: at_ms,
        until_ms: at_ms,
    };
    match (start_ms, end_ms) {
        (Some(from_ms), Some(end_ms)) if end_ms > from_ms => RunSpan {
            from_ms,
            until_ms: end_ms.min(from_ms + held_ms),
        },
        (Some(from_ms), None) => RunSpan {
            from_ms,
            until_ms: from_ms + view.held_s(row) * 1000,
        },
        (_, Some(end_ms)) => at(end_ms),
        (None, None) => at(view.record_utc.value(row)),
    }
}

/// A job with its energy.
#[derive(Clone, Debug)]
pub(super) struct RatedJob {
    pub(super) energy: JobEnergy,
    pub(super) run: RunSpan,
    /// Its end, Unix milliseconds: usage spreads its wall time over all the time until then.
    end_ms: Option<i64>,
    /// Its `HEPscore23` per core, in ten-thousandths.
    hs23_e4: Option<i128>,
}

impl RatedJob {
    /// The part of its run in a period; all of it for one that begins after its run and before its end.
    pub(super) fn run_in(&self, period: &Period) -> RunSpan {
        let is_before_end = self.end_ms.is_some_and(|end_ms| self.run.until_ms < end_ms);
        if is_before_end && self.run.until_ms <= period.from_ms {
            return self.run;
        }
        let from_ms = self.run.from_ms.max(period.from_ms);
        RunSpan {
            from_ms,
            until_ms: self.run.until_ms.min(period.until_ms).max(from_ms),
        }
    }
}

/// Time of cores that a figure is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct CoreTime {
    /// Whole seconds times cores, as usage counts them.
    pub(super) core_s: i64,
    /// Milliseconds times cores.
    pub(super) core_ms: i64,
}

impl CoreTime {
    /// Of wall time on so many cores.
    pub(super) fn new(wall_s: i64, fraction_ms: i64, core_n: i64) -> Self {
        Self {
            core_s: time_held(wall_s, core_n),
            core_ms: time_held(super::sums::exact_ms(wall_s, fraction_ms), core_n),
        }
    }
}

/// Rates the jobs of one site.
pub(super) struct EnergyRater<'a> {
    site: SiteEnergy<'a>,
    name: &'a str,
}

impl<'a> EnergyRater<'a> {
    pub(super) fn new(plan: &'a EnergyPlan, site: &'a str) -> Self {
        Self {
            site: SiteEnergy::new(plan, site),
            name: site,
        }
    }

    /// Between which instants the tables were asked.
    pub(super) fn asked(&self) -> Option<AskedSpan> {
        self.site.asked()
    }

    /// Notes whether the job of a row, which was rated last, counts by the meters of its nodes.
    pub(super) fn note_meters(&mut self, view: &RecordView<'_>, row: usize, job: &RatedJob) -> Result<()> {
        if job.energy.energy.is_none_or(|of| of.class != EnergyClass::NodeMeter) {
            return Ok(());
        }
        let [_, cluster, _, of_view, ..] = view.dimensions;
        self.site.note_meters(of_view.get(row), cluster.get(row), job.run)
    }

    /// Who used the meters of nodes.
    pub(super) fn into_meter_uses(self) -> Result<MeterUses> {
        self.site.into_meter_uses()
    }

    /// The means of PUE and intensity over a run.
    pub(super) fn means(&self, run: RunSpan) -> SiteMeans {
        self.site.means(run)
    }

    /// The job of a row.
    pub(super) fn rate(
        &mut self,
        view: &RecordView<'_>,
        columns: &EnergyColumns<'_>,
        row: usize,
        scale: &Scale,
    ) -> RatedJob {
        let run = run_of(view, row);
        let hs23_e4 = match scale {
            Scale::Missing | Scale::Rejected => None,
            Scale::Known(factors) | Scale::Fallback(factors) => {
                let per_core = factors.per_core.scaled();
                per_core.get(Benchmark::Hs23.place()).copied().flatten()
            }
        };
        let load = columns.load(view, row, self.name);
        let energy = self.site.job(&load, run);
        RatedJob {
            energy,
            run,
            end_ms: number(view.end_utc, row),
            hs23_e4,
        }
    }

    /// The columns of energy of a job in all of its run.
    pub(super) fn fill_whole(&self, job: &RatedJob, time: CoreTime, into: &mut MeasuredSums) {
        let energy_j = job.energy.energy.map(|energy| energy.energy_j);
        self.fill(job, energy_j, time, job.run, into);
    }

    /// The columns of energy of a job in a part of its run, of which the columns of its class have the share already.
    pub(super) fn fill_part(&self, job: &RatedJob, time: CoreTime, run: RunSpan, into: &mut MeasuredSums) {
        let energy_j = job.energy.energy.and_then(|energy| match energy.class {
            EnergyClass::Exclusive => into.energy_exclusive_j,
            EnergyClass::Apportioned => into.energy_apportioned_j,
            EnergyClass::NodeMeter => into.energy_node_meter_j,
            EnergyClass::Modelled => into.energy_modelled_j,
        });
        self.fill(job, energy_j, time, run, into);
    }

    fn fill(&self, job: &RatedJob, energy_j: Option<i64>, time: CoreTime, run: RunSpan, into: &mut MeasuredSums) {
        let known = |figure: Option<i64>| figure.map(|_| time.core_s);
        let of_class = match job.energy.energy.map(|energy| energy.class) {
            None => None,
            Some(EnergyClass::Exclusive) => Some((&mut into.energy_exclusive_j, &mut into.energy_exclusive_core_s)),
            Some(EnergyClass::Apportioned) => {
                Some((&mut into.energy_apportioned_j, &mut into.energy_apportioned_core_s))
            }
            Some(EnergyClass::NodeMeter) => Some((&mut into.energy_node_meter_j, &mut into.energy_node_meter_core_s)),
            Some(EnergyClass::Modelled) => Some((&mut into.energy_modelled_j, &mut into.energy_modelled_core_s)),
        };
        if let Some((sum_j, core_s)) = of_class {
            (*sum_j, *core_s) = (energy_j, known(energy_j));
        }
        let work = energy_j.and(job.hs23_e4).map(|e4| work_hs23_s(e4, time.core_ms));
        (into.energy_worked_j, into.energy_worked_hs23_s) = (work.and(energy_j), work);
        into.energy_pue_j = energy_j.and_then(|energy_j| self.site.pue_j(energy_j, run));
        into.energy_pue_core_s = known(into.energy_pue_j);
        into.operational_co2e_mg = energy_j.and_then(|energy_j| self.site.operational_mg(energy_j, run));
        into.operational_core_s = known(into.operational_co2e_mg);
        into.embodied_co2e_mg = job.energy.embodied_mg(time.core_ms);
        into.embodied_core_s = known(into.embodied_co2e_mg);
    }
}

/// Core time times a score per core, whole HEPscore23 seconds, rounded half up.
fn work_hs23_s(hs23_e4: i128, core_ms: i64) -> i64 {
    let units = 1000 * ONE_E4;
    let work = hs23_e4
        .checked_mul(i128::from(core_ms))
        .map(|work| (2 * work + units).div_euclid(2 * units));
    // Fallback: beyond 63 bits is beyond the budget of a month, which refuses it.
    work.and_then(|work| i64::try_from(work).ok()).unwrap_or(i64::MAX)
}
