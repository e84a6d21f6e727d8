//! Jobs of the records on the nodes of a site.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use arrow::array::RecordBatch;
use serde::{Deserialize, Serialize};

use super::finding::{FindingKind, OverheadFindings};
use super::node_inventory::{InventoryNode, NodeInventory, model_n};
use super::waiting::{Asks, WaitingPlace};
use crate::error::{Error, Result};
use crate::occupancy::resource::AMOUNT_LIMIT;
use crate::occupancy::{AllocationShapes, History, LEDGER_N, Resource, Resources, Slices, Unit};
use crate::reference::hostlist::{Hostlist, is_none};
use crate::schema::batch::{int, number, text, time, word};

/// The view of jobs that hold nodes: what runs inside of them holds none of its own.
pub(crate) const BATCH: &str = "batch";
/// Columns that say when a job waited and when it held nodes.
pub(crate) const SPAN_COLUMNS: [&str; 10] = [
    "job_id",
    "cluster",
    "view",
    "submit_utc",
    "eligible_utc",
    "start_utc",
    "end_utc",
    "wall_s",
    "suspended_s",
    "node_list",
];
/// Columns that say what it asked for and held as well.
pub(crate) const COLUMNS: [&str; 18] = [
    "job_id",
    "cluster",
    "view",
    "partition",
    "submit_utc",
    "eligible_utc",
    "start_utc",
    "end_utc",
    "time_limit_s",
    "wall_s",
    "suspended_s",
    "alloc_core_n",
    "alloc_node_n",
    "alloc_gpu_n",
    "gpus",
    "alloc_memory_byte",
    "requested_memory_byte",
    "node_list",
];

/// Largest number of cores or GPUs of a job on a node.
const COUNT_LIMIT: i64 = 1 << 32;
/// Lists of nodes that are remembered.
const LISTS_N: usize = 1 << 16;

/// No job holds its nodes for longer than five years: a broken clock says so.
const LONGEST_S: i64 = 5 * 366 * 86_400;

/// When a job of the batch system held its nodes, in Unix seconds, half-open; `None` for what is no such job, for what
/// never started, and for what says that it held them longer than any job does. One that has not ended holds them as
/// long as it is known to have run. Instants are cut to whole seconds.
pub(crate) fn span(batch: &JobColumns<'_>, row: usize) -> Option<(i64, i64)> {
    stated_span(batch, row).filter(|(start_s, end_s)| end_s - start_s <= LONGEST_S)
}

/// The span of a job that says it held its nodes longer than any job does.
fn too_long(batch: &JobColumns<'_>, row: usize) -> Option<(i64, i64)> {
    stated_span(batch, row).filter(|(start_s, end_s)| end_s - start_s > LONGEST_S)
}

fn stated_span(batch: &JobColumns<'_>, row: usize) -> Option<(i64, i64)> {
    if batch.view.value(row) != BATCH {
        return None;
    }
    let start_s = number(batch.start, row)?.div_euclid(1000);
    let end_s = if let Some(end_ms) = number(batch.end, row) {
        end_ms.div_euclid(1000)
    } else {
        let run_s = number(batch.wall, row)?.max(0);
        let suspended_s = number(batch.suspended, row).unwrap_or(0).max(0);
        start_s.checked_add(run_s)?.checked_add(suspended_s)?
    };
    (start_s < end_s).then_some((start_s, end_s))
}

/// When a job of the batch system waited for its nodes, in Unix seconds, half-open: from when it was eligible (or was
/// submitted, where nobody says) to when it started, or was given up. `None` where an edge is not known.
fn wait(batch: &JobColumns<'_>, row: usize) -> Option<(i64, i64)> {
    if batch.view.value(row) != BATCH {
        return None;
    }
    let eligible_ms = number(batch.eligible, row).or_else(|| number(batch.submit, row))?;
    let start_ms = number(batch.start, row).or_else(|| number(batch.end, row))?;
    let (from_s, until_s) = (eligible_ms.div_euclid(1000), start_ms.div_euclid(1000));
    (from_s < until_s).then_some((from_s, until_s))
}

