//! Listings of the machine that leave force: those of an inventory that the pipeline no longer names, and those that are
//! read again because their inventory dates them otherwise now. What cannot be read again is never taken out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use tracing::warn;

use super::found::{self, FoundFile};
use super::state::{State, is_inventory};
use crate::config::as_of::AsOf;
use crate::config::compiler::resolve;
use crate::config::{Plan, SourcePlan};
use crate::ledger::Outcome;
use crate::ledger::book::InputEntry;
use crate::schema::listing_datasets;
use crate::sources::input::find;
use crate::store::{Fact, Publication, lake};
use crate::time::Zone;

/// A listing that the lake knows.
struct KnownListing {
    file_id: Arc<str>,
    /// The path it was first seen under.
    path: String,
}

impl KnownListing {
    fn new(file_id: &Arc<str>, input: &InputEntry) -> Self {
        Self {
            file_id: Arc::clone(file_id),
            // Fallback: never taken, a file was seen under some path.
            path: input.paths.first().map_or_else(String::new, ToString::to_string),
        }
    }
}

/// The listings of an inventory that the pipeline no longer names.
#[derive(Default)]
struct FormerInventory {
    /// Those that can be read again.
    here: Vec<KnownListing>,
    /// All others.
    gone: Vec<KnownListing>,
}

impl State {
    /// Takes the listings of inventories that the pipeline no longer names out of the lake, as far as they can be read again where
    /// it names them again; those that are gone stay in force. Warns of both. Returns whether any was taken out.
    pub(crate) fn drop_former_inventories(&mut self, plan: &Plan, publication: &Publication) -> bool {
        let named: BTreeSet<&str> = plan
            .sources
            .iter()
            .filter(|source| source.is_inventory())
            .map(|source| source.name.as_str())
            .collect();
        let mut former: BTreeMap<String, FormerInventory> = BTreeMap::new();
        for (file_id, input) in self.book.inputs() {
            if is_inventory(input) && !named.contains(input.source.as_str()) {
                let of = former.entry(input.source.clone()).or_default();
                let listings = if is_there(input, plan) {
                    &mut of.here
                } else {
                    &mut of.gone
                };
                listings.push(KnownListing::new(file_id, input));
            }
        }
        let mut is_any = false;
        for (inventory, FormerInventory { here, gone }) in &former {
            if !here.is_empty() {
                let rows = published_rows(inventory, here, publication);
                warn!(
                    inventory,
                    "inventory {inventory}: the pipeline no longer names it. What it listed is no longer in force: {}; rows of {rows}",
                    shown(here)
                );
            }
            // Known from the run before: then it was reported.
            if !gone.is_empty() && self.facts.get(Fact::Source(inventory)).is_some() {
                warn!(
                    inventory,
                    "inventory {inventory}: the pipeline no longer names it. Listings that are gone or were overwritten stay in force; \
                     to take them out, bring them back for one run: {}",
                    shown(gone)
                );
            }
            for listing in here {
                self.forget_listing(inventory, &listing.file_id, publication);
            }
            self.facts.remove(Fact::Source(inventory));
            self.facts.remove(Fact::SourceTimezone(inventory));
            is_any |= !here.is_empty();
        }
        is_any
    }

    /// Takes the rows of listings out of the lake that are read again as other files, because their inventory, one of those with
    /// `changed` settings, dates them otherwise now. Warns of listings that cannot be read again: they keep their rows.
    pub(crate) fn forget_redated(
        &mut self,
        plan: &Plan,
        found: &[FoundFile],
        changed: &BTreeSet<String>,
        publication: &Publication,
    ) {
        for source in plan.sources.iter().filter(|source| changed.contains(&source.name)) {
            let inventory = source.name.as_str();
            let (mut redated, mut kept) = (Vec::new(), Vec::new());
            let here = FoundListings::of(source, found);
            for (file_id, input) in self.book.inputs() {
                if !is_inventory(input) || input.source != inventory || here.ids.contains(file_id) {
                    continue;
                }
                if here.will_read(file_id, input) {
                    redated.push(Arc::clone(file_id));
                } else if self.book.outcome_n(file_id, Outcome::Accepted) > 0
                    && !(self.is_next_day(plan, source) && here.is_overwritten(input))
                {
                    kept.push(KnownListing::new(file_id, input));
                }
            }
            if !kept.is_empty() {
                warn!(
                    inventory,
                    "inventory {inventory}: its settings changed, and not all of its listings can be read again. Those that are \
                     gone or were overwritten keep the rows that were read under the former settings: {}",
                    shown(&kept)
                );
            }
            for file_id in redated {
                self.forget_listing(inventory, &file_id, publication);
            }
        }
    }

