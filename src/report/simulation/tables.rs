//! Simulated schedules as tables.

use super::super::table::{Cell, ColumnKind, Table};
use super::{answer_tables, trial_tables};
use crate::error::{Error, Kind, Result};
use crate::fairshare::float::{of_integer, to_integer};
use crate::numbers::{count_i128, index};
use crate::simulate::job::Job;
use crate::simulate::jobs::JobList;
use crate::simulate::kiviat::{area, reciprocals, scaled};
use crate::simulate::metrics::{ClassBy, JobMeasures, by_class, power_classes};
use crate::simulate::schedule::StartedJob;
use crate::simulation::answers::Answers;
use crate::simulation::input::JobNames;
use crate::simulation::run::{MethodRun, Simulation};
use crate::simulation::shared_kind::BURST_BUFFER;

/// A table of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SimulationTable {
    /// Wait, slowdown and use of each method.
    Methods,
    /// By the number of processors or nodes of jobs.
    Sizes,
    /// By the run time of jobs.
    Runtimes,
    /// By the burst buffer that jobs request.
    Requests,
    /// Axes scaled over the methods, best 1 and worst 0, with the raw values.
    Kiviat,
    /// By which means windows were solved.
    Solvers,
    /// Every job with its start and the reason for it.
    Schedule,
    /// What became of every line of the log, or record of the lake.
    Lines,
    /// Where recorded starts take more than the machine has.
    Replay,
    /// Waits of the base policy against those that happened, by size of jobs.
    BackTest,
    /// How alike the base policy and what happened are.
    Agreement,
    /// Charges under the policies of the lake, against those of what happened.
    Charges,
    /// Use of the awards of the lake.
    Awards,
    /// Canonical units that nodes could still have run, and what was free and of no use to them.
    Overhead,
    /// Energy of the jobs whose energy is recorded.
    Energy,
}

/// Upper ends of classes of run time, seconds: a minute, ten, an hour, four, half a day, a day.
const RUNTIMES_S: [i64; 6] = [60, 600, 3_600, 14_400, 43_200, 86_400];
/// Upper ends of classes of burst buffer, gigabytes, as in the paper.
const REQUESTS_GB: [i64; 4] = [0, 50_000, 100_000, 200_000];

impl SimulationTable {
    /// What is printed above every answer.
    pub const TRIAL: [Self; 3] = [Self::Replay, Self::BackTest, Self::Agreement];

    /// Those of what a lake knows in addition to the jobs.
    pub const OF_LAKE: [Self; 4] = [Self::Charges, Self::Awards, Self::Overhead, Self::Energy];

    /// What it is called in a page.
    pub(super) fn id(self) -> &'static str {
        match self {
            Self::Methods => "methods",
            Self::Sizes => "sizes",
            Self::Runtimes => "runtimes",
            Self::Requests => "requests",
            Self::Kiviat => "kiviat",
            Self::Solvers => "solvers",
            Self::Schedule => "schedule",
            Self::Lines => "lines",
            Self::Replay => "replay",
            Self::BackTest => "back-test",
            Self::Agreement => "agreement",
            Self::Charges => "charges",
            Self::Awards => "awards",
            Self::Overhead => "overhead",
            Self::Energy => "energy",
        }
    }

    /// The table.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when a figure is too large to be shown.
    pub fn of(self, simulation: &Simulation) -> Result<Table> {
        let machine = &simulation.input.machine;
        match self {
            Self::Methods => Ok(methods(simulation)),
            Self::Sizes => {
                let upper = power_classes(machine.capacity().first());
                Ok(classes(simulation, "by size", ClassBy::Amount(0), &upper))
            }
            Self::Runtimes => Ok(classes(simulation, "by run time", ClassBy::RunTime, &RUNTIMES_S)),
            Self::Requests => {
                let by = machine.kind(BURST_BUFFER).map(ClassBy::Amount);
                let title = "by burst buffer";
                Ok(by.map_or_else(
                    || Table::new(title, &[("method", "", ColumnKind::Text)]),
                    |by| classes(simulation, title, by, &REQUESTS_GB),
                ))
            }
            Self::Kiviat => kiviat(simulation),
            Self::Solvers => Ok(solvers(simulation)),
            Self::Schedule => Ok(schedule(simulation)),
            Self::Lines => Ok(lines(simulation)),
            Self::Replay => Ok(trial_tables::replay(simulation)),
            Self::BackTest => Ok(trial_tables::back_test(simulation)),
            Self::Agreement => trial_tables::agreement(simulation),
            Self::Charges => answer(simulation, answer_tables::charges),
            Self::Awards => answer(simulation, answer_tables::awards),
            Self::Overhead => answer(simulation, answer_tables::overhead),
            Self::Energy => answer(simulation, answer_tables::energy),
        }
    }
}

