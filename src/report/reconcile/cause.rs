//! Causes that the numbers prove.

use std::collections::{BTreeMap, BTreeSet};

use super::side::{Amount, Cell, CellKey, Fine, Side};
use crate::time::Month;

/// Why two accounts of one site, VO and month differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// One side lacks rows, or jobs, the other has.
    MissingJobs,
    /// Times are the same, work is not.
    OtherFactor,
    /// The factor of one side is one that was in use before, or after.
    StaleFactor,
    /// Work differs by the 250 between SI00 and HEPSPEC06.
    By250,
    /// Neighbouring months make good for one another: they were cut in another zone.
    MonthBoundary,
    /// One side has everything twice, or more often.
    DoubleCounting,
    /// Names are spelled in other letter case.
    CaseOfNames,
    /// The same usage stands under another name.
    OtherName,
    /// Wall time is times cores on one side.
    WallTimesCores,
    /// Durations are hours on one side, and seconds on the other.
    HoursOrSeconds,
    /// One side still has rows that were replaced under another key.
    StaleRows,
    /// No rule proves why.
    Unexplained,
}

impl Cause {
    /// The word in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MissingJobs => "missing_jobs",
            Self::OtherFactor => "other_factor",
            Self::StaleFactor => "stale_factor",
            Self::By250 => "by_250",
            Self::MonthBoundary => "month_boundary",
            Self::DoubleCounting => "double_counting",
            Self::CaseOfNames => "case_of_names",
            Self::OtherName => "other_name",
            Self::WallTimesCores => "wall_times_cores",
            Self::HoursOrSeconds => "hours_or_seconds",
            Self::StaleRows => "stale_rows",
            Self::Unexplained => "unexplained",
        }
    }
}

/// A cause and the numbers that prove it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Cause.
    pub cause: Cause,
    /// A sentence with the numbers.
    pub evidence: String,
}

/// Work of which a rounded second is more than a thousandth proves nothing.
const SMALL_WORK_S: i128 = 1000;

fn verdict(cause: Cause, evidence: impl Into<String>) -> Verdict {
    Verdict {
        cause,
        evidence: evidence.into(),
    }
}

/// The first cause that the numbers of a cell prove. Rules that look at rows come before rules that look at sums.
#[must_use]
pub fn find(key: &CellKey, a: &Side, b: &Side) -> Verdict {
    let nothing = Cell::default();
    let (of_a, of_b) = (
        a.cells.get(key).unwrap_or(&nothing),
        b.cells.get(key).unwrap_or(&nothing),
    );
    let rules: [&dyn Fn() -> Option<Verdict>; 9] = [
        &|| case_of_names(of_a, of_b),
        &|| stale_rows(of_a, of_b),
        &|| double_counting(of_a.amount(), of_b.amount()),
        &|| by_sums(of_a, of_b),
        &|| factor(key, a, b),
        &|| month_boundary(key, a, b),
        &|| missing_rows(of_a, of_b),
        &|| other_name(key, a, b),
        &|| one_side_only(of_a, of_b),
    ];
    let found = rules.iter().find_map(|rule| rule());
    found.unwrap_or_else(|| verdict(Cause::Unexplained, "no rule proves why"))
}

fn spelled(cell: &Cell) -> String {
    let names = cell
        .spellings
        .iter()
        .map(|((site, vo), amount)| format!("{site}/{vo} {} jobs", amount.job_n));
    names.collect::<Vec<_>>().join(", ")
}

