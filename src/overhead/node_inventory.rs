//! The nodes of a site over time, from its inventories.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};

use super::node_history::{NodeHistoryEvent, NodeListing, Presence, ended, history};
use super::node_life::{Complete, LifeChange, Lives, lives};
use super::node_reservations::{self, NodeReservation};
use crate::error::{Error, Result};
use crate::occupancy::{CapacityState, History, Resource, Resources};
use crate::reference::hostlist::Hostlist;
use crate::schema::batch::{addend, column, flag, int, number, text, time, word};
use crate::time::SecondSpan;

/// A partition.
#[derive(Clone, Debug)]
struct NodePart {
    site: Option<String>,
    cluster: Option<String>,
    partition: String,
    nodes: Option<String>,
    as_of_s: i64,
    is_exclusive: bool,
}

/// All rows of inventories.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeInventory {
    listings: Vec<NodeListing>,
    events: Vec<NodeHistoryEvent>,
    parts: Vec<NodePart>,
    reservations: Vec<NodeReservation>,
    /// The place of cores among the amounts of listings.
    core_place: Option<usize>,
}

/// A node of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct InventoryNode {
    /// Cluster as the jobs name it.
    pub(crate) cluster: Option<String>,
    /// Name.
    pub(crate) name: String,
    /// Partitions, comma-separated, sorted.
    pub(crate) partitions: Option<String>,
    /// What it was over time.
    pub(crate) history: History,
}

impl InventoryNode {
    /// Partitions one by one.
    pub(crate) fn partition_names(&self) -> Vec<&str> {
        self.partitions.iter().flat_map(|names| names.split(',')).collect()
    }
}

/// States, first word or flag, in which a node takes no jobs.
const DOWN: [&str; 9] = [
    "DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "ERROR", "FUTURE", "UNKNOWN",
];
const RESERVED: [&str; 5] = ["MAINT", "MAINTENANCE", "RESERVED", "RESV", "PLND"];

fn state_of(state: Option<&str>, flags: Option<&str>) -> CapacityState {
    let mut words = state
        .into_iter()
        .chain(flags.into_iter().flat_map(|flags| flags.split('+')));
    let mut found = CapacityState::Up;
    if words.clone().any(|word| DOWN.contains(&word)) {
        found = CapacityState::Down;
    }
    // Maintenance is planned, whether the node is up meanwhile or not.
    if words.any(|word| RESERVED.contains(&word)) {
        found = CapacityState::Reserved;
    }
    found
}

/// When a node came and went. Its beginning is known better from events of the cluster than from listings.
fn life_of<'l>(lives: &'l Lives<'_>, node: &str, has_events: bool) -> &'l [LifeChange] {
    match lives.get(node).map(Vec::as_slice) {
        Some([first, _, later @ ..]) if has_events && *first == LifeChange::NOT_AT_FIRST => later,
        // Fallback: a node that no listing left out has no changes.
        life => life.unwrap_or_default(),
    }
}

fn owned(value: Option<&str>) -> Option<String> {
    value.map(str::to_owned)
}

fn seconds(ms: i64) -> i64 {
    ms.div_euclid(1000)
}

/// GPUs of one model in a row of a column of them.
pub(crate) fn model_n(batch: &RecordBatch, name: &str, row: usize, model: &str) -> Result<Option<i64>> {
    device_n(batch, name, row, |own| own == model)
}

/// GPUs in a row of a column of them whose model is stated.
pub(crate) fn any_model_n(batch: &RecordBatch, name: &str, row: usize) -> Result<Option<i64>> {
    device_n(batch, name, row, |_| true)
}

/// GPUs of the models that are meant, in a row of a column of them.
fn device_n(batch: &RecordBatch, name: &str, row: usize, is_meant: impl Fn(&str) -> bool) -> Result<Option<i64>> {
    let lists = column(batch, name)?
        .as_list_opt::<i32>()
        .ok_or_else(|| Error::internal(format!("{name} is not a list")))?;
    if lists.is_null(row) {
        return Ok(None);
    }
    let devices = lists.value(row);
    let devices = devices
        .as_struct_opt()
        .ok_or_else(|| Error::internal("gpus are no structs"))?;
    let models = devices.column(0).as_string::<i32>();
    let counts = devices.column(1).as_primitive::<arrow_array::types::Int64Type>();
    let meant = models
        .iter()
        .zip(counts.values())
        .filter(|(name, _)| name.is_some_and(&is_meant));
    Ok(Some(meant.map(|(_, n)| *n).sum()))
}

