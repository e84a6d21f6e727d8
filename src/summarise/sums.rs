//! The measures of `usage`, as exact sums.

use super::group::{DIMENSIONS, UsageGroup};
use crate::error::{Error, Result};
use crate::record::column_struct::column_struct;
use crate::reference::benchmark::{Each, Score, WorkDone};

/// Work columns by [`crate::reference::benchmark::Benchmark::ALL`]: CPU, wall and core wall of each.
pub const WORK_COLUMNS: [&str; 9] = [
    "cpu_hs06_s",
    "wall_hs06_s",
    "core_wall_hs06_s",
    "cpu_hs23_s",
    "wall_hs23_s",
    "core_wall_hs23_s",
    "cpu_si00_s",
    "wall_si00_s",
    "core_wall_si00_s",
];

/// Work: time times the value per core, on each scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkSums {
    /// Of CPU time.
    pub cpu: Each<WorkDone>,
    /// Of wall time, not times cores.
    pub wall: Each<WorkDone>,
    /// Of wall time times cores.
    pub core_wall: Each<WorkDone>,
}

impl WorkSums {
    /// From the integers of [`WORK_COLUMNS`].
    #[must_use]
    pub fn from_e7(e7: [Option<i128>; 9]) -> Self {
        let of = |measure: usize| Each::from_scaled([0, 3, 6].map(|kind| e7.get(kind + measure).copied().flatten()));
        Self {
            cpu: of(0),
            wall: of(1),
            core_wall: of(2),
        }
    }

    /// The integers of [`WORK_COLUMNS`].
    #[must_use]
    pub fn e7(&self) -> [Option<i128>; 9] {
        let mut e7 = [None; 9];
        let kinds = self
            .cpu
            .scaled()
            .into_iter()
            .zip(self.wall.scaled())
            .zip(self.core_wall.scaled());
        for (of_kind, ((cpu, wall), core_wall)) in e7.as_chunks_mut::<3>().0.iter_mut().zip(kinds) {
            *of_kind = [cpu, wall, core_wall];
        }
        e7
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cpu.is_empty() && self.wall.is_empty() && self.core_wall.is_empty()
    }

    /// The work of times at a score per core.
    #[must_use]
    pub fn of(per_core: Each<Score>, times: &WorkTimes) -> Self {
        let mut work = Self::default();
        work.add_times(per_core, times);
        work
    }

    /// Adds the work of times at a score per core.
    #[inline]
    pub(super) fn add_times(&mut self, per_core: Each<Score>, times: &WorkTimes) {
        if let Some(cpu_ms) = times.cpu_ms {
            self.cpu.add(per_core.over_ms(cpu_ms));
        }
        self.wall.add(per_core.over_ms(times.wall_ms));
        self.core_wall.add(per_core.over_ms(times.core_wall_ms));
    }

    /// Adds each sum.
    pub fn add(&mut self, more: &Self) {
        self.cpu.add(more.cpu);
        self.wall.add(more.wall);
        self.core_wall.add(more.core_wall);
    }
}

/// Times that became work.
#[derive(Clone, Copy, Debug)]
pub struct WorkTimes {
    /// CPU time, milliseconds; `None` where it is unknown.
    pub cpu_ms: Option<i64>,
    /// Wall time, milliseconds.
    pub wall_ms: i64,
    /// Wall time of all cores, milliseconds.
    pub core_wall_ms: i64,
}

impl WorkTimes {
    /// Of wall time on a number of cores.
    #[must_use]
    pub fn new(cpu_ms: Option<i64>, wall_ms: i64, core_n: i64) -> Self {
        Self {
            cpu_ms,
            wall_ms,
            core_wall_ms: time_held(wall_ms, core_n),
        }
    }
}

column_struct! {
    /// Integer measures that are never null.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CountedSums: i64 {
        /// Jobs that ended.
        job_n
        /// Wall time, whole seconds.
        wall_s
        /// What whole seconds leave of the wall time, milliseconds.
        wall_fraction_ms
        /// Wall time of all cores, whole seconds.
        alloc_core_s
        /// What whole seconds leave of it, milliseconds.
        alloc_core_fraction_ms
        /// Time GPUs were held, seconds.
        alloc_gpu_s
        /// Time nodes were held, seconds.
        alloc_node_s
        /// Time billing units were held, seconds.
        alloc_billing_s
        /// Jobs of unknown CPU time.
        cpu_unknown_job_n
        /// Jobs of an unknown number of cores.
        core_unknown_job_n
        /// Jobs of an unknown number of GPUs.
        gpu_unknown_job_n
        /// Jobs of an unknown number of nodes.
        node_unknown_job_n
        /// Jobs of unknown billing units.
        billing_unknown_job_n
        /// Jobs whose number of cores was assumed.
        core_assumed_job_n
        /// Jobs without a benchmark.
        benchmark_missing_job_n
        /// Jobs of a fallback benchmark.
        benchmark_fallback_job_n
    }
}