/// The sums agree when letter case is forgotten, or one side is exactly what the other has under one spelling.
fn case_of_names(a: &Cell, b: &Cell) -> Option<Verdict> {
    if a.spellings.keys().eq(b.spellings.keys()) || a.spellings.is_empty() || b.spellings.is_empty() {
        return None;
    }
    let told = || format!("A has {}; B has {}", spelled(a), spelled(b));
    if a.amount() == b.amount() {
        return Some(verdict(
            Cause::CaseOfNames,
            format!("{}: the same, letter case aside", told()),
        ));
    }
    for (more, less, which) in [(a, b, "B"), (b, a, "A")] {
        let lost = more.spellings.len() > 1 && more.spellings.values().any(|amount| *amount == less.amount());
        if lost {
            return Some(verdict(
                Cause::CaseOfNames,
                format!("{}: {which} has one spelling alone", told()),
            ));
        }
    }
    None
}

/// The rows of both cells by the fields that both tell in the same words: one side may withhold users, or name no
/// submit host.
fn aligned(a: &Cell, b: &Cell) -> (Vec<Fine>, Vec<Fine>) {
    let values = |cell: &Cell| {
        let mut values: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
        for (name, value) in cell.rows.iter().flat_map(|row| &row.key) {
            values.entry(name).or_default().insert(value.clone());
        }
        values
    };
    let (of_a, of_b) = (values(a), values(b));
    let is_shared = |name: &str| {
        let pair = of_a.get(name).zip(of_b.get(name));
        pair.is_some_and(|(of_a, of_b)| !of_a.is_disjoint(of_b))
    };
    let reduced = |cell: &Cell| {
        let mut rows: BTreeMap<BTreeMap<&'static str, String>, Amount> = BTreeMap::new();
        for row in &cell.rows {
            let key = row.key.iter().filter(|(name, _)| is_shared(name));
            let sum = rows
                .entry(key.map(|(name, value)| (*name, value.clone())).collect())
                .or_default();
            *sum = sum.plus(row.amount);
        }
        rows.into_iter().map(|(key, amount)| Fine { key, amount }).collect()
    };
    (reduced(a), reduced(b))
}

/// Rows of one side beyond those of the other; work may be rounded otherwise.
fn surplus<'a>(more: &'a [Fine], less: &[Fine]) -> Vec<&'a Fine> {
    let mut left: Vec<&Fine> = less.iter().collect();
    let is_same = |a: &Fine, b: &Fine| a.key == b.key && a.amount.has_same_time(b.amount);
    more.iter()
        .filter(|row| match left.iter().position(|other| is_same(other, row)) {
            Some(at) => {
                left.swap_remove(at);
                false
            }
            None => true,
        })
        .collect()
}

/// The one field in which two keys differ.
fn one_field(
    a: &BTreeMap<&'static str, String>,
    b: &BTreeMap<&'static str, String>,
) -> Option<(&'static str, String, String)> {
    let names: BTreeSet<&&'static str> = a.keys().chain(b.keys()).collect();
    let of = |key: &BTreeMap<&'static str, String>, name: &str| key.get(name).cloned().unwrap_or_default();
    let mut differing = names.into_iter().filter(|name| a.get(**name) != b.get(**name));
    let first = differing.next()?;
    differing.next().is_none().then(|| (*first, of(a, first), of(b, first)))
}

/// One side has all rows of the other, and more that repeat the time of rows it has, under a key that differs in one field.
fn stale_rows(a: &Cell, b: &Cell) -> Option<Verdict> {
    let (a, b) = aligned(a, b);
    for (more, less, which) in [(&a, &b, "A"), (&b, &a, "B")] {
        let extra = surplus(more, less);
        if extra.is_empty() || !surplus(less, more).is_empty() || less.is_empty() {
            continue;
        }
        let twins: Vec<String> = extra
            .iter()
            .filter_map(|row| {
                less.iter().find_map(|kept| {
                    let (field, is, was) = one_field(&kept.key, &row.key)?;
                    let same = kept.amount.has_same_time(row.amount) && row.amount.wall_s > 0;
                    same.then(|| format!("{field} {was} beside {is}: {} jobs", row.amount.job_n))
                })
            })
            .collect();
        if twins.len() == extra.len() {
            let told = twins.join(", ");
            return Some(verdict(
                Cause::StaleRows,
                format!("{which} keeps rows under another key: {told}"),
            ));
        }
    }
    None
}

