//! From job records to groups of usage.

use arrow_array::{Array, BooleanArray, RecordBatch};

use super::apportion::{apportion, share_of};
use super::budget::{self, LoadClass, MonthBudget, VAST_JOB};
use super::correct::{CorrectedNames, Corrector};
use super::dimension_groups::KnownGroups;
use super::group::{Groups, KeyRef};
use super::periods::PeriodSplitter;
use super::rated_job::{CoreTime, EnergyColumns, EnergyRater, RatedJob};
use super::settings::Settings;
use super::sums::{CountedSums, MeasuredSums, Sums, WorkSums, WorkTimes, time_held};
use super::view::RecordView;
use crate::energy::MeterUses;
use crate::error::Result;
use crate::ledger::Reason;
use crate::normalise::{Scale, ScaleReference, Scales};
use crate::reference::benchmark::{AskedSpan, Each, Score};
use crate::schema::batch::{addend, number};
use crate::schema::combinations::combinations;
use crate::time::Month;
use crate::time::calendar::Period;

/// A row of a batch that is not usage, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedJob {
    /// The row.
    pub row: usize,
    /// Why.
    pub reason: Reason,
}

/// A job cut into the periods it ran in.
struct CutJob<'m> {
    row: usize,
    end_ms: Option<i64>,
    /// Which piece holds its end.
    end_piece: usize,
    /// Its combination of dimensions.
    combination: Option<u64>,
    amounts: JobAmounts,
    /// What was measured of it; `None` where nothing is stated, as of nearly every job.
    measured: Option<&'m MeasuredSums>,
    /// Its energy; `None` where no tables of energy are named.
    rated: Option<&'m RatedJob>,
}

/// Below these, as of nearly every job, no time (s or ms), times a number of cores, GPUs, nodes or billing units, comes near 63
/// bits, and neither do a few of these together.
const USUAL_TIME: u64 = 1 << 31;
const USUAL_COUNT: u64 = 1 << 24;

/// What a record states of its job, as far as sums of usage are made of it; an unknown number adds nothing.
struct JobAmounts {
    wall_s: i64,
    wall_fraction_ms: i64,
    /// Wall time and suspension.
    held_s: i64,
    alloc_core_n: i64,
    alloc_gpu_n: i64,
    alloc_node_n: i64,
    alloc_billing_n: i64,
    cpu_ms: Option<i64>,
}

impl JobAmounts {
    fn of(view: &RecordView<'_>, row: usize) -> Self {
        let of = |column| addend(number(column, row));
        let (wall_s, held_s) = (view.wall_s.value(row), view.held_s(row));
        let alloc_core_n = of(view.alloc_core_n);
        Self {
            wall_s,
            wall_fraction_ms: view.wall_fraction_ms.value(row),
            held_s,
            alloc_core_n,
            alloc_gpu_n: of(view.alloc_gpu_n),
            alloc_node_n: of(view.alloc_node_n),
            alloc_billing_n: of(view.alloc_billing_n),
            cpu_ms: number(view.cpu_ms, row),
        }
    }

    /// What it takes of the room of a month.
    fn load(&self) -> u64 {
        let times = (self.wall_s | self.held_s | self.wall_fraction_ms).cast_unsigned();
        let counts = (self.alloc_core_n | self.alloc_gpu_n | self.alloc_node_n | self.alloc_billing_n).cast_unsigned();
        let cpu_ms = addend(self.cpu_ms);
        if times < USUAL_TIME && counts < USUAL_COUNT && cpu_ms.cast_unsigned() < USUAL_TIME * USUAL_COUNT {
            let held_n = self.alloc_gpu_n + self.alloc_node_n + self.alloc_billing_n;
            let wall = self.wall_s + self.wall_fraction_ms;
            let load = 1 + wall + wall * self.alloc_core_n + self.held_s * held_n + cpu_ms;
            return load.cast_unsigned();
        }
        budget::load([
            1,
            self.wall_s,
            self.wall_fraction_ms,
            time_held(self.wall_s, self.alloc_core_n),
            time_held(self.wall_fraction_ms, self.alloc_core_n),
            time_held(self.held_s, self.alloc_gpu_n),
            time_held(self.held_s, self.alloc_node_n),
            time_held(self.held_s, self.alloc_billing_n),
            cpu_ms,
        ])
    }
}

/// Adds up the records of one site and month.
pub struct Usage<'a> {
    cutter: PeriodSplitter,
    corrector: Corrector<'a>,
    groups: Groups,
    known: KnownGroups,
    shares: UsageShares,
    budget: MonthBudget,
    energy: Option<EnergyRater<'a>>,
}

