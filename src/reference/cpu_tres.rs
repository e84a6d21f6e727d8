//! CPU TRES: what a core of a node counts for when shares are granted, by the features or the name of the node.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use super::csv_table::{self, CsvTable, is_any};
use super::decimal::scaled;
use super::hostlist::Hostlist;
use super::table_columns::CPU_TRES;
use super::written_day::written_span;
use crate::diagnostics::Problems;
use crate::time::Day;

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CpuTres {
    feature: Option<String>,
    nodes: Option<BTreeSet<String>>,
    tres_e6: i128,
    from: Option<Day>,
    until: Option<Day>,
}

/// The table, in its order: the first row that matches counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTresTable {
    rows: Vec<CpuTres>,
}

impl CpuTresTable {
    /// Reads the table at `path`; `file` is its name in reported mistakes.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Self {
        let input = csv_table::open(path, file, problems);
        input.map_or_else(Self::default, |input| Self::read(input, file, problems))
    }

    /// Reads a table.
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let mut table = Self::default();
        if !csv.has_header(CPU_TRES, file, problems) {
            return table;
        }
        for (line, cells) in &csv.rows {
            match row(&|name: &str| csv.cell(cells, name)) {
                Ok(row) => table.rows.push(row),
                Err(why) => problems.mistake(file, *line, why),
            }
        }
        table
    }

    /// The CPU TRES of one core of a node on a day, 10^-6; `None` where no row matches.
    #[must_use]
    pub fn of_core_e6(&self, node: &str, features: &[&str], day: Day) -> Option<i128> {
        let mut matching = self.rows.iter().filter(|row| {
            row.from.is_none_or(|from| from <= day)
                && row.until.is_none_or(|until| day < until)
                && row.feature.as_deref().is_none_or(|feature| features.contains(&feature))
                && row.nodes.as_ref().is_none_or(|nodes| nodes.contains(node))
        });
        matching.next().map(|row| row.tres_e6)
    }

    /// The days on which rows begin or end to count, ascending.
    #[must_use]
    pub fn changes(&self) -> BTreeSet<Day> {
        self.rows
            .iter()
            .flat_map(|row| [row.from, row.until])
            .flatten()
            .collect()
    }
}

fn row<'c>(cell: &impl Fn(&str) -> &'c str) -> Result<CpuTres, String> {
    let nodes = match cell("nodes") {
        text if is_any(text) => None,
        text => {
            let hosts = Hostlist::parse(text).map_err(|why| format!("nodes: {why}"))?;
            Some(hosts.hosts().map(std::borrow::Cow::into_owned).collect())
        }
    };
    let tres_e6 = scaled(cell("tres_per_core"), 6).map_err(|why| format!("tres_per_core: {why}"))?;
    let (from, until) = written_span(cell("valid_from"), cell("valid_to"))?;
    Ok(CpuTres {
        feature: Some(cell("feature")).filter(|text| !is_any(text)).map(str::to_owned),
        nodes,
        tres_e6,
        from,
        until,
    })
}