fn double_counting(a: Amount, b: Amount) -> Option<Verdict> {
    for (more, less, which) in [(a, b, "A"), (b, a, "B")] {
        if less.job_n > 0 && less.wall_s > 0 {
            let n = more.job_n / less.job_n;
            if (2..=10).contains(&n) && less.times(n).has_same_time(more) {
                return Some(verdict(
                    Cause::DoubleCounting,
                    format!("{which} has {n} times the jobs, wall and CPU time, exactly"),
                ));
            }
        }
    }
    None
}

/// Jobs agree, durations do not, in a way that has a name.
fn by_sums(of_a: &Cell, of_b: &Cell) -> Option<Verdict> {
    let (a, b) = (of_a.amount(), of_b.amount());
    if a.job_n != b.job_n || a.job_n == 0 {
        return None;
    }
    let rows = i128::try_from(of_a.rows.len().max(of_b.rows.len())).unwrap_or(i128::MAX);
    for (seconds, hours, which) in [(a, b, "B"), (b, a, "A")] {
        let is_rounded = |s: i128, h: i128| (s - h * 3600).abs() <= 3600 * rows;
        // A few hours could be anything.
        let is_plain = seconds.wall_s > 3600 * 4 && hours.wall_s * 1000 < seconds.wall_s;
        if is_plain && is_rounded(seconds.wall_s, hours.wall_s) && is_rounded(seconds.cpu_s, hours.cpu_s) {
            return Some(verdict(
                Cause::HoursOrSeconds,
                format!(
                    "{which} has {} and {} h where the other has {} and {} s",
                    hours.wall_s, hours.cpu_s, seconds.wall_s, seconds.cpu_s
                ),
            ));
        }
    }
    if a.cpu_s != b.cpu_s || a.wall_s == b.wall_s {
        return None;
    }
    for (plain, times_cores, which) in [(a, b, "B"), (b, a, "A")] {
        if plain.core_wall_s == times_cores.wall_s {
            return Some(verdict(
                Cause::WallTimesCores,
                format!(
                    "wall time of {which} is {}: the other's {} s times its cores",
                    times_cores.wall_s, plain.wall_s
                ),
            ));
        }
    }
    None
}

/// `a / b` in ten-thousandths.
fn ratio_e4(a: i128, b: i128) -> Option<i128> {
    crate::report::table::divide(a.checked_mul(10_000)?, b)
}

fn shown_e4(e4: i128) -> String {
    crate::report::table::Cell::Decimal { value: e4, scale: 4 }.to_string()
}

