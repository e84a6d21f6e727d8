//! How the work and the charge of a job come about, step by step.

use arrow_array::RecordBatch;

use crate::charge::facts::Facts;
use crate::charge::inputs::INPUTS;
use crate::charge::{JobPriced, Tariff, show};
use crate::error::Result;
use crate::reference::decimal::text as amount;
use crate::schema::batch::{decimal, int, number, text, word_or_empty};

/// Which columns the inputs are, then how the charge comes about.
pub(super) fn steps(tariff: &Tariff, facts: &Facts, priced: &JobPriced) -> Vec<String> {
    let reads = tariff.policy.reads();
    let read = INPUTS
        .iter()
        .filter(|input| reads.contains(input.name) && !input.record.is_empty());
    let read: Vec<String> = read
        .filter(|input| input.record != input.name)
        .map(|input| match input.name {
            "seconds" => "seconds: wall_s + wall_fraction_ms / 1000".to_owned(),
            name => format!("{name}: {}", input.record),
        })
        .collect();
    let mut steps = Vec::new();
    if !read.is_empty() {
        steps.push(format!("inputs are these columns: {}", read.join(", ")));
    }
    steps.extend(show::trace(&tariff.policy, priced, 0));
    if facts.never_ran(0) {
        steps.push("the job never ran: it costs nothing".to_owned());
    }
    steps
}

/// Work with its numbers: time times the benchmark per core.
pub(super) fn work(record: &RecordBatch) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for kind in ["hs06", "hs23", "si00"] {
        let per_core = decimal(record, &format!("{kind}_per_core"))?;
        let Some(value) = number(per_core, 0) else {
            continue;
        };
        let origin = word_or_empty(text(record, &format!("{kind}_origin"))?, 0);
        lines.push(format!("{kind}_per_core = {} (from: {origin})", amount(value, 4)));
        if let Some(cpu) = number(int(record, "cpu_ms")?, 0) {
            let work = i128::from(cpu) * value;
            let value = amount(value, 4);
            lines.push(format!(
                "cpu_{kind}_s = {cpu} ms / 1000 * {value} = {}",
                amount(work, 7)
            ));
        }
        let wall = int(record, "wall_s")?.value(0);
        let value_text = amount(value, 4);
        let wall_work = amount(i128::from(wall) * value, 4);
        lines.push(format!("wall_{kind}_s = {wall} s * {value_text} = {wall_work}"));
        if let Some(cores) = number(int(record, "alloc_core_n")?, 0) {
            let work = i128::from(wall) * i128::from(cores) * value;
            let value = amount(value, 4);
            lines.push(format!(
                "core_wall_{kind}_s = {wall} s * {cores} cores * {value} = {}",
                amount(work, 4)
            ));
        }
    }
    Ok(lines)
}
