//! A formula with the numbers in it.

use super::amount::CHARGE_SCALE;
use super::policy::{Origin, Policy, Step};
use super::price::Priced;
use crate::engine::SCALE;
use crate::reference::decimal::text;

/// How the charge of a job came about, a line for every value: the formula, the formula with its numbers, the result.
#[must_use]
pub fn trace(policy: &Policy, priced: &Priced, job: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut inputs: Vec<String> = Vec::new();
    let steps = || policy.steps.iter().chain(&policy.scope.when);
    for name in policy.reads() {
        if !steps().any(|step| step.name == name) {
            let value = priced.value(job, name).unwrap_or_else(|| "unknown".to_owned());
            inputs.push(format!("{name} = {value}"));
        }
    }
    if !inputs.is_empty() {
        lines.push(inputs.join(", "));
    }
    if let Some(when) = &policy.scope.when {
        lines.push(line("when", when, priced, job, priced.value(job, "when")));
    }
    for step in &policy.steps {
        lines.push(line(&step.name, step, priced, job, priced.value(job, &step.name)));
    }
    let charge = priced.charge.get(job).copied().flatten();
    let computed = policy.steps.last().and_then(|step| priced.value(job, &step.name));
    if let Some(charge) = charge.map(|charge| text(charge, CHARGE_SCALE))
        && computed.as_deref() != Some(charge.as_str())
    {
        lines.push(format!("{}: {charge} {}", settlement(policy), policy.unit));
    }
    lines
}

/// What happens to the result of the formula: minimum and rounding, in words.
#[must_use]
pub fn settlement(policy: &Policy) -> String {
    let minimum = policy
        .minimum_charge
        .map(|minimum| format!("at least {}, ", text(minimum, SCALE)));
    format!(
        "{}rounded {} to {} decimals",
        minimum.unwrap_or_default(),
        policy.rounding.mode.as_str(),
        policy.rounding.digits
    )
}

fn line(name: &str, step: &Step, priced: &Priced, job: usize, value: Option<String>) -> String {
    let value = value.unwrap_or_else(|| "unknown".to_owned());
    let source = source(step);
    let filled = with_numbers(&source, step.formula.reads(), |name| {
        priced.value(job, name).unwrap_or_else(|| "unknown".to_owned())
    });
    format!("{name} = {source} = {filled} = {value}")
}

/// A step as the file says it.
#[must_use]
pub fn source(step: &Step) -> String {
    match &step.origin {
        Origin::Expression(sql) => sql.split_whitespace().collect::<Vec<_>>().join(" "),
        Origin::Tier {
            by,
            steps,
            above,
            is_upper_included,
        } => {
            let sign = if *is_upper_included { "<=" } else { "<" };
            let mut parts: Vec<String> = steps
                .iter()
                .map(|(bound, value)| format!("{sign} {}: {}", text(*bound, SCALE), text(*value, SCALE)))
                .collect();
            let beyond = above.map_or_else(|| "unknown".to_owned(), |value| text(value, SCALE));
            parts.push(format!("above: {beyond}"));
            format!("tier of {by} ({})", parts.join("; "))
        }
    }
}

/// `sql` with the names in `names` replaced by their values. Texts in quotes stay as they are.
#[must_use]
pub fn with_numbers(sql: &str, names: &[String], value: impl Fn(&str) -> String) -> String {
    let mut filled = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let length = if first == '\'' {
            rest.get(1..)
                .and_then(|rest| rest.find('\''))
                .map_or(rest.len(), |end| end + 2)
        } else if first.is_alphabetic() || first == '_' {
            rest.find(|c: char| !(c.is_alphanumeric() || c == '_'))
                .unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        if names.iter().any(|name| name == word) {
            filled.push_str(&value(word));
        } else {
            filled.push_str(word);
        }
        rest = after;
    }
    filled
}
