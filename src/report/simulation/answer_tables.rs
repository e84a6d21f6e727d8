//! What a schedule comes to, next to what happened: charges, awards, free canonical units, energy, and all of it in a sentence.

use std::collections::{BTreeMap, BTreeSet};

use super::super::table::{Cell, ColumnKind, Table};
use crate::charge::amount::CHARGE_SCALE;
use crate::reference::decimal::text as amount;
use crate::simulation::answers::{Answers, ScheduleAnswer};
use crate::simulation::charged::{AwardName, ChargedName, ChargedSums};
use crate::simulation::node_ledger::NodeLedger;

/// Seconds of an hour.
const HOUR_S: i128 = 3600;
/// Seconds of a day.
const DAY_S: i128 = 86_400;
/// Millijoules of a kilowatt-hour.
const KWH_MJ: i128 = 3_600_000_000;
/// Digits of charges.
const SCALE: u8 = 9;

/// The schedules of methods: all but the first, which is what happened.
fn methods(answers: &Answers) -> impl Iterator<Item = &ScheduleAnswer> {
    answers.schedules.iter().skip(1)
}

fn charge(value: i128) -> Cell {
    Cell::Decimal { value, scale: SCALE }
}

/// Charges by policy, account and VO.
pub(super) fn charges(answers: &Answers) -> Table {
    let kind = ColumnKind::Decimal(SCALE);
    let mut table = Table::new(
        "charges",
        &[
            ("method", "", ColumnKind::Text),
            ("policy", "", ColumnKind::Text),
            ("unit", "", ColumnKind::Text),
            ("account", "", ColumnKind::Text),
            ("vo", "", ColumnKind::Text),
            ("job_n", "", ColumnKind::Number),
            ("unpriced_job_n", "", ColumnKind::Number),
            ("recorded_charge", "", kind),
            ("charge", "", kind),
            ("change", "", kind),
            ("change_percent", "%", ColumnKind::Decimal(2)),
        ],
    );
    for method in methods(answers) {
        let (was, would) = (&method.recorded.charged.charges, &method.charged.charges);
        let names: BTreeSet<&ChargedName> = was.keys().chain(would.keys()).collect();
        for name in names {
            // Fallback: who is not charged under a schedule is charged nothing under it.
            let of = |charges: &BTreeMap<ChargedName, ChargedSums>| charges.get(name).copied().unwrap_or_default();
            let (before, now): (ChargedSums, ChargedSums) = (of(was), of(would));
            let change = now.charge_e9 - before.charge_e9;
            table.push(vec![
                Cell::text(method.word),
                Cell::text(name.policy.clone()),
                Cell::text(name.unit.clone()),
                Cell::word(name.account.as_deref()),
                Cell::word(name.vo.as_deref()),
                Cell::int(now.job_n),
                Cell::int(now.unpriced_job_n),
                charge(before.charge_e9),
                charge(now.charge_e9),
                charge(change),
                percent(change, before.charge_e9),
            ]);
        }
    }
    table.without_empty_columns()
}

/// A part in percent with two digits.
fn percent(part: i128, of: i128) -> Cell {
    match part.checked_mul(100) {
        Some(part) => Cell::ratio(part, of, 2),
        None => Cell::Empty,
    }
}

/// Use of awards.
pub(super) fn awards(answers: &Answers) -> Table {
    let kind = ColumnKind::Decimal(SCALE);
    let mut table = Table::new(
        "awards",
        &[
            ("method", "", ColumnKind::Text),
            ("award", "", ColumnKind::Text),
            ("unit", "", ColumnKind::Text),
            ("recorded_used", "", kind),
            ("used", "", kind),
            ("change", "", kind),
        ],
    );
    for method in methods(answers) {
        let (was, would) = (&method.recorded.charged.awards, &method.charged.awards);
        for name in was.keys().chain(would.keys()).collect::<BTreeSet<_>>() {
            // Fallback: an award that nobody uses under a schedule is used by nothing.
            let of = |awards: &BTreeMap<AwardName, i128>| awards.get(name).copied().unwrap_or_default();
            let (before, now) = (of(was), of(would));
            table.push(vec![
                Cell::text(method.word),
                Cell::text(name.award.clone()),
                Cell::text(name.unit.clone()),
                charge(before),
                charge(now),
                charge(now - before),
            ]);
        }
    }
    table
}

/// Free canonical units, and what is free and of no use to them.
pub(super) fn overhead(answers: &Answers) -> Table {
    let kind = ColumnKind::Decimal(2);
    let mut table = Table::new(
        "canonical units that were free",
        &[
            ("method", "", ColumnKind::Text),
            ("unit", "", ColumnKind::Text),
            ("free_unit_h", "h", kind),
            ("free_unit_change_h", "h", kind),
            ("overhead_core_h", "h", kind),
            ("stranded_core_h", "h", kind),
            ("allocated_core_h", "h", kind),
            ("unavailable_core_h", "h", kind),
            ("capacity_core_h", "h", kind),
            ("idle_node_d", "d", kind),
            ("without_place_job_n", "", ColumnKind::Number),
        ],
    );
    let Some(was) = answers.schedules.first() else {
        return table;
    };
    let hours = |s: i128| Cell::ratio(s, HOUR_S, 2);
    for answer in &answers.schedules {
        let Some(nodes) = &answer.nodes else { continue };
        for (at, unit) in nodes.units.iter().enumerate() {
            let before = was.nodes.as_ref().and_then(|nodes| nodes.units.get(at)?.free());
            let free = unit.free();
            let core = |sums: [i128; 3]| {
                let [core_s, ..] = sums;
                hours(core_s)
            };
            table.push(vec![
                Cell::text(answer.word),
                Cell::text(unit.unit.clone()),
                free.map_or(Cell::Empty, |free| hours(free.unit_s)),
                free.zip(before)
                    .map_or(Cell::Empty, |(free, before)| hours(free.unit_s - before.unit_s)),
                free.map_or(Cell::Empty, |free| core(free.overhead)),
                free.map_or(Cell::Empty, |free| core(free.stranded)),
                core(nodes.allocated),
                core(nodes.unavailable),
                core(nodes.capacity),
                Cell::ratio(nodes.idle_node_s, DAY_S, 2),
                Cell::int(nodes.without_n),
            ]);
        }
    }
    table
}