/// Shares of one job's totals, by piece.
#[derive(Default)]
struct UsageShares {
    wall_s: Vec<i64>,
    held_s: Vec<i64>,
    cpu_ms: Vec<i64>,
    scaled_cpu_ms: Vec<i64>,
    scaled_wall_ms: Vec<i64>,
    /// In the order of [`MeasuredSums::NAMES`].
    measured: [Vec<i64>; MeasuredSums::NAMES.len()],
}

impl UsageShares {
    fn split(&mut self, job: &JobAmounts, measured: Option<&MeasuredSums>, weights: &[i64]) {
        apportion(job.wall_s, weights, &mut self.wall_s);
        apportion(job.held_s, weights, &mut self.held_s);
        apportion(addend(job.cpu_ms), weights, &mut self.cpu_ms);
        if let Some(measured) = measured {
            for (shares, sum) in self.measured.iter_mut().zip(measured.each()) {
                apportion(addend(*sum), weights, shares);
            }
        }
    }

    /// What one piece has of the CPU and wall time that arrived scaled.
    fn scaled(&self, view: &RecordView<'_>, row: usize, at: usize) -> [Option<i64>; 2] {
        let of = |column, shares: &[i64]| number(column, row).and_then(|_| shares.get(at).copied());
        [
            of(view.scaled_cpu_ms, &self.scaled_cpu_ms),
            of(view.scaled_wall_ms, &self.scaled_wall_ms),
        ]
    }

    /// What one piece has of sums that were split; what is unknown of the job is unknown of it.
    fn measured(&self, total: &MeasuredSums, at: usize) -> MeasuredSums {
        let mut part = *total;
        for (sum, shares) in part.each_mut().into_iter().zip(&self.measured) {
            *sum = sum.and_then(|_| shares.get(at).copied());
        }
        part
    }

    fn split_scaled(&mut self, view: &RecordView<'_>, row: usize, weights: &[i64]) {
        let total = |column| addend(number(column, row));
        apportion(total(view.scaled_cpu_ms), weights, &mut self.scaled_cpu_ms);
        apportion(total(view.scaled_wall_ms), weights, &mut self.scaled_wall_ms);
    }
}

/// Work of times that arrived scaled: in the reference's kind scaled time times the reference, where that time is
/// scaled, and otherwise raw time times the value of the nodes. Other kinds scale raw time.
fn scaled_work(
    per_core: Each<Score>,
    reference: &ScaleReference,
    times: &WorkTimes,
    [scaled_cpu_ms, scaled_wall_ms]: [Option<i64>; 2],
    core_n: i64,
) -> WorkSums {
    let node = reference
        .node_e4
        .map_or_else(Each::default, |e4| Each::only(reference.kind, i128::from(e4)));
    let raw = node.or(per_core.without(reference.kind));
    let mut work = WorkSums::of(raw, times);
    if let Some(scaled_ms) = scaled_cpu_ms {
        work.cpu = reference.per_core.over_ms(scaled_ms).or(work.cpu);
    }
    if let Some(scaled_ms) = scaled_wall_ms {
        work.wall = reference.per_core.over_ms(scaled_ms).or(work.wall);
        let scaled_core_ms = time_held(scaled_ms, core_n);
        work.core_wall = reference.per_core.over_ms(scaled_core_ms).or(work.core_wall);
    }
    work
}

/// What measured sums take of the room of a month.
fn measured_load(measured: &MeasuredSums) -> u64 {
    budget::load(measured.each().map(|sum| addend(*sum)))
}

/// The group of a record in one of its periods.
#[inline]
fn key_of<'r>(view: &RecordView<'r>, row: usize, period: &Period) -> KeyRef<'r> {
    KeyRef {
        vo: view.vo.get(row),
        allocation_year: period.allocation_year,
        month: period.month,
        day: period.day,
        dimensions: view.dimensions.map(|column| column.get(row)),
        correction_id: None,
    }
}

impl<'a> Usage<'a> {
    /// Nothing yet.
    #[must_use]
    pub fn new(settings: Settings<'a>, site: &'a str) -> Self {
        Self {
            cutter: PeriodSplitter::new(settings),
            corrector: Corrector::new(settings.corrections, site),
            groups: Groups::default(),
            known: KnownGroups::default(),
            shares: UsageShares::default(),
            budget: MonthBudget::default(),
            energy: settings.energy.map(|plan| EnergyRater::new(plan, site)),
        }
    }

    /// Between which instants the tables of energy were asked; `None` when they were not.
    #[must_use]
    pub fn energy_asked(&self) -> Option<AskedSpan> {
        self.energy.as_ref()?.asked()
    }

    /// Who used the meters of nodes so far; `None` without tables of energy. No more jobs are to be added then.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when what does not fit memory cannot be put away.
    pub fn take_meter_uses(&mut self) -> Result<Option<MeterUses>> {
        self.energy.take().map(EnergyRater::into_meter_uses).transpose()
    }