/// A node that later listings do not name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RetiredNode {
    /// Since when, Unix seconds.
    pub(crate) since_s: i64,
    /// Its cluster, as listings name it.
    pub(crate) cluster: Option<String>,
    /// Its name.
    pub(crate) node: String,
}

impl NodeInventory {
    /// The nodes that complete listings no longer name, the first to go first.
    pub(crate) fn gone(&self) -> Vec<RetiredNode> {
        let place = |listing: &NodeListing| (listing.site.clone(), listing.cluster.clone());
        let places: BTreeSet<_> = self.listings.iter().map(place).collect();
        let mut gone = Vec::new();
        for of in places {
            let own = self.listings.iter().filter(|listing| place(listing) == of);
            let lives = lives(own.map(NodeListing::mention));
            gone.extend(lives.iter().filter_map(|(node, changes)| match changes.last() {
                Some(last) if !last.is_there => Some(RetiredNode {
                    since_s: last.from_s,
                    cluster: of.1.clone(),
                    node: (*node).to_owned(),
                }),
                _ => None,
            }));
        }
        gone.sort();
        gone
    }

    /// Adds the nodes of one file; rows without a date only with `undated`. A file with several instants is a
    /// table of changes and names all nodes at none of them, unless the pipeline sets it.
    pub(crate) fn add_nodes(
        &mut self,
        batches: &[RecordBatch],
        resources: &Resources,
        undated: bool,
        complete: Option<bool>,
    ) -> Result<()> {
        let first = self.listings.len();
        for batch in batches {
            self.add_node_batch(batch, resources, undated)?;
        }
        // Fallback: never taken, what was added is at the end of the listings.
        let own = self.listings.get_mut(first..).unwrap_or_default();
        let instants: BTreeSet<i64> = own.iter().map(|listing| listing.as_of_s).collect();
        let complete = match complete {
            Some(true) => Complete::Yes,
            Some(false) => Complete::No,
            None if instants.len() > 1 => Complete::No,
            None => Complete::OfItsPart,
        };
        for listing in own {
            listing.complete = complete;
        }
        Ok(())
    }

    fn add_node_batch(&mut self, batch: &RecordBatch, resources: &Resources, undated: bool) -> Result<()> {
        let (site, cluster, node) = (text(batch, "site")?, text(batch, "cluster")?, text(batch, "node")?);
        let as_of = time(batch, "as_of_utc")?;
        let (cpu, effective) = (int(batch, "cpu_n")?, int(batch, "effective_cpu_n")?);
        let (memory, system) = (int(batch, "memory_byte")?, int(batch, "system_memory_byte")?);
        let gpu = int(batch, "gpu_n")?;
        self.core_place = resources.iter().position(|resource| *resource == Resource::Core);
        let partitions = text(batch, "partitions")?;
        let (state, flags) = (text(batch, "state")?, text(batch, "state_flags")?);
        for row in (0..batch.num_rows()).filter(|row| undated || as_of.is_valid(*row)) {
            let mut capacity = Vec::with_capacity(resources.width());
            let mut set_aside = Vec::with_capacity(resources.width());
            for resource in resources.iter() {
                let (has, aside) = match resource {
                    Resource::Core => {
                        let cpu_n = number(cpu, row);
                        let for_jobs = number(effective, row).or(cpu_n);
                        (cpu_n, cpu_n.zip(for_jobs).map(|(all, for_jobs)| all - for_jobs))
                    }
                    Resource::Memory => (number(memory, row), number(system, row)),
                    Resource::Gpu => (number(gpu, row), None),
                    Resource::GpuModel(model) => (model_n(batch, "gpus", row, model)?, None),
                };
                let has = has.filter(|n| (0..=crate::occupancy::resource::AMOUNT_LIMIT).contains(n));
                capacity.push(has);
                set_aside.push(addend(aside).clamp(0, addend(has)));
            }
            self.listings.push(NodeListing {
                site: owned(word(site, row)),
                cluster: owned(word(cluster, row)),
                node: node.value(row).to_owned(),
                as_of_s: number(as_of, row).map_or(i64::MIN, seconds),
                capacity,
                set_aside,
                partitions: owned(word(partitions, row)),
                // The time of a listing without a date is unknown; the capacity of a node changes rarely, its state often.
                state: number(as_of, row)
                    .filter(|_| state.is_valid(row) || flags.is_valid(row))
                    .map(|_| state_of(word(state, row), word(flags, row))),
                complete: Complete::No,
            });
        }
        Ok(())
    }

