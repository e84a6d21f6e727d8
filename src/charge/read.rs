//! A policy file as it is written, to a policy that can charge.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::amount::{CHARGE_SCALE, MemoryUnit, Rounding, RoundingMode, round, whole};
use super::inputs::{INPUTS, SCOPES};
use super::policy::{CHARGE, Choice, Extra, MEMORY_UNIT, Policy, PolicyOrigin, Scope, Step, Subject};
use super::{read_example, read_table, rounded_time};
use crate::diagnostics::section::{At, Section, SectionSource, kind, root, table_of};
use crate::diagnostics::{Problems, did_you_mean};
use crate::expr::decimal::parse;
use crate::expr::functions::function_names;
use crate::expr::{Formula, Mistake, SCALE, Type, Value};
use crate::reference::decimal::text;
use crate::time::Day;
use crate::time::month::day_of;

const KEYS: &[&str] = &[
    "id",
    "version",
    "title",
    "source",
    "note",
    "charges_for",
    "pool",
    "unit",
    "memory_unit",
    "valid_from",
    "valid_to",
    "minimum_seconds",
    "minimum_charge",
    "billing_is",
    "formula",
    "round",
    "scope",
    "constants",
    "unknown",
    "option",
    "input",
    "table",
    "devices",
    "let",
    "tier",
    "example",
];

/// Names known so far, each with its type.
pub(super) struct PolicyNames {
    pub(super) types: BTreeMap<String, Type>,
}

impl PolicyNames {
    /// Adds a name; reports a name that is taken or not valid.
    pub(super) fn add(&mut self, section: &Section<'_>, line: usize, name: &str, kind: Type, problems: &mut Problems) {
        let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if !is_name {
            let message = format!("\"{name}\" is not a name: lower-case letters, digits and _, a letter first");
            section.wrong(line, message, problems);
        } else if self.types.insert(name.to_owned(), kind).is_some() {
            section.wrong(line, format!("the name \"{name}\" is taken"), problems);
        }
    }

    /// Compiles an expression; reports what is wrong with it.
    pub(super) fn compile(&self, section: &Section<'_>, sql: &At<String>, problems: &mut Problems) -> Option<Formula> {
        let mistake = match Formula::compile(&sql.value, &self.types) {
            Ok(formula) => {
                rounded_time::warn(section, sql, &formula, problems);
                return Some(formula);
            }
            Err(mistake) => mistake,
        };
        let message = match mistake {
            Mistake::NoColumn(name) => {
                let mut hint = did_you_mean(&name, self.types.keys().map(String::as_str));
                if hint.is_empty() {
                    hint.push_str("; `gridtally policy columns` lists what a formula can read");
                }
                format!("there is no \"{name}\"{hint}")
            }
            Mistake::NoFunction(name) => {
                let hint = match name.to_lowercase().as_str() {
                    "max" => "; the largest of several values is greatest(a, b)".to_owned(),
                    "min" => "; the smallest of several values is least(a, b)".to_owned(),
                    lower => did_you_mean(lower, function_names()),
                };
                format!(
                    "formulas have no function {name}{hint} (there are {})",
                    function_names().collect::<Vec<_>>().join(", ")
                )
            }
            Mistake::Wrong(why) => format!("\"{}\" is not a formula: {why}", sql.value),
        };
        section.wrong(sql.line, message, problems);
        None
    }
}

/// Reads a policy file. Everything that is wrong with it is reported; then there is no policy.
pub(super) fn policy(file: &str, text: &str, problems: &mut Problems) -> Option<Policy> {
    let source = SectionSource { file, text };
    let table = table_of(source, problems)?;
    let mut own = Problems::default();
    let read = read(source, &table, &mut own);
    let is_sound = !own.has_mistakes();
    problems.append(own);
    read.filter(|_| is_sound)
}

/// The value that recomputes Slurm's billing.
fn billing_is(top: &Section<'_>, steps: &[Step], problems: &mut Problems) -> Option<String> {
    let named = top.text("billing_is", problems)?;
    let mut numbers = steps.iter().filter(|step| step.formula.kind() == Type::Number);
    if !numbers.any(|step| step.name == named.value) {
        if steps.iter().any(|step| step.name == named.value) {
            let message = format!("billing_is names a number, and \"{}\" is a text", named.value);
            top.wrong(named.line, message, problems);
            return None;
        }
        let hint = did_you_mean(&named.value, steps.iter().map(|step| step.name.as_str()));
        let message = format!(
            "billing_is names a number the policy works out, and there is no \"{}\"{hint}",
            named.value
        );
        top.wrong(named.line, message, problems);
    }
    Some(named.value)
}

