//! `[energy]` as it is written, and what it means.

use std::path::Path;

use super::compiler::Compiler;
use super::normalise_spec::known_on;
use crate::diagnostics::Problems;
use crate::diagnostics::section::{At, Section};
use crate::energy::{EnergyPlan, EnergySettings, EnergyTables, NamedTable, SharedRule};
use crate::reference::energy::CarbonBasis;
use crate::small_file::{self, TABLE_LIMIT_BYTES};

/// `[energy]`
#[derive(Debug)]
pub struct EnergySpec {
    /// Line of the table.
    pub line: usize,
    /// `pue`
    pub pue: Option<At<String>>,
    /// `intensity`
    pub intensity: Option<At<String>>,
    /// `basis`
    pub basis: Option<At<CarbonBasis>>,
    /// `nodes`
    pub nodes: Option<At<String>>,
    /// `shared`
    pub shared: Option<At<SharedRule>>,
    /// `meters`
    pub meters: Option<At<String>>,
    /// `known_on`, the last Unix millisecond of that day, UTC
    pub known_on_ms: Option<At<i64>>,
}

/// The words of `shared`.
pub(crate) const SHARED: &[(&str, SharedRule)] = &[
    (SharedRule::AllocatedCores.as_str(), SharedRule::AllocatedCores),
    (SharedRule::CpuTime.as_str(), SharedRule::CpuTime),
    (SharedRule::Unused.as_str(), SharedRule::Unused),
];

/// The words of `basis`.
pub(crate) const BASES: &[(&str, CarbonBasis)] = &[
    (CarbonBasis::Location.as_str(), CarbonBasis::Location),
    (CarbonBasis::Market.as_str(), CarbonBasis::Market),
];

pub(crate) fn read(top: &Section<'_>, problems: &mut Problems) -> Option<EnergySpec> {
    const KEYS: &[&str] = &["pue", "intensity", "basis", "nodes", "shared", "meters", "known_on"];
    let section = top.section("energy", "[energy]", KEYS, problems)?;
    Some(EnergySpec {
        line: section.line(),
        pue: section.text("pue", problems),
        intensity: section.text("intensity", problems),
        basis: section.word("basis", BASES, problems),
        nodes: section.text("nodes", problems),
        shared: section.word("shared", SHARED, problems),
        meters: section.text("meters", problems),
        known_on_ms: known_on(&section, "rows of energy", problems),
    })
}

impl Compiler {
    pub(crate) fn energy(&mut self, spec: &EnergySpec) -> Option<EnergyPlan> {
        let tables = EnergyTables {
            pue: self.energy_table("pue", spec.pue.as_ref())?,
            intensity: self.energy_table("intensity", spec.intensity.as_ref())?,
            meters: self.energy_table("meters", spec.meters.as_ref())?,
            nodes: self.energy_table("nodes", spec.nodes.as_ref())?,
        };
        match (&spec.intensity, &spec.basis) {
            (Some(intensity), None) => {
                let message =
                    "[energy] does not set by which intensities carbon is counted: basis = \"location\" or \"market\"";
                self.wrong(intensity.line, message);
            }
            (None, Some(basis)) => self.doubt(
                basis.line,
                "basis needs intensity (a table of carbon intensity): there is none",
            ),
            _ => {}
        }
        match (&spec.nodes, &spec.shared) {
            (Some(nodes), None) => {
                let message = "[energy] does not set which part of a reading of shared nodes is a job's: shared = \"allocated_cores\", \
                               \"cpu_time\" or \"unused\"";
                self.wrong(nodes.line, message);
            }
            (None, Some(shared)) => self.doubt(shared.line, "shared needs nodes (a table of nodes): there is none"),
            _ => {}
        }
        if spec.intensity.is_some() && spec.pue.is_none() {
            let message = "intensity needs pue (a table of PUE): without it the energy of the site is unknown, and so is its carbon";
            self.doubt(spec.line, message);
        }
        if spec.nodes.is_none() {
            let message = "[energy] has no nodes (a table of nodes): energy is known only of jobs that requested nodes of their own, \
                           and nothing is modelled";
            self.doubt(spec.line, message);
        }
        let settings = EnergySettings {
            basis: spec.basis.as_ref().map(|at| at.value),
            shared: spec.shared.as_ref().map(|at| at.value),
            known_on_ms: spec.known_on_ms.as_ref().map(|at| at.value),
        };
        let file = tables.intensity.as_ref().map(|table| table.file.clone());
        let plan = EnergyPlan::new(tables, settings, &mut self.problems);
        if let (Some(file), Some(basis), true) = (file, settings.basis, plan.intensity.is_empty()) {
            let message = format!(
                "{file} has no row of basis {}: no carbon of electricity is known",
                basis.as_str()
            );
            self.doubt(spec.line, message);
        }
        Some(plan)
    }

    /// A table that the pipeline names: `None` where it cannot be read.
    #[expect(
        clippy::option_option,
        reason = "a table that is not named is not one that cannot be read"
    )]
    fn energy_table(&mut self, key: &str, path: Option<&At<String>>) -> Option<Option<NamedTable>> {
        let Some(path) = path else {
            return Some(None);
        };
        let place = self.relative_path(path, key)?;
        let file = self.table_label(&path.value);
        let bytes = match small_file::read(Path::new(&place), TABLE_LIMIT_BYTES) {
            Ok(bytes) => bytes,
            Err(why) => {
                self.problems.mistake(&file, 0, format!("cannot be read: {why}"));
                return None;
            }
        };
        if let Ok(text) = String::from_utf8(bytes) {
            Some(Some(NamedTable { file, text }))
        } else {
            self.problems.mistake(&file, 0, "is not UTF-8");
            None
        }
    }
}
