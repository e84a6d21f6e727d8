//! `[normalise]` as it is written, and what it means.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use toml::de::DeValue;

use super::compiler::Compiler;
use super::scaled_spec::decimal;
use crate::diagnostics::section::{At, Section};
use crate::diagnostics::{Problems, did_you_mean};
use crate::normalise::plan::{MissingBenchmark, NormalisePlan};
use crate::reference::benchmark::{Benchmark, BenchmarkLevel, BenchmarkTable, NodeTable};
use crate::time::month::day_of;
use crate::time::{DAY_MS, Date};

/// `missing = ..`
#[derive(Debug)]
pub enum MissingSpec {
    /// `"null"`
    Null,
    /// `"reject"`
    Reject,
    /// `{ fallback = 10.0, benchmark = "hs06" }`
    Fallback {
        /// Value per core in ten-thousandths.
        value_e4_per_core: i64,
        /// Which benchmark, if stated.
        benchmark: Option<Benchmark>,
        /// Line of the table.
        line: usize,
    },
}

/// `[normalise]`
#[derive(Debug)]
pub struct NormaliseSpec {
    /// Line of the table.
    pub line: usize,
    /// `benchmarks`
    pub benchmarks: Option<At<String>>,
    /// `nodes`
    pub nodes: Option<At<String>>,
    /// `order`
    pub order: Option<At<Vec<BenchmarkLevel>>>,
    /// `known_on`, the last Unix millisecond of that day, UTC
    pub known_on_ms: Option<At<i64>>,
    /// `missing`
    pub missing: Option<MissingSpec>,
}

pub(crate) fn read(top: &Section<'_>, problems: &mut Problems) -> Option<NormaliseSpec> {
    const KEYS: &[&str] = &["benchmarks", "nodes", "order", "known_on", "missing"];
    let section = top.section("normalise", "[normalise]", KEYS, problems)?;
    let missing = missing(&section, problems);
    let benchmarks = section.text("benchmarks", problems);
    Some(NormaliseSpec {
        line: section.line(),
        benchmarks,
        nodes: section.text("nodes", problems),
        order: order(&section, problems),
        known_on_ms: known_on(&section, "benchmarks", problems),
        missing,
    })
}

/// Each step once.
fn order(section: &Section<'_>, problems: &mut Problems) -> Option<At<Vec<BenchmarkLevel>>> {
    let texts = section.texts("order", problems)?;
    let mut order: Vec<BenchmarkLevel> = Vec::new();
    for text in &texts.value {
        let words = BenchmarkLevel::ALL.map(BenchmarkLevel::as_str);
        let Some(level) = BenchmarkLevel::ALL
            .into_iter()
            .find(|level| level.as_str() == text.value)
        else {
            let hint = did_you_mean(&text.value, words);
            let list = words.join("\", \"");
            let message = format!("order has \"{}\", which is not one of \"{list}\"{hint}", text.value);
            section.wrong(text.line, message, problems);
            return None;
        };
        if order.contains(&level) {
            section.wrong(text.line, format!("order has \"{}\" twice", text.value), problems);
        } else {
            order.push(level);
        }
    }
    Some(At {
        value: order,
        line: texts.line,
    })
}

/// A day, bare or in quotes, as its last Unix millisecond, UTC: what was recorded on that day counts.
pub(crate) fn known_on(section: &Section<'_>, what: &str, problems: &mut Problems) -> Option<At<i64>> {
    let (value, line) = section.get("known_on")?;
    let text = match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Datetime(day) => day.to_string(),
        _ => String::new(),
    };
    let last_ms = (text.len() == "2026-01-01".len())
        .then(|| text.parse::<Date>().ok())
        .flatten()
        .map(|date| i64::from(day_of(date)) * DAY_MS + (DAY_MS - 1));
    if last_ms.is_none() {
        let message = format!("known_on must be a day such as 2026-01-01: {what} recorded later do not count");
        section.wrong(line, message, problems);
    }
    last_ms.map(|last_ms| At { value: last_ms, line })
}

