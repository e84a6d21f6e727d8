//! Jobs of the records on the nodes of a site.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use ahash::RandomState;
use arrow_array::RecordBatch;

use super::finding::{FindingKind, FindingSubject, OverheadFindings};
use super::job_amounts::{AmountColumns, EVERYTHING, JobAmounts};
use super::job_findings::{HeldFindings, leave_out};
use super::job_spans::{JobColumns, JobTimes};
use super::listed_places::ListedPlaces;
use super::node_inventory::{InventoryNode, NodeInventory};
use super::waiting::{AskedNodes, Asks, WaitingPlace};
use crate::error::{Error, Result};
use crate::numbers::count_i64;
use crate::occupancy::{AllocationShapes, History, NodeLoad, Resources, Slices, Unit};
use crate::reference::hostlist::Hostlist;
use crate::reference::job_hosts::{JobHost, listed_hosts};
use crate::schema::batch::{addend, int, number, text, word};
use crate::time::SecondSpan;

/// Columns with its request and its allocation.
pub(crate) const COLUMNS: [&str; 19] = [
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
    "requested_core_n",
    "alloc_node_n",
    "alloc_gpu_n",
    "gpus",
    "alloc_memory_byte",
    "requested_memory_byte",
    "node_list",
];

/// Lists of nodes that are remembered, and nodes in them.
const LISTS_N: usize = 1 << 16;
const LISTED_N: usize = 1 << 20;
/// Nodes of a site that are known from jobs alone, as many as the largest machines have: a list that names more than are
/// left is one that cannot be read. Twenty bytes of a list may name sixty thousand nodes.
const NODES_OF_JOBS_N: usize = 160_000;

/// Puts a job into the queue, or reports which facts it lacks.
fn wait_for(
    ask: std::result::Result<u32, Option<usize>>,
    cluster: Option<&str>,
    waited: SecondSpan,
    slices: &mut Slices,
    findings: &mut OverheadFindings,
) -> Result<()> {
    match ask {
        Ok(ask) => slices.wait(waited, ask)?,
        Err(resource) => {
            let mut reported = HeldFindings {
                cluster,
                held: waited,
                slices,
                findings,
            };
            reported.add(FindingKind::RequestUnknown, None, resource, None);
        }
    }
    Ok(())
}

/// What a job holds of its nodes.
struct HeldJob<'a> {
    places: &'a ListedPlaces,
    cluster: Option<&'a str>,
    /// What it is known by.
    tag: u32,
    /// By resource, of all nodes together.
    amounts: &'a [i64],
    is_exclusive: bool,
    span: SecondSpan,
    suspended_s: i64,
}

impl HeldJob<'_> {
    /// Puts a part of its time on a node, with its shapes while it runs and while it is suspended, which is at the end.
    fn hold(&self, node: u32, part: SecondSpan, [running, suspended]: [u32; 2], slices: &mut Slices) -> Result<()> {
        let suspended_at_s = (self.span.end_s - self.suspended_s).clamp(part.start_s, part.end_s);
        let runs = SecondSpan {
            end_s: suspended_at_s,
            ..part
        };
        let is_suspended = SecondSpan {
            start_s: suspended_at_s,
            ..part
        };
        slices.push(node, runs, running, self.tag)?;
        slices.push(node, is_suspended, suspended, self.tag)
    }
}

/// A job in a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SliceJob {
    /// Place of the slice.
    pub(crate) slice: usize,
    /// Number of the job.
    pub(crate) tag: u32,
}

/// What a job holds of one of its nodes.
#[derive(Clone, Copy, Debug)]
struct NodeShare {
    /// Number of the node.
    node: u32,
    core_n: i64,
}

/// The nodes of a cluster.
struct JobCluster {
    name: Option<String>,
    places: HashMap<String, u32, RandomState>,
    exclusive: BTreeSet<String>,
    lists: HashMap<String, Rc<ListedPlaces>, RandomState>,
    /// Nodes in `lists`.
    listed_n: usize,
}

