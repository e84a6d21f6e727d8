//! What nodes of one type draw, and what it took to make them.

use super::cells::{WrittenSpan, count, decimal_e4};
use crate::reference::csv_table::is_any;

/// More than any core, GPU or GB draws, watts.
const MOST_W: i64 = 20_000;
/// More than any node takes to make, kg of CO2 equivalent.
const MOST_KG: i64 = 1_000_000;
/// Longer than any node is kept, years.
const MOST_YEARS: i64 = 50;

/// What a part of a node draws, idle and at full load, ten-thousandths of a watt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerRange {
    /// Of a part that is held and does nothing.
    pub idle_e4_w: i64,
    /// Of a part at full load.
    pub full_e4_w: i64,
}

/// What it took to make a node, and how long it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbodiedCarbon {
    /// Ten-thousandths of a kg of CO2 equivalent.
    pub node_e4_kg: i64,
    /// Ten-thousandths of a year of 365 days.
    pub lifetime_e4_years: i64,
}

/// One row: which nodes, since when, and what is known of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeEnergyRow {
    /// Site; `None` is any.
    pub site: Option<String>,
    /// Cluster; `None` is any.
    pub cluster: Option<String>,
    /// Partition; `None` is any.
    pub partition: Option<String>,
    /// Nodes as a list of hosts; `None` is any.
    pub nodes: Option<String>,
    /// What the site calls the type.
    pub node_type: String,
    /// Cores of one node, as jobs count them.
    pub core_n: Option<i64>,
    /// Each node is given to one job at a time.
    pub is_exclusive: bool,
    /// Of a core.
    pub core: Option<PowerRange>,
    /// Of a GPU.
    pub gpu: Option<PowerRange>,
    /// Of a GB (10^9 byte) of memory that is held, ten-thousandths of a watt.
    pub memory_e4_w_per_gb: Option<i64>,
    /// Of a node.
    pub embodied: Option<EmbodiedCarbon>,
    pub(super) span: WrittenSpan,
    pub(super) line: usize,
}

impl NodeEnergyRow {
    /// Reads the row of a line; `cell` gives the text of a column, empty when there is none.
    pub(super) fn read<'c>(line: usize, cell: &impl Fn(&str) -> &'c str) -> Result<Self, String> {
        let named = |column: &str| Some(cell(column)).filter(|text| !is_any(text)).map(str::to_owned);
        let is_exclusive = match cell("exclusive") {
            "yes" => true,
            "" | "no" => false,
            other => return Err(format!("exclusive: \"{other}\" is neither yes nor no")),
        };
        let node_type = named("node_type").ok_or("node_type: is empty")?;
        let core = power(cell, "core_idle_w", "core_full_w")?;
        let gpu = power(cell, "gpu_idle_w", "gpu_full_w")?;
        Ok(Self {
            site: named("site"),
            cluster: named("cluster"),
            partition: named("partition"),
            nodes: named("nodes"),
            node_type,
            core_n: count(cell, "cores")?,
            is_exclusive,
            core,
            gpu,
            memory_e4_w_per_gb: decimal_e4(cell, "memory_w_per_gb", MOST_W)?,
            embodied: embodied(cell)?,
            span: WrittenSpan::read(cell)?,
            line,
        })
    }

    /// Its line in the table.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// Whether it holds for all of a run, between two instants (Unix milliseconds).
    #[must_use]
    pub fn is_of_all(&self, from_ms: i64, until_ms: i64) -> bool {
        self.span.from_ms <= from_ms && until_ms <= self.span.until_ms
    }

    /// The closer of two rows that hold for a job has the larger number: nodes, then partition, then cluster, then site.
    pub(super) fn closeness(&self) -> u8 {
        [&self.nodes, &self.partition, &self.cluster, &self.site]
            .into_iter()
            .fold(0, |sum, named| sum * 2 + u8::from(named.is_some()))
    }

    /// What of it decides figures, without when it holds.
    pub(super) fn content(&self) -> String {
        let Self {
            site,
            cluster,
            partition,
            nodes,
            node_type,
            core_n,
            is_exclusive,
            core,
            gpu,
            memory_e4_w_per_gb,
            embodied,
            span: _,
            line: _,
        } = self;
        format!(
            "{site:?} {cluster:?} {partition:?} {nodes:?} {node_type:?} {core_n:?} {is_exclusive} {core:?} {gpu:?} \
             {memory_e4_w_per_gb:?} {embodied:?}"
        )
    }
}

/// Both powers or none.
fn power<'c>(cell: &impl Fn(&str) -> &'c str, idle: &str, full: &str) -> Result<Option<PowerRange>, String> {
    match (decimal_e4(cell, idle, MOST_W)?, decimal_e4(cell, full, MOST_W)?) {
        (None, None) => Ok(None),
        (Some(idle_e4_w), Some(full_e4_w)) if idle_e4_w <= full_e4_w => Ok(Some(PowerRange { idle_e4_w, full_e4_w })),
        (Some(_), Some(_)) => Err(format!("{idle} is above {full}")),
        (None, Some(_)) => Err(format!("{full} needs {idle}")),
        (Some(_), None) => Err(format!("{idle} needs {full}")),
    }
}

fn embodied<'c>(cell: &impl Fn(&str) -> &'c str) -> Result<Option<EmbodiedCarbon>, String> {
    let (kg, years) = ("embodied_kg", "lifetime_years");
    match (decimal_e4(cell, kg, MOST_KG)?, decimal_e4(cell, years, MOST_YEARS)?) {
        (None, None) => Ok(None),
        (Some(_), Some(0)) => Err(format!("{years} is 0")),
        (Some(_), Some(_)) if cell("cores").is_empty() => Err(format!("{kg} needs cores, the cores of a node")),
        (Some(node_e4_kg), Some(lifetime_e4_years)) => Ok(Some(EmbodiedCarbon {
            node_e4_kg,
            lifetime_e4_years,
        })),
        (Some(_), None) => Err(format!("{kg} needs {years}")),
        (None, Some(_)) => Err(format!("{years} needs {kg}")),
    }
}
