//! What is above every answer: the recorded starts held against the machine, and the back-test of the base policy.

use super::super::table::{Cell, ColumnKind, Table};
use crate::error::Result;
use crate::fairshare::float::to_integer;
use crate::simulate::metrics::JobMeasures;
use crate::simulate::replay_check::{Excess, KindCheck};
use crate::simulation::back_test::BackTest;
use crate::simulation::input::SimulationInput;
use crate::simulation::run::Simulation;

/// Digits of coefficients.
const DIGITS: u8 = 4;
const SCALE: f64 = 1e4;

/// An instant of the trace: seconds of a log, or a time of a lake.
pub(super) fn instant(input: &SimulationInput, time_s: Option<i64>) -> Cell {
    match time_s {
        None => Cell::Empty,
        Some(time_s) if input.lake.is_some() => Cell::Instant(time_s * 1000),
        Some(time_s) => Cell::int(time_s),
    }
}

/// The kind of a column of instants.
pub(super) fn instant_kind(input: &SimulationInput) -> ColumnKind {
    if input.lake.is_some() {
        ColumnKind::Instant
    } else {
        ColumnKind::Number
    }
}

/// Recorded starts held against the machine: one row for each kind of resource and what is exceeded.
pub(super) fn replay(simulation: &Simulation) -> Table {
    let (input, replay) = (&simulation.input, &simulation.replay);
    let at = instant_kind(input);
    let mut table = Table::new(
        "recorded starts held against the machine",
        &[
            ("resource", "", ColumnKind::Text),
            ("capacity", "", ColumnKind::Number),
            ("peak", "", ColumnKind::Number),
            ("limit", "", ColumnKind::Text),
            ("violation_n", "", ColumnKind::Number),
            ("violated_s", "s", ColumnKind::Number),
            ("violated_percent", "%", ColumnKind::Decimal(2)),
            ("first_at", "", at),
            ("worst_at", "", at),
            ("worst_excess", "", ColumnKind::Number),
            ("explanation", "", ColumnKind::Text),
        ],
    );
    let span_s = replay.until_s - replay.from_s;
    for (kind, check) in input.machine.kinds().iter().zip(&replay.kinds) {
        let mut add = |limit: &str, excess: &Excess, why: String| {
            table.push(vec![
                Cell::text(kind.name.clone()),
                Cell::int(kind.capacity),
                Cell::int(check.peak),
                Cell::text(limit),
                Cell::int(excess.time_n),
                Cell::int(excess.length_s),
                Cell::ratio(i128::from(excess.length_s) * 100, i128::from(span_s), 2),
                instant(input, excess.first_s),
                instant(input, excess.worst_s),
                Cell::int(excess.worst),
                Cell::text(why),
            ]);
        };
        add("machine", &check.beyond, beyond(&kind.name, check));
        if !input.machine.steps().is_empty() {
            let why = if check.beyond_available.time_n == 0 {
                "nothing ran on what took no jobs".to_owned()
            } else {
                "jobs that ran on when their nodes went down, drained or were reserved; or the listed states are not exact"
                    .to_owned()
            };
            add("available", &check.beyond_available, why);
        }
    }
    table
}

fn beyond(kind: &str, check: &KindCheck) -> String {
    if check.beyond.time_n == 0 {
        return "fits".to_owned();
    }
    format!(
        "{} jobs had {} {kind} at the peak: the machine was larger, or jobs shared {kind}",
        check.peak_job_n, check.peak
    )
}