/// The nodes of a site, and the shapes of what jobs hold on them.
pub(crate) struct NodePlacement {
    /// Nodes by their number.
    pub(crate) nodes: Vec<InventoryNode>,
    /// In the order of their names.
    clusters: Vec<JobCluster>,
    /// Nodes are whatever jobs name.
    is_from_jobs: bool,
    resources: Resources,
    /// What jobs hold.
    pub(crate) shapes: AllocationShapes,
    /// Requests of waiting jobs.
    pub(crate) asks: Asks,
    /// Number of the next record: what a job on a node is known by.
    pub(crate) next_tag: u64,
    /// Jobs that cannot be billed for some resources (a bit each), by their number.
    pub(crate) unbilled: BTreeMap<u32, u8>,
    /// Jobs without room on some of their nodes.
    pub(crate) without_room: BTreeSet<SliceJob>,
}

impl NodePlacement {
    /// The nodes inventories name; with `None` those that jobs name.
    pub(crate) fn new(
        machines: BTreeMap<Option<String>, Option<NodeInventory>>,
        resources: &Resources,
        units: &[Unit],
    ) -> Self {
        let mut board = Self {
            nodes: Vec::new(),
            clusters: Vec::new(),
            is_from_jobs: false,
            resources: resources.clone(),
            shapes: AllocationShapes::new(resources.width()),
            asks: Asks::new(units, resources),
            next_tag: 0,
            unbilled: BTreeMap::new(),
            without_room: BTreeSet::new(),
        };
        for (cluster, machine) in machines {
            let mut of = JobCluster {
                name: cluster,
                places: HashMap::default(),
                exclusive: BTreeSet::new(),
                lists: HashMap::default(),
                listed_n: 0,
            };
            board.is_from_jobs |= machine.is_none();
            if let Some(machine) = machine {
                for node in machine.nodes(of.name.as_deref(), resources.width()) {
                    // Fallback: never taken, a machine has fewer nodes than 32 bits count.
                    let number = u32::try_from(board.nodes.len()).unwrap_or(u32::MAX);
                    of.places.insert(node.name.clone(), number);
                    board.nodes.push(node);
                }
                of.exclusive = machine.exclusive().into_iter().map(str::to_owned).collect();
            }
            board.clusters.push(of);
        }
        board
    }