/// The columns that say when.
pub(crate) struct JobColumns<'b> {
    job_id: &'b arrow::array::StringArray,
    cluster: &'b arrow::array::StringArray,
    view: &'b arrow::array::StringArray,
    submit: &'b arrow::array::TimestampMillisecondArray,
    eligible: &'b arrow::array::TimestampMillisecondArray,
    start: &'b arrow::array::TimestampMillisecondArray,
    end: &'b arrow::array::TimestampMillisecondArray,
    wall: &'b arrow::array::Int64Array,
    suspended: &'b arrow::array::Int64Array,
    node_list: &'b arrow::array::StringArray,
}

impl<'b> JobColumns<'b> {
    /// Those of a batch of records.
    pub(crate) fn of(batch: &'b RecordBatch) -> Result<Self> {
        Ok(Self {
            job_id: text(batch, "job_id")?,
            cluster: text(batch, "cluster")?,
            view: text(batch, "view")?,
            submit: time(batch, "submit_utc")?,
            eligible: time(batch, "eligible_utc")?,
            start: time(batch, "start_utc")?,
            end: time(batch, "end_utc")?,
            wall: int(batch, "wall_s")?,
            suspended: int(batch, "suspended_s")?,
            node_list: text(batch, "node_list")?,
        })
    }

    fn list(&self, row: usize) -> Option<&'b str> {
        word(self.node_list, row).filter(|list| !is_none(list))
    }
}

/// What the records of one file span.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reach {
    /// Rows.
    pub(crate) row_n: u64,
    /// First second and the one after the last in which a job ran that names its nodes.
    pub(crate) span: Option<(i64, i64)>,
    /// The same in which one ran that names none.
    pub(crate) loose: Option<(i64, i64)>,
    /// The same in which one waited.
    pub(crate) wait: Option<(i64, i64)>,
    /// Clusters with jobs that name their nodes.
    pub(crate) clusters: BTreeSet<Option<String>>,
    /// Jobs that are left out, because they say that they ran longer than any job does.
    #[serde(default)]
    pub(crate) too_long_n: u64,
    /// The first of them.
    #[serde(default)]
    pub(crate) first_too_long: Option<String>,
}

impl Reach {
    /// Adds a batch.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = JobColumns::of(batch)?;
        self.row_n += u64::try_from(batch.num_rows()).unwrap_or(u64::MAX);
        for row in 0..batch.num_rows() {
            if let Some(waited) = wait(&columns, row) {
                self.wait = Some(join(self.wait, waited));
            }
            if let Some((start_s, _)) = too_long(&columns, row) {
                self.loose = Some(join(self.loose, (start_s, start_s + 1)));
                self.too_long_n += 1;
                self.first_too_long
                    .get_or_insert_with(|| columns.job_id.value(row).to_owned());
            }
            let Some(held) = span(&columns, row) else { continue };
            if columns.list(row).is_none() {
                self.loose = Some(join(self.loose, held));
                continue;
            }
            self.span = Some(join(self.span, held));
            let cluster = word(columns.cluster, row);
            let is_new = !self.clusters.iter().any(|known| known.as_deref() == cluster);
            if is_new {
                self.clusters.insert(cluster.map(str::to_owned));
            }
        }
        Ok(())
    }

    /// The time in which a job ran or waited.
    pub(crate) fn all(&self) -> Option<(i64, i64)> {
        let spans = [self.span, self.loose, self.wait].into_iter().flatten();
        spans.fold(None, |all, span| Some(join(all, span)))
    }
}

/// Says of a job that ran longer than any job does that it is left out: where it begins, which is where its file reaches.
fn leave_out(columns: &JobColumns<'_>, row: usize, slices: &Slices, findings: &mut OverheadFindings) {
    let cluster = word(columns.cluster, row);
    let spans = too_long(columns, row).into_iter();
    for (month, part) in spans.flat_map(|(start_s, _)| slices.overlaps((start_s, start_s + 1))) {
        findings.tell(month, (FindingKind::SpanTooLong, cluster, None, None), part, 0);
    }
}

