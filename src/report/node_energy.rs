//! What became of the energy of nodes: their meters, by what their cores did.
//!
//! The dataset `node_energy` has it for the meters of a pipeline. Of a table that no run has read it is computed here by the same rule,
//! without the CPU time of jobs. What a node that the lake does not list took is unlisted, and so is that of a node of unknown
//! capacity.

use std::collections::{BTreeMap, BTreeSet};

use super::lake::{Lake, Selection};
use super::shown::HOUR_MS;
use super::table::{Cell, ColumnKind, Table};
use crate::amounts::finer;
use crate::error::{Error, Kind, Result};
use crate::overhead::node_energy::{CoreDay, NodeDays, by_day, of_batch};
pub use crate::overhead::node_energy::{NodeEnergy, PARTS};
use crate::reference::energy::NodeMeterTable;
use crate::store::lake::parse_overhead_path;
use crate::time::{Calendar, Day, Grain, Month, YearStart};

/// A node in a month.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeMonth {
    /// The month.
    pub month: Month,
    /// Site.
    pub site: String,
    /// The node's name.
    pub node: String,
}

/// Energy by month, site and node; the site is empty where the lake does not list the node.
pub type NodeEnergyRows = BTreeMap<NodeMonth, NodeEnergy>;

/// What the lake has, under one canonical unit; `None` where it has one unit alone.
///
/// # Errors
/// [`Kind::NoInput`] when the lake has no energy of nodes; [`Kind::Usage`] when it has several units and none is requested, or not this
/// one; [`Kind::Io`] when it cannot be read.
pub fn published(lake: &Lake, selection: &Selection, unit: Option<&str>) -> Result<NodeEnergyRows> {
    if lake.manifest.dataset("node_energy").next().is_none() {
        let message = "the lake has no energy of nodes: its pipeline needs meters in [energy], and [overhead]; or name a table of \
                       meters by --meters";
        return Err(Error::new(Kind::NoInput, message).at("lake", lake.store.url()));
    }
    let mut by_unit: BTreeMap<Option<String>, NodeEnergyRows> = BTreeMap::new();
    for file in lake.manifest.dataset("node_energy") {
        let Some((site, _, month)) = parse_overhead_path(&file.path).filter(|(site, ..)| selection.has_site(site))
        else {
            continue;
        };
        for batch in lake.batches(&file.path, None)? {
            for row in of_batch(&batch?)? {
                let of = NodeMonth {
                    month,
                    site: site.clone(),
                    node: row.node,
                };
                let rows = by_unit.entry(row.unit).or_default();
                rows.entry(of).or_default().plus(&row.energy)?;
            }
        }
    }
    let unit = chosen(&by_unit.keys().flatten().cloned().collect(), unit)?;
    let mut rows = crate::absent::entry(by_unit.remove(&None));
    rows.extend(crate::absent::entry(unit.and_then(|unit| by_unit.remove(&Some(unit)))));
    Ok(rows)
}

/// Splits what meters counted over what cores did, under one canonical unit; `None` where the lake has one unit alone.
///
/// # Errors
/// [`Kind::NoInput`] when the lake has no overhead; [`Kind::Usage`] when it has several units and none is requested, or not this one;
/// [`Kind::Io`] when it cannot be read; [`Kind::Data`] when a sum is too large.
pub fn gather(
    lake: &Lake,
    selection: &Selection,
    meters: &NodeMeterTable,
    unit: Option<&str>,
) -> Result<NodeEnergyRows> {
    let sites = site_days(lake, selection, meters, unit)?;
    let mut calendar = Calendar::new(lake.zone()?, Grain::Day, YearStart::CALENDAR_YEAR);
    let mut rows = NodeEnergyRows::new();
    for (site, nodes) in &sites {
        for (node, days) in nodes {
            for (day, of) in days {
                if let Some(month) = Month::of_day(*day) {
                    let node_month = NodeMonth {
                        month,
                        site: site.clone(),
                        node: node.clone(),
                    };
                    rows.entry(node_month).or_default().node_s += i128::from(of.listed_s);
                }
            }
        }
    }
    for (of, readings) in meters.each() {
        for reading in readings.each() {
            for metered in by_day(reading, &mut calendar)? {
                let day = metered.period.day.filter(|day| selection.days.has(*day));
                let Some((day, month)) = day.and_then(|day| Some((day, Month::of_day(day)?))) else {
                    continue;
                };
                // The first site that has it, where the meter names none.
                let mut named = (sites.iter()).filter(|(site, _)| of.site.as_ref().is_none_or(|named| named == *site));
                let known = named.find_map(|(site, nodes)| Some((site, nodes.get(&of.node)?.get(&day)?)));
                let node_month = NodeMonth {
                    month,
                    site: known.map_or_else(String::new, |(site, _)| site.clone()),
                    node: of.node.clone(),
                };
                let row = rows.entry(node_month).or_default();
                row.add(&metered, known.map(|(_, cores)| cores), None)?;
            }
        }
    }
    rows.retain(|_, row| row.metered_ms > 0);
    Ok(rows)
}

/// What the cores of a node did, by day.
type CoreDays = BTreeMap<Day, CoreDay>;

