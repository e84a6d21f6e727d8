//! The energy of nodes by what their cores did: `node_energy`, made of the meters of `[energy]`, of `overhead` and of `records`.
//!
//! In: the joules of each reading, spread evenly over its time and cut into days. Out: for each node, month and canonical unit jobs +
//! overhead + stranded + down + reserved + unlisted = meter, in whole joules; of the part of jobs what their CPU time took and what was
//! idle. Promise: each day adds up to its meter exactly, by the largest remainder, and so does every sum of days. A month is made again
//! when one of the three changes, and is what it was when the change is taken back.

mod core_day;
mod cpu_day;
mod meter_day;
mod place_rows;
mod rows;
mod split;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub(crate) use self::core_day::NodeDays;
pub use self::core_day::{CoreDay, PARTS};
pub use self::cpu_day::CpuDay;
pub use self::meter_day::{MeterDay, by_day};
use self::place_rows::{NodeCalendar, PlaceFiles};
pub use self::rows::{NodeEnergyRow, of_batch};
pub use self::split::NodeEnergy;
use super::explain::record_files as published_records;
use super::facts::{READ_ROWS, from_fact, to_fact};
use super::record_files::{RecordFile, record_files};
use super::sweep::{Sweep, SweepPlace, settings};
use crate::config::Plan;
use crate::energy::EnergyPlan;
use crate::error::{Error, Result};
use crate::lake::state::State;
use crate::lake::{calendar_fact, energy_tables};
use crate::reference::energy::NodeMeterTable;
use crate::store::lake::{LakeTable, overhead_path, parse_overhead_path};
use crate::store::{Current, Fact, Manifest, Store, read_table};
use crate::time::SecondSpan;
use crate::time::calendar::Period;

/// The dataset.
const NODE_ENERGY: &str = "node_energy";
/// The dataset that it is made of, and whose places it has.
const OVERHEAD: &str = "overhead";

/// What a lake remembers of how its energy of nodes was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct MadeOf {
    /// A hash of the tables and settings.
    settings: String,
    /// By path of a file of the dataset: a hash of what its rows were made of; also of places without rows.
    places: BTreeMap<String, String>,
}

/// The meters of a plan, where there are any to be split over what nodes did.
fn meters(plan: &Plan) -> Option<&EnergyPlan> {
    let energy = plan.energy.as_deref().filter(|energy| energy.tables.meters.is_some());
    energy.filter(|_| plan.overhead.is_some())
}

/// A hash of the tables and settings; `None` where a plan has no energy of nodes.
fn settings_of(plan: &Plan) -> Option<String> {
    let energy = meters(plan)?;
    let table = energy.tables.meters.as_ref().map(|table| &table.text);
    let version = crate::schema::dataset(NODE_ENERGY).map_or(0, |dataset| dataset.version);
    let text = format!(
        "{:?} {table:?} {:?} {version}",
        settings(plan),
        energy.settings.known_on_ms
    );
    Some(blake3::hash(text.as_bytes()).to_hex().to_string())
}

/// Whether the dataset was made of other tables or under other settings, or not at all.
pub(crate) fn is_changed(plan: &Plan, state: &State) -> bool {
    let made = from_fact::<MadeOf>(state.fact(Fact::NodeEnergy));
    settings_of(plan) != made.map(|made| made.settings)
}