fn read(source: SectionSource<'_>, table: &Spanned<DeTable<'_>>, problems: &mut Problems) -> Option<Policy> {
    let top = root(source, table, "the policy file", KEYS, problems);
    let mut names = PolicyNames {
        types: INPUTS.iter().map(|input| (input.name.to_owned(), input.kind)).collect(),
    };
    let id = top.required_text("id", "a name that stays over all versions", problems);
    let version = top.required_text("version", "a name of this version, such as \"2024\"", problems);
    let title = top.required_text("title", "one line for people", problems);
    let stated = top.required_text("source", "where the centre states it", problems);
    let pool = top.required_text("pool", "what is drawn on: \"cpu\", \"gpu\", ...", problems);
    let unit = top.required_text("unit", "what a charge is counted in, such as \"core_hour\"", problems);
    let subject = top.word("charges_for", Subject::WORDS, problems);
    let (valid_from, valid_to) = validity(&top, problems);
    let choices = choices(&top, &mut names, problems);
    let constants = constants(&top, &mut names, problems);
    let extras = extras(&top, &mut names, problems);
    let tables = read_table::tables(&top, &mut names, problems);
    let devices = read_table::devices(&top, &mut names, problems);
    let mut steps = read_table::steps(&top, &mut names, problems);
    let formula = top.required_text("formula", "what a job costs, an SQL expression", problems);
    let compiled = formula.as_ref().and_then(|sql| names.compile(&top, sql, problems));
    if let (Some(sql), Some(formula)) = (&formula, &compiled)
        && formula.kind() != Type::Number
    {
        let given = formula.kind().as_str();
        top.wrong(sql.line, format!("the formula gives {given}, not a number"), problems);
    }
    let billing_is = billing_is(&top, &steps, problems);
    let scope = scope(&top, &names, problems);
    let memory_unit = memory_unit(&top, &choices, problems);
    let unknown = unknown(&top, &names, memory_unit, problems);
    let rounding = rounding(&top, problems);
    let minimum_seconds = minimum(&top, "minimum_seconds", problems);
    let minimum_charge = minimum(&top, "minimum_charge", problems);
    hold_minimum_charge(&top, minimum_charge, rounding, problems);
    steps.push(Step {
        name: CHARGE.to_owned(),
        origin: PolicyOrigin::Expression(formula?.value),
        formula: compiled?,
    });
    let mut policy = Policy {
        id: id?.value,
        version: version?.value,
        title: title?.value,
        source: stated?.value,
        note: top.text("note", problems).map(|at| at.value),
        subject: subject.map_or_else(Subject::default, |at| at.value),
        pool: pool?.value,
        unit: unit?.value,
        memory_unit,
        valid_from,
        valid_to,
        scope,
        constants,
        choices,
        extras,
        unknown,
        tables,
        devices,
        steps,
        billing_is,
        minimum_seconds,
        minimum_charge,
        rounding,
        examples: Vec::new(),
        file: source.file.to_owned(),
        text: source.text.to_owned(),
    };
    let has_unit = memory_unit.is_some() || policy.choices.iter().any(|choice| choice.name == MEMORY_UNIT);
    let reads = policy.reads();
    let reads_memory = reads.contains("memory") || reads.contains("requested_memory");
    if reads_memory && !has_unit {
        let message =
            "the formula reads memory, but there is no memory_unit (MB, GB, TB are decimal; MiB, GiB, TiB binary)";
        top.wrong(0, message, problems);
    }
    policy.examples = read_example::examples(&top, &policy, problems);
    if policy.examples.is_empty() {
        top.wrong(
            0,
            "there is no [[example]]: a policy is believed for its examples",
            problems,
        );
    }
    Some(policy)
}

/// A number, exactly as it is written.
pub(super) fn exact(value: &DeValue<'_>) -> Option<i128> {
    match value {
        DeValue::Integer(number) if number.radix() == 10 => parse(&number.as_str().replace('_', "")),
        DeValue::Float(number) => parse(&number.as_str().replace('_', "")),
        _ => None,
    }
}

/// A number or a text.
pub(super) fn value(value: &DeValue<'_>) -> Option<Value> {
    match value.as_str() {
        Some(text) => Some(Value::Text(text.to_owned())),
        None => exact(value).map(Value::Number),
    }
}

fn number(section: &Section<'_>, key: &str, problems: &mut Problems) -> Option<i128> {
    let (value, line) = section.get(key)?;
    let number = exact(value);
    if number.is_none() {
        let found = kind(value);
        section.wrong(
            line,
            format!("{key} must be a number of at most 12 decimals, not {found}"),
            problems,
        );
    }
    number
}

