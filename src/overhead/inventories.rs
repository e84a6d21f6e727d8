//! The inventory files of a lake, and the machine they describe.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::READ_ROWS;
use super::node_inventory::NodeInventory;
use super::stage::DuePeriod;
use super::sweep::Sweep;
use crate::config::overhead_plan::OverheadPlan;
use crate::error::Result;
use crate::occupancy::Resources;
use crate::store::{Store, read_table};
use crate::time::grain::Grain;
use crate::time::{Calendar, SecondSpan, YearStart, Zone};

/// The rows of inventories, a hash of their files, and the present listings without a date. Such a listing
/// is true now, as long as its file exists; later it has no effect.
pub(crate) fn machine_of(
    sweep: &Sweep<'_>,
    resources: &Resources,
) -> Result<(NodeInventory, String, BTreeSet<String>)> {
    let mut hasher = blake3::Hasher::new();
    let mut files = Vec::new();
    let mut listings = BTreeSet::new();
    for dataset in SWEPT {
        for current in sweep.publication.current(dataset) {
            let file_id = current
                .path
                .rsplit('/')
                .next()
                .and_then(|name| name.strip_suffix(".parquet"));
            let is_present = file_id.is_some_and(|file_id| sweep.present.contains(file_id));
            hasher.update(current.path.as_bytes()).update(current.blake3.as_bytes());
            hasher.update(&[u8::from(is_present)]);
            if is_present {
                listings.insert(current.path.clone());
            }
            files.push(InventoryFile {
                dataset,
                path: current.path,
                place: current.place,
                is_present,
            });
        }
    }
    let machine = machine_in(
        sweep.publication.store(),
        files.into_iter(),
        resources,
        &sweep.plan.complete,
    )?;
    Ok((machine, hasher.finalize().to_hex().to_string(), listings))
}

/// Datasets that describe nodes.
pub(crate) const INVENTORIES: [&str; 3] = ["node", "node_event", "partition"];

/// Datasets by which nodes are swept: those, and in which time they were reserved.
pub(crate) const SWEPT: [&str; 4] = ["node", "node_event", "partition", "reservation"];

/// A file with rows of inventories.
pub(crate) struct InventoryFile {
    pub(crate) dataset: &'static str,
    /// Where it is published.
    pub(crate) path: String,
    /// Where its bytes are.
    pub(crate) place: String,
    /// Whether what has no date in it counts.
    pub(crate) is_present: bool,
}

/// The rows of these files; by name of an inventory, whether its listings are complete.
pub(crate) fn machine_in(
    store: &Store,
    files: impl Iterator<Item = InventoryFile>,
    resources: &Resources,
    complete: &BTreeMap<String, bool>,
) -> Result<NodeInventory> {
    let mut machine = NodeInventory::default();
    let mut files: Vec<InventoryFile> = files.collect();
    // Of two listings of one instant the last one counts: that of a file that is there, not what was in its place.
    files.sort_by_key(|file| file.is_present);
    for file in files {
        let batches = read_table(store.reader(&file.place)?, None, READ_ROWS)?;
        if file.dataset == "node" {
            let source = file.path.split('/').nth(1).and_then(crate::hive::parse);
            // Fallback: a folder that names no source is of the unknown one.
            let source = source.and_then(|(_, source)| source).unwrap_or_default();
            let batches = batches.collect::<Result<Vec<_>>>()?;
            machine.add_nodes(&batches, resources, file.is_present, complete.get(&source).copied())?;
            continue;
        }
        for batch in batches {
            match file.dataset {
                "node_event" => machine.add_events(&batch?)?,
                "reservation" => machine.add_reservations(&batch?)?,
                _ => machine.add_partitions(&batch?, file.is_present)?,
            }
        }
    }
    Ok(machine)
}

/// The months to be reported: those of the pipeline's period, or of the days jobs span.
pub(crate) fn periods(zone: &Zone, year_start: YearStart, overhead: &OverheadPlan, span: SecondSpan) -> Vec<DuePeriod> {
    let mut days = Calendar::new(zone.clone(), Grain::Day, year_start);
    let mut months = Calendar::new(zone.clone(), Grain::Month, year_start);
    let (from_ms, until_ms) = if let Some((from, to)) = overhead.period {
        (days.begins_ms(from), days.begins_ms(to))
    } else {
        // Fallback: a second beyond the milliseconds of 63 bits is on no day.
        let first = days.period(span.start_s.saturating_mul(1000));
        // Fallback: as for the first second, it is on no day.
        let last = days.period((span.end_s - 1).saturating_mul(1000));
        let Some((first, last)) = first.zip(last) else {
            return Vec::new();
        };
        (first.from_ms, last.until_ms)
    };
    let mut found = Vec::new();
    let mut at_ms = from_ms;
    while at_ms < until_ms
        && let Some(period) = months.period(at_ms)
    {
        let span = SecondSpan {
            start_s: period.from_ms.max(from_ms) / 1000,
            end_s: period.until_ms.min(until_ms) / 1000,
        };
        found.push(DuePeriod { period, span });
        at_ms = period.until_ms;
    }
    found
}
