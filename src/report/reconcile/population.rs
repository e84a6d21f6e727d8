//! Which usage one side has beyond the other, where only sums can be compared: what A would be with one cause undone.

use crate::absent;
use std::collections::{BTreeMap, BTreeSet};

use super::amount::Amount;
use super::difference_cause::Cause;
use super::relation::Which;
use super::usage_source::{Fine, SourceCell};

/// What A would come to if it had what makes B differ.
#[derive(Clone, Debug)]
pub struct Population {
    /// Why; `None` for A as it is.
    pub cause: Option<Cause>,
    /// A sentence with the numbers.
    pub evidence: String,
    /// The jobs it concerns.
    pub job_n: i128,
    /// What A would come to.
    pub amount: Amount,
}

impl Population {
    /// A without, or with more of, something.
    fn changed(cause: Cause, evidence: String, of_a: Amount, change: Amount) -> Self {
        Self {
            cause: Some(cause),
            evidence,
            job_n: change.job_n.abs(),
            amount: of_a.plus(change),
        }
    }
}

/// The causes that rows and sums of two cells can show where single jobs are not available.
#[must_use]
pub fn of_rows(a: &SourceCell, b: &SourceCell) -> Vec<Population> {
    let as_it_is = Population {
        cause: None,
        evidence: String::new(),
        job_n: 0,
        amount: a.amount(),
    };
    let mut found = vec![as_it_is];
    found.extend(lost_spelling(a, b));
    found.extend(stale_rows(a, b));
    found.extend(over_again(a.amount(), b.amount()));
    found
}

fn spelled(cell: &SourceCell) -> String {
    let names = cell
        .spellings
        .iter()
        .map(|((site, vo), amount)| format!("{site}/{vo} {} jobs", amount.job_n));
    names.collect::<Vec<_>>().join(", ")
}

/// Names of both cells as they are spelled.
#[must_use]
pub fn spellings(a: &SourceCell, b: &SourceCell) -> String {
    format!("A has {}; B has {}", spelled(a), spelled(b))
}

/// One side is exactly what the other has under one spelling.
fn lost_spelling(a: &SourceCell, b: &SourceCell) -> Vec<Population> {
    let mut found = Vec::new();
    if a.spellings.keys().eq(b.spellings.keys()) {
        return found;
    }
    for (more, less, which) in [(a, b, Which::B), (b, a, Which::A)] {
        let lost = more.spellings.len() > 1 && more.spellings.values().any(|amount| *amount == less.amount());
        if lost {
            let words = format!("{}: {} has one spelling alone", spellings(a, b), which.as_str());
            let change = b.amount().minus(a.amount());
            found.push(Population::changed(Cause::CaseOfNames, words, a.amount(), change));
        }
    }
    found
}

/// The rows of both cells by the fields that both state in the same words: one side may withhold users, or name no
/// submit host. `leave_out` is a field that is not looked at.
fn aligned(a: &SourceCell, b: &SourceCell, leave_out: &str) -> (Vec<Fine>, Vec<Fine>) {
    let values = |cell: &SourceCell| {
        let mut values: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
        for (name, value) in cell.rows.iter().flat_map(|row| &row.key) {
            values.entry(name).or_default().insert(value.clone());
        }
        values
    };
    let (of_a, of_b) = (values(a), values(b));
    let is_shared = |name: &str| {
        let pair = of_a.get(name).zip(of_b.get(name));
        name != leave_out && pair.is_some_and(|(of_a, of_b)| !of_a.is_disjoint(of_b))
    };
    let reduced = |cell: &SourceCell| {
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

/// Rows of one side beyond those of the other; work may be another, and CPU time rounded.
fn surplus<'a>(more: &'a [Fine], less: &[Fine]) -> Vec<&'a Fine> {
    let mut left: BTreeMap<&BTreeMap<&'static str, String>, Vec<&Fine>> = BTreeMap::new();
    for row in less {
        left.entry(&row.key).or_default().push(row);
    }
    let is_there = |row: &&Fine, left: &mut BTreeMap<&BTreeMap<&'static str, String>, Vec<&Fine>>| {
        let Some(alike) = left.get_mut(&row.key) else {
            return false;
        };
        let at = alike
            .iter()
            .position(|other| row.amount.has_same_time(other.amount, row.amount.job_n.max(1)));
        at.map(|at| alike.swap_remove(at)).is_some()
    };
    more.iter().filter(|row| !is_there(row, &mut left)).collect()
}

