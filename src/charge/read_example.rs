//! Worked examples of a policy file.

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::amount::{MemoryUnit, whole, written};
use super::example::{Example, Expected, Printing};
use super::inputs::input;
use super::options::Options;
use super::policy::Policy;
use super::read::{exact, value};
use crate::diagnostics::section::{Section, kind};
use crate::diagnostics::{Problems, did_you_mean};
use crate::expr::decimal::parse;
use crate::expr::{SCALE, Type, Value};

const KEYS: &[&str] = &[
    "name",
    "options",
    "in",
    "expect",
    "shows",
    "printed",
    "printed_of",
    "printed_is",
    "note",
];

/// Every `[[example]]`.
pub(super) fn examples(top: &Section<'_>, policy: &Policy, problems: &mut Problems) -> Vec<Example> {
    let sections = top.sections("example", "[[example]]", KEYS, problems);
    let read = sections.iter().filter_map(|section| example(section, policy, problems));
    let examples: Vec<Example> = read.collect();
    for (at, example) in examples.iter().enumerate() {
        if examples.iter().take(at).any(|earlier| earlier.name == example.name) {
            let message = format!("there is another example \"{}\"", example.name);
            top.wrong(example.line, message, problems);
        }
    }
    examples
}

fn example(section: &Section<'_>, policy: &Policy, problems: &mut Problems) -> Option<Example> {
    let name = section.required_text("name", "one of its own for every example", problems);
    let options = options(section, policy, problems);
    let mut known = ExampleKnown::default();
    if section.has("in") {
        known.read(section, policy, &options, problems);
    } else {
        section.wrong(
            section.line(),
            "[[example]] has no in (what is known of the job)",
            problems,
        );
    }
    let expected = expected(section, problems);
    let shows = shows(section, policy, problems);
    let printed = printed(section, problems);
    let printing = section.word("printed_is", Printing::WORDS, problems);
    if let (Some(printing), None) = (&printing, &printed) {
        section.wrong(printing.line, "printed_is goes with printed", problems);
    }
    let printed_of = section.text("printed_of", problems);
    if let Some(of) = &printed_of {
        if printed.is_none() {
            section.wrong(of.line, "printed_of goes with printed", problems);
        }
        worked_out(section, policy, of.line, &of.value, problems);
    }
    Some(Example {
        name: name?.value,
        line: section.line(),
        options,
        inputs: known.inputs,
        written: known.written,
        gpus: known.gpus,
        expected: expected?,
        shows,
        printed,
        printed_of: printed_of.map(|at| at.value),
        printing: printing.map_or_else(Printing::default, |at| at.value),
        note: section.text("note", problems).map(|at| at.value),
    })
}

fn options(section: &Section<'_>, policy: &Policy, problems: &mut Problems) -> Options {
    let mut chosen = Options::new();
    let table = section.free_section("options", "options", problems);
    for (name, found, line) in table.iter().flat_map(Section::entries) {
        let Some(value) = found.as_str() else {
            section.wrong(
                line,
                format!("{name} must be a text in quotes, not {}", kind(found)),
                problems,
            );
            continue;
        };
        chosen.insert(name.to_owned(), value.to_owned());
        let one = Options::from([(name.to_owned(), value.to_owned())]);
        if let Err(why) = policy.choose(&one) {
            chosen.remove(name);
            section.wrong(line, why, problems);
        }
    }
    // Fallback: what cannot be chosen was reported above, option by option.
    policy.choose(&chosen).unwrap_or_default()
}

/// The facts an example states about its job.
#[derive(Default)]
struct ExampleKnown {
    inputs: BTreeMap<String, Value>,
    written: Vec<(String, String)>,
    gpus: Vec<(String, i64)>,
}

impl ExampleKnown {
    fn read(&mut self, section: &Section<'_>, policy: &Policy, options: &Options, problems: &mut Problems) {
        let table = section.free_section("in", "in", problems);
        for (name, found, line) in table.iter().flat_map(Section::entries) {
            if let Err(why) = self.input(name, found, policy, options) {
                section.wrong(line, why, problems);
            }
        }
    }

    fn input(&mut self, name: &str, found: &DeValue<'_>, policy: &Policy, options: &Options) -> Result<(), String> {
        let shown = match found {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => number.as_str().to_owned(),
            DeValue::Float(number) => number.as_str().to_owned(),
            _ => String::new(),
        };
        let wrong = |what: &str| Err(format!("{name} must be {what}, not {}", kind(found)));
        match name {
            "gpus" if found.as_table().is_some() => return self.models(found),
            "memory" | "requested_memory" => {
                // Fallback: a unit that is wrong is reported by the policy, once.
                let unit = policy.memory_unit(options).ok().flatten();
                let Some(bytes) = memory(found, unit) else {
                    return wrong("a number in memory_unit, or a text such as \"8 GiB\"");
                };
                self.inputs.insert(name.to_owned(), Value::Number(bytes));
                let unit = unit.filter(|_| found.as_str().is_none()).map_or("", MemoryUnit::as_str);
                self.written
                    .push((name.to_owned(), format!("{shown} {unit}").trim_end().to_owned()));
                return Ok(());
            }
            "hours" | "minutes" => {
                let per = if name == "hours" { 3600 } else { 60 };
                let Some(seconds) = exact(found).and_then(|number| number.checked_mul(per)) else {
                    return wrong("a number");
                };
                if self
                    .inputs
                    .insert("seconds".to_owned(), Value::Number(seconds))
                    .is_some()
                {
                    return Err("an example gives one of seconds, minutes and hours".to_owned());
                }
                self.written.push((name.to_owned(), shown));
                return Ok(());
            }
            _ => {}
        }
        let extra = policy.extras.iter().find(|extra| extra.name == name);
        let Some(kind) = input(name).map(|input| input.kind).or(extra.map(|extra| extra.kind)) else {
            let names = super::inputs::INPUTS.iter().map(|input| input.name);
            let extras = policy.extras.iter().map(|extra| extra.name.as_str());
            let hint = did_you_mean(name, names.chain(extras));
            return Err(format!("a job has no \"{name}\"{hint}"));
        };
        let Some(value) = value(found).filter(|value| value.kind() == kind) else {
            return wrong(match kind {
                Type::Number => "a number",
                _ => "a text in quotes",
            });
        };
        if self.inputs.insert(name.to_owned(), value).is_some() {
            return Err("an example gives one of seconds, minutes and hours".to_owned());
        }
        self.written.push((name.to_owned(), shown));
        Ok(())
    }