column_struct! {
    /// What was measured of jobs, over those that state it: null while none does. The second of each pair is what the first
    /// is known of.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct MeasuredSums: Option<i64> {
        /// Time GPUs were busy, milliseconds.
        gpu_busy_ms
        /// Time GPUs of stated utilisation were held, milliseconds.
        gpu_stated_ms
        /// Most host memory used times the time it was held, MiB s.
        memory_used_mib_s
        /// Host memory of the same jobs times the time it was held, MiB s.
        memory_stated_mib_s
        /// Energy, joules.
        energy_j
        /// Wall time of all cores of the same jobs, whole seconds.
        energy_stated_core_s
        /// Energy measured on nodes that jobs had to themselves, joules.
        energy_exclusive_j
        /// Core time of the same jobs.
        energy_exclusive_core_s
        /// Part of what was measured on shared nodes, joules.
        energy_apportioned_j
        /// Core time of the same jobs.
        energy_apportioned_core_s
        /// Part of what the meters of nodes counted, joules.
        energy_node_meter_j
        /// Core time of the same jobs.
        energy_node_meter_core_s
        /// Modelled energy, joules.
        energy_modelled_j
        /// Core time of the same jobs.
        energy_modelled_core_s
        /// Energy of jobs whose `HEPscore23` is known, joules.
        energy_worked_j
        /// Core wall time of the same jobs times their `HEPscore23`, rounded for each job.
        energy_worked_hs23_s
        /// Energy of the site for them, joules.
        energy_pue_j
        /// Core time of jobs whose PUE is known.
        energy_pue_core_s
        /// CO2 equivalent of their electricity, mg.
        operational_co2e_mg
        /// Core time of the same jobs.
        operational_core_s
        /// Their part of the CO2 equivalent of nodes, mg.
        embodied_co2e_mg
        /// Core time of the same jobs.
        embodied_core_s
    }
}

impl MeasuredSums {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Each sum.
    fn add(&mut self, other: &Self) {
        for (sum, part) in self.each_mut().into_iter().zip(other.each()) {
            // Fallback: the budget of a month keeps measured sums below 63 bits.
            *sum = plus(*sum, *part, i64::saturating_add);
        }
    }

    /// What takes these sums out again.
    fn negated(mut self) -> Self {
        for sum in self.each_mut() {
            // Fallback: as for the counts, only the least number changes.
            *sum = sum.map(i64::saturating_neg);
        }
        self
    }
}

/// The columns of `usage` that are added up.
pub fn summed_columns() -> impl Iterator<Item = &'static str> {
    let counted = CountedSums::NAMES.into_iter().chain(["cpu_ms"]);
    counted.chain(MeasuredSums::NAMES).chain(WORK_COLUMNS)
}

/// Sums of one group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Measures that are never null.
    pub counted: CountedSums,
    /// CPU time; null while nothing is known.
    pub cpu_ms: Option<i64>,
    /// What was measured of jobs that state it.
    pub measured: MeasuredSums,
    /// Work.
    pub work: WorkSums,
    /// Earliest end counted.
    pub earliest_end_ms: Option<i64>,
    /// Latest end counted.
    pub latest_end_ms: Option<i64>,
}

impl Sums {
    /// What takes these sums out again; the ends it counted stay known elsewhere.
    #[must_use]
    pub fn negated(&self) -> Self {
        let mut counted = self.counted;
        for sum in counted.each_mut() {
            // Fallback: only the least number changes, which `check` refuses as the end of 63 bits.
            *sum = sum.saturating_neg();
        }
        Self {
            counted,
            // Fallback: as for each sum above, `check` refuses the end of 63 bits.
            cpu_ms: self.cpu_ms.map(i64::saturating_neg),
            measured: self.measured.negated(),
            work: WorkSums {
                cpu: self.work.cpu.negated(),
                wall: self.work.wall.negated(),
                core_wall: self.work.core_wall.negated(),
            },
            earliest_end_ms: None,
            latest_end_ms: None,
        }
    }

    /// Adds another group's sums. Saturates at the ends of 63 bits, which [`check`] finds.
    pub fn add(&mut self, other: &Self) {
        self.count(other.counted, other.cpu_ms);
        self.add_measured(&other.measured);
        self.add_work(&other.work);
        self.earliest_end_ms = plus(self.earliest_end_ms, other.earliest_end_ms, i64::min);
        self.latest_end_ms = plus(self.latest_end_ms, other.latest_end_ms, i64::max);
    }