fn answer(simulation: &Simulation, table: impl Fn(&Answers) -> Table) -> Result<Table> {
    let answers = simulation.answers.as_ref();
    let missing = "charges, awards, overhead and energy are of jobs of a lake: a log states none of them";
    answers.map(table).ok_or_else(|| Error::new(Kind::Usage, missing))
}

fn mean(sum: i128, n: u64, digits: u8) -> Cell {
    Cell::ratio(sum, i128::from(n), digits)
}

/// A mean of millionths with two digits.
fn mean_of_e6(sum_e6: i128, n: u64) -> Cell {
    Cell::ratio(sum_e6, i128::from(n) * 1_000_000, 2)
}

fn use_percent(used_s: i128, capacity: i64, length_s: i64) -> Cell {
    Cell::ratio(used_s * 100, i128::from(capacity) * i128::from(length_s), 2)
}

fn methods(simulation: &Simulation) -> Table {
    let machine = &simulation.input.machine;
    let kinds: Vec<_> = match machine.ssd() {
        Some(ssd) => machine.kinds().iter().take(ssd.large_kind).collect(),
        None => machine.kinds().iter().collect(),
    };
    let names: Vec<String> = kinds.iter().map(|kind| format!("{}_use_percent", kind.name)).collect();
    let mut columns = vec![
        ("method", "", ColumnKind::Text),
        ("job_n", "", ColumnKind::Number),
        ("mean_wait_s", "s", ColumnKind::Decimal(1)),
        ("longest_wait_s", "s", ColumnKind::Number),
        ("slowdown", "", ColumnKind::Decimal(2)),
        ("bounded_slowdown", "", ColumnKind::Decimal(2)),
    ];
    columns.extend(names.iter().map(|name| (name.as_str(), "%", ColumnKind::Decimal(2))));
    if machine.ssd().is_some() {
        columns.push(("ssd_use_percent", "%", ColumnKind::Decimal(2)));
        columns.push(("ssd_wasted_percent", "%", ColumnKind::Decimal(2)));
    }
    columns.push(("span_s", "s", ColumnKind::Number));
    columns.push(("same_start_percent", "%", ColumnKind::Decimal(2)));
    let mut table = Table::new("methods", &columns);
    for run in &simulation.runs {
        let (measures, jobs) = (&run.measures, &run.measures.jobs);
        let length_s = measures.interval.length_s();
        let mut row = vec![
            Cell::text(run.word),
            Cell::int(jobs.job_n),
            mean(jobs.wait_s, jobs.job_n, 1),
            Cell::int(jobs.longest_wait_s),
            mean_of_e6(jobs.slowdown_e6, jobs.normal_n),
            mean_of_e6(jobs.bounded_e6, jobs.job_n),
        ];
        let used = kinds.iter().zip(measures.used_s);
        row.extend(used.map(|(kind, used_s)| use_percent(used_s, kind.capacity, length_s)));
        if let Some(gb) = ssd_capacity_gb(simulation) {
            row.push(use_percent(measures.ssd_used_gb_s, gb, length_s));
            row.push(use_percent(measures.ssd_wasted_gb_s, gb, length_s));
        }
        row.push(Cell::int(length_s));
        row.push(run.likeness.map_or(Cell::Empty, |likeness| {
            Cell::ratio(i128::from(likeness.same_n) * 100, i128::from(likeness.both_n), 2)
        }));
        table.push(row);
    }
    table.without_empty_columns()
}

/// Gigabytes of local storage of the machine, where its nodes differ in it.
fn ssd_capacity_gb(simulation: &Simulation) -> Option<i64> {
    let machine = &simulation.input.machine;
    machine.ssd().map(|ssd| {
        let large_n = machine.capacity().get(ssd.large_kind);
        ssd.small_gb * (machine.capacity().first() - large_n) + ssd.large_gb * large_n
    })
}