/// Puts a job into the queue, or says what it does not tell.
fn wait_for(
    ask: std::result::Result<u32, Option<usize>>,
    (cluster, waited): (Option<&str>, (i64, i64)),
    slices: &mut Slices,
    findings: &mut OverheadFindings,
) -> Result<()> {
    match ask {
        Ok(ask) => slices.wait(waited, ask)?,
        Err(resource) => {
            for (month, part) in slices.overlaps(waited) {
                findings.tell(month, (FindingKind::RequestUnknown, cluster, None, resource), part, 0);
            }
        }
    }
    Ok(())
}

/// The least span that holds both.
pub(crate) fn join(one: Option<(i64, i64)>, other: (i64, i64)) -> (i64, i64) {
    one.map_or(other, |one| (one.0.min(other.0), one.1.max(other.1)))
}

/// The nodes of a cluster.
struct JobCluster {
    places: HashMap<String, u32>,
    exclusive: BTreeSet<String>,
    lists: HashMap<String, Rc<Vec<WaitingPlace>>>,
}

/// The nodes of a site, and the shapes of what jobs hold on them.
pub(crate) struct NodePlacement {
    /// Nodes by their number.
    pub(crate) nodes: Vec<InventoryNode>,
    clusters: BTreeMap<Option<String>, JobCluster>,
    /// Nodes are whatever jobs name.
    is_from_jobs: bool,
    resources: Resources,
    /// What jobs hold.
    pub(crate) shapes: AllocationShapes,
    /// What jobs that wait ask for.
    pub(crate) asks: Asks,
    /// Number of the next record: what a job on a node is known by.
    pub(crate) next_tag: u64,
    /// Jobs that cannot be billed for some resources (a bit each), by their number.
    pub(crate) unbilled: BTreeMap<u32, u8>,
}

/// All resources of the ledger, a bit each.
pub(crate) const EVERYTHING: u8 = (1 << LEDGER_N) - 1;

impl NodePlacement {
    /// The nodes inventories name; with `None` those that jobs name.
    pub(crate) fn new(
        machines: BTreeMap<Option<String>, Option<NodeInventory>>,
        resources: &Resources,
        units: &[Unit],
    ) -> Self {
        let mut board = Self {
            nodes: Vec::new(),
            clusters: BTreeMap::new(),
            is_from_jobs: false,
            resources: resources.clone(),
            shapes: AllocationShapes::new(resources.width()),
            asks: Asks::new(units, resources),
            next_tag: 0,
            unbilled: BTreeMap::new(),
        };
        for (cluster, machine) in machines {
            let mut of = JobCluster {
                places: HashMap::new(),
                exclusive: BTreeSet::new(),
                lists: HashMap::new(),
            };
            board.is_from_jobs |= machine.is_none();
            if let Some(machine) = machine {
                for node in machine.nodes(cluster.as_deref(), resources.width()) {
                    let number = u32::try_from(board.nodes.len()).unwrap_or(u32::MAX);
                    of.places.insert(node.name.clone(), number);
                    board.nodes.push(node);
                }
                of.exclusive = machine.exclusive().into_iter().map(str::to_owned).collect();
            }
            board.clusters.insert(cluster, of);
        }
        board
    }

