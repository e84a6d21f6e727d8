//! What became of the energy of nodes: their meters, by what their cores did.
//!
//! `overhead` has for every node and day what became of its cores: allocated, overhead, stranded, down, reserved, which add up to its
//! capacity exactly. The joules of a meter are spread evenly over the time between its readings, and those of a day over these by core
//! time, by the rule by which usage is split over periods: parts add up to the reading exactly. What a node that the lake does not list
//! took is unlisted, and so is that of a node of unknown capacity.

use std::collections::BTreeMap;

use arrow::array::Int64Array;

use super::lake::{Lake, Selection};
use super::table::{Cell, ColumnKind, Table};
use crate::amounts::{add, finer};
use crate::error::{Error, Kind, Result};
use crate::reference::energy::NodeMeterTable;
use crate::reference::energy::node_meter::{MeterReading, MeteredNode};
use crate::schema::batch::{date, int, number, text, word};
use crate::store::lake::parse_overhead_path;
use crate::summarise::apportion::apportion;
use crate::time::{Calendar, Day, Grain, Month, YearStart};

/// What cores of a node did, as `overhead` has it.
pub const PARTS: [&str; 5] = [
    "allocated_core_s",
    "overhead_core_s",
    "stranded_core_s",
    "down_core_s",
    "reserved_core_s",
];

/// A node on a day.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NodeDay {
    site: String,
    node: String,
    day: Day,
}

/// What its cores did.
#[derive(Clone, Copy, Debug, Default)]
struct CoreDay {
    /// In the order of [`PARTS`].
    core_s: [i64; PARTS.len()],
    /// What jobs bear under the billing of the pipeline; `None` where it is unknown.
    billed_core_s: Option<i64>,
    /// Seconds in which there was such a node.
    listed: i64,
}

/// Energy of a node in a month, joules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeEnergy {
    /// Of the meters.
    pub meter_j: i128,
    /// In the order of [`PARTS`].
    pub parts_j: [i128; PARTS.len()],
    /// Of no node or capacity that the lake knows.
    pub unlisted_j: i128,
    /// Of the parts, what jobs bear under the billing of the pipeline.
    pub billed_j: Option<i128>,
    /// How long meters counted, milliseconds.
    pub metered_ms: i128,
    /// How long there was such a node, seconds.
    pub node_s: i128,
}

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
    let days = core_days(lake, selection, unit)?;
    let mut calendar = Calendar::new(lake.zone()?, Grain::Day, YearStart::CALENDAR_YEAR);
    let mut rows = NodeEnergyRows::new();
    for (day, of) in &days {
        if let Some(month) = Month::of_day(day.day) {
            let node_month = NodeMonth {
                month,
                site: day.site.clone(),
                node: day.node.clone(),
            };
            let row = rows.entry(node_month).or_default();
            row.node_s += i128::from(of.listed);
        }
    }
    let sites: Vec<&str> = {
        let mut sites: Vec<&str> = days.keys().map(|of| of.site.as_str()).collect();
        sites.dedup();
        sites
    };
    for (of, readings) in &meters.readings {
        for reading in readings {
            for (day, part_j, ms) in by_day(reading, &mut calendar)? {
                let Some(month) = Month::of_day(day).filter(|_| selection.days.has(day)) else {
                    continue;
                };
                let known = core_day(&days, &sites, of, day);
                let site = known.map_or("", |(site, _)| site);
                let node_month = NodeMonth {
                    month,
                    site: site.to_owned(),
                    node: of.node.clone(),
                };
                let row = rows.entry(node_month).or_default();
                add(&mut row.meter_j, i128::from(part_j), "joules")?;
                row.metered_ms += i128::from(ms);
                split(row, part_j, known.map(|(_, cores)| cores));
            }
        }
    }
    rows.retain(|_, row| row.metered_ms > 0);
    Ok(rows)
}

/// The joules of a reading by day.
fn by_day(reading: &MeterReading, calendar: &mut Calendar) -> Result<Vec<(Day, i64, i64)>> {
    let outside = || {
        Error::new(
            Kind::Data,
            format!("line {} of the meters is of a year without days", reading.line),
        )
    };
    let (mut days, mut weights) = (Vec::new(), Vec::new());
    let mut at_ms = reading.from_ms;
    while at_ms < reading.until_ms {
        let period = calendar.period(at_ms).ok_or_else(outside)?;
        days.push(period.day.ok_or_else(outside)?);
        weights.push(period.until_ms.min(reading.until_ms) - at_ms);
        at_ms = period.until_ms;
    }
    let mut shares = Vec::new();
    apportion(reading.energy_j, &weights, &mut shares);
    Ok(days
        .into_iter()
        .zip(shares)
        .zip(weights)
        .map(|((day, part_j), ms)| (day, part_j, ms))
        .collect())
}

/// Where a node is listed on a day, and what its cores did; the first site that has it, where the meter names none.
fn core_day<'d>(
    days: &'d BTreeMap<NodeDay, CoreDay>,
    sites: &[&str],
    of: &MeteredNode,
    day: Day,
) -> Option<(&'d str, &'d CoreDay)> {
    let mut named = sites
        .iter()
        .filter(|site| of.site.as_deref().is_none_or(|named| named == **site));
    named.find_map(|site| {
        let wanted = NodeDay {
            site: (*site).to_owned(),
            node: of.node.clone(),
            day,
        };
        days.get_key_value(&wanted)
            .map(|(day, cores)| (day.site.as_str(), cores))
    })
}

