//! A formula with the numbers in it.

use super::amount::{CHARGE_SCALE, MemoryUnit};
use super::policy::{MEMORY_UNIT, Policy, PolicyOrigin, Step};
use super::price::JobPriced;
use crate::expr::{SCALE, Value};
use crate::reference::decimal::text;

/// How the charge of a job came about, a line for every value: the formula, the formula with its numbers, the result.
#[must_use]
pub fn trace(policy: &Policy, priced: &JobPriced, job: usize) -> Vec<String> {
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
    lines.extend(grounds(policy, priced, job));
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

/// Origin of the inputs that no record contains: units, included extras, tables.
fn grounds(policy: &Policy, priced: &JobPriced, job: usize) -> Vec<String> {
    let reported = |name: &str| priced.value(job, name).unwrap_or_else(|| "unknown".to_owned());
    let each = |names: &mut dyn Iterator<Item = &str>| -> String {
        let values: Vec<String> = names.map(|name| format!("{name} = {}", reported(name))).collect();
        values.join(", ")
    };
    let mut lines = Vec::new();
    let reads = policy.reads();
    for (name, per) in [("minutes", 60), ("hours", 3600)] {
        if reads.contains(name) && priced.value(job, "seconds").is_some() {
            lines.push(format!(
                "{name} = seconds / {per} = {} / {per} = {}",
                reported("seconds"),
                reported(name)
            ));
        }
    }
    if let Some(seconds) = policy.minimum_seconds {
        lines.push(format!("seconds are at least {}", text(seconds, SCALE)));
    }
    if reads.contains("memory") || reads.contains("requested_memory") {
        let chosen = reported(MEMORY_UNIT);
        let unit = policy
            .memory_unit
            .or_else(|| MemoryUnit::parse(chosen.trim_matches('\'')));
        lines.extend(unit.map(|unit| format!("memory is counted in {} of {} bytes", unit.as_str(), unit.byte_n())));
    }
    if !policy.unknown.is_empty() {
        let stand_ins = policy.unknown.iter().map(|(name, value)| match value {
            Value::Number(number) => format!("{name} {}", text(*number, SCALE)),
            Value::Text(word) => format!("{name} '{word}'"),
        });
        let stand_ins: Vec<String> = stand_ins.collect();
        lines.push(format!("where a record does not contain it: {}", stand_ins.join(", ")));
    }
    for devices in &policy.devices {
        let title = devices.title.as_deref().unwrap_or("devices");
        let mut gives = devices.gives.iter().map(String::as_str);
        lines.push(format!("{title}, added up over the GPUs: {}", each(&mut gives)));
    }
    for table in &policy.tables {
        let title = table.title.as_deref().unwrap_or("table");
        let mut by = table.by.iter().map(|(name, _)| name.as_str());
        let mut gives = table.gives.iter().map(|(name, _)| name.as_str());
        lines.push(format!("{title}: for {} it is {}", each(&mut by), each(&mut gives)));
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
        // Fallback: a policy without a minimum shows no words for it.
        minimum.unwrap_or_default(),
        policy.rounding.mode.as_str(),
        policy.rounding.digits
    )
}

fn line(name: &str, step: &Step, priced: &JobPriced, job: usize, value: Option<String>) -> String {
    let value = value.unwrap_or_else(|| "unknown".to_owned());
    let source = source(step);
    let filled = with_numbers(&source, step.formula.reads(), |name| {
        priced.value(job, name).unwrap_or_else(|| "unknown".to_owned())
    });
    format!("{name} = {source} = {filled} = {value}")
}

/// A step as the file states it.
#[must_use]
pub fn source(step: &Step) -> String {
    match &step.origin {
        PolicyOrigin::Expression(sql) => sql.split_whitespace().collect::<Vec<_>>().join(" "),
        PolicyOrigin::Tier {
            by,
            steps,
            above,
            is_upper_included,
        } => {
            let sign = if *is_upper_included { "<=" } else { "<" };
            let mut parts: Vec<String> = steps
                .iter()
                .map(|step| format!("{sign} {}: {}", text(step.bound, SCALE), text(step.value, SCALE)))
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