    /// GPUs by model.
    fn models(&mut self, found: &DeValue<'_>) -> Result<(), String> {
        let mut total = 0_i64;
        for (model, count) in found.as_table().into_iter().flatten() {
            let scaled = exact(count.get_ref()).filter(|count| *count >= 0 && count % whole(1) == 0);
            let count = scaled.and_then(|count| i64::try_from(count / whole(1)).ok());
            let Some(count) = count else {
                return Err("gpus must be a number, or a table of models with a whole number of each".to_owned());
            };
            let model = model.get_ref().as_ref();
            self.gpus.push((model.to_owned(), count));
            let Some(more) = total.checked_add(count) else {
                return Err("gpus are too many to be added up".to_owned());
            };
            total = more;
        }
        self.gpus.sort();
        self.inputs.insert("gpus".to_owned(), Value::Number(whole(total)));
        let listed: Vec<String> = self
            .gpus
            .iter()
            .map(|(model, count)| format!("{count} x {model}"))
            .collect();
        self.written.push(("gpus".to_owned(), listed.join(" + ")));
        Ok(())
    }
}

/// Bytes, as a decimal.
fn memory(found: &DeValue<'_>, unit: Option<MemoryUnit>) -> Option<i128> {
    let Some(text) = found.as_str() else {
        return exact(found)?.checked_mul(unit?.byte_n());
    };
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, word) = text.split_at_checked(split)?;
    parse(number.trim())?.checked_mul(MemoryUnit::parse(word.trim())?.byte_n())
}

fn expected(section: &Section<'_>, problems: &mut Problems) -> Option<Expected> {
    let Some((found, line)) = section.get("expect") else {
        section.wrong(
            section.line(),
            "[[example]] has no expect (what the job costs)",
            problems,
        );
        return None;
    };
    let charge = |text: &str| written(text).map(|(value, places)| Expected::Charge { value, places });
    let expected = match found {
        DeValue::String(text) if text == "not charged" => Some(Expected::NotCharged),
        DeValue::String(text) if text == "unknown" => Some(Expected::Unknown),
        DeValue::Integer(number) => charge(number.as_str()),
        DeValue::Float(number) => charge(number.as_str()),
        _ => None,
    };
    if expected.is_none() {
        let message = "expect must be a number of at most 12 decimals, \"not charged\" or \"unknown\"";
        section.wrong(line, message, problems);
    }
    expected
}

fn shows(section: &Section<'_>, policy: &Policy, problems: &mut Problems) -> Vec<(String, i128, u32)> {
    let mut shows = Vec::new();
    let table = section.free_section("shows", "shows", problems);
    for (name, found, line) in table.iter().flat_map(Section::entries) {
        let number = match found {
            DeValue::Integer(number) => written(number.as_str()),
            DeValue::Float(number) => written(number.as_str()),
            _ => None,
        };
        if !worked_out(section, policy, line, name, problems) {
            continue;
        }
        if let Some((value, places)) = number {
            shows.push((name.to_owned(), value, places.min(SCALE)));
        } else {
            section.wrong(line, format!("{name} must be a number"), problems);
        }
    }
    shows
}

/// Whether the policy computes a value of this name; a missing one is reported.
fn worked_out(section: &Section<'_>, policy: &Policy, line: usize, name: &str, problems: &mut Problems) -> bool {
    let steps = policy.steps.iter().map(|step| step.name.as_str());
    let tables = policy.tables.iter().flat_map(|table| &table.gives);
    let devices = policy.devices.iter().flat_map(|devices| &devices.gives);
    let given = tables.map(|(name, _)| name.as_str()).chain(devices.map(String::as_str));
    let names: Vec<&str> = steps.chain(given).collect();
    let is_known = names.contains(&name);
    if !is_known {
        let hint = did_you_mean(name, names);
        section.wrong(line, format!("the policy works out no \"{name}\"{hint}"), problems);
    }
    is_known
}

fn printed(section: &Section<'_>, problems: &mut Problems) -> Option<(String, i128, u32)> {
    let text = section.text("printed", problems)?;
    // Centres print ".5" and "1 024".
    let plain = text.value.replace([' ', ',', '_'], "");
    let plain = if plain.starts_with('.') {
        format!("0{plain}")
    } else {
        plain
    };
    let Some((value, places)) = written(&plain) else {
        section.wrong(text.line, format!("\"{}\" is not a number", text.value), problems);
        return None;
    };
    Some((text.value, value, places))
}