/// What something is at least.
fn minimum(section: &Section<'_>, key: &str, problems: &mut Problems) -> Option<i128> {
    let minimum = number(section, key, problems)?;
    if minimum < 0 {
        let line = section.get(key).map_or(0, |(_, line)| line);
        section.wrong(line, format!("{key} is below zero"), problems);
    }
    Some(minimum)
}

/// A charge is rounded after the minimum was applied: rounding must not go below it.
fn hold_minimum_charge(section: &Section<'_>, minimum: Option<i128>, rounding: Rounding, problems: &mut Problems) {
    const KEY: &str = "minimum_charge";
    let (Some(minimum), Some((_, line))) = (minimum, section.get(KEY)) else {
        return;
    };
    let rounded = round(minimum, SCALE, rounding.digits, rounding.mode);
    let shown = text(rounded, rounding.digits);
    let unit = SCALE
        .checked_sub(rounding.digits)
        .map_or(1, |places| 10_i128.pow(places));
    if rounded.checked_mul(unit).is_some_and(|rounded| rounded < minimum) {
        let message = format!("{KEY} is rounded to {shown}, as charges of this policy are, and that is below it");
        section.wrong(line, message, problems);
    }
}

/// A day without quotes.
fn day(section: &Section<'_>, key: &str, problems: &mut Problems) -> Option<Day> {
    let (value, line) = section.get(key)?;
    let date = match value {
        DeValue::Datetime(found) if found.time.is_none() && found.offset.is_none() => found.date,
        _ => None,
    };
    let parts = date.and_then(|date| Some((i16::try_from(date.year).ok()?, date.month, date.day)));
    let civil = parts.and_then(|(year, month, day)| {
        crate::time::Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?)
    });
    if civil.is_none() {
        section.wrong(
            line,
            format!("{key} must be a day such as 2024-04-01, without quotes"),
            problems,
        );
    }
    civil.map(day_of)
}

fn validity(top: &Section<'_>, problems: &mut Problems) -> (Option<Day>, Option<Day>) {
    let (from, to) = (day(top, "valid_from", problems), day(top, "valid_to", problems));
    if let (Some(first), Some(after), Some((_, line))) = (from, to, top.get("valid_to"))
        && after <= first
    {
        top.wrong(
            line,
            "valid_to is not after valid_from (it is the first day that no longer counts)",
            problems,
        );
    }
    (from, to)
}

fn choices(top: &Section<'_>, names: &mut PolicyNames, problems: &mut Problems) -> Vec<Choice> {
    let sections = top.sections("option", "[[option]]", &["name", "values", "default", "doc"], problems);
    let choices = sections.iter().filter_map(|section| {
        let name = section.required_text("name", "also a text the formula can read", problems);
        let values = section.texts("values", problems);
        let default = section.required_text("default", "the value when none is chosen", problems);
        if !section.has("values") {
            section.wrong(
                section.line(),
                "[[option]] has no values (what can be chosen)",
                problems,
            );
        }
        let (name, values, default) = (name?, values?, default?);
        names.add(section, name.line, &name.value, Type::Text, problems);
        let values: Vec<String> = values.value.into_iter().map(|at| at.value).collect();
        if !values.contains(&default.value) {
            let message = format!("default = \"{}\" is not one of {}", default.value, values.join(", "));
            section.wrong(default.line, message, problems);
        }
        if name.value == MEMORY_UNIT
            && let Some(odd) = values.iter().find(|word| MemoryUnit::parse(word).is_none())
        {
            section.wrong(
                name.line,
                format!("\"{odd}\" is not a unit of memory (MB, GB, TB, MiB, GiB, TiB)"),
                problems,
            );
        }
        Some(Choice {
            name: name.value,
            values,
            default: default.value,
            doc: section.text("doc", problems).map(|at| at.value),
        })
    });
    choices.collect()
}

fn constants(top: &Section<'_>, names: &mut PolicyNames, problems: &mut Problems) -> Vec<(String, Value)> {
    let mut constants = Vec::new();
    let section = top.free_section("constants", "[constants]", problems);
    for (name, found, line) in section.iter().flat_map(Section::entries) {
        match value(found) {
            Some(value) => {
                names.add(top, line, name, value.kind(), problems);
                constants.push((name.to_owned(), value));
            }
            None => top.wrong(
                line,
                format!("{name} must be a number of at most 12 decimals, or a text"),
                problems,
            ),
        }
    }
    constants
}

