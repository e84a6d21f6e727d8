//! A policy as a page for people.

use std::fmt::Write as _;

use super::policy::{Policy, Subject};
use super::show::{settlement, source};
use crate::error::Result;
use crate::expr::{SCALE, Value};
use crate::reference::decimal::text;
use crate::time::Day;
use crate::time::month::date_of;

/// The page, in Markdown.
///
/// # Errors
/// [`crate::error::Kind::Data`] when an example cannot be computed.
pub fn page(policy: &Policy) -> Result<String> {
    let mut page = format!("# {}\n\n", policy.title);
    let mut add_line = |line: String| {
        page.push_str(&line);
        page.push('\n');
    };
    add_line(format!(
        "* policy `{}`, version `{}` ({})",
        policy.id, policy.version, policy.file
    ));
    add_line(format!("* holds {}", period(policy.valid_from, policy.valid_to)));
    add_line(format!(
        "* charges for {}, in `{}`, from the pool `{}`",
        policy.subject.as_str(),
        policy.unit,
        policy.pool
    ));
    if let Some(unit) = policy.memory_unit {
        add_line(format!(
            "* memory is counted in {} of {} bytes",
            unit.as_str(),
            unit.byte_n()
        ));
    }
    for (name, values) in &policy.scope.only {
        add_line(format!("* only for {name} {}", values.join(", ")));
    }
    if let Some(when) = &policy.scope.when {
        add_line(format!("* only when `{}`", source(when)));
    }
    if let Some(seconds) = policy.minimum_seconds {
        add_line(format!(
            "* every job counts for at least {} seconds",
            text(seconds, SCALE)
        ));
    }
    add_line(format!("* {}", settlement(policy)));
    if let Some(name) = &policy.billing_is {
        add_line(format!(
            "* `{name}` is what Slurm should have recorded as billing: `gridtally policy billing` compares them"
        ));
    }
    for (name, value) in &policy.unknown {
        add_line(format!("* where {name} is unknown, {} is used", cell(value)));
    }
    add_line(format!("* source: {}", policy.source));
    match policy.subject {
        Subject::Jobs => {}
        Subject::Reservations => add_line(
            "* the windows that listings of an inventory describe are charged, used or not; those of maintenance are not"
                .to_owned(),
        ),
        Subject::Storage => add_line("* no input describes storage: the policy can be tested, not run".to_owned()),
    }
    if let Some(note) = &policy.note {
        add_line(format!("\n{note}"));
    }
    add_line("\n## Formula\n".to_owned());
    for step in &policy.steps {
        add_line(format!("    {} = {}", step.name, source(step)));
    }
    let constants = policy.constants.iter();
    let constants: Vec<String> = constants
        .map(|(name, value)| format!("{name} = {}", cell(value)))
        .collect();
    if !constants.is_empty() {
        add_line(format!("\nConstants: {}.", constants.join(", ")));
    }
    inputs(policy, &mut add_line);
    tables(policy, &mut add_line);
    examples(policy, &mut add_line)?;
    Ok(page)
}

fn inputs(policy: &Policy, add_line: &mut impl FnMut(String)) {
    if !policy.choices.is_empty() {
        add_line("\n## Options\n\n| option | values | default | decides |\n|---|---|---|---|".to_owned());
    }
    for choice in &policy.choices {
        // Fallback: a choice without a sentence is listed without one.
        let doc = choice.doc.as_deref().unwrap_or_default();
        add_line(format!(
            "| {} | {} | {} | {doc} |",
            choice.name,
            choice.values.join(", "),
            choice.default
        ));
    }
    let reads = policy.reads();
    let used: Vec<_> = super::inputs::INPUTS
        .iter()
        .filter(|input| reads.contains(input.name))
        .collect();
    add_line("\n## Columns it reads\n\n| column | meaning |\n|---|---|".to_owned());
    for input in used {
        add_line(format!("| {} | {} |", input.name, input.doc));
    }
    for extra in &policy.extras {
        let absent = extra.absent.as_ref().map_or_else(|| "unknown".to_owned(), cell);
        let origin = match &extra.license {
            Some(license) => format!("The licence {license} of job records; where they do not name it"),
            None => "Job records do not contain it".to_owned(),
        };
        add_line(format!("| {} | {} {origin}: {absent}. |", extra.name, extra.doc));
    }
}

fn tables(policy: &Policy, add_line: &mut impl FnMut(String)) {
    for table in &policy.tables {
        let title = table.title.clone().unwrap_or_else(|| "Table".to_owned());
        let names: Vec<&str> = table
            .by
            .iter()
            .chain(&table.gives)
            .map(|(name, _)| name.as_str())
            .collect();
        add_line(format!(
            "\n## {title}\n\n| {} |\n|{}",
            names.join(" | "),
            "---|".repeat(names.len())
        ));
        for row in &table.rows {
            let cells: Vec<String> = row.iter().map(cell).collect();
            add_line(format!("| {} |", cells.join(" | ")));
        }
        if let Some(missing) = &table.missing {
            let cells: Vec<String> = missing.iter().map(cell).collect();
            add_line(format!("\nAnything else: {}.", cells.join(", ")));
        }
    }
    for devices in &policy.devices {
        let title = devices.title.clone().unwrap_or_else(|| "Devices".to_owned());
        let names = devices.gives.join(" | ");
        add_line(format!(
            "\n## {title}\n\n| device | {names} |\n|---|{}",
            "---|".repeat(devices.gives.len())
        ));
        for (model, values) in &devices.rows {
            let values: Vec<String> = values.iter().map(|value| text(*value, SCALE)).collect();
            add_line(format!("| {model} | {} |", values.join(" | ")));
        }
    }
}

fn examples(policy: &Policy, add_line: &mut impl FnMut(String)) -> Result<()> {
    add_line("\n## Examples\n\n| example | job | expected | computed | printed |\n|---|---|---|---|---|".to_owned());
    for (example, verdict) in policy.examples.iter().zip(policy.test()?) {
        let options = example.options.iter();
        let inputs = example.written.iter().map(|(name, value)| (name, value));
        let job: Vec<String> = inputs
            .chain(options)
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let outcome = if verdict.failures.is_empty() { "" } else { " FAILED" };
        let mut line = format!(
            "| {} | {} | {}{outcome} | ",
            verdict.name,
            job.join(", "),
            verdict.expected
        );
        // Writing to a string cannot fail.
        let _ = write!(line, "{} | {} |", verdict.computed, verdict.print());
        add_line(line);
        if let Some(note) = &example.note {
            add_line(format!("| | {note} | | | |"));
        }
    }
    Ok(())
}

/// When a policy holds, in words.
#[must_use]
pub fn period(from: Option<Day>, to: Option<Day>) -> String {
    let day = |day: Day| date_of(day).map_or_else(|| day.to_string(), |date| date.to_string());
    match (from, to) {
        (None, None) => "always".to_owned(),
        (Some(from), None) => format!("from {}", day(from)),
        (None, Some(to)) => format!("before {}", day(to)),
        (Some(from), Some(to)) => format!("from {} until before {}", day(from), day(to)),
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Number(number) => text(*number, SCALE),
        Value::Text(text) => text.clone(),
    }
}