    /// Puts the jobs of a batch on their nodes, and before that into the queue.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when what does not fit memory cannot be put away.
    pub(crate) fn add(
        &mut self,
        batch: &RecordBatch,
        slices: &mut Slices,
        findings: &mut OverheadFindings,
    ) -> Result<()> {
        let columns = JobColumns::of(batch)?;
        let partition = text(batch, "partition")?;
        let (core, node_n) = (int(batch, "alloc_core_n")?, int(batch, "alloc_node_n")?);
        let (memory, asked) = (int(batch, "alloc_memory_byte")?, int(batch, "requested_memory_byte")?);
        let (gpu, limit) = (int(batch, "alloc_gpu_n")?, int(batch, "time_limit_s")?);
        for row in 0..batch.num_rows() {
            let tag = u32::try_from(self.next_tag)
                .map_err(|why| Error::internal("more jobs at once than can be told apart").because(why))?;
            self.next_tag += 1;
            let overlapping = |span: &(i64, i64)| slices.overlaps(*span).next().is_some();
            let (held, waited) = (
                span(&columns, row).filter(overlapping),
                wait(&columns, row).filter(overlapping),
            );
            let cluster = word(columns.cluster, row);
            leave_out(&columns, row, slices, findings);
            if held.is_none() && waited.is_none() {
                continue;
            }
            let core_n = number(core, row);
            let mut amounts = Vec::with_capacity(self.resources.width());
            let mut requests = Vec::with_capacity(self.resources.width());
            for resource in self.resources.iter() {
                let (amount, request, limit) = match resource {
                    Resource::Core => (core_n, core_n.filter(|n| *n > 0), COUNT_LIMIT),
                    // What was asked for stands in where the batch system does not say what it gave, and the reverse.
                    Resource::Memory => {
                        let (given, asked) = (number(memory, row), number(asked, row));
                        (given.or(asked), asked.or(given), AMOUNT_LIMIT)
                    }
                    // Jobs without GPUs do not mention them.
                    Resource::Gpu => {
                        let gpu_n = Some(number(gpu, row).unwrap_or(0));
                        (gpu_n, gpu_n, COUNT_LIMIT)
                    }
                    Resource::GpuModel(model) => {
                        let model_n = Some(model_n(batch, "gpus", row, model)?.unwrap_or(0));
                        (model_n, model_n, COUNT_LIMIT)
                    }
                };
                let known = |amount: Option<i64>| amount.filter(|amount| (0..=limit).contains(amount));
                amounts.push(known(amount));
                requests.push(known(request));
            }
            let of_cluster = self.clusters.get(&cluster.map(str::to_owned));
            let is_exclusive = of_cluster
                .zip(word(partition, row))
                .is_some_and(|(of, partition)| of.exclusive.contains(partition));
            let places = columns.list(row).and_then(|list| self.places(cluster, list));
            if let Some(waited) = waited {
                let asked_n = number(node_n, row).filter(|n| *n > 0);
                let ask = (asked_n, places.as_deref().map(Vec::as_slice));
                let how = (is_exclusive, number(limit, row).filter(|s| *s > 0));
                let of_job = self.asks.number((cluster, word(partition, row)), &requests, ask, how);
                wait_for(of_job, (cluster, waited), slices, findings)?;
            }
            let Some(held) = held else { continue };
            let mut tell = |kind: FindingKind, node: Option<&str>, resource: Option<usize>, core_n: Option<i64>| {
                for (month, part) in slices.overlaps(held) {
                    findings.tell(month, (kind, cluster, node, resource), part, core_n.unwrap_or(0));
                }
            };
            let Some(places) = places else {
                let kind = if columns.list(row).is_some() {
                    FindingKind::NodeListBad
                } else {
                    FindingKind::NodeListMissing
                };
                tell(kind, None, None, core_n);
                self.unbilled.insert(tag, EVERYTHING);
                continue;
            };
            let host_n = i64::try_from(places.len()).unwrap_or(i64::MAX);
            if number(node_n, row).is_some_and(|told| told != host_n) {
                tell(FindingKind::NodeNDiffers, None, None, None);
            }
            let mut unbilled = 0;
            for (at, amount) in amounts.iter().enumerate() {
                if amount.is_none() {
                    tell(FindingKind::AmountUnknown, None, Some(at), core_n);
                    unbilled |= u8::try_from(at).map_or(0, |at| 1_u8.checked_shl(at.into()).unwrap_or(0)) & EVERYTHING;
                }
            }
            let amounts: Vec<i64> = amounts.into_iter().map(|amount| amount.unwrap_or(0)).collect();
            for place in places.iter() {
                if let WaitingPlace::Unknown(node) = place {
                    let share = amounts.first().map(|core_n| core_n / host_n.max(1));
                    tell(FindingKind::NodeUnknown, Some(node), None, share);
                    unbilled = EVERYTHING;
                }
            }
            if unbilled > 0 {
                self.unbilled.insert(tag, unbilled);
            }
            let suspended_s = number(columns.suspended, row).unwrap_or(0).clamp(0, held.1 - held.0);
            self.place((&places, tag), &amounts, is_exclusive, (held, suspended_s), slices)?;
        }
        Ok(())
    }