/// The one field in which two keys differ.
fn one_field(
    a: &BTreeMap<&'static str, String>,
    b: &BTreeMap<&'static str, String>,
) -> Option<(&'static str, String, String)> {
    let names: BTreeSet<&&'static str> = a.keys().chain(b.keys()).collect();
    let of =
        |key: &BTreeMap<&'static str, String>, name: &str| absent::text(key.get(name).map(String::as_str)).to_owned();
    let mut differing = names.into_iter().filter(|name| a.get(**name) != b.get(**name));
    let first = differing.next()?;
    differing.next().is_none().then(|| (*first, of(a, first), of(b, first)))
}

/// By how much A has to change when `which` side has rows beyond the other.
fn change(which: Which, extra: &[&Fine]) -> Amount {
    let sum = extra.iter().fold(Amount::default(), |sum, row| sum.plus(row.amount));
    match which {
        Which::A => Amount::default().minus(sum),
        Which::B => sum,
    }
}

/// One side has all rows of the other, and more that repeat the time of rows it has, under a key that differs in one field.
fn stale_rows(of_a: &SourceCell, of_b: &SourceCell) -> Vec<Population> {
    let (a, b) = aligned(of_a, of_b, "");
    let mut found = Vec::new();
    for (more, less, which) in [(&a, &b, Which::A), (&b, &a, Which::B)] {
        let extra = surplus(more, less);
        if extra.is_empty() || less.is_empty() || !surplus(less, more).is_empty() {
            continue;
        }
        let twins: Vec<String> = extra
            .iter()
            .filter_map(|row| {
                less.iter().find_map(|kept| {
                    let (field, is, was) = one_field(&kept.key, &row.key)?;
                    let same = kept.amount.has_same_time(row.amount, 0) && row.amount.wall_s > 0;
                    let words = if field == "user" {
                        "one user in place of another".to_owned()
                    } else {
                        format!("{field} {was} in place of {is}")
                    };
                    same.then(|| format!("{words}: {} jobs", row.amount.job_n))
                })
            })
            .collect();
        if twins.len() == extra.len() {
            let words = format!("{} keeps rows under another key: {}", which.as_str(), twins.join(", "));
            let change = change(which, &extra);
            found.push(Population::changed(Cause::StaleRows, words, of_a.amount(), change));
        }
    }
    found
}

/// One side has everything so many times.
fn over_again(a: Amount, b: Amount) -> Vec<Population> {
    let mut found = Vec::new();
    for (more, less, which) in [(a, b, Which::A), (b, a, Which::B)] {
        if less.job_n == 0 || less.wall_s == 0 {
            continue;
        }
        let n = more.job_n / less.job_n;
        if (2..=10).contains(&n) && less.times(n).has_same_time(more, 0) {
            let words = format!("{} has {n} times the jobs, wall and CPU time, exactly", which.as_str());
            // Of work only what A has is known: that of B may have another factor besides.
            let change = match which {
                Which::B => a.times(n - 1),
                Which::A => Amount {
                    wall_work: a.wall_work / n - a.wall_work,
                    cpu_work: a.cpu_work / n - a.cpu_work,
                    ..b.minus(a)
                },
            };
            found.push(Population::changed(Cause::DoubleCounting, words, a, change));
        }
    }
    found
}

/// One side has all rows of the other and some more, and these are the difference.
#[must_use]
pub fn missing_rows(of_a: &SourceCell, of_b: &SourceCell) -> Vec<Population> {
    let mut found = Vec::new();
    for leave_out in ["", "benchmark"] {
        let (a, b) = aligned(of_a, of_b, leave_out);
        for (more, less, which) in [(&a, &b, Which::A), (&b, &a, Which::B)] {
            let extra = surplus(more, less);
            let Some(first) = extra.first() else { continue };
            if less.is_empty() || !surplus(less, more).is_empty() {
                continue;
            }
            let sum = extra.iter().fold(Amount::default(), |sum, row| sum.plus(row.amount));
            // Names of people distinguish rows, but are not printed.
            let fields = first.key.iter().filter(|(name, _)| **name != "user");
            let fields: Vec<String> = fields.map(|(name, value)| format!("{name} {value}")).collect();
            let words = format!(
                "{} lacks {} of {} rows, {} jobs and {} s wall; the first: {}",
                which.other().as_str(),
                extra.len(),
                more.len(),
                sum.job_n,
                sum.wall_s,
                fields.join(", ")
            );
            let change = change(which, &extra);
            found.push(Population::changed(Cause::MissingJobs, words, of_a.amount(), change));
        }
    }
    found
}