/// Adds joules of a day by what the cores of the node did.
fn split(row: &mut NodeEnergy, energy_j: i64, cores: Option<&CoreDay>) {
    let known = cores.filter(|cores| cores.core_s.iter().any(|core_s| *core_s > 0));
    let Some(cores) = known else {
        row.unlisted_j += i128::from(energy_j);
        return;
    };
    let mut shares = Vec::new();
    apportion(energy_j, &cores.core_s, &mut shares);
    for (sum, share) in row.parts_j.iter_mut().zip(&shares) {
        *sum += i128::from(*share);
    }
    if let Some(billed) = cores.billed_core_s {
        let capacity: i64 = cores.core_s.iter().sum();
        let billed = billed.clamp(0, capacity);
        apportion(energy_j, &[billed, capacity - billed], &mut shares);
        let of_jobs = shares.first().map_or(0, |share| i128::from(*share));
        row.billed_j = Some(crate::absent::entry(row.billed_j) + of_jobs);
    }
}

/// What cores did under one unit, by node and day.
fn core_days(lake: &Lake, selection: &Selection, wanted: Option<&str>) -> Result<BTreeMap<NodeDay, CoreDay>> {
    if lake.manifest.dataset("overhead").next().is_none() {
        let message = "the lake has no overhead: its pipeline needs [overhead]";
        return Err(Error::new(Kind::NoInput, message).at("lake", lake.store.url()));
    }
    let mut by_unit: BTreeMap<Option<String>, BTreeMap<NodeDay, CoreDay>> = BTreeMap::new();
    for file in lake.manifest.dataset("overhead") {
        let Some((site, ..)) = parse_overhead_path(&file.path).filter(|(site, ..)| selection.has_site(site)) else {
            continue;
        };
        for batch in lake.batches(&file.path, None)? {
            let batch = batch?;
            let (node, unit, day) = (text(&batch, "node")?, text(&batch, "unit")?, date(&batch, "day")?);
            let parts: Vec<&Int64Array> = PARTS.iter().map(|name| int(&batch, name)).collect::<Result<_>>()?;
            let (billed, node_s) = (int(&batch, "billed_core_s")?, int(&batch, "node_s")?);
            for row in 0..batch.num_rows() {
                let mut core_s = [0; PARTS.len()];
                for (value, column) in core_s.iter_mut().zip(&parts) {
                    *value = crate::schema::batch::addend(number(column, row));
                }
                let of = NodeDay {
                    site: site.clone(),
                    node: node.value(row).to_owned(),
                    day: day.value(row),
                };
                let given = CoreDay {
                    core_s,
                    billed_core_s: number(billed, row),
                    listed: node_s.value(row),
                };
                by_unit
                    .entry(word(unit, row).map(str::to_owned))
                    .or_default()
                    .insert(of, given);
            }
        }
    }
    chosen(by_unit, wanted)
}

/// The days of the unit requested, or of the only one, with those of nodes that no unit is for.
fn chosen(
    mut by_unit: BTreeMap<Option<String>, BTreeMap<NodeDay, CoreDay>>,
    wanted: Option<&str>,
) -> Result<BTreeMap<NodeDay, CoreDay>> {
    let mut days = crate::absent::entry(by_unit.remove(&None));
    let units: Vec<String> = by_unit.keys().flatten().cloned().collect();
    let unit = match (wanted, units.as_slice()) {
        (Some(wanted), _) if units.iter().any(|unit| unit == wanted) => Some(wanted.to_owned()),
        (Some(wanted), _) => {
            let message = format!("no canonical unit is called {wanted:?}; there are {}", units.join(", "));
            return Err(Error::new(Kind::Usage, message));
        }
        (None, []) => None,
        (None, [only]) => Some(only.clone()),
        (None, several) => {
            let message = format!(
                "several canonical units are views of the same nodes: select one by --canonical-unit: {}",
                several.join(", ")
            );
            return Err(Error::new(Kind::Usage, message));
        }
    };
    days.extend(crate::absent::entry(by_unit.remove(&unit)));
    Ok(days)
}

/// The rows as a table.
///
/// # Errors
/// [`Kind::Data`] when a sum is too large.
pub fn table(rows: &NodeEnergyRows) -> Result<Table> {
    const KWH_J: i128 = 3_600_000;
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
            ("borne_by_jobs_j", "J", ColumnKind::Sum),
            ("metered_percent", "% of node time", ColumnKind::Decimal(1)),
        ],
    );
    for (NodeMonth { month, site, node }, energy) in rows {
        let parts: i128 = energy.parts_j.iter().sum();
        if parts + energy.unlisted_j != energy.meter_j {
            let message = format!("the parts of the energy of node {node} in {month} do not add up to its meter");
            return Err(Error::internal(message));
        }
        let mut cells = vec![
            Cell::text(month.to_string()),
            if site.is_empty() { Cell::Empty } else { Cell::text(site) },
            Cell::text(node),
            Cell::ratio(energy.meter_j, KWH_J, 3),
            Cell::Int(energy.meter_j),
        ];
        cells.extend(energy.parts_j.iter().map(|part| Cell::Int(*part)));
        cells.push(Cell::Int(energy.unlisted_j));
        cells.push(energy.billed_j.map_or(Cell::Empty, Cell::Int));
        cells.push(Cell::ratio(
            finer(energy.metered_ms, 100),
            finer(energy.node_s, 1000),
            1,
        ));
        table.push(cells);
    }
    Ok(table)
}
