//! The rows of one site and month, made of its meters, its overhead and its records.

use std::collections::BTreeSet;

use super::core_day::NodeDays;
use super::cpu_day::{CpuDays, columns};
use super::meter_day::{MeterDay, by_day};
use super::rows::NodeEnergyRow;
use super::split::NodeEnergy;
use crate::error::{Error, Kind, Result};
use crate::overhead::facts::READ_ROWS;
use crate::overhead::sweep::{self, SweepPlace};
use crate::reference::energy::NodeMeterTable;
use crate::store::{Store, read_table};
use crate::time::calendar::Period;
use crate::time::{Calendar, DAY_MS, Grain, YearStart, Zone};

/// How days and years are cut.
#[derive(Clone, Debug)]
pub(super) struct NodeCalendar {
    pub(super) zone: Zone,
    pub(super) year_start: YearStart,
}

impl NodeCalendar {
    /// A calendar of so fine periods.
    fn of(&self, grain: Grain) -> Calendar {
        Calendar::new(self.zone.clone(), grain, self.year_start)
    }

    /// The period of a place: a calendar month, or the part of it that is in one allocation year.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when there is none.
    pub(super) fn period(&self, place: &SweepPlace) -> Result<Period> {
        let mut calendar = self.of(Grain::Month);
        // No zone is a day away from UTC, and no month has more than two parts.
        let mut at_ms = i64::from(place.month) * DAY_MS - DAY_MS;
        for _ in 0..4 {
            let Some(period) = calendar.period(at_ms) else { break };
            if (period.month, period.allocation_year) == (place.month, place.allocation_year) {
                return Ok(period);
            }
            at_ms = period.until_ms;
        }
        Err(Error::internal("a month of overhead that is none of its calendar"))
    }
}

impl NodeCalendar {
    /// The places of a site in whose months meters counted.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when a reading is of a year without days.
    pub(super) fn metered(&self, meters: &NodeMeterTable, site: &str) -> Result<BTreeSet<SweepPlace>> {
        let mut calendar = self.of(Grain::Month);
        let mut places = BTreeSet::new();
        for (_, readings) in meters.of_site(site) {
            let mut done_ms = i64::MIN;
            for reading in readings.each() {
                let mut at_ms = reading.from_ms.max(done_ms);
                while at_ms < reading.until_ms {
                    let period = calendar.period(at_ms).ok_or_else(|| {
                        let message = format!("line {} of the meters is of a year without days", reading.line);
                        Error::new(Kind::Data, message)
                    })?;
                    places.insert(sweep::place(site, &period));
                    at_ms = period.until_ms;
                    done_ms = period.until_ms;
                }
            }
        }
        Ok(places)
    }
}

/// Files that the rows of a place are made of.
#[derive(Clone, Debug)]
pub(super) struct PlaceFiles {
    /// Where the bytes of its file of `overhead` are; `None` where no node is swept in its month.
    pub(super) overhead: Option<String>,
    /// Where the bytes of the files of `records` are whose jobs ran in its month.
    pub(super) records: Vec<String>,
}

/// The rows of a place, in the order of the dataset; none where no node of it has a reading.
///
/// # Errors
/// [`crate::error::Kind::Io`] when a file cannot be read; [`crate::error::Kind::Data`] when a sum is too large;
/// [`crate::error::Kind::Config`] when two clusters have a node with a meter.
pub(super) fn rows(
    store: &Store,
    place: &SweepPlace,
    files: &PlaceFiles,
    meters: &NodeMeterTable,
    calendar: &NodeCalendar,
) -> Result<Vec<NodeEnergyRow>> {
    let period = calendar.period(place)?;
    let mut days = calendar.of(Grain::Day);
    let mut metered: Vec<MeteredDays<'_>> = Vec::new();
    for (node, readings) in meters.of_site(&place.site) {
        let mut of_node = Vec::new();
        for reading in readings.within(period.from_ms, period.until_ms) {
            of_node.extend(by_day(reading, &mut days)?);
        }
        of_node.retain(|day| day.period.from_ms < period.until_ms && day.period.until_ms > period.from_ms);
        if !of_node.is_empty() {
            metered.push(MeteredDays { node, days: of_node });
        }
    }
    if metered.is_empty() {
        return Ok(Vec::new());
    }
    let mut nodes = NodeDays::default();
    if let Some(overhead) = &files.overhead {
        for batch in read_table(store.reader(overhead)?, None, READ_ROWS)? {
            nodes.add(&batch?)?;
        }
    }
    let mut cpu = CpuDays::new(metered.iter().map(|of| of.node), period, days);
    for file in &files.records {
        for batch in read_table(store.reader(file)?, Some(&columns()), READ_ROWS)? {
            cpu.add(&batch?)?;
        }
    }
    let mut rows = Vec::new();
    for MeteredDays { node, days } in &metered {
        nodes.hold_single(node).map_err(|e| e.at("site", &place.site))?;
        for unit in nodes.units(node) {
            let cores = nodes.days(node, unit.as_ref());
            let mut energy = NodeEnergy {
                node_s: cores.values().map(|cores| i128::from(cores.listed_s)).sum(),
                ..NodeEnergy::default()
            };
            for metered in days {
                let Some(day) = metered.period.day else { continue };
                energy.add(metered, cores.get(&day), cpu.of(node, day))?;
            }
            rows.push(NodeEnergyRow {
                node: (*node).to_owned(),
                unit,
                energy,
            });
        }
    }
    rows.sort_by(NodeEnergyRow::order);
    Ok(rows)
}

/// What the meter of a node counted on the days of a month.
struct MeteredDays<'m> {
    node: &'m str,
    days: Vec<MeterDay>,
}