    /// Adds a batch of `node_event`.
    pub(crate) fn add_events(&mut self, batch: &RecordBatch) -> Result<()> {
        let (site, cluster, node) = (text(batch, "site")?, text(batch, "cluster")?, text(batch, "node")?);
        let (start, end) = (time(batch, "start_utc")?, time(batch, "end_utc")?);
        let (state, flags, nodes) = (
            text(batch, "state")?,
            text(batch, "state_flags")?,
            text(batch, "cluster_nodes")?,
        );
        for row in 0..batch.num_rows() {
            let event = NodeHistoryEvent {
                site: owned(word(site, row)),
                cluster: owned(word(cluster, row)),
                node: owned(word(node, row)),
                nodes: owned(word(nodes, row)),
                from_s: seconds(start.value(row)),
                until_s: number(end, row).map_or(i64::MAX, seconds),
                state: state_of(word(state, row), word(flags, row)),
            };
            self.events.push(event);
        }
        Ok(())
    }

    /// Adds a batch of `reservation`.
    pub(crate) fn add_reservations(&mut self, batch: &RecordBatch) -> Result<()> {
        self.reservations.extend(node_reservations::of_batch(batch)?);
        Ok(())
    }

    /// Adds a batch of `partition`; rows without a date only with `undated`.
    pub(crate) fn add_partitions(&mut self, batch: &RecordBatch, undated: bool) -> Result<()> {
        let (site, cluster) = (text(batch, "site")?, text(batch, "cluster")?);
        let (partition, nodes) = (text(batch, "partition")?, text(batch, "nodes")?);
        let (as_of, exclusive) = (time(batch, "as_of_utc")?, flag(batch, "is_exclusive")?);
        for row in (0..batch.num_rows()).filter(|row| undated || as_of.is_valid(*row)) {
            self.parts.push(NodePart {
                site: owned(word(site, row)),
                cluster: owned(word(cluster, row)),
                partition: partition.value(row).to_owned(),
                nodes: owned(word(nodes, row)),
                as_of_s: number(as_of, row).map_or(i64::MIN, seconds),
                is_exclusive: exclusive.is_valid(row) && exclusive.value(row),
            });
        }
        Ok(())
    }

    /// Whether a row belongs to a site, given all sites of the lake.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] when it names no cluster and there are several.
    fn is_of(row: Option<&String>, name: &str, all: &BTreeSet<String>, what: &str) -> Result<bool> {
        match row {
            Some(row) => Ok(row == name),
            None if all.len() <= 1 => Ok(true),
            None => {
                let names: Vec<&str> = all.iter().map(String::as_str).collect();
                Err(Error::config(format!(
                    "an inventory of nodes names no {what}, and jobs are of several ({}): give its [[inventory]] a {what}",
                    names.join(", ")
                )))
            }
        }
    }

    /// The nodes of a cluster of a site. `sites` and `clusters` are all that jobs name.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] when the cluster of a listing cannot be determined.
    pub(crate) fn of(
        &self,
        site: &str,
        sites: &BTreeSet<String>,
        cluster: Option<&str>,
        clusters: &BTreeSet<String>,
    ) -> Result<Self> {
        let is_ours = |row_site: Option<&String>, row_cluster: Option<&String>| -> Result<bool> {
            if !Self::is_of(row_site, site, sites, "site")? {
                return Ok(false);
            }
            match cluster {
                Some(cluster) => Self::is_of(row_cluster, cluster, clusters, "cluster"),
                None => Ok(true),
            }
        };
        let mut ours = Self::default();
        for row in &self.listings {
            if is_ours(row.site.as_ref(), row.cluster.as_ref())? {
                ours.listings.push(row.clone());
            }
        }
        for row in &self.events {
            if is_ours(row.site.as_ref(), row.cluster.as_ref())? {
                ours.events.push(row.clone());
            }
        }
        for row in &self.parts {
            if is_ours(row.site.as_ref(), row.cluster.as_ref())? {
                ours.parts.push(row.clone());
            }
        }
        for row in &self.reservations {
            if is_ours(row.site.as_ref(), row.cluster.as_ref())? {
                ours.reservations.push(row.clone());
            }
        }
        ours.core_place = self.core_place;
        ours.parts.sort_by_key(|part| part.as_of_s);
        ours.events = ended(ours.events);
        Ok(ours)
    }