/// Stages the months that change, after those of overhead.
///
/// # Errors
/// [`Kind::Config`] when the site or cluster of a meter cannot be determined; [`Kind::Data`] when a sum does not fit its column;
/// [`Kind::Io`] when the lake cannot be read or written.
///
/// [`Kind::Config`]: crate::error::Kind::Config
/// [`Kind::Data`]: crate::error::Kind::Data
/// [`Kind::Io`]: crate::error::Kind::Io
pub(crate) fn publish(sweep: &Sweep<'_>, state: &mut State) -> Result<()> {
    let publication = sweep.publication;
    let (Some(energy), Some(settings)) = (meters(sweep.plan), settings_of(sweep.plan)) else {
        remove_others(sweep, &BTreeSet::new());
        state.set_fact(Fact::NodeEnergy, None);
        return Ok(());
    };
    let meters = &energy.meters;
    // Fallback: without the fact nothing is known to be as it was.
    let was: MadeOf = from_fact(state.fact(Fact::NodeEnergy)).unwrap_or_default();
    let mut now = MadeOf {
        settings,
        places: BTreeMap::new(),
    };
    let calendar = NodeCalendar {
        zone: sweep.plan.calendar_zone.clone(),
        year_start: sweep.plan.allocation_year_start,
    };
    let records = record_files(sweep, state)?;
    let hashes = publication.current("records");
    let hashes: BTreeMap<&str, &str> = hashes
        .iter()
        .map(|of| (of.place.as_str(), of.blake3.as_str()))
        .collect();
    let overhead = publication.current(OVERHEAD);
    let swept = overhead.iter().filter_map(|file| Some((place_of(&file.path)?, file)));
    let swept: BTreeMap<SweepPlace, &Current> = swept.collect();
    meters.hold_sites(swept.keys().map(|place| place.site.as_str()))?;
    let mut kept = BTreeSet::new();
    for place in places(meters, swept.keys(), &calendar)? {
        let period = calendar.period(&place)?;
        let file = swept.get(&place);
        let own = crate::absent::list(records.get(&place.site));
        let files = PlaceFiles {
            overhead: file.map(|file| file.place.clone()),
            records: file.map_or_else(Vec::new, |_| within(own, &period)),
        };
        let mut made_of = format!(
            "{} {}",
            file.map_or("-", |file| file.blake3.as_str()),
            meters.relevant(&place.site, period.from_ms, period.until_ms)
        );
        for record in &files.records {
            made_of.push(' ');
            made_of.push_str(
                hashes
                    .get(record.as_str())
                    .copied()
                    .ok_or_else(|| Error::internal(format!("{record} is none of the records of the run")))?,
            );
        }
        let made_of = blake3::hash(made_of.as_bytes()).to_hex().to_string();
        let path = path_of(&place);
        if was.places.get(&path) == Some(&made_of) {
            now.places.insert(path.clone(), made_of);
            kept.insert(path);
            continue;
        }
        let rows = place_rows::rows(publication.store(), &place, &files, meters, &calendar)?;
        now.places.insert(path.clone(), made_of);
        if rows.is_empty() {
            continue;
        }
        let mut table = LakeTable::create(publication, NODE_ENERGY, &path)?;
        table.write(&rows::to_batch(&rows)?)?;
        table.finish(&[("gridtally.pipeline".to_owned(), sweep.plan.name.clone())])?;
        kept.insert(path);
    }
    remove_others(sweep, &kept);
    state.set_fact(Fact::NodeEnergy, Some(to_fact(&now)?));
    Ok(())
}

/// The places that rows may be of: those of overhead, and the months of its sites in which meters counted.
fn places<'p>(
    meters: &NodeMeterTable,
    swept: impl Iterator<Item = &'p SweepPlace>,
    calendar: &NodeCalendar,
) -> Result<BTreeSet<SweepPlace>> {
    let mut places: BTreeSet<SweepPlace> = swept.cloned().collect();
    let sites: BTreeSet<String> = places.iter().map(|place| place.site.clone()).collect();
    for site in sites {
        places.extend(calendar.metered(meters, &site)?);
    }
    Ok(places)
}

/// Takes away what is published of other places.
fn remove_others(sweep: &Sweep<'_>, kept: &BTreeSet<String>) {
    let published = sweep.publication.published().into_iter();
    for file in published.flat_map(|manifest| manifest.dataset(NODE_ENERGY)) {
        if place_of(&file.path).is_some() && !kept.contains(&file.path) {
            sweep.publication.remove(&file.path);
        }
    }
}

fn place_of(path: &str) -> Option<SweepPlace> {
    let (site, allocation_year, month) = parse_overhead_path(path)?;
    Some(SweepPlace {
        site,
        month: month.first_day(),
        allocation_year,
    })
}