    /// Puts the jobs of a batch on their nodes, and before that into the queue; all but those in the rows `refused`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when what does not fit memory cannot be put away.
    pub(crate) fn add(
        &mut self,
        batch: &RecordBatch,
        refused: &[usize],
        slices: &mut Slices,
        findings: &mut OverheadFindings,
    ) -> Result<()> {
        let columns = JobColumns::of(batch)?;
        let partition = text(batch, "partition")?;
        let columns_of_amounts = AmountColumns::of(batch)?;
        let (node_n, limit) = (int(batch, "alloc_node_n")?, int(batch, "time_limit_s")?);
        let (mut of_job, mut amounts) = (JobAmounts::default(), Vec::new());
        for row in 0..batch.num_rows() {
            let tag = u32::try_from(self.next_tag)
                .map_err(|why| Error::internal("more jobs at once than can be distinguished").because(why))?;
            self.next_tag += 1;
            if refused.binary_search(&row).is_ok() {
                continue;
            }
            let Some(JobTimes { held, too_long, waited }) = JobTimes::of(&columns, row) else {
                continue;
            };
            let overlapping = |span: &SecondSpan| slices.overlaps(*span).next().is_some();
            let (held, waited) = (held.filter(overlapping), waited.filter(overlapping));
            let cluster = word(columns.cluster, row);
            if let Some(held) = too_long {
                leave_out(cluster, held, slices, findings);
            }
            if held.is_none() && waited.is_none() {
                continue;
            }
            let core_n = columns_of_amounts.core_n(row);
            columns_of_amounts.fill(row, &self.resources, &mut of_job)?;
            let at_cluster = self.cluster(cluster);
            let of_cluster = at_cluster.and_then(|at| self.clusters.get(at));
            let is_exclusive = of_cluster
                .zip(word(partition, row))
                .is_some_and(|(of, partition)| of.exclusive.contains(partition));
            let listed = at_cluster.zip(columns.list(row));
            let places = listed.and_then(|(at, list)| self.places(at, list));
            if let Some(waited) = waited {
                let asked_n = number(node_n, row).filter(|n| *n > 0);
                let nodes = AskedNodes {
                    node_n: asked_n,
                    places: places.as_deref().map(|listed| listed.places.as_slice()),
                    is_exclusive,
                };
                if !columns_of_amounts.is_started(row) && !self.may_have_gpus(cluster, word(partition, row)) {
                    of_job.request_no_gpus(&self.resources);
                }
                let limit_s = number(limit, row).filter(|s| *s > 0);
                let ask = (self.asks).number(cluster, word(partition, row), &of_job.requests, &nodes, limit_s);
                wait_for(ask, cluster, waited, slices, findings)?;
            }
            let Some(held) = held else { continue };
            let mut reported = HeldFindings {
                cluster,
                held,
                slices,
                findings,
            };
            let Some(places) = places else {
                let kind = if columns.list(row).is_some() {
                    FindingKind::NodeListBad
                } else {
                    FindingKind::NodeListMissing
                };
                reported.add(kind, None, None, core_n);
                self.unbilled.insert(tag, EVERYTHING);
                continue;
            };
            let host_n = count_i64(places.places.len());
            if number(node_n, row).is_some_and(|reported| reported != host_n) {
                reported.add(FindingKind::NodeNDiffers, None, None, None);
            }
            amounts.clear();
            amounts.extend(of_job.amounts.iter().map(|amount| addend(*amount)));
            let unbilled = reported.unknown_amounts(&of_job, core_n) | reported.unknown_nodes(&places, &amounts);
            if unbilled > 0 {
                self.unbilled.insert(tag, unbilled);
            }
            let suspended_s = addend(number(columns.suspended, row));
            let job = HeldJob {
                places: &places,
                cluster,
                tag,
                amounts: &amounts,
                is_exclusive,
                span: held,
                suspended_s: suspended_s.clamp(0, held.length_s()),
            };
            self.place(&job, slices, findings)?;
        }
        Ok(())
    }

    /// Splits what a job holds evenly over its nodes; what is left over goes to the first of them, one each. A job that has several
    /// nodes to itself and holds all their cores has on each as many as it has; else its cores are split by what its list states of them.
    /// While it is suspended a job gives back its cores and nothing else; the time of that is not recorded, so it is taken to be at the end.
    fn place(&mut self, job: &HeldJob<'_>, slices: &mut Slices, findings: &mut OverheadFindings) -> Result<()> {
        let HeldJob {
            places,
            amounts,
            is_exclusive,
            ..
        } = *job;
        let host_n = count_i64(places.places.len()).max(1);
        let own_cores: Option<Vec<i64>> = is_exclusive.then(|| self.cores_of(&places.places)).flatten();
        let own_cores = own_cores.filter(|cores| Some(cores.iter().sum::<i64>()) == amounts.first().copied());
        let stated_cores = || places.cores(addend(amounts.first().copied()));
        let cores = own_cores.or_else(stated_cores);
        let too_many = || Error::internal("more different shapes of jobs than can be distinguished");
        let mut share = Vec::with_capacity(amounts.len());
        for (at, (nth, place)) in (0_i64..).zip(&places.places).enumerate() {
            let WaitingPlace::Known(node) = place else { continue };
            share.clear();
            let even = |amount: &i64| amount / host_n + i64::from(nth < amount % host_n);
            share.extend(amounts.iter().map(even));
            if let (Some(core_n), Some(cores)) = (share.first_mut(), &cores) {
                *core_n = cores.get(at).copied().unwrap_or(*core_n);
            }
            let without_room = slices.admit(*node, job.span, NodeLoad::of(&share));
            let share_of_node = NodeShare {
                node: *node,
                core_n: addend(share.first().copied()),
            };
            let running = self.shapes.number(&share, is_exclusive).ok_or_else(too_many)?;
            let suspended = if job.suspended_s > 0 {
                if let Some(core_n) = share.first_mut() {
                    *core_n = 0;
                }
                self.shapes.number(&share, is_exclusive).ok_or_else(too_many)?
            } else {
                running
            };
            let shapes = [running, suspended];
            if without_room.is_empty() {
                job.hold(*node, job.span, shapes, slices)?;
                continue;
            }
            self.leave_out(job, share_of_node, &without_room, slices, findings);
            let with_room: Vec<(usize, SecondSpan)> = slices.overlaps(job.span).collect();
            for (_, part) in with_room.iter().filter(|(nth, _)| !without_room.contains(nth)) {
                job.hold(*node, *part, shapes, slices)?;
            }
        }
        Ok(())
    }