    /// Adds what corrections add to the records of a month.
    pub fn add_corrections(&mut self, month: Month) {
        self.corrector
            .post_additions(month, &mut self.cutter.calendar, &mut self.groups);
    }

    /// The groups so far.
    #[must_use]
    pub fn into_groups(self) -> Groups {
        self.groups
    }

    /// Adds a batch of `records` with the scale of each row; gives the rows that are refused, in order: for want of a
    /// benchmark, or because the sums of the month cannot take them. Batches come in the order of `records`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the batch is not of `records`.
    pub fn add(&mut self, batch: &RecordBatch, scales: &Scales) -> Result<Vec<RefusedJob>> {
        let view = RecordView::new(batch)?;
        let names = self.corrector.names(batch)?;
        let columns = view.dimensions.into_iter().chain([view.vo]);
        let alike = combinations(columns, batch.num_rows());
        self.known.clear();
        let energy = self
            .energy
            .as_ref()
            .map(|rater| EnergyColumns::of(batch, rater))
            .transpose()?;
        let mut refused = Vec::new();
        for row in 0..batch.num_rows() {
            let (scale, reference) = scales.of(row);
            if matches!(scale, Scale::Rejected) {
                let reason = Reason::BenchmarkMissing;
                refused.push(RefusedJob { row, reason });
                continue;
            }
            let end_ms = number(view.end_utc, row);
            let Some(end_piece) = self.cutter.cut(&view, row, end_ms) else {
                continue;
            };
            let amounts = JobAmounts::of(&view, row);
            let mut measured = view.measured.as_ref().and_then(|columns| {
                let alloc_core_s = time_held(amounts.wall_s, amounts.alloc_core_n);
                columns.sums(row, amounts.held_s, alloc_core_s)
            });
            let rated = (self.energy.as_mut().zip(energy.as_ref()))
                .map(|(rater, columns)| rater.rate(&view, columns, row, scale));
            if let Some(rated) = &rated {
                self.add_energy(&mut measured, &amounts, rated);
            }
            let load = match &measured {
                None => amounts.load(),
                // Fallback: a load at the end of the type is beyond every room, and refused.
                Some(measured) => amounts.load().saturating_add(measured_load(measured)),
            };
            if !self.has_room(load, view.record_utc.value(row)) {
                let reason = Reason::SumLimit;
                refused.push(RefusedJob { row, reason });
                continue;
            }
            if let Some((rater, rated)) = self.energy.as_mut().zip(rated.as_ref()) {
                rater.note_meters(&view, row, rated)?;
            }
            let job = CutJob {
                row,
                end_ms,
                end_piece,
                combination: alike.as_ref().and_then(|alike| alike.get(row).copied()),
                amounts,
                measured: measured.as_ref(),
                rated: rated.as_ref(),
            };
            self.add_job(&view, &job, scale, reference.as_ref(), names.as_ref());
        }
        Ok(refused)
    }

    /// Adds the energy of a job to what was measured of it.
    #[inline]
    fn add_energy(&self, measured: &mut Option<MeasuredSums>, amounts: &JobAmounts, rated: &RatedJob) {
        let Some(energy) = self.energy.as_ref() else { return };
        let sums = measured.get_or_insert_with(MeasuredSums::default);
        let time = CoreTime::new(amounts.wall_s, amounts.wall_fraction_ms, amounts.alloc_core_n);
        energy.fill_whole(rated, time, sums);
        if rated.energy.energy.is_none() && sums.is_empty() {
            *measured = None;
        }
    }

    /// Whether the sums of the month can take the job that was cut last, of a load and placed at an instant (Unix
    /// milliseconds); its load is counted then.
    fn has_room(&mut self, load: u64, record_ms: i64) -> bool {
        let (from_ms, until_ms) = (self.cutter.from_ms, self.cutter.until_ms);
        let class = LoadClass::of(load, VAST_JOB, record_ms, from_ms, until_ms);
        self.budget.admit(class, load)
    }

    /// What one piece of the job that was cut last has of what was measured.
    fn measured_part(&self, total: &MeasuredSums, rated: Option<&RatedJob>, at: usize, time: CoreTime) -> MeasuredSums {
        let mut part = self.shares.measured(total, at);
        part.energy_stated_core_s = total.energy_j.map(|_| time.core_s);
        if let (Some(rater), Some(rated), Some(period)) = (&self.energy, rated, self.cutter.pieces.get(at)) {
            rater.fill_part(rated, time, rated.run_in(period), &mut part);
        }
        part
    }

