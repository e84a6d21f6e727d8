//! What energy and carbon are computed by.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::core_gap::{EnergyCoreGap, ListedNode};
use super::table_gap::EnergyTableGap;
use crate::diagnostics::Problems;
use crate::reference::benchmark::AskedSpan;
use crate::reference::energy::{CarbonBasis, IntensityTable, NodeEnergyTable, NodeMeterTable, PueTable, SiteValues};

/// Which part of a reading of shared nodes is a job's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedRule {
    /// The cores it was given, of all cores of its nodes.
    AllocatedCores,
    /// The CPU time it took, of the CPU time its nodes had while it ran.
    CpuTime,
    /// None: the reading of a shared node is not used.
    Unused,
}

impl SharedRule {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::AllocatedCores, Self::CpuTime, Self::Unused];

    /// The word in the pipeline file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AllocatedCores => "allocated_cores",
            Self::CpuTime => "cpu_time",
            Self::Unused => "unused",
        }
    }

    /// The rule of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.as_str() == word)
    }
}

/// The choices of `[energy]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnergySettings {
    /// By which intensities carbon is counted; `None` where there is no table of them.
    pub basis: Option<CarbonBasis>,
    /// What becomes of readings of shared nodes; `None` where no table states which nodes are shared.
    pub shared: Option<SharedRule>,
    /// Rows recorded after this instant (Unix milliseconds) do not count.
    pub known_on_ms: Option<i64>,
}

impl EnergySettings {
    /// One line for each choice, as the lake keeps them.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{key}={value}");
            }
        };
        line("basis", self.basis.map(|basis| basis.as_str().to_owned()));
        line("shared", self.shared.map(|shared| shared.as_str().to_owned()));
        line("known_on_ms", self.known_on_ms.map(|day| day.to_string()));
        text
    }

    /// The choices of a text; `None` when it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut settings = Self {
            basis: None,
            shared: None,
            known_on_ms: None,
        };
        for line in text.lines() {
            match line.split_once('=')? {
                ("basis", word) => settings.basis = Some(CarbonBasis::parse(word)?),
                ("shared", word) => settings.shared = Some(SharedRule::parse(word)?),
                ("known_on_ms", word) => settings.known_on_ms = Some(word.parse().ok()?),
                _ => return None,
            }
        }
        Some(settings)
    }
}

/// A table as it is written, and its name in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTable {
    /// The name of its file.
    pub file: String,
    /// All of it.
    pub text: String,
}

/// The tables of `[energy]` as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnergyTables {
    /// `pue`
    pub pue: Option<NamedTable>,
    /// `intensity`
    pub intensity: Option<NamedTable>,
    /// `meters`
    pub meters: Option<NamedTable>,
    /// `nodes`
    pub nodes: Option<NamedTable>,
}

impl EnergyTables {
    /// The tables with their keys, in the order of the keys.
    #[must_use]
    pub fn each(&self) -> [(&'static str, Option<&NamedTable>); 4] {
        [
            ("intensity", self.intensity.as_ref()),
            ("meters", self.meters.as_ref()),
            ("nodes", self.nodes.as_ref()),
            ("pue", self.pue.as_ref()),
        ]
    }

    /// The table of a key to be set; `None` for a key that has none.
    pub fn place(&mut self, key: &str) -> Option<&mut Option<NamedTable>> {
        match key {
            "intensity" => Some(&mut self.intensity),
            "meters" => Some(&mut self.meters),
            "nodes" => Some(&mut self.nodes),
            "pue" => Some(&mut self.pue),
            _ => None,
        }
    }
}

/// `[energy]`, resolved.
#[derive(Clone, Debug)]
pub struct EnergyPlan {
    /// The choices.
    pub settings: EnergySettings,
    /// The tables as they are written.
    pub tables: EnergyTables,
    /// PUE by site.
    pub pue: SiteValues,
    /// Carbon intensity by site, of the basis that counts.
    pub intensity: SiteValues,
    /// What is known of nodes.
    pub nodes: NodeEnergyTable,
    /// What meters of nodes counted.
    pub meters: NodeMeterTable,
}

impl EnergyPlan {
    /// Reads the tables; what is wrong with a row is reported by file and line.
    #[must_use]
    pub fn new(tables: EnergyTables, settings: EnergySettings, problems: &mut Problems) -> Self {
        let known_on_ms = settings.known_on_ms;
        let pue = tables
            .pue
            .as_ref()
            .map(|of| PueTable::read(of.text.as_bytes(), &of.file, known_on_ms, problems));
        let intensity = (tables.intensity.as_ref()).map(|of| {
            let table = IntensityTable::read(of.text.as_bytes(), &of.file, known_on_ms, problems);
            settings.basis.and_then(|basis| table.of(basis).cloned())
        });
        let nodes = (tables.nodes.as_ref())
            .map(|of| NodeEnergyTable::read(of.text.as_bytes(), &of.file, known_on_ms, problems));
        let meters = (tables.meters.as_ref())
            .map(|of| NodeMeterTable::read(of.text.as_bytes(), &of.file, known_on_ms, problems));
        Self {
            settings,
            pue: crate::absent::entry(pue).values,
            intensity: crate::absent::entry(intensity.flatten()),
            nodes: crate::absent::entry(nodes),
            meters: crate::absent::entry(meters),
            tables,
        }
    }

    /// Tables that state nothing of some of the sites of a lake, and have rows of others, or none at all.
    #[must_use]
    pub fn gaps(&self, lake: &BTreeSet<&str>) -> Vec<EnergyTableGap> {
        let tables = [
            (&self.tables.pue, self.pue.sites()),
            (&self.tables.intensity, self.intensity.sites()),
            (&self.tables.nodes, self.nodes.sites()),
            (&self.tables.meters, self.meters.sites()),
        ];
        let named = tables
            .iter()
            .filter_map(|(table, sites)| Some((table.as_ref()?, sites)));
        named
            .filter_map(|(table, sites)| EnergyTableGap::of(&table.file, sites, lake))
            .collect()
    }

    /// Rows of the table of nodes that state other cores than the last listings of these nodes.
    #[must_use]
    pub fn core_gaps(&self, listed: &[ListedNode]) -> Vec<EnergyCoreGap> {
        let table = self.tables.nodes.as_ref();
        table.map_or_else(Vec::new, |table| EnergyCoreGap::of(&table.file, &self.nodes, listed))
    }

    /// What of it decides figures of a site between two instants (Unix milliseconds): equal texts, equal figures. Without a time
    /// the choices alone.
    #[must_use]
    pub fn relevant(&self, site: &str, asked: Option<AskedSpan>) -> String {
        let mut text = self
            .settings
            .shared
            .map_or_else(String::new, |shared| format!("shared={}\n", shared.as_str()));
        for (key, table) in self.tables.each() {
            if table.is_some() {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "[{key}]");
            }
        }
        if let Some(asked) = asked {
            let (from_ms, until_ms) = (asked.first_ms, asked.last_ms);
            for values in [
                self.pue.relevant(site, from_ms, until_ms),
                self.intensity.relevant(site, from_ms, until_ms),
                self.nodes.relevant(site, from_ms, until_ms),
            ] {
                text.push_str(&values);
                text.push('\n');
            }
            if self.tables.meters.is_some() {
                text.push_str(&self.meters.relevant(site, from_ms, until_ms));
                text.push('\n');
            }
        }
        text
    }
}