    /// Reports the cores of a job on a node in the slices in which the node has no room for it.
    fn leave_out(
        &mut self,
        job: &HeldJob<'_>,
        share: NodeShare,
        without_room: &[usize],
        slices: &Slices,
        findings: &mut OverheadFindings,
    ) {
        let node = usize::try_from(share.node).ok().and_then(|node| self.nodes.get(node));
        let of = FindingSubject {
            kind: FindingKind::NodeSumLimit,
            cluster: job.cluster,
            node: node.map(|node| node.name.as_str()),
            resource: None,
        };
        for (nth, part) in slices.overlaps(job.span).filter(|(nth, _)| without_room.contains(nth)) {
            findings.add(nth, of, part, share.core_n);
            self.without_room.insert(SliceJob {
                slice: nth,
                tag: job.tag,
            });
        }
    }

    /// Whether nodes that a job waits for may have GPUs; those that jobs name may.
    fn may_have_gpus(&mut self, cluster: Option<&str>, partition: Option<&str>) -> bool {
        self.is_from_jobs || self.asks.may_have_gpus(cluster, partition, &self.nodes)
    }

    /// The place of a cluster among the known ones.
    fn cluster(&self, name: Option<&str>) -> Option<usize> {
        let by_name = |of: &JobCluster| of.name.as_deref().cmp(&name);
        // Fallback: a cluster none of whose jobs names nodes is not among them.
        self.clusters.binary_search_by(by_name).ok()
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

    /// The nodes of a list; `None` where it cannot be read. A list of PBS that was read before such lists had the form of Slurm's, with a
    /// slash behind each host, cannot.
    fn places(&mut self, cluster: usize, list: &str) -> Option<Rc<ListedPlaces>> {
        let of = self.clusters.get_mut(cluster)?;
        if let Some(known) = of.lists.get(list) {
            return Some(Rc::clone(known));
        }
        if list.contains('/') {
            return None;
        }
        let hosts = Hostlist::parse(list).ok()?;
        let hosts = listed_hosts(&hosts);
        if self.is_from_jobs {
            let new = hosts.iter().filter(|host| !of.places.contains_key(host.name.as_ref()));
            if self.nodes.len() + new.count() > NODES_OF_JOBS_N {
                return None;
            }
        }
        let mut places = ListedPlaces::default();
        for JobHost { name: host, part_n } in hosts {
            let known = of.places.get(host.as_ref()).copied();
            let place = match known {
                Some(node) => WaitingPlace::Known(node),
                None if self.is_from_jobs => {
                    let number = u32::try_from(self.nodes.len()).ok()?;
                    self.nodes.push(InventoryNode {
                        cluster: of.name.clone(),
                        name: host.to_string(),
                        partitions: None,
                        history: History::constant(&vec![0; self.resources.width()]),
                    });
                    of.places.insert(host.into_owned(), number);
                    WaitingPlace::Known(number)
                }
                None => WaitingPlace::Unknown(host.into_owned()),
            };
            places.push(place, part_n);
        }
        if of.lists.len() >= LISTS_N || of.listed_n >= LISTED_N {
            of.lists.clear();
            of.listed_n = 0;
        }
        of.listed_n += places.places.len();
        let places = Rc::new(places);
        of.lists.insert(list.to_owned(), Rc::clone(&places));
        Some(places)
    }
}