    fn add_job(
        &mut self,
        view: &RecordView<'_>,
        job: &CutJob<'_>,
        scale: &Scale,
        reference: Option<&ScaleReference>,
        names: Option<&CorrectedNames<'_>>,
    ) {
        let &CutJob {
            row,
            end_ms,
            end_piece,
            combination,
            measured,
            rated,
            amounts:
                JobAmounts {
                    wall_s,
                    wall_fraction_ms,
                    held_s,
                    alloc_core_n: core_n,
                    alloc_gpu_n: gpu_n,
                    alloc_node_n: node_n,
                    alloc_billing_n: billing_n,
                    cpu_ms,
                },
        } = job;
        // Nearly every job is in one period, which takes all of it.
        let is_whole = matches!(self.cutter.pieces.as_slice(), [_]);
        if !is_whole {
            self.shares.split(&job.amounts, measured, &self.cutter.weights);
        }
        let per_core = scale.factors().per_core;
        if reference.is_some() {
            self.shares.split_scaled(view, row, &self.cutter.weights);
        }
        for (at, period) in self.cutter.pieces.iter().enumerate() {
            let share = |shares: &[i64]| share_of(shares, at);
            let (wall, held, cpu) = if is_whole {
                (wall_s, held_s, cpu_ms)
            } else {
                let cpu = cpu_ms.map(|_| share(&self.shares.cpu_ms));
                (share(&self.shares.wall_s), share(&self.shares.held_s), cpu)
            };
            let fraction_ms = wall_fraction_ms * i64::from(at == end_piece);
            let part;
            let measured = match measured {
                Some(total) if !is_whole => {
                    part = self.measured_part(total, rated, at, CoreTime::new(wall, fraction_ms, core_n));
                    Some(&part)
                }
                whole => whole,
            };
            let counts = end_ms.is_some() && at == end_piece;
            // Each product is a part of the load that the budget of the month has room for: below 2^57.
            let counted = CountedSums {
                wall_s: wall,
                wall_fraction_ms: fraction_ms,
                alloc_core_s: wall * core_n,
                alloc_core_fraction_ms: fraction_ms * core_n,
                alloc_gpu_s: held * gpu_n,
                alloc_node_s: held * node_n,
                alloc_billing_s: held * billing_n,
                ..if counts {
                    job_counts(view, row, scale)
                } else {
                    CountedSums::default()
                }
            };
            // Exact: what whole seconds leave of the wall time is in the piece of its end.
            let exact_ms = super::sums::exact_ms(wall, fraction_ms);
            let times = WorkTimes::new(cpu, exact_ms, core_n);
            let scaled = reference.map(|reference| {
                let scaled_ms = self.shares.scaled(view, row, at);
                scaled_work(per_core, reference, &times, scaled_ms, core_n)
            });
            let key = || key_of(view, row, period);
            let groups = &mut self.groups;
            let place = match combination {
                Some(combination) => self.known.group(combination, period.from_ms, || groups.place(key())),
                None => groups.place(key()),
            };
            let sums = groups.at(place);
            sums.count_job(counted, cpu);
            if let Some(measured) = measured {
                sums.add_measured(measured);
            }
            let counted_end_ms = end_ms.filter(|_| counts);
            if let Some(end_ms) = counted_end_ms {
                sums.end(end_ms);
            }
            match &scaled {
                Some(work) => sums.add_work(work),
                None if per_core.is_empty() => {}
                None => sums.work.add_times(per_core, &times),
            }
            if let Some(names) = names {
                let part = Sums {
                    counted,
                    cpu_ms: cpu,
                    // Fallback: what is not stated adds nothing to the sums of a name.
                    measured: measured.copied().unwrap_or_default(),
                    work: scaled.unwrap_or_else(|| WorkSums::of(per_core, &times)),
                    earliest_end_ms: counted_end_ms,
                    latest_end_ms: counted_end_ms,
                };
                self.corrector.post(names, row, key(), &part, groups);
            }
        }
    }
}

/// What a job counts as in the period in which it ends.
#[inline]
fn job_counts(view: &RecordView<'_>, row: usize, scale: &Scale) -> CountedSums {
    let is = |flags: Option<&BooleanArray>| i64::from(flags.is_some_and(|flags| flags.value(row)));
    CountedSums {
        job_n: 1,
        cpu_unknown_job_n: is(view.is_cpu_unknown),
        core_unknown_job_n: is(view.is_core_unknown),
        gpu_unknown_job_n: i64::from(view.alloc_gpu_n.is_null(row)),
        node_unknown_job_n: i64::from(view.alloc_node_n.is_null(row)),
        billing_unknown_job_n: i64::from(view.alloc_billing_n.is_null(row)),
        core_assumed_job_n: is(view.is_core_assumed),
        benchmark_missing_job_n: i64::from(matches!(scale, Scale::Missing)),
        benchmark_fallback_job_n: i64::from(matches!(scale, Scale::Fallback(_))),
        ..CountedSums::default()
    }
}