/// Energy of the jobs whose energy is recorded.
pub(super) fn energy(answers: &Answers) -> Table {
    let mut table = Table::new(
        "energy",
        &[
            ("method", "", ColumnKind::Text),
            ("known_job_n", "", ColumnKind::Number),
            ("job_n", "", ColumnKind::Number),
            ("energy_kwh", "kWh", ColumnKind::Decimal(3)),
            ("within_recorded_time_kwh", "kWh", ColumnKind::Decimal(3)),
            ("after_recorded_end_kwh", "kWh", ColumnKind::Decimal(3)),
        ],
    );
    for answer in &answers.schedules {
        let energy = answer.energy;
        table.push(vec![
            Cell::text(answer.word),
            Cell::int(energy.known_n),
            Cell::int(answer.jobs.job_n),
            Cell::ratio(energy.all_j * 1000, KWH_MJ, 3),
            Cell::ratio(energy.within_mj, KWH_MJ, 3),
            Cell::ratio(energy.all_j * 1000 - energy.within_mj, KWH_MJ, 3),
        ]);
    }
    if answers.schedules.iter().all(|answer| answer.energy.known_n == 0) {
        table.rows.clear();
    }
    table
}

/// Each method against what happened, one sentence a line.
#[must_use]
pub fn sentences(answers: &Answers) -> String {
    let Some(was) = answers.schedules.first() else {
        return String::new();
    };
    let lines = methods(answers).map(|method| sentence(was, method) + "\n");
    lines.collect()
}

fn sentence(was: &ScheduleAnswer, method: &ScheduleAnswer) -> String {
    let (started_n, never_n) = (method.recorded.jobs.job_n, method.recorded.never_start_n);
    if started_n == 0 {
        return format!(
            "{} would have started none of {never_n} jobs: there is nothing to compare.",
            method.word
        );
    }
    let mut parts = vec![waits(method)];
    parts.extend(largest_charge(method));
    if let (Some(before), Some(now)) = (&was.nodes, &method.nodes) {
        parts.push(freed(before, now));
    }
    let last = parts.pop();
    let text = match (parts.is_empty(), last) {
        (true, last) => crate::absent::text(last.as_deref()).to_owned(),
        (false, last) => format!("{} and {}", parts.join(", "), crate::absent::text(last.as_deref())),
    };
    let without = match never_n {
        0 => String::new(),
        _ => format!(
            " {never_n} of {} jobs never start under it and are not compared.",
            started_n + never_n
        ),
    };
    format!("{} would have {text}.{without}", method.word)
}

fn waits(method: &ScheduleAnswer) -> String {
    let (before, now) = (method.recorded.jobs, method.jobs);
    let mean = |wait_s: i128, job_n: u64| Cell::ratio(wait_s, i128::from(job_n), 1);
    let saved = before.wait_s - now.wait_s;
    let word = if saved < 0 { "added" } else { "saved" };
    if before.wait_s == 0 {
        return format!("{word} {} s of waits, where there were none", saved.abs());
    }
    format!(
        "{word} {} % of waits (a mean of {} s in place of {} s)",
        Cell::ratio(saved.abs() * 100, before.wait_s, 1),
        mean(now.wait_s, now.job_n),
        mean(before.wait_s, before.job_n)
    )
}

/// Who is charged most differently, under each policy by which anybody is.
fn largest_charge(method: &ScheduleAnswer) -> Vec<String> {
    let mut changes: BTreeMap<&str, BTreeMap<&str, i128>> = BTreeMap::new();
    let mut units: BTreeMap<&str, &str> = BTreeMap::new();
    for (charged, sign) in [(&method.charged, 1), (&method.recorded.charged, -1)] {
        for (name, sums) in &charged.charges {
            let payer = name.account.as_deref().or(name.vo.as_deref());
            let payer = payer.map_or("jobs without an account", |payer| payer);
            units.insert(&name.policy, &name.unit);
            *changes.entry(&name.policy).or_default().entry(payer).or_default() += sign * sums.charge_e9;
        }
    }
    let largest = changes.iter().filter_map(|(policy, payers)| {
        let (payer, change) = payers.iter().max_by_key(|(_, change)| change.abs())?;
        let unit = units.get(policy)?;
        // The options are in the table.
        let policy = policy.split_whitespace().next()?;
        if *change == 0 {
            return Some(format!("charged nobody differently under {policy}"));
        }
        let word = if *change > 0 { "more" } else { "less" };
        let shown = amount(change.abs(), CHARGE_SCALE);
        let shown = shown.trim_end_matches('0').trim_end_matches('.');
        let among = if payers.len() > 1 {
            ", whose charge changes most,"
        } else {
            ""
        };
        Some(format!("cost {payer}{among} {shown} {unit} {word} under {policy}"))
    });
    largest.collect()
}

fn freed(before: &NodeLedger, now: &NodeLedger) -> String {
    let freed_s = now.idle_node_s - before.idle_node_s;
    let word = if freed_s < 0 { "occupied" } else { "freed" };
    format!("{word} {} node-days", Cell::ratio(freed_s.abs(), DAY_S, 1))
}