    /// Splits what a job holds evenly over the entries of its list; what is left over goes to the first of them, one
    /// each. A job that has several nodes to itself and holds all their cores has on each as many as it has. While it is
    /// suspended a job gives back its cores and nothing else; when that was is not told, so it is taken to be at the end.
    fn place(
        &mut self,
        (places, tag): (&[WaitingPlace], u32),
        amounts: &[i64],
        is_exclusive: bool,
        ((start_s, end_s), suspended_s): ((i64, i64), i64),
        slices: &mut Slices,
    ) -> Result<()> {
        let host_n = i64::try_from(places.len()).unwrap_or(i64::MAX).max(1);
        let own_cores: Option<Vec<i64>> = is_exclusive.then(|| self.cores_of(places)).flatten();
        let own_cores = own_cores.filter(|cores| Some(cores.iter().sum::<i64>()) == amounts.first().copied());
        let too_many = || Error::internal("more different shapes of jobs than can be told apart");
        for (nth, place) in (0_i64..).zip(places) {
            let WaitingPlace::Known(node) = place else { continue };
            let mut share: Vec<i64> = amounts
                .iter()
                .map(|amount| amount / host_n + i64::from(nth < amount % host_n))
                .collect();
            if let (Some(core_n), Some(cores)) = (share.first_mut(), &own_cores) {
                let nth = usize::try_from(nth).unwrap_or(usize::MAX);
                *core_n = cores.get(nth).copied().unwrap_or(*core_n);
            }
            let number = self.shapes.number(&share, is_exclusive).ok_or_else(too_many)?;
            slices.push(*node, (start_s, end_s - suspended_s), number, tag)?;
            if suspended_s > 0 {
                if let Some(core_n) = share.first_mut() {
                    *core_n = 0;
                }
                let number = self.shapes.number(&share, is_exclusive).ok_or_else(too_many)?;
                slices.push(*node, (end_s - suspended_s, end_s), number, tag)?;
            }
        }
        Ok(())
    }

    /// Cores of every node of a list as its last listing has them.
    fn cores_of(&self, places: &[WaitingPlace]) -> Option<Vec<i64>> {
        let of = |place: &WaitingPlace| {
            let WaitingPlace::Known(node) = place else { return None };
            let node = self.nodes.get(usize::try_from(*node).ok()?)?;
            node.history.segments.last()?.capacity.first().copied()
        };
        places.iter().map(of).collect()
    }

    fn places(&mut self, cluster: Option<&str>, list: &str) -> Option<Rc<Vec<WaitingPlace>>> {
        let of = self.clusters.get_mut(&cluster.map(str::to_owned))?;
        if let Some(known) = of.lists.get(list) {
            return Some(Rc::clone(known));
        }
        let hosts = Hostlist::parse(list).ok()?;
        let mut places = Vec::new();
        for host in hosts.hosts() {
            let known = of.places.get(host.as_ref()).copied();
            places.push(match known {
                Some(node) => WaitingPlace::Known(node),
                None if self.is_from_jobs => {
                    let number = u32::try_from(self.nodes.len()).ok()?;
                    self.nodes.push(InventoryNode {
                        cluster: cluster.map(str::to_owned),
                        name: host.to_string(),
                        partitions: None,
                        history: History::constant(&vec![0; self.resources.width()]),
                    });
                    of.places.insert(host.into_owned(), number);
                    WaitingPlace::Known(number)
                }
                None => WaitingPlace::Unknown(host.into_owned()),
            });
        }
        if of.lists.len() >= LISTS_N {
            of.lists.clear();
        }
        let places = Rc::new(places);
        of.lists.insert(list.to_owned(), Rc::clone(&places));
        Some(places)
    }
}