/// What cores did under one unit, by site and node.
fn site_days(
    lake: &Lake,
    selection: &Selection,
    meters: &NodeMeterTable,
    wanted: Option<&str>,
) -> Result<BTreeMap<String, BTreeMap<String, CoreDays>>> {
    if lake.manifest.dataset("overhead").next().is_none() {
        let message = "the lake has no overhead: its pipeline needs [overhead]";
        return Err(Error::new(Kind::NoInput, message).at("lake", lake.store.url()));
    }
    let mut sites: BTreeMap<String, NodeDays> = BTreeMap::new();
    for file in lake.manifest.dataset("overhead") {
        let Some((site, ..)) = parse_overhead_path(&file.path).filter(|(site, ..)| selection.has_site(site)) else {
            continue;
        };
        let nodes = sites.entry(site).or_default();
        for batch in lake.batches(&file.path, None)? {
            nodes.add(&batch?)?;
        }
    }
    for (site, nodes) in &sites {
        for (node, _) in meters.of_site(site) {
            nodes.hold_single(node).map_err(|e| e.at("site", site))?;
        }
    }
    let units: BTreeSet<String> = (sites.values())
        .flat_map(|nodes| nodes.names().flat_map(|node| nodes.units(node)))
        .flatten()
        .collect();
    let unit = chosen(&units, wanted)?;
    let of_nodes = |nodes: &NodeDays| {
        let names = nodes.names();
        names
            .map(|node| (node.to_owned(), nodes.days(node, unit.as_ref())))
            .collect()
    };
    Ok(sites
        .iter()
        .map(|(site, nodes)| (site.clone(), of_nodes(nodes)))
        .collect())
}

/// The unit requested, or the only one.
fn chosen(units: &BTreeSet<String>, wanted: Option<&str>) -> Result<Option<String>> {
    let listed = || units.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    match (wanted, units.len()) {
        (Some(wanted), _) if units.contains(wanted) => Ok(Some(wanted.to_owned())),
        (Some(wanted), _) => {
            let message = format!("no canonical unit is called {wanted:?}; there are {}", listed());
            Err(Error::new(Kind::Usage, message))
        }
        (None, 0 | 1) => Ok(units.first().cloned()),
        (None, _) => {
            let message = format!(
                "several canonical units are views of the same nodes: select one by --canonical-unit: {}",
                listed()
            );
            Err(Error::new(Kind::Usage, message))
        }
    }
}

/// The rows as a table.
///
/// # Errors
/// [`Kind::Data`] when a sum is too large.
pub fn table(rows: &NodeEnergyRows) -> Result<Table> {
    const KWH_J: i128 = 3_600_000;
    const HOUR_S: i128 = 3600;
    let mut table = Table::new(
        "What became of the energy of nodes: meter = jobs + overhead + stranded + down + reserved + unlisted",
        &[
            ("month", "", ColumnKind::Text),
            ("site", "", ColumnKind::Text),
            ("node", "", ColumnKind::Text),
            ("meter_kwh", "kWh", ColumnKind::DecimalSum(3)),
            ("meter_j", "J", ColumnKind::Sum),
            ("jobs_j", "J", ColumnKind::Sum),
            ("overhead_j", "J", ColumnKind::Sum),
            ("stranded_j", "J", ColumnKind::Sum),
            ("down_j", "J", ColumnKind::Sum),
            ("reserved_j", "J", ColumnKind::Sum),
            ("unlisted_j", "J", ColumnKind::Sum),
            ("jobs_cpu_j", "J", ColumnKind::Sum),
            ("idle_j", "J", ColumnKind::Sum),
            ("cpu_known_percent", "% of jobs_j", ColumnKind::Decimal(1)),
            ("borne_by_jobs_j", "J", ColumnKind::Sum),
            ("metered_h", "h", ColumnKind::DecimalSum(1)),
            ("listed_h", "h", ColumnKind::DecimalSum(1)),
        ],
    );
    let row = |words: [Cell; 3], energy: &NodeEnergy| {
        let [month, site, node] = words;
        let mut cells = vec![
            month,
            site,
            node,
            Cell::ratio(energy.meter_j, KWH_J, 3),
            Cell::Int(energy.meter_j),
        ];
        cells.extend(energy.parts_j.iter().map(|part| Cell::Int(*part)));
        cells.push(Cell::Int(energy.unlisted_j));
        let known = |amount: Option<i128>| amount.map_or(Cell::Empty, Cell::Int);
        cells.extend([known(energy.jobs_cpu_j), known(energy.idle_j)]);
        let [jobs_j, ..] = energy.parts_j;
        cells.push(Cell::ratio(finer(energy.cpu_known_j, 100), jobs_j, 1));
        cells.push(known(energy.billed_j));
        cells.push(Cell::ratio(energy.metered_ms, HOUR_MS, 1));
        cells.push(Cell::ratio(energy.node_s, HOUR_S, 1));
        cells
    };
    let mut total = NodeEnergy::default();
    for (NodeMonth { month, site, node }, energy) in rows {
        if let Some(problem) = energy.unbalanced() {
            return Err(Error::internal(format!("node {node} in {month}: {problem}")));
        }
        let words = [
            Cell::text(month.to_string()),
            if site.is_empty() { Cell::Empty } else { Cell::text(site) },
            Cell::text(node),
        ];
        table.push(row(words, energy));
        total.plus(energy)?;
    }
    table.set_totals(row([Cell::Empty, Cell::Empty, Cell::Empty], &total));
    Ok(table)
}
