//! `scaled_to` of a source: its times arrive scaled by the worker nodes to one reference.

use toml::de::DeValue;

use super::compiler::Compiler;
use super::source_spec::SourceSpec;
use crate::diagnostics::Problems;
use crate::diagnostics::description::{ValueForm, optional, required, table};
use crate::diagnostics::section::{Section, kind};
use crate::normalise::plan::NormalisePlan;
use crate::reference::benchmark::Benchmark;
use crate::reference::benchmark::scaled_to::ScaledTo;
use crate::reference::decimal::ten_thousandths;
use crate::sources::dialect::SourceOption;

/// `scaled_to = { benchmark = "si00", value = 1000, times = "both", unscale = true }`
#[derive(Clone, Copy, Debug)]
pub struct ScaledSpec {
    /// Line of the table.
    pub line: usize,
    /// Its value.
    pub scaled_to: ScaledTo,
}

/// Its values.
pub(crate) fn form() -> ValueForm {
    let keys = vec![
        required(
            "benchmark",
            ValueForm::Words(vec!["hs06", "hs23", "si00"]),
            "The scale.",
        ),
        required(
            "value",
            ValueForm::OneOf(vec![ValueForm::Number, ValueForm::Text]),
            "The reference, per core.",
        ),
        optional(
            "times",
            ValueForm::Words(vec!["both", "cpu", "wall"]),
            "Which times are scaled; default `both`.",
        ),
        optional(
            "unscale",
            ValueForm::Truth,
            "Whether rows of nodes give the raw times back.",
        ),
    ];
    table(
        "scaled_to = { .. }",
        "What worker nodes scale the times they log to.",
        keys,
    )
}

/// Its value, if it is there.
pub(crate) fn read(source: &Section<'_>, problems: &mut Problems) -> Option<ScaledSpec> {
    const KEYS: &[&str] = &["benchmark", "value", "times", "unscale"];
    const TIMES: &[(&str, (bool, bool))] = &[("both", (true, true)), ("cpu", (true, false)), ("wall", (false, true))];
    let section = source.section("scaled_to", "scaled_to", KEYS, problems)?;
    let name = section.required_text("benchmark", "hs06, hs23 or si00", problems)?;
    let benchmark = Benchmark::parse(&name.value);
    if benchmark.is_none() {
        let message = format!("benchmark = \"{}\" is not one of hs06, hs23, si00", name.value);
        section.wrong(name.line, message, problems);
    }
    if !section.has("value") {
        section.wrong(
            section.line(),
            "scaled_to has no value (the reference, per core)",
            problems,
        );
    }
    let value_e4_per_core = decimal(&section, "value", problems);
    let (is_cpu, is_wall) = section
        .word("times", TIMES, problems)
        .map_or((true, true), |times| times.value);
    let unscale = match section.get("unscale") {
        None => false,
        Some((DeValue::Boolean(unscale), _)) => *unscale,
        Some((other, line)) => {
            let message = format!("unscale must be true or false, not {}", kind(other));
            section.wrong(line, message, problems);
            return None;
        }
    };
    Some(ScaledSpec {
        line: section.line(),
        scaled_to: ScaledTo {
            benchmark: benchmark?,
            value_e4_per_core: value_e4_per_core?,
            is_cpu,
            is_wall,
            unscale,
        },
    })
}

/// A positive decimal number, or a text of one, in ten-thousandths, if the key is there.
pub(crate) fn decimal(section: &Section<'_>, key: &str, problems: &mut Problems) -> Option<i64> {
    let (value, at) = section.get(key)?;
    let text = match value {
        DeValue::Float(float) => float.as_str().replace('_', ""),
        DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().replace('_', ""),
        DeValue::String(text) => text.to_string(),
        other => {
            let message = format!("{key} must be a decimal number, not {}", kind(other));
            section.wrong(at, message, problems);
            return None;
        }
    };
    ten_thousandths(&text)
        .map_err(|why| section.wrong(at, format!("{key}: {why}"), problems))
        // Fallback: the mistake is reported by the line above.
        .ok()
}

/// A source whose times arrive scaled.
pub(crate) struct ScaledSource {
    name: String,
    site: Option<String>,
    spec: ScaledSpec,
}

impl Compiler {
    /// The sources whose times arrive scaled; those where that is not possible are reported.
    pub(crate) fn scaled_sources(&mut self, sources: &[SourceSpec]) -> Vec<ScaledSource> {
        let mut scaled = Vec::new();
        for source in sources {
            let (Some(spec), Some(name)) = (source.scaled_to, &source.name) else {
                continue;
            };
            if let Some(format) = source.format.as_ref().map(|at| at.value)
                && !format
                    .dialect()
                    .is_some_and(|dialect| dialect.uses(SourceOption::ScaledTo))
            {
                let word = format.as_str();
                let message = format!("scaled_to does nothing for {word}: it is for logs of batch systems");
                self.wrong(spec.line, message);
            }
            scaled.push(ScaledSource {
                name: name.value.clone(),
                site: source.intake.site.clone(),
                spec,
            });
        }
        scaled
    }

    /// Nothing is scaled twice: what arrives scaled is never multiplied by the values of nodes.
    pub(crate) fn scaled_once(&mut self, scaled: Vec<ScaledSource>, normalise: Option<&mut NormalisePlan>) {
        let Some(normalise) = normalise else {
            if let Some(source) = scaled.first() {
                self.wrong(
                    source.spec.line,
                    "scaled_to needs a [normalise]: without one there is no work",
                );
            }
            return;
        };
        for ScaledSource { name, site, spec } in scaled {
            let word = spec.scaled_to.benchmark.as_str();
            match normalise.table.node_row(site.as_deref(), spec.scaled_to.benchmark) {
                Some(line) if !spec.scaled_to.unscale => {
                    let message = format!(
                        "scaled twice: the times of {name} arrive scaled to a reference in {word}, and line {line} of \
                         the benchmarks scales nodes in {word} again; set unscale = true if it is there to get the raw \
                         times back"
                    );
                    self.wrong(spec.line, message);
                }
                None if spec.scaled_to.unscale => {
                    let message = format!(
                        "unscale = true does nothing: the benchmarks have no rows of nodes in {word}, so the raw times \
                         of {name} stay unknown"
                    );
                    self.doubt(spec.line, message);
                }
                _ => {}
            }
            normalise.scaled.insert(name, spec.scaled_to);
        }
    }
}
