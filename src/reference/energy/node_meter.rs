//! What meters of nodes counted.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use super::cells::WrittenSpan;
use super::columns::NODE_METERS;
use crate::diagnostics::Problems;
use crate::reference::csv_table::{self, CsvTable, is_any};

/// A node, by its site and name; without a site any has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MeteredNode {
    /// Node.
    pub node: String,
    /// Site; `None` is any.
    pub site: Option<String>,
}

/// What a meter counted between two instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterReading {
    /// First instant, Unix milliseconds.
    pub from_ms: i64,
    /// The instant after the last.
    pub until_ms: i64,
    /// Joules.
    pub energy_j: i64,
    /// Line of the table.
    pub line: usize,
}

/// The rows of a table of meters: `node,valid_from,valid_to,joules`, and `site` as wanted.
#[derive(Clone, Debug, Default)]
pub struct NodeMeterTable {
    /// By node, in the order of time.
    pub readings: BTreeMap<MeteredNode, Vec<MeterReading>>,
}

impl NodeMeterTable {
    /// Reads the table at `path`; `file` is its name in reported mistakes. Rows with a mistake are left out.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Self {
        let input = csv_table::open(path, file, problems);
        input.map_or_else(Self::default, |input| Self::read(input, file, problems))
    }

    /// Reads a table; see [`Self::load`].
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let mut table = Self::default();
        if !csv.has_header(NODE_METERS, file, problems) {
            return table;
        }
        for (line, cells) in &csv.rows {
            let cell = |name: &str| csv.cell(cells, name);
            match reading(*line, &cell) {
                Ok(reading) => {
                    let of = MeteredNode {
                        node: cell("node").to_owned(),
                        site: Some(cell("site")).filter(|site| !is_any(site)).map(str::to_owned),
                    };
                    table.readings.entry(of).or_default().push(reading);
                }
                Err(why) => problems.mistake(file, *line, why),
            }
        }
        for (of, readings) in &mut table.readings {
            readings.sort_by_key(|reading| (reading.from_ms, reading.line));
            for pair in readings.windows(2) {
                if let [before, behind] = pair
                    && behind.from_ms < before.until_ms
                {
                    let (first, second) = (before.line.min(behind.line), before.line.max(behind.line));
                    let message = format!(
                        "line {second} overlaps line {first}: energy of node {} would count twice",
                        of.node
                    );
                    problems.mistake(file, second, message);
                }
            }
        }
        table
    }
}

fn reading<'c>(line: usize, cell: &impl Fn(&str) -> &'c str) -> Result<MeterReading, String> {
    if cell("node").is_empty() {
        return Err("node: is empty".to_owned());
    }
    let span = WrittenSpan::read(cell)?;
    if cell("valid_from").is_empty() || cell("valid_to").is_empty() {
        return Err("valid_from and valid_to: both are needed, the meter was read then".to_owned());
    }
    let text = cell("joules");
    let energy_j = text.parse::<i64>().ok().filter(|joules| *joules >= 0);
    Ok(MeterReading {
        from_ms: span.from_ms,
        until_ms: span.until_ms,
        energy_j: energy_j.ok_or_else(|| format!("joules: \"{text}\" is not a whole number of joules"))?,
        line,
    })
}