    /// Adds counts and CPU time of a job that [`super::budget::MonthBudget`] has room for: no sum of such jobs comes near the
    /// end of 63 bits, since their loads, which are added with checks, do not.
    #[inline]
    pub(super) fn count_job(&mut self, counted: CountedSums, cpu_ms: Option<i64>) {
        for (sum, part) in self.counted.each_mut().into_iter().zip(counted.each()) {
            *sum += *part;
        }
        self.cpu_ms = plus(self.cpu_ms, cpu_ms, |sum, part| sum + part);
    }

    /// Adds counts and CPU time.
    fn count(&mut self, counted: CountedSums, cpu_ms: Option<i64>) {
        for (sum, part) in self.counted.each_mut().into_iter().zip(counted.each()) {
            // Fallback: a sum that stays at the end of 63 bits is an error of `check`.
            *sum = sum.saturating_add(*part);
        }
        // Fallback: as for the counts above, `check` refuses the end of 63 bits.
        self.cpu_ms = plus(self.cpu_ms, cpu_ms, i64::saturating_add);
    }

    /// Adds what was measured. Few sources state any.
    #[inline]
    pub(super) fn add_measured(&mut self, measured: &MeasuredSums) {
        if !measured.is_empty() {
            self.measured.add(measured);
        }
    }

    /// Adds work. Without benchmarks, no job has done any.
    #[inline]
    pub(super) fn add_work(&mut self, work: &WorkSums) {
        if !work.is_empty() {
            self.work.add(work);
        }
    }

    /// Notes an end that counts.
    #[inline]
    pub(super) fn end(&mut self, end_ms: i64) {
        self.earliest_end_ms = Some(self.earliest_end_ms.map_or(end_ms, |earliest| earliest.min(end_ms)));
        self.latest_end_ms = Some(self.latest_end_ms.map_or(end_ms, |latest| latest.max(end_ms)));
    }
}

/// A time, times what was held for it. No product comes to the end of 63 bits: what would is beyond every room of
/// [`super::budget::MonthBudget`], which refuses its row; and a sum there is found by [`check`].
#[inline]
#[must_use]
pub(super) fn time_held(time: i64, held_n: i64) -> i64 {
    // Fallback: the end of 63 bits is refused by the budget of the month.
    time.saturating_mul(held_n)
}

/// Seconds and what whole seconds leave of a time, in milliseconds, with the same bound as [`time_held`].
#[inline]
#[must_use]
pub(super) fn exact_ms(whole_s: i64, fraction_ms: i64) -> i64 {
    // Fallback: no wall time that the limits of a job let pass comes near 63 bits in milliseconds.
    whole_s.saturating_mul(1000).saturating_add(fraction_ms)
}

/// Checks that no sum of what one site and month contributes came to the ends of 63 bits, as
/// [`super::budget::MonthBudget`] ensures.
///
/// # Errors
/// [`Kind::Internal`] naming the group and the measure.
///
/// [`Kind::Internal`]: crate::error::Kind::Internal
pub fn check(part: &[UsageGroup]) -> Result<()> {
    let is_end = |sum: i64| sum == i64::MAX || sum <= -i64::MAX;
    for UsageGroup { key, sums } in part {
        let counted = CountedSums::NAMES
            .into_iter()
            .zip(sums.counted.each().into_iter().copied());
        let measured = MeasuredSums::NAMES.into_iter().zip(sums.measured.each());
        let measured = measured.filter_map(|(name, sum)| Some((name, (*sum)?)));
        let mut all = counted
            .chain(sums.cpu_ms.map(|cpu_ms| ("cpu_ms", cpu_ms)))
            .chain(measured);
        let Some((measure, _)) = all.find(|(_, sum)| is_end(*sum)) else {
            continue;
        };
        // Fallback: the message shows an unknown VO as empty.
        let mut group = vec![format!("vo {:?}", key.vo.as_deref().unwrap_or_default())];
        let named = DIMENSIONS.iter().zip(&key.dimensions);
        group.extend(named.filter_map(|(name, value)| Some(format!("{name} {:?}", value.as_deref()?))));
        let message = format!("the sum of {measure} does not fit 63 bits ({})", group.join(", "));
        return Err(Error::internal(message));
    }
    Ok(())
}

#[inline]
fn plus<T>(a: Option<T>, b: Option<T>, with: impl Fn(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(with(a, b)),
        (one, None) | (None, one) => one,
    }
}