fn missing(section: &Section<'_>, problems: &mut Problems) -> Option<MissingSpec> {
    const CHOICES: &str = "\"null\", \"reject\" or { fallback = 10.0 }";
    let Some((value, line)) = section.get("missing") else {
        let message = format!("[normalise] does not set what becomes of jobs without a benchmark: missing = {CHOICES}");
        section.wrong(section.line(), message, problems);
        return None;
    };
    match value {
        DeValue::String(word) if word == "null" => Some(MissingSpec::Null),
        DeValue::String(word) if word == "reject" => Some(MissingSpec::Reject),
        DeValue::Table(_) => {
            let table = section.section("missing", "missing", &["fallback", "benchmark"], problems)?;
            let benchmark = table.text("benchmark", problems).and_then(|at| {
                let found = Benchmark::parse(&at.value);
                if found.is_none() {
                    let message = format!("benchmark = \"{}\" is not one of hs06, hs23, si00", at.value);
                    table.wrong(at.line, message, problems);
                }
                found
            });
            if !table.has("fallback") {
                table.wrong(line, "missing has no fallback (a value per core)", problems);
            }
            decimal(&table, "fallback", problems).map(|value_e4_per_core| MissingSpec::Fallback {
                value_e4_per_core,
                benchmark,
                line,
            })
        }
        _ => {
            section.wrong(line, format!("missing must be {CHOICES}"), problems);
            None
        }
    }
}

impl Compiler {
    /// What does nothing where there is no table.
    fn doubt_without_table(&mut self, spec: &NormaliseSpec) {
        const NEED: &str = "needs benchmarks (a table of benchmark values): there is none";
        if let Some(nodes) = &spec.nodes {
            self.doubt(nodes.line, format!("nodes {NEED}"));
        }
        if let Some(known_on) = &spec.known_on_ms {
            self.doubt(known_on.line, format!("known_on {NEED}"));
        }
        if let Some(order) = &spec.order
            && !order.value.contains(&BenchmarkLevel::Record)
        {
            let message =
                "order has no \"record\", and there is no table of benchmarks: no benchmark is known for any job";
            self.doubt(order.line, message);
        }
    }

    pub(crate) fn normalise(&mut self, spec: NormaliseSpec) -> Option<NormalisePlan> {
        let known_on_ms = spec.known_on_ms.as_ref().map(|at| at.value);
        let mut table = BenchmarkTable::default();
        if let Some(path) = &spec.benchmarks {
            let (place, label) = (self.relative_path(path, "benchmarks")?, self.table_label(&path.value));
            table = BenchmarkTable::load(Path::new(&place), &label, known_on_ms, &mut self.problems);
        }
        if let Some(path) = &spec.nodes {
            let (place, label) = (self.relative_path(path, "nodes")?, self.table_label(&path.value));
            table = table.with_nodes(NodeTable::load(Path::new(&place), &label, &mut self.problems));
        }
        if let Some(path) = &spec.benchmarks {
            table.check_cores(&self.table_label(&path.value), &mut self.problems);
        }
        if spec.benchmarks.is_none() {
            self.doubt_without_table(&spec);
        }
        if let Some(order) = &spec.order {
            for level in table.levels().iter().filter(|level| !order.value.contains(level)) {
                let word = level.as_str();
                let message =
                    format!("order has no \"{word}\": the rows of benchmarks that are of a {word} never count");
                self.doubt(order.line, message);
            }
        }
        let missing = match spec.missing? {
            MissingSpec::Null => MissingBenchmark::Null,
            MissingSpec::Reject => MissingBenchmark::Reject,
            MissingSpec::Fallback {
                value_e4_per_core,
                benchmark,
                line,
            } => {
                let kinds = table.kinds();
                let only = match kinds.as_slice() {
                    [only] => Some(*only),
                    _ => None,
                };
                let Some(benchmark) = benchmark.or(only) else {
                    let message = "the fallback does not state which benchmark it is, and the table does not name just \
                                   one: missing = { fallback = .., benchmark = \"hs06\" }";
                    self.wrong(line, message);
                    return None;
                };
                MissingBenchmark::Fallback {
                    benchmark,
                    value_e4_per_core,
                }
            }
        };
        Some(NormalisePlan {
            table: Arc::new(table),
            order: spec.order.map_or_else(|| BenchmarkLevel::ALL.to_vec(), |at| at.value),
            scaled: BTreeMap::new(),
            missing,
        })
    }
}