fn classes(simulation: &Simulation, title: &str, by: ClassBy, upper: &[i64]) -> Table {
    let mut table = Table::new(
        title,
        &[
            ("method", "", ColumnKind::Text),
            ("from", "", ColumnKind::Number),
            ("to", "", ColumnKind::Number),
            ("job_n", "", ColumnKind::Number),
            ("mean_wait_s", "s", ColumnKind::Decimal(1)),
            ("longest_wait_s", "s", ColumnKind::Number),
            ("slowdown", "", ColumnKind::Decimal(2)),
            ("bounded_slowdown", "", ColumnKind::Decimal(2)),
            ("used_percent", "%", ColumnKind::Decimal(2)),
        ],
    );
    let jobs = &simulation.input.trace.jobs;
    for run in &simulation.runs {
        let interval = run.measures.interval;
        let whole: JobMeasures = run.measures.jobs;
        for class in by_class(jobs, &run.schedule, interval, by, upper, &simulation.abnormal) {
            let of = class.jobs;
            if of.job_n == 0 {
                continue;
            }
            table.push(vec![
                Cell::text(run.word),
                Cell::int(class.from),
                class.to.map_or(Cell::Empty, Cell::int),
                Cell::int(of.job_n),
                mean(of.wait_s, of.job_n, 1),
                Cell::int(of.longest_wait_s),
                mean_of_e6(of.slowdown_e6, of.normal_n),
                mean_of_e6(of.bounded_e6, of.job_n),
                // What the jobs of the class used of what all jobs did.
                Cell::ratio(of.first_s * 100, whole.first_s, 2),
            ]);
        }
    }
    table
}

/// A value of an axis for each method.
struct KiviatAxis {
    name: String,
    /// As measured.
    raw: Vec<f64>,
    /// More is better.
    better: Vec<f64>,
}

fn kiviat(simulation: &Simulation) -> Result<Table> {
    let runs: Vec<&MethodRun> = simulation.runs.iter().filter(|run| run.word != "recorded").collect();
    let axes = axes(simulation, &runs);
    let scaled_axes: Vec<Vec<f64>> = axes.iter().map(|axis| scaled(&axis.better)).collect();
    let mut table = Table::new(
        "kiviat",
        &[
            ("method", "", ColumnKind::Text),
            ("axis", "", ColumnKind::Text),
            ("value", "", ColumnKind::Decimal(6)),
            ("scaled", "", ColumnKind::Decimal(6)),
            ("area", "", ColumnKind::Decimal(6)),
        ],
    );
    for (at, run) in runs.iter().enumerate() {
        let of_run: Vec<f64> = scaled_axes.iter().filter_map(|axis| axis.get(at).copied()).collect();
        for (axis, value) in axes.iter().zip(&of_run) {
            table.push(vec![
                Cell::text(run.word),
                Cell::text(axis.name.clone()),
                e6(axis.raw.get(at).copied())?,
                e6(Some(*value))?,
                e6(Some(area(&of_run)))?,
            ]);
        }
    }
    Ok(table)
}

fn e6(value: Option<f64>) -> Result<Cell> {
    match value {
        None => Ok(Cell::Empty),
        Some(value) => to_integer(value * 1e6).map(|value| Cell::Decimal { value, scale: 6 }),
    }
}

fn axes(simulation: &Simulation, runs: &[&MethodRun]) -> Vec<KiviatAxis> {
    let machine = &simulation.input.machine;
    let mut axes = Vec::new();
    let mut add = |name: String, is_less_better: bool, value: &dyn Fn(&MethodRun) -> f64| {
        let raw: Vec<f64> = runs.iter().map(|run| value(run)).collect();
        let better = if is_less_better { reciprocals(&raw) } else { raw.clone() };
        axes.push(KiviatAxis { name, raw, better });
    };
    let share = |part: i128, of: i128| {
        if of == 0 {
            0.0
        } else {
            of_integer(part) / of_integer(of)
        }
    };
    let ssd_kind = machine.ssd().map(|ssd| ssd.large_kind);
    for (at, kind) in machine
        .kinds()
        .iter()
        .enumerate()
        .filter(|(at, _)| Some(*at) != ssd_kind)
    {
        add(format!("{}_use", kind.name), false, &|run| {
            let used_s = run.measures.used_s.get(at).map_or(0, |used_s| *used_s);
            share(
                used_s,
                i128::from(kind.capacity) * i128::from(run.measures.interval.length_s()),
            )
        });
    }
    if let Some(gb) = ssd_capacity_gb(simulation) {
        let of = |run: &MethodRun| i128::from(gb) * i128::from(run.measures.interval.length_s());
        add("ssd_use".to_owned(), false, &|run| {
            share(run.measures.ssd_used_gb_s, of(run))
        });
        add("ssd_wasted".to_owned(), true, &|run| {
            share(run.measures.ssd_wasted_gb_s, of(run))
        });
    }
    add("mean_wait_s".to_owned(), true, &|run| {
        share(run.measures.jobs.wait_s, i128::from(run.measures.jobs.job_n))
    });
    add("slowdown".to_owned(), true, &|run| {
        share(
            run.measures.jobs.slowdown_e6,
            i128::from(run.measures.jobs.normal_n) * 1_000_000,
        )
    });
    axes
}