    /// Whether a change of settings may be that of a day: a listing that is overwritten each day states the next one.
    fn is_next_day(&self, plan: &Plan, source: &SourcePlan) -> bool {
        let zone = source.reader.zone.as_ref().map(Zone::name);
        matches!(plan.as_of.get(&source.name), Some(AsOf::At(_)))
            && self.facts.get(Fact::SourceTimezone(&source.name)) == zone
    }

    fn forget_listing(&mut self, inventory: &str, file_id: &str, publication: &Publication) {
        self.book.forget(file_id);
        for dataset in listing_datasets() {
            publication.remove(&lake::inventory_path(&dataset.name, inventory, file_id));
        }
        publication.remove(&lake::rejects_path(file_id));
    }
}

/// Whether a listing is still where it was read, with the same bytes.
fn is_there(input: &InputEntry, plan: &Plan) -> bool {
    let Some(folder) = plan.file.parent() else {
        return false;
    };
    let base = folder.to_string_lossy();
    input.paths.iter().any(|of| {
        // Fallback: a listing that cannot be looked for counts as gone, and stays in force.
        let found = find(&resolve(&base, &of.path), folder).unwrap_or_default();
        found.iter().any(|file| {
            file.bytes == input.bytes
                && file
                    .hash_content()
                    .is_ok_and(|content| *content.blake3 == *input.blake3)
        })
    })
}

/// The listings of an inventory that are there.
struct FoundListings<'a> {
    inventory: &'a str,
    ids: BTreeSet<Arc<str>>,
    paths: BTreeSet<&'a str>,
    /// Their paths, by the hash of their bytes.
    paths_of_bytes: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> FoundListings<'a> {
    fn of(source: &'a SourcePlan, found: &'a [FoundFile]) -> Self {
        let mut listings = Self {
            inventory: &source.name,
            ids: BTreeSet::new(),
            paths: BTreeSet::new(),
            paths_of_bytes: BTreeMap::new(),
        };
        for found in found.iter().filter(|found| found.source.name == source.name) {
            listings.ids.extend(found.file_id());
            listings.paths.insert(&found.file.path);
            if let Some(blake3) = &found.blake3 {
                let paths = listings.paths_of_bytes.entry(blake3).or_default();
                paths.push(&found.file.path);
            }
        }
        listings
    }

    /// Whether what the lake knows as this file is read again as another one: its bytes are there, and where its path dated it
    /// also in a path of the same day.
    fn will_read(&self, file_id: &Arc<str>, input: &InputEntry) -> bool {
        let Some(paths) = self.paths_of_bytes.get(&*input.blake3) else {
            return false;
        };
        if found::file_id(self.inventory, &input.blake3, None) == *file_id {
            return true;
        }
        let by_path = AsOf::Path(Zone::utc());
        let days: BTreeSet<Option<i64>> = input.paths.iter().map(|of| by_path.of(&of.path)).collect();
        paths.iter().any(|path| days.contains(&by_path.of(path)))
    }

    /// Whether another file is where it was.
    fn is_overwritten(&self, input: &InputEntry) -> bool {
        input.paths.iter().any(|of| self.paths.contains(&*of.path))
    }
}

/// How many rows of these listings each dataset has.
fn published_rows(inventory: &str, listings: &[KnownListing], publication: &Publication) -> String {
    let mut text = String::new();
    for dataset in listing_datasets() {
        let files = listings.iter().filter_map(|listing| {
            let path = lake::inventory_path(&dataset.name, inventory, &listing.file_id);
            publication.published()?.file(&path)
        });
        let row_n: u64 = files.map(|file| file.rows).sum();
        if row_n > 0 {
            let gap = if text.is_empty() { "" } else { ", " };
            // Writing to a string cannot fail.
            let _ = write!(text, "{gap}{} {row_n}", dataset.name);
        }
    }
    if text.is_empty() { "none".to_owned() } else { text }
}

/// The paths of listings, as far as a line should name them.
fn shown(listings: &[KnownListing]) -> String {
    /// The most that are named.
    const MOST: usize = 5;
    let paths: BTreeSet<&str> = listings.iter().map(|listing| listing.path.as_str()).collect();
    let named: Vec<&str> = paths.iter().take(MOST).copied().collect();
    let others = match paths.len() - named.len() {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!("{}{others}", named.join(", "))
}