fn extras(top: &Section<'_>, names: &mut PolicyNames, problems: &mut Problems) -> Vec<Extra> {
    const TYPES: &[(&str, Type)] = &[("number", Type::Number), ("text", Type::Text)];
    const KEYS: &[&str] = &["name", "type", "doc", "license", "absent"];
    let sections = top.sections("input", "[[input]]", KEYS, problems);
    let extras = sections.iter().filter_map(|section| {
        let name = section.required_text("name", "what formulas call it", problems);
        let doc = section.required_text("doc", "what it means", problems);
        let kind = section
            .word("type", TYPES, problems)
            .map_or(Type::Number, |at| at.value);
        let absent = section.get("absent").and_then(|(found, line)| {
            let value = value(found).filter(|value| value.kind() == kind);
            if value.is_none() {
                section.wrong(line, format!("absent must be {}", kind.as_str()), problems);
            }
            value
        });
        let license = section.text("license", problems);
        if let Some(license) = license.as_ref().filter(|_| kind != Type::Number || !section.has("absent")) {
            let message = "an input with license is a number, and needs absent: its value where a record does not name the licence";
            section.wrong(license.line, message, problems);
        }
        let (name, doc) = (name?, doc?.value);
        names.add(section, name.line, &name.value, kind, problems);
        Some(Extra {
            name: name.value,
            kind,
            doc,
            license: license.map(|at| at.value),
            absent,
        })
    });
    extras.collect()
}

fn scope(top: &Section<'_>, names: &PolicyNames, problems: &mut Problems) -> Scope {
    let known: Vec<&str> = SCOPES.iter().copied().chain(["when"]).collect();
    let Some(section) = top.section("scope", "[scope]", &known, problems) else {
        return Scope::default();
    };
    let mut scope = Scope::default();
    for name in SCOPES {
        if let Some(values) = section.texts(name, problems) {
            let values = values.value.into_iter().map(|at| at.value).collect();
            scope.only.push((name.to_owned(), values));
        }
    }
    let Some(sql) = section.text("when", problems) else {
        return scope;
    };
    if let Some(formula) = names.compile(&section, &sql, problems) {
        if formula.kind() != Type::Truth {
            let given = formula.kind().as_str();
            section.wrong(sql.line, format!("when gives {given}, not a condition"), problems);
        }
        scope.when = Some(Step {
            name: "when".to_owned(),
            origin: PolicyOrigin::Expression(sql.value),
            formula,
        });
    }
    scope
}

fn memory_unit(top: &Section<'_>, choices: &[Choice], problems: &mut Problems) -> Option<MemoryUnit> {
    let unit = top.word(MEMORY_UNIT, MemoryUnit::WORDS, problems)?;
    if choices.iter().any(|choice| choice.name == MEMORY_UNIT) {
        top.wrong(unit.line, "memory_unit is an option and fixed at once", problems);
    }
    Some(unit.value)
}

fn unknown(
    top: &Section<'_>,
    names: &PolicyNames,
    unit: Option<MemoryUnit>,
    problems: &mut Problems,
) -> Vec<(String, Value)> {
    let mut stand_ins = Vec::new();
    let section = top.free_section("unknown", "[unknown]", problems);
    for (name, found, line) in section.iter().flat_map(Section::entries) {
        let input = INPUTS.iter().find(|input| input.name == name);
        let Some(input) = input else {
            let hint = did_you_mean(name, names.types.keys().map(String::as_str));
            top.wrong(line, format!("\"{name}\" is not a column of a job{hint}"), problems);
            continue;
        };
        match value(found).filter(|value| value.kind() == input.kind) {
            Some(Value::Number(number)) if name.ends_with("memory") && number != 0 && unit.is_none() => {
                top.wrong(
                    line,
                    format!("{name} has a unit that is an option: only 0 is clear"),
                    problems,
                );
            }
            Some(value) => stand_ins.push((name.to_owned(), value)),
            None => top.wrong(line, format!("{name} must be {}", input.kind.as_str()), problems),
        }
    }
    stand_ins
}

fn rounding(top: &Section<'_>, problems: &mut Problems) -> Rounding {
    let default = Rounding::default();
    let Some(section) = top.section("round", "[round]", &["digits", "mode"], problems) else {
        return default;
    };
    let digits = match number(&section, "digits", problems) {
        None => default.digits,
        Some(number) => {
            let found = (0..=CHARGE_SCALE).find(|digits| whole(i64::from(*digits)) == number);
            if found.is_none() {
                let message = format!("digits must be a whole number from 0 to {CHARGE_SCALE}");
                section.wrong(section.line(), message, problems);
            }
            found.unwrap_or(default.digits)
        }
    };
    Rounding {
        digits,
        mode: section
            .word("mode", RoundingMode::WORDS, problems)
            .map_or(default.mode, |at| at.value),
    }
}
