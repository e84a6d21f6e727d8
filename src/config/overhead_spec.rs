//! `[overhead]` as it is written, and what it means.

use toml::de::DeValue;

use super::SourcePlan;
use super::compiler::Compiler;
use super::inventory_spec::InventorySpec;
use super::overhead_plan::{NodesFrom, OverheadPlan};
use crate::diagnostics::Problems;
use crate::diagnostics::section::{At, Section, kind};
use crate::occupancy::{PRESETS, Resource, Scheme, Unit};
use crate::privacy::Privacy;
use crate::reference::inventory::quantity;
use crate::sources::instant::rfc3339_ms;
use crate::time::Day;

/// Name of the inventory that `nodes` stands for.
const NODES: &str = "nodes";

/// `nodes = ..`
#[derive(Debug)]
pub enum NodesSpec {
    /// Listings.
    Files(Vec<At<String>>),
    /// `"from-jobs"`
    Jobs,
}

/// `[[overhead.unit]]`
#[derive(Debug)]
pub struct UnitSpec {
    line: usize,
    name: Option<At<String>>,
    thresholds: Vec<(Resource, i64)>,
    partitions: Vec<String>,
}

/// `[overhead]`
#[derive(Debug)]
pub struct OverheadSpec {
    line: usize,
    /// `nodes`; `None` for the inventories of the pipeline.
    pub nodes: Option<NodesSpec>,
    period: Option<(Day, Day)>,
    billing: Option<Scheme>,
    units: Vec<UnitSpec>,
}

impl OverheadSpec {
    /// The name of the inventory that the files of `nodes` are, if there are any.
    pub(crate) fn inventory_name(&self) -> Option<At<String>> {
        let name = At {
            value: NODES.to_owned(),
            line: self.line,
        };
        matches!(self.nodes, Some(NodesSpec::Files(_))).then_some(name)
    }
}

/// Reads `[overhead]`.
pub(crate) fn read(top: &Section<'_>, problems: &mut Problems) -> Option<OverheadSpec> {
    const KEYS: &[&str] = &["nodes", "period", "billing", "unit"];
    let section = top.section("overhead", "[overhead]", KEYS, problems)?;
    let units = units(&section, problems);
    if !section.has("unit") {
        let words: Vec<&str> = PRESETS.iter().map(|(word, _)| *word).collect();
        let message = format!(
            "[overhead] has no [[overhead.unit]]: name one with core, memory or gpu, or take preset = \"{}\"",
            words.join("\" or \"")
        );
        section.wrong(section.line(), message, problems);
    }
    Some(OverheadSpec {
        line: section.line(),
        nodes: nodes(&section, problems),
        period: period(&section, problems),
        billing: section.word("billing", Scheme::WORDS, problems).map(|at| at.value),
        units,
    })
}

pub(crate) fn nodes(section: &Section<'_>, problems: &mut Problems) -> Option<NodesSpec> {
    match section.get("nodes")? {
        (DeValue::String(_), line) => {
            let text = section.text("nodes", problems)?;
            if text.value == "from-jobs" {
                return Some(NodesSpec::Jobs);
            }
            let message = "nodes is a list of files, nodes = [\"nodes.txt\"], or \"from-jobs\"";
            section.wrong(line, message, problems);
            None
        }
        _ => section.texts("nodes", problems).map(|at| NodesSpec::Files(at.value)),
    }
}

pub(crate) fn period(section: &Section<'_>, problems: &mut Problems) -> Option<(Day, Day)> {
    let period = section.section("period", "period", &["from", "to"], problems)?;
    let mut day = |key: &str| {
        let Some((value, line)) = period.get(key) else {
            let message = format!("period has no {key}: period = {{ from = \"2026-10-01\", to = \"2026-11-01\" }}");
            period.wrong(period.line(), message, problems);
            return None;
        };
        let text = match value {
            DeValue::Datetime(time) => time.to_string(),
            DeValue::String(text) => text.to_string(),
            other => kind(other).to_owned(),
        };
        let day = (text.len() == 10)
            .then(|| rfc3339_ms(&format!("{text}T00:00:00Z")))
            .flatten()
            .and_then(|ms| Day::try_from(ms.div_euclid(86_400_000)).ok());
        // Instants of records begin with 1970: earlier months would all be empty.
        let day = day.filter(|day| *day >= 0);
        if day.is_none() {
            period.wrong(
                line,
                format!("{key} = {text} is not a day from 1970 on, such as 2026-10-01"),
                problems,
            );
        }
        day
    };
    let (from, to) = (day("from"), day("to"));
    let (from, to) = (from?, to?);
    if from >= to {
        let message = "the period is empty: to is the day after its last";
        period.wrong(period.line(), message, problems);
        return None;
    }
    Some((from, to))
}