/// Times agree, work does not.
fn factor(key: &CellKey, a: &Side, b: &Side) -> Option<Verdict> {
    let (site, _, month) = key;
    let (of_a, of_b) = (a.cells.get(key)?.amount(), b.cells.get(key)?.amount());
    if !of_a.has_same_time(of_b) || of_a.wall_s == 0 {
        return None;
    }
    // One side tells no work, or so little that rounding hides any factor.
    if of_a.wall_work_s.min(of_b.wall_work_s) < SMALL_WORK_S {
        return None;
    }
    let wall = ratio_e4(of_a.wall_work_s, of_b.wall_work_s)?;
    let (factor_a, factor_b) = (
        ratio_e4(of_a.wall_work_s, of_a.wall_s)?,
        ratio_e4(of_b.wall_work_s, of_b.wall_s)?,
    );
    let near = |x: i128, y: i128| (x - y).abs() * 1000 <= y.abs().max(1);
    let told = format!("mean factor of A {}, of B {}", shown_e4(factor_a), shown_e4(factor_b));
    // Both kinds of work must be off alike, or it is no factor. A few seconds of CPU round to anything.
    let is_alike = of_a.cpu_work_s < 10_000
        || of_b.cpu_work_s < 10_000
        || ratio_e4(of_a.cpu_work_s, of_b.cpu_work_s).is_some_and(|cpu| (cpu - wall).abs() * 100 <= wall.abs());
    if near(wall, 2_500_000) || near(ratio_e4(of_b.wall_work_s, of_a.wall_work_s)?, 2_500_000) {
        return Some(verdict(Cause::By250, told));
    }
    if !is_alike {
        return None;
    }
    for (mine, account, which) in [
        (factor_b, a, "B"),
        (factor_a, b, "A"),
        (factor_b, b, "B"),
        (factor_a, a, "A"),
    ] {
        let other = account.levels_e3.iter().find(|((of, at), levels)| {
            of == site && at != month && levels.iter().any(|e3| near(mine, i128::from(*e3) * 10))
        });
        let now = account.levels_e3.get(&(site.clone(), *month));
        let is_current = now.is_some_and(|levels| levels.iter().any(|e3| near(mine, i128::from(*e3) * 10)));
        if let (Some(((_, at), _)), false) = (other, is_current) {
            return Some(verdict(
                Cause::StaleFactor,
                format!("{told}: {which} has the one of {at}"),
            ));
        }
    }
    for (mine, account, which) in [(factor_b, a, "B"), (factor_a, b, "A")] {
        if let Some(at) = month_of_mean_factor(mine, account, site, *month) {
            return Some(verdict(
                Cause::StaleFactor,
                format!("{told}: {which} has the one of {at}"),
            ));
        }
    }
    Some(verdict(Cause::OtherFactor, told))
}

/// The other month of a site whose mean factor this is.
fn month_of_mean_factor(factor_e4: i128, account: &Side, site: &str, month: Month) -> Option<Month> {
    let mut means: BTreeMap<Month, Amount> = BTreeMap::new();
    for ((of, _, at), cell) in &account.cells {
        if of == site {
            let sum = means.entry(*at).or_default();
            *sum = sum.plus(cell.amount());
        }
    }
    let is_it = |amount: &Amount| {
        ratio_e4(amount.wall_work_s, amount.wall_s).is_some_and(|mean| (mean - factor_e4).abs() * 2000 <= mean.abs())
    };
    if means.get(&month).is_some_and(is_it) {
        return None;
    }
    means
        .iter()
        .find(|(at, amount)| **at != month && is_it(amount))
        .map(|(at, _)| *at)
}

/// The jobs near the edges of the month, cut in another zone, make the difference; or, where single jobs are not known,
/// the month and a neighbour together agree.
fn month_boundary(key: &CellKey, a: &Side, b: &Side) -> Option<Verdict> {
    let (site, vo, month) = key;
    let amount = |side: &Side| side.cells.get(key).map(Cell::amount).unwrap_or_default();
    let (of_a, of_b) = (amount(a), amount(b));
    if of_a.has_same_time(of_b) {
        return None;
    }
    for (jobs, cut, other, which) in [(a, of_a, of_b, "B"), (b, of_b, of_a, "A")] {
        let fits = |quarters: &i64| {
            let shift_s = quarters * 900;
            let mut moved = cut;
            for job in jobs.edge_jobs.iter().filter(|job| job.of.0 == *site && job.of.1 == *vo) {
                let is = Month::of_ms(job.end_s.saturating_mul(1000)) == Some(*month);
                let would = Month::of_ms((job.end_s + shift_s).saturating_mul(1000)) == Some(*month);
                match (is, would) {
                    (true, false) => moved = moved.minus(job.amount),
                    (false, true) => moved = moved.plus(job.amount),
                    _ => {}
                }
            }
            moved.has_same_time(other)
        };
        // A cell with few jobs near the edge fits several zones: all of them are told.
        let zones: Vec<i64> = (-56..=56_i64).filter(|quarters| *quarters != 0).filter(fits).collect();
        let runs = zones.chunk_by(|a, b| b - a == 1).filter_map(|run| {
            let (first, last) = (zone(*run.first()?), zone(*run.last()?));
            Some(if first == last {
                first
            } else {
                format!("{first} to {last}")
            })
        });
        let told: Vec<String> = runs.collect();
        if !told.is_empty() {
            let told = told.join(", or ");
            return Some(verdict(
                Cause::MonthBoundary,
                format!("{which} is exact when months are cut at {told}"),
            ));
        }
    }
    let neighbours = [previous(*month), Some(month.next())];
    for neighbour in neighbours.into_iter().flatten() {
        let of = |side: &Side| {
            let cell = side.cells.get(&(site.clone(), vo.clone(), neighbour));
            cell.map(Cell::amount)
        };
        if let (Some(near_a), Some(near_b)) = (of(a), of(b))
            && of_a.plus(near_a).has_same_time(of_b.plus(near_b))
            && !near_a.has_same_time(near_b)
        {
            return Some(verdict(
                Cause::MonthBoundary,
                format!(
                    "together with {neighbour} both sides agree: {} jobs lie on the other side of the edge",
                    (of_a.job_n - of_b.job_n).abs()
                ),
            ));
        }
    }
    None
}