fn path_of(place: &SweepPlace) -> String {
    overhead_path(NODE_ENERGY, &place.site, place.allocation_year, place.month)
}

/// Where the bytes of the files are whose jobs ran in a month.
fn within(files: &[RecordFile], month: &Period) -> Vec<String> {
    let month = SecondSpan {
        start_s: month.from_ms.div_euclid(1000),
        end_s: month.until_ms.div_euclid(1000),
    };
    let held = files
        .iter()
        .filter(|file| file.reach.span.is_some_and(|span| span.overlaps(month)));
    held.map(|file| file.place.clone()).collect()
}

/// Makes all of it again from the tables, overhead and records of a lake. Gives (path, problem).
///
/// # Errors
/// [`crate::error::Kind::Io`] when a file cannot be read, [`crate::error::Kind::Data`] when the tables of the lake are damaged.
pub(crate) fn verify(store: &Store, manifest: &Manifest) -> Result<Vec<(String, String)>> {
    let mut published: BTreeMap<&str, Vec<NodeEnergyRow>> = BTreeMap::new();
    for file in manifest
        .dataset(NODE_ENERGY)
        .filter(|file| place_of(&file.path).is_some())
    {
        let rows = published.entry(&file.path).or_default();
        for batch in read_table(store.reader(&file.path)?, None, READ_ROWS)? {
            rows.extend(of_batch(&batch?)?);
        }
    }
    let mut findings = Vec::new();
    for (path, rows) in &published {
        for row in rows {
            let problem = row.energy.unbalanced();
            findings.extend(problem.map(|problem| ((*path).to_owned(), format!("node {}: {problem}", row.node))));
        }
    }
    let energy = energy_tables::read(store, manifest)?.filter(|energy| energy.tables.meters.is_some());
    let has_overhead = manifest.dataset(OVERHEAD).next().is_some();
    if let (Some(energy), true) = (energy, has_overhead) {
        let rule = calendar_fact::rule(&manifest.facts)?;
        let calendar = NodeCalendar {
            zone: rule.zone,
            year_start: rule.year_start,
        };
        let records = published_records(manifest);
        let swept = manifest.dataset(OVERHEAD);
        let swept: BTreeMap<SweepPlace, &str> = swept
            .filter_map(|file| Some((place_of(&file.path)?, file.path.as_str())))
            .collect();
        for place in places(&energy.meters, swept.keys(), &calendar)? {
            let file = swept.get(&place);
            let own = crate::absent::list(records.get(&place.site));
            let held = |_: &&str| Ok::<_, Error>(within(own, &calendar.period(&place)?));
            let files = PlaceFiles {
                overhead: file.map(|path| (*path).to_owned()),
                records: crate::absent::entry(file.map(held).transpose()?),
            };
            let again = place_rows::rows(store, &place, &files, &energy.meters, &calendar)?;
            let path = path_of(&place);
            let rows = crate::absent::entry(published.remove(path.as_str()));
            findings.extend(different(&rows, &again).map(|problem| (path, problem)));
        }
    }
    let strays = published
        .into_keys()
        .map(|path| (path.to_owned(), "no meters are of its site and month".to_owned()));
    findings.extend(strays);
    Ok(findings)
}

/// The first row that is not what it comes to.
fn different(rows: &[NodeEnergyRow], again: &[NodeEnergyRow]) -> Option<String> {
    let of = |row: &NodeEnergyRow| match &row.unit {
        Some(unit) => format!("node {}, unit {unit}", row.node),
        None => format!("node {}", row.node),
    };
    for (row, made) in rows.iter().zip(again) {
        if (&row.node, &row.unit) != (&made.node, &made.unit) {
            return Some(format!("{}: expected {}", of(row), of(made)));
        }
        if let Some(problem) = rows::difference(&row.energy, &made.energy) {
            return Some(format!("{}: {problem}", of(row)));
        }
    }
    (rows.len() != again.len()).then(|| format!("{} rows, but its meters come to {}", rows.len(), again.len()))
}
