//! What meters of nodes counted.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use super::cells::WrittenSpan;
use super::columns::NODE_METERS;
use super::meter_readings::{MeterReading, MeterReadings};
use crate::diagnostics::Problems;
use crate::error::{Error, Kind, Result};
use crate::reference::csv_table::{self, CsvTable, is_any};

/// A node, by its site and name; without a site any has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MeteredNode {
    /// Node.
    pub node: String,
    /// Site; `None` is any.
    pub site: Option<String>,
}

/// What the meter of a node counted.
#[derive(Clone, Copy, Debug)]
pub struct NodeMeter<'m> {
    /// The node, as the table names it.
    pub node: &'m str,
    /// Its readings.
    pub readings: &'m MeterReadings,
}

/// The rows of a table of meters: `node,valid_from,valid_to,joules`, and `site`, `recorded_at` and `source` as wanted.
#[derive(Clone, Debug, Default)]
pub struct NodeMeterTable {
    /// By node and site; any site is the first.
    nodes: BTreeMap<String, BTreeMap<Option<String>, MeterReadings>>,
}

impl NodeMeterTable {
    /// Reads the table at `path`; `file` is its name in reported mistakes. Rows with a mistake are left out.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Self {
        let input = csv_table::open(path, file, problems);
        input.map_or_else(Self::default, |input| Self::read(input, file, None, problems))
    }

    /// Reads a table; see [`Self::load`]. Rows recorded after `known_on_ms` (Unix milliseconds) do not count; of rows of one node and
    /// the same times the one recorded last does.
    pub fn read(input: impl Read, file: &str, known_on_ms: Option<i64>, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let mut table = Self::default();
        if !csv.has_header(NODE_METERS, file, problems) {
            return table;
        }
        let mut rows: BTreeMap<MeteredNode, Vec<MeterReading>> = BTreeMap::new();
        for (line, cells) in &csv.rows {
            let cell = |name: &str| csv.cell(cells, name);
            match reading(*line, &cell) {
                Ok(reading) if known_on_ms.is_some_and(|day| reading.learnt_at_ms > day) => {}
                Ok(reading) => {
                    let of = MeteredNode {
                        node: cell("node").to_owned(),
                        site: Some(cell("site")).filter(|site| !is_any(site)).map(str::to_owned),
                    };
                    rows.entry(of).or_default().push(reading);
                }
                Err(why) => problems.mistake(file, *line, why),
            }
        }
        for (of, readings) in rows {
            let readings = MeterReadings::new(resolved(&of.node, readings, file, problems));
            table.nodes.entry(of.node).or_default().insert(of.site, readings);
        }
        table
    }

    /// Whether it has no reading.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Nodes with their readings, in the order of their names; those of any site before those of one.
    pub fn each(&self) -> impl Iterator<Item = (MeteredNode, &MeterReadings)> {
        self.nodes.iter().flat_map(|(node, sites)| {
            sites.iter().map(move |(site, readings)| {
                let of = MeteredNode {
                    node: node.clone(),
                    site: site.clone(),
                };
                (of, readings)
            })
        })
    }

    /// The readings of a node of a site: its own, or those of any site; also by its name without the domain.
    #[must_use]
    pub fn of(&self, site: &str, node: &str) -> Option<&MeterReadings> {
        self.meter_of(site, node).map(|meter| meter.readings)
    }

    /// As [`Self::of`], with the name of the node in the table.
    #[must_use]
    pub fn meter_of(&self, site: &str, node: &str) -> Option<NodeMeter<'_>> {
        let short = || {
            node.split_once('.')
                .and_then(|(short, _)| self.nodes.get_key_value(short))
        };
        let (node, sites) = self.nodes.get_key_value(node).or_else(short)?;
        let own = || sites.iter().find(|(of, _)| of.as_deref() == Some(site));
        let readings = own().map(|(_, readings)| readings).or_else(|| sites.get(&None))?;
        Some(NodeMeter { node, readings })
    }

    /// Refuses a row without a site where there are several: its energy would count at each.
    ///
    /// # Errors
    /// [`Kind::Config`] when it is so.
    pub fn hold_sites<'s>(&self, sites: impl IntoIterator<Item = &'s str>) -> Result<()> {
        let sites: BTreeSet<&str> = sites.into_iter().collect();
        match (self.without_site(), sites.len()) {
            (Some(node), site_n @ 2..) => {
                let message = format!(
                    "[energy] meters: the row of node {node} names no site, and {site_n} sites have nodes: add a column site to the table"
                );
                Err(Error::new(Kind::Config, message))
            }
            _ => Ok(()),
        }
    }

    /// Nodes of a site, or of any.
    pub fn of_site(&self, site: &str) -> impl Iterator<Item = (&str, &MeterReadings)> {
        let names = self.nodes.keys().map(String::as_str);
        names.filter_map(move |node| Some((node, self.of(site, node)?)))
    }

    /// The sites of rows; `None` is any.
    #[must_use]
    pub fn sites(&self) -> BTreeSet<Option<&str>> {
        let sites = self.nodes.values().flat_map(BTreeMap::keys);
        sites.map(Option::as_deref).collect()
    }

    /// A node without a site, if there is one.
    #[must_use]
    pub fn without_site(&self) -> Option<&str> {
        let mut nodes = self.nodes.iter().filter(|(_, sites)| sites.contains_key(&None));
        nodes.next().map(|(node, _)| node.as_str())
    }

    /// A hash of what of it decides figures of a site between two instants (Unix milliseconds), both included: equal hashes, equal
    /// figures. Where nothing does it is empty.
    #[must_use]
    pub fn relevant(&self, site: &str, from_ms: i64, until_ms: i64) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut has_any = false;
        for (node, readings) in self.of_site(site) {
            // Fallback: the end of time is in every reading that reaches there.
            for reading in readings.within(from_ms, until_ms.saturating_add(1)) {
                let MeterReading {
                    from_ms,
                    until_ms,
                    energy_j,
                    ..
                } = reading;
                hasher.update(format!("{node} {from_ms} {until_ms} {energy_j}\n").as_bytes());
                has_any = true;
            }
        }
        if has_any {
            hasher.finalize().to_hex().to_string()
        } else {
            String::new()
        }
    }
}

/// The readings of a node that count, in the order of time; those that count twice are mistakes.
fn resolved(node: &str, mut readings: Vec<MeterReading>, file: &str, problems: &mut Problems) -> Vec<MeterReading> {
    readings.sort_by_key(|of| (of.from_ms, of.until_ms, std::cmp::Reverse(of.learnt_at_ms), of.line));
    let is_replaced = |later: &MeterReading, kept: &MeterReading| {
        let is_same_time = (later.from_ms, later.until_ms) == (kept.from_ms, kept.until_ms);
        is_same_time && later.learnt_at_ms < kept.learnt_at_ms
    };
    readings.dedup_by(|later, kept| is_replaced(later, kept));
    for pair in readings.windows(2) {
        if let [before, behind] = pair
            && behind.from_ms < before.until_ms
        {
            let (first, second) = (before.line.min(behind.line), before.line.max(behind.line));
            let message = format!("line {second} overlaps line {first}: energy of node {node} would count twice");
            problems.mistake(file, second, message);
        }
    }
    readings
}

fn reading<'c>(line: usize, cell: &impl Fn(&str) -> &'c str) -> std::result::Result<MeterReading, String> {
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
        learnt_at_ms: span.learnt_at,
        line,
    })
}