fn solvers(simulation: &Simulation) -> Table {
    let mut table = Table::new(
        "solvers",
        &[
            ("method", "", ColumnKind::Text),
            ("pass_n", "", ColumnKind::Number),
            ("trivial_n", "", ColumnKind::Number),
            ("depth_first_n", "", ColumnKind::Number),
            ("subset_sums_n", "", ColumnKind::Number),
            ("genetic_n", "", ColumnKind::Number),
            ("greedy_n", "", ColumnKind::Number),
            ("over_budget_n", "", ColumnKind::Number),
        ],
    );
    for run in simulation.runs.iter().filter(|run| run.word != "recorded") {
        let solved = run.schedule.solved;
        table.push(vec![
            Cell::text(run.word),
            Cell::int(run.schedule.pass_n),
            Cell::int(solved.trivial_n),
            Cell::int(solved.depth_first_n),
            Cell::int(solved.subset_sums_n),
            Cell::int(solved.genetic_n),
            Cell::int(solved.greedy_n),
            Cell::int(solved.over_budget_n),
        ]);
    }
    table
}

fn schedule(simulation: &Simulation) -> Table {
    let machine = &simulation.input.machine;
    let jobs = &simulation.input.trace.jobs;
    let is_lake = simulation.input.lake.is_some();
    let job_kind = if is_lake { ColumnKind::Text } else { ColumnKind::Number };
    let name = |names: &mut JobNames<'_>, job: &Job| {
        if is_lake {
            Cell::text(names.of(job))
        } else {
            Cell::int(job.id)
        }
    };
    let (mut job_names, mut head_names) = (simulation.input.names(), simulation.input.names());
    let names: Vec<&str> = machine.kinds().iter().map(|kind| kind.name.as_str()).collect();
    let mut columns = vec![
        ("method", "", ColumnKind::Text),
        ("job", "", job_kind),
        ("submit_s", "s", ColumnKind::Number),
        ("start_s", "s", ColumnKind::Number),
        ("end_s", "s", ColumnKind::Number),
        ("limit_s", "s", ColumnKind::Number),
    ];
    columns.extend(names.iter().map(|name| (*name, "", ColumnKind::Number)));
    columns.extend([
        ("reason", "", ColumnKind::Text),
        ("pass", "", ColumnKind::Number),
        ("first_waiting_job", "", job_kind),
    ]);
    let mut table = Table::new("schedule", &columns);
    let mut heads = JobList::from(jobs).reader();
    for run in &simulation.runs {
        for (job, start) in jobs.iter().zip(&run.schedule.starts) {
            let mut row = vec![
                Cell::text(run.word),
                name(&mut job_names, &job),
                Cell::int(job.submit_s),
            ];
            row.push(start.map_or(Cell::Empty, |start| Cell::int(start.start_s)));
            let end_s = |start| StartedJob::new(job.clone(), start).end_s();
            row.push(start.map_or(Cell::Empty, |start| Cell::int(end_s(start))));
            row.push(Cell::int(job.limit_s));
            for at in 0..names.len() {
                let is_large = machine.ssd().is_some_and(|ssd| ssd.large_kind == at);
                let taken = start.filter(|_| is_large).map(|start| start.large_node_n);
                // Fallback: what is not counted by node size is taken as requested.
                row.push(Cell::int(taken.unwrap_or_else(|| job.need.get(at))));
            }
            let head = start
                .and_then(|start| start.head)
                .and_then(|head| heads.get(index(head)));
            row.push(start.map_or(Cell::text("waits_for_ever"), |start| Cell::text(start.reason.word())));
            row.push(start.map_or(Cell::Empty, |start| Cell::int(start.pass)));
            row.push(head.map_or(Cell::Empty, |head| name(&mut head_names, head)));
            table.push(row);
        }
    }
    table
}

fn lines(simulation: &Simulation) -> Table {
    let trace = &simulation.input.trace;
    let columns = [
        ("outcome", "", ColumnKind::Text),
        ("line_n", "", ColumnKind::Sum),
        ("of_simulated_n", "", ColumnKind::Number),
    ];
    let mut table = Table::new("lines", &columns);
    let simulated = Cell::int(count_i128(trace.jobs.len()));
    table.push(vec![Cell::text("simulated"), simulated, Cell::Empty]);
    for (reason, n) in &trace.left_out {
        table.push(vec![Cell::text(reason.word()), Cell::int(*n), Cell::Empty]);
    }
    for (change, n) in &trace.changed {
        table.push(vec![Cell::text(change.word()), Cell::Empty, Cell::int(*n)]);
    }
    table
}