/// Waits of the base policy against those that happened, by size of jobs.
pub(super) fn back_test(simulation: &Simulation) -> Table {
    let mut table = Table::new(
        "back-test: baseline against what happened",
        &[
            ("from", "", ColumnKind::Number),
            ("to", "", ColumnKind::Number),
            ("job_n", "", ColumnKind::Number),
            ("recorded_mean_wait_s", "s", ColumnKind::Decimal(1)),
            ("simulated_mean_wait_s", "s", ColumnKind::Decimal(1)),
            ("wait_change_percent", "%", ColumnKind::Decimal(2)),
            ("recorded_slowdown", "", ColumnKind::Decimal(2)),
            ("simulated_slowdown", "", ColumnKind::Decimal(2)),
        ],
    );
    let Some(test) = &simulation.back_test else {
        return table;
    };
    let row = |from: Cell, to: Cell, was: &JobMeasures, would: &JobMeasures| {
        let mean = |of: &JobMeasures| Cell::ratio(of.wait_s, i128::from(of.job_n), 1);
        let slowdown = |of: &JobMeasures| Cell::ratio(of.bounded_e6, i128::from(of.job_n) * 1_000_000, 2);
        vec![
            from,
            to,
            Cell::int(was.job_n),
            mean(was),
            mean(would),
            Cell::ratio((would.wait_s - was.wait_s) * 100, was.wait_s, 2),
            slowdown(was),
            slowdown(would),
        ]
    };
    for class in &test.classes {
        let to = class.to.map_or(Cell::Empty, Cell::int);
        table.push(row(Cell::int(class.from), to, &class.recorded, &class.simulated));
    }
    if test.classes.len() > 1 {
        table.push(row(Cell::Empty, Cell::Empty, &test.recorded, &test.simulated));
    }
    table
}

/// How alike the base policy and what happened are: use, and the coefficients of starts and waits.
///
/// # Errors
/// [`crate::error::Kind::Data`] when a coefficient is too large to be shown, which none is.
pub(super) fn agreement(simulation: &Simulation) -> Result<Table> {
    let mut table = Table::new(
        "back-test: how alike the schedules are",
        &[
            ("figure", "", ColumnKind::Text),
            ("recorded", "", ColumnKind::Decimal(DIGITS)),
            ("simulated", "", ColumnKind::Decimal(DIGITS)),
            ("agreement", "", ColumnKind::Decimal(DIGITS)),
        ],
    );
    let Some(test) = &simulation.back_test else {
        return Ok(table);
    };
    let whole = |number: i64| Cell::ratio(i128::from(number), 1, DIGITS);
    table.push(vec![
        Cell::text("span_s"),
        whole(test.recorded_span_s),
        whole(test.simulated_span_s),
        Cell::Empty,
    ]);
    for (kind, used) in simulation.input.machine.kinds().iter().zip(used(test)) {
        let of = |used_s: i128, span_s: i64| {
            let all_s = i128::from(kind.capacity) * i128::from(span_s);
            Cell::ratio(used_s * 100, all_s, DIGITS)
        };
        table.push(vec![
            Cell::text(format!("{}_use_percent", kind.name)),
            of(used.was_s, test.recorded_span_s),
            of(used.would_s, test.simulated_span_s),
            Cell::Empty,
        ]);
    }
    let job_n = i128::from(test.recorded.job_n);
    let alone = |name: &str, agreement: Cell| vec![Cell::text(name), Cell::Empty, Cell::Empty, agreement];
    let coefficient = |value: Option<f64>| match value {
        None => Ok(Cell::Empty),
        Some(value) => to_integer(value * SCALE).map(|value| Cell::Decimal { value, scale: DIGITS }),
    };
    table.push(alone(
        "same_start_percent",
        Cell::ratio(i128::from(test.same_n) * 100, job_n, DIGITS),
    ));
    table.push(alone(
        "mean_start_difference_s",
        Cell::ratio(test.apart_s, job_n, DIGITS),
    ));
    table.push(alone("start_pearson", coefficient(test.start_pearson)?));
    table.push(alone("start_spearman", coefficient(test.start_spearman)?));
    table.push(alone("wait_pearson", coefficient(test.wait_pearson)?));
    table.push(alone("wait_spearman", coefficient(test.wait_spearman)?));
    Ok(table)
}

/// What is used of a kind in both schedules.
struct BothUses {
    was_s: i128,
    would_s: i128,
}

fn used(test: &BackTest) -> impl Iterator<Item = BothUses> {
    let pairs = test.recorded_use.iter().zip(&test.simulated_use);
    pairs.map(|(was, would)| BothUses {
        was_s: was.used_s,
        would_s: would.used_s,
    })
}