/// `UTC+05:30` of 22 quarters of an hour.
fn zone(quarters: i64) -> String {
    let sign = if quarters < 0 { '-' } else { '+' };
    format!("UTC{sign}{:02}:{:02}", quarters.abs() / 4, quarters.abs() % 4 * 15)
}

fn previous(month: Month) -> Option<Month> {
    if month.number() > 1 {
        Month::new(month.year(), month.number() - 1)
    } else {
        Month::new(month.year().checked_sub(1)?, 12)
    }
}

/// One side has all rows of the other and some more, and these are the difference.
fn missing_rows(a: &Cell, b: &Cell) -> Option<Verdict> {
    let (a, b) = aligned(a, b);
    for (more, less, which) in [(&a, &b, "B"), (&b, &a, "A")] {
        let extra = surplus(more, less);
        if !extra.is_empty() && surplus(less, more).is_empty() && !less.is_empty() {
            let sum = extra.iter().fold(Amount::default(), |sum, row| sum.plus(row.amount));
            let keys = extra.first().map(|row| {
                let fields: Vec<String> = row.key.iter().map(|(name, value)| format!("{name} {value}")).collect();
                fields.join(", ")
            });
            return Some(verdict(
                Cause::MissingJobs,
                format!(
                    "{which} lacks {} of {} rows, {} jobs and {} s wall; the first: {}",
                    extra.len(),
                    more.len(),
                    sum.job_n,
                    sum.wall_s,
                    keys.unwrap_or_default()
                ),
            ));
        }
    }
    None
}

/// The same jobs and times stand under another site or VO where the other side has nothing.
fn other_name(key: &CellKey, a: &Side, b: &Side) -> Option<Verdict> {
    for (here, there, which) in [(a, b, "B"), (b, a, "A")] {
        let (Some(cell), None) = (here.cells.get(key), there.cells.get(key)) else {
            continue;
        };
        let amount = cell.amount();
        let twin = there.cells.iter().find(|(other, cell)| {
            other.2 == key.2
                && (other.0 == key.0 || other.1 == key.1)
                && !here.cells.contains_key(*other)
                && cell.amount().has_same_time(amount)
                && amount.job_n > 0
        });
        if let Some(((site, vo, _), _)) = twin {
            return Some(verdict(
                Cause::OtherName,
                format!("{which} has the same jobs and times under {site}/{vo}"),
            ));
        }
    }
    None
}

fn one_side_only(a: &Cell, b: &Cell) -> Option<Verdict> {
    for (there, here, which) in [(a, b, "B"), (b, a, "A")] {
        if here.rows.is_empty() && there.amount().job_n > 0 {
            return Some(verdict(
                Cause::MissingJobs,
                format!("{which} has nothing of it; the other has {} jobs", there.amount().job_n),
            ));
        }
    }
    None
}