pub(crate) fn units(section: &Section<'_>, problems: &mut Problems) -> Vec<UnitSpec> {
    const KEYS: &[&str] = &[
        "name",
        "preset",
        "core",
        "memory",
        "gpu",
        "gpu_model",
        "disk",
        "partition",
    ];
    let sections = section.sections("unit", "[[overhead.unit]]", KEYS, problems);
    let units = sections.iter().map(|unit| {
        let words: Vec<(&str, usize)> = PRESETS.iter().enumerate().map(|(at, (word, _))| (*word, at)).collect();
        let preset = unit.word("preset", &words, problems);
        let mut thresholds: Vec<(Resource, i64)> = Vec::new();
        let named = |key: &str| unit.has(key);
        if let Some(preset) = &preset {
            if ["core", "memory", "gpu", "gpu_model"].into_iter().any(named) {
                let message = "a preset names its resources itself: give either preset or core, memory and gpu";
                unit.wrong(unit.line(), message, problems);
            }
            if let Some((_, of_preset)) = PRESETS.get(preset.value) {
                thresholds.extend(of_preset.iter().cloned());
            }
        }
        let core = count(unit, "core", problems);
        thresholds.extend(core.map(|n| (Resource::Core, n)));
        let memory = memory(unit, problems);
        thresholds.extend(memory.map(|n| (Resource::Memory, n)));
        let model = unit.text("gpu_model", problems);
        if let (Some(model), false) = (&model, named("gpu")) {
            unit.wrong(model.line, "gpu_model goes with gpu, the number of them", problems);
        }
        let gpu = count(unit, "gpu", problems);
        let device = model.map_or(Resource::Gpu, |model| Resource::GpuModel(model.value));
        thresholds.extend(gpu.map(|n| (device, n)));
        if let Some((_, line)) = unit.get("disk") {
            let message = "disk cannot be part of a unit: inventories state what nodes have (disk_byte of node), but no \
                           source states what jobs hold of it (Slurm's --tmp is only requested, never allocated)";
            unit.wrong(line, message, problems);
        }
        if thresholds.is_empty() && !["preset", "core", "memory", "gpu", "disk"].into_iter().any(named) {
            let message = "[[overhead.unit]] names no resource: core = 1, memory = \"2GiB\", gpu = 1, or a preset";
            unit.wrong(unit.line(), message, problems);
        }
        let partitions = match unit.get("partition") {
            Some((DeValue::String(_), _)) => unit.text("partition", problems).map(|at| vec![at.value]),
            _ => unit
                .texts("partition", problems)
                .map(|at| at.value.into_iter().map(|at| at.value).collect()),
        };
        let name = match (unit.text("name", problems), preset) {
            (None, Some(preset)) if !named("name") => PRESETS.get(preset.value).map(|(word, _)| At {
                value: (*word).to_owned(),
                line: unit.line(),
            }),
            (None, _) if !named("name") => unit.required_text("name", "one of its own for every unit", problems),
            (name, _) => name,
        };
        UnitSpec {
            line: unit.line(),
            name,
            thresholds,
            // Fallback: a unit that does not list partitions is for all, which the reference states.
            partitions: partitions.unwrap_or_default(),
        }
    });
    units.collect()
}