    /// How many events of nodes begin before an earlier event of the same node has ended.
    pub(crate) fn overlapping_event_n(&self) -> u64 {
        let mut by_node: BTreeMap<&str, Vec<SecondSpan>> = BTreeMap::new();
        for event in &self.events {
            if let Some(node) = &event.node {
                by_node.entry(node).or_default().push(SecondSpan {
                    start_s: event.from_s,
                    end_s: event.until_s,
                });
            }
        }
        let mut overlapping_n = 0;
        for spans in by_node.values_mut() {
            spans.sort_by_key(|span| (span.start_s, span.end_s));
            let mut last_end_s = i64::MIN;
            for span in spans {
                overlapping_n += u64::from(span.start_s < last_end_s);
                last_end_s = last_end_s.max(span.end_s);
            }
        }
        overlapping_n
    }

    /// All partitions that listings name.
    pub(crate) fn partitions(&self) -> BTreeSet<&str> {
        let of_nodes = self.listings.iter().filter_map(|listing| listing.partitions.as_deref());
        let own = self.parts.iter().map(|part| part.partition.as_str());
        of_nodes.flat_map(|names| names.split(',')).chain(own).collect()
    }

    /// Partitions whose jobs have their nodes to themselves, from the last listing.
    pub(crate) fn exclusive(&self) -> BTreeSet<&str> {
        let last: BTreeMap<&str, bool> = self
            .parts
            .iter()
            .map(|part| (part.partition.as_str(), part.is_exclusive))
            .collect();
        last.into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect()
    }

    /// The nodes, sorted by name.
    pub(crate) fn nodes(&self, cluster: Option<&str>, width: usize) -> Vec<InventoryNode> {
        let mut listings: BTreeMap<&str, Vec<&NodeListing>> = BTreeMap::new();
        for listing in &self.listings {
            listings.entry(&listing.node).or_default().push(listing);
        }
        for of_node in listings.values_mut() {
            of_node.sort_by_key(|listing| listing.as_of_s);
        }
        let reserved = node_reservations::events(&self.reservations, &listings, self.core_place);
        let mut events: HashMap<&str, Vec<&NodeHistoryEvent>> = HashMap::new();
        let mut validity: HashMap<String, SecondSpan> = HashMap::new();
        for event in self.events.iter().chain(&reserved) {
            if let Some(node) = &event.node {
                events.entry(node).or_default().push(event);
            } else if let Some(nodes) = event.nodes.as_deref().and_then(|nodes| Hostlist::parse(nodes).ok()) {
                for host in nodes.hosts() {
                    let of_event = SecondSpan {
                        start_s: event.from_s,
                        end_s: event.until_s,
                    };
                    let span = validity.entry(host.into_owned()).or_insert(of_event);
                    *span = span.joined(of_event);
                }
            }
        }
        let lives = self.lives();
        let listed = self.partitions_of_nodes();
        let nodes = listings.into_iter().map(|(name, listings)| {
            let partitions = listings.iter().rev().find_map(|listing| listing.partitions.clone());
            // Fallback: a node without events has none.
            let events = events.get(name).map(Vec::as_slice).unwrap_or_default();
            InventoryNode {
                cluster: owned(cluster),
                name: name.to_owned(),
                partitions: partitions.or_else(|| listed.get(name).cloned()),
                history: history(
                    &listings,
                    events,
                    Presence {
                        span: validity.get(name).copied(),
                        life: life_of(&lives, name, validity.contains_key(name)),
                    },
                    width,
                ),
            }
        });
        nodes.collect()
    }

    /// When nodes came and went, from listings.
    fn lives(&self) -> Lives<'_> {
        let listings = self.listings.iter();
        lives(listings.map(NodeListing::mention))
    }

    /// Partitions by node, from listings of partitions.
    fn partitions_of_nodes(&self) -> HashMap<String, String> {
        let mut last: BTreeMap<&str, &str> = BTreeMap::new();
        for part in &self.parts {
            if let Some(nodes) = &part.nodes {
                last.insert(&part.partition, nodes);
            }
        }
        let mut names: HashMap<String, Vec<&str>> = HashMap::new();
        for (partition, nodes) in last {
            for host in Hostlist::parse(nodes).iter().flat_map(Hostlist::hosts) {
                names.entry(host.into_owned()).or_default().push(partition);
            }
        }
        names.into_iter().map(|(node, names)| (node, names.join(","))).collect()
    }
}