/// A whole number of cores or GPUs, at least one.
fn count(unit: &Section<'_>, key: &str, problems: &mut Problems) -> Option<i64> {
    let (value, line) = unit.get(key)?;
    let n = match value {
        DeValue::Integer(number) => i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok(),
        _ => None,
    };
    let n = n.filter(|n| (1..=1 << 32).contains(n));
    if n.is_none() {
        unit.wrong(line, format!("{key} must be a whole number from 1 on"), problems);
    }
    n
}

/// Bytes of `memory = "2GiB"`.
fn memory(unit: &Section<'_>, problems: &mut Problems) -> Option<i64> {
    let text = unit.text("memory", problems)?;
    let bytes = bytes(&text.value);
    if bytes.is_none() {
        let message = format!(
            "memory = \"{}\" is not a size such as \"2GiB\" or \"2GB\" (10^9 bytes); units are B, kB, MB, GB, TB, KiB, MiB, \
             GiB and TiB",
            text.value
        );
        unit.wrong(text.line, message, problems);
    }
    bytes
}

/// A size with its unit, in bytes.
#[must_use]
pub fn bytes(text: &str) -> Option<i64> {
    const PLACES: u32 = 6;
    const SCALE: i128 = 1_000_000;
    const UNITS: [(&str, i64); 9] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("B", 1),
    ];
    let (digits, unit) = UNITS
        .iter()
        .find_map(|(suffix, unit)| text.strip_suffix(suffix).map(|digits| (digits.trim_end(), *unit)))?;
    let scaled = quantity::decimal(digits, PLACES)?.checked_mul(i128::from(unit))?;
    let is_whole = scaled % SCALE == 0;
    let bytes = i64::try_from(scaled / SCALE).ok().filter(|n| *n > 0);
    bytes.filter(|_| is_whole)
}

/// A mistake was reported.
pub(crate) struct GivenValues;

impl Compiler {
    /// The inventory that the files of `nodes` are.
    ///
    /// # Errors
    /// When a mistake was reported.
    pub(crate) fn nodes(
        &mut self,
        spec: &OverheadSpec,
        privacy: Option<&Privacy>,
    ) -> Result<Option<SourcePlan>, GivenValues> {
        let Some(NodesSpec::Files(paths)) = &spec.nodes else {
            return Ok(None);
        };
        let inventory = InventorySpec {
            line: spec.line,
            name: spec.inventory_name(),
            format: None,
            paths: paths.clone(),
            site: None,
            cluster: None,
            as_of: None,
            complete: None,
            timezone: None,
            nodes: Vec::new(),
            limits: super::reject_limits::RejectLimits::default(),
        };
        let compiled = self.inventory(inventory, privacy);
        compiled.map(|(plan, _)| Some(plan)).ok_or(GivenValues)
    }

    /// What `[overhead]` means. `has_inventory`: whether the pipeline has any.
    pub(crate) fn overhead(&mut self, spec: OverheadSpec, has_inventory: bool) -> Option<OverheadPlan> {
        let nodes = match &spec.nodes {
            Some(NodesSpec::Jobs) => NodesFrom::Jobs,
            None if !has_inventory => {
                let message = "[overhead] does not know the nodes: nodes = [\"nodes.txt\"] (scontrol, sinfo, slurm.conf or \
                               CSV), an [[inventory]], or nodes = \"from-jobs\"";
                self.wrong(spec.line, message);
                return None;
            }
            _ => NodesFrom::Inventory,
        };
        let mut units: Vec<Unit> = Vec::new();
        for unit in spec.units {
            let (Some(name), false) = (unit.name, unit.thresholds.is_empty()) else {
                continue;
            };
            if units.iter().any(|earlier| earlier.name == name.value) {
                self.wrong(unit.line, format!("two units are called \"{}\"", name.value));
            }
            units.push(Unit {
                name: name.value,
                thresholds: unit.thresholds,
                partitions: unit.partitions,
            });
        }
        Some(OverheadPlan {
            nodes,
            period: spec.period,
            // Fallback: without a scheme nothing is charged, and the ledger is billed by the default one.
            scheme: spec.billing.unwrap_or_default(),
            is_charged: spec.billing.is_some(),
            units,
        })
    }
}
