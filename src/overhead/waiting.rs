//! Requests of waiting jobs.

use std::collections::{BTreeSet, HashMap};

use ahash::RandomState;

use super::node_inventory::InventoryNode;
use crate::occupancy::{Ask, GPU_PLACE, Resources, Thresholds, Unit};
use crate::schema::batch::addend;

/// A node of a list.
pub(crate) enum WaitingPlace {
    /// By its number.
    Known(u32),
    /// By a name no inventory has.
    Unknown(String),
}

/// The nodes a job requests.
pub(crate) struct AskedNodes<'a> {
    /// How many, where it states it.
    pub(crate) node_n: Option<i64>,
    /// Those it was given.
    pub(crate) places: Option<&'a [WaitingPlace]>,
    /// It has them to itself.
    pub(crate) is_exclusive: bool,
}

/// Where a job waits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WaitingLine {
    pub(crate) cluster: Option<String>,
    /// Or several of them.
    pub(crate) partition: Option<String>,
}

impl WaitingLine {
    /// The nodes it is for. A node of unknown partitions is in all of them.
    fn nodes<'n>(&self, nodes: &'n [InventoryNode]) -> impl Iterator<Item = (u32, &'n InventoryNode)> {
        let wanted: Option<BTreeSet<&str>> = self.partition.as_deref().map(|names| partitions(names).collect());
        (0_u32..).zip(nodes).filter(move |(_, node)| {
            let is_in = match (&wanted, &node.partitions) {
                (Some(wanted), Some(_)) => node.partition_names().iter().any(|name| wanted.contains(name)),
                _ => true,
            };
            is_in && node.cluster == self.cluster
        })
    }
}

/// Distinct requests, each kept once.
pub(crate) struct Asks {
    units: Vec<(Unit, Thresholds)>,
    lines: HashMap<WaitingLine, usize, RandomState>,
    /// Where jobs wait, by their number: the group and the pool of an ask.
    pub(crate) names: Vec<WaitingLine>,
    /// By the number of a line: the units of its jobs.
    units_of_lines: Vec<Vec<usize>>,
    /// By the number of a line: whether its nodes may have GPUs, once that was asked.
    with_gpus: HashMap<usize, bool, RandomState>,
    numbers: HashMap<Ask, u32, RandomState>,
    /// By their number.
    pub(crate) known: Vec<Ask>,
    /// The last one: its lists are used again.
    sought: Ask,
}

/// Partitions a job waits in: one that may run in several names them all.
fn partitions(partition: &str) -> impl Iterator<Item = &str> {
    partition.split(',').map(str::trim)
}

impl Asks {
    pub(crate) fn new(units: &[Unit], resources: &Resources) -> Self {
        Self {
            units: units
                .iter()
                .map(|unit| (unit.clone(), unit.thresholds(resources)))
                .collect(),
            lines: HashMap::default(),
            names: Vec::new(),
            units_of_lines: Vec::new(),
            with_gpus: HashMap::default(),
            numbers: HashMap::default(),
            known: Vec::new(),
            sought: Ask::default(),
        }
    }

    /// The number of the line of a cluster and a partition.
    fn line(&mut self, cluster: Option<&str>, partition: Option<&str>) -> usize {
        // Mostly that of the job before.
        let is_it = |line: &WaitingLine| line.cluster.as_deref() == cluster && line.partition.as_deref() == partition;
        if self.names.get(self.sought.group).is_some_and(is_it) {
            return self.sought.group;
        }
        let line = WaitingLine {
            cluster: cluster.map(str::to_owned),
            partition: partition.map(str::to_owned),
        };
        if let Some(known) = self.lines.get(&line) {
            return *known;
        }
        let of_line: Vec<&str> = partition.into_iter().flat_map(partitions).collect();
        let units = self
            .units
            .iter()
            .enumerate()
            .filter(|(_, (unit, _))| unit.is_for(&of_line));
        self.units_of_lines.push(units.map(|(nth, _)| nth).collect());
        self.names.push(line.clone());
        self.lines.insert(line, self.names.len() - 1);
        self.names.len() - 1
    }

    /// The number of what a job requests: nodes (where it is unknown how many, those it was given; one core needs one) with
    /// an even share of everything, rounded up.
    ///
    /// # Errors
    /// The index of a resource it does not state; `None` when it is the number of nodes.
    pub(crate) fn number(
        &mut self,
        cluster: Option<&str>,
        partition: Option<&str>,
        requests: &[Option<i64>],
        nodes: &AskedNodes<'_>,
        limit_s: Option<i64>,
    ) -> Result<u32, Option<usize>> {
        if let Some(unknown) = requests.iter().position(Option::is_none) {
            return Err(Some(unknown));
        }
        let given_n = || {
            let distinct: BTreeSet<&u32> = nodes
                .places?
                .iter()
                .filter_map(|place| match place {
                    WaitingPlace::Known(node) => Some(node),
                    WaitingPlace::Unknown(_) => None,
                })
                .collect();
            i64::try_from(distinct.len()).ok().filter(|n| *n > 0)
        };
        let one = || (requests.first().copied().flatten() == Some(1)).then_some(1);
        let node_n = nodes.node_n.or_else(given_n).or_else(one).ok_or(None)?;
        let group = self.line(cluster, partition);
        let ask = &mut self.sought;
        (ask.pool, ask.group) = (group, group);
        ask.node_n = u32::try_from(node_n).map_err(|_| None)?;
        ask.is_exclusive = nodes.is_exclusive;
        ask.limit_s = limit_s;
        ask.need.clear();
        ask.need.extend(requests.iter().map(|amount| {
            let amount = addend(*amount);
            amount / node_n + i64::from(amount % node_n > 0)
        }));
        ask.units.clear();
        for nth in self.units_of_lines.get(group).into_iter().flatten() {
            if let Some((_, thresholds)) = self.units.get(*nth) {
                let unit_n = thresholds.taken(&ask.need);
                ask.units.extend((unit_n > 0).then_some((*nth, unit_n)));
            }
        }
        if let Some(number) = self.numbers.get(ask) {
            return Ok(*number);
        }
        let number = u32::try_from(self.known.len()).map_err(|_| None)?;
        self.known.push(ask.clone());
        self.numbers.insert(ask.clone(), number);
        Ok(number)
    }

    /// Whether a node of a cluster and a partition has GPUs at some time, or does not state whether it has any.
    pub(crate) fn may_have_gpus(
        &mut self,
        cluster: Option<&str>,
        partition: Option<&str>,
        nodes: &[InventoryNode],
    ) -> bool {
        let number = self.line(cluster, partition);
        if let Some(known) = self.with_gpus.get(&number) {
            return *known;
        }
        let may_have = |node: &InventoryNode| {
            let mut gpus = node
                .history
                .segments
                .iter()
                .map(|segment| segment.capacity.get(GPU_PLACE));
            let is_known = node.history.known.get(GPU_PLACE).is_some_and(|known| *known);
            !is_known || gpus.any(|n| n.is_some_and(|n| *n > 0))
        };
        let line = self.names.get(number);
        let may_have = line.is_none_or(|line| line.nodes(nodes).any(|(_, node)| may_have(node)));
        self.with_gpus.insert(number, may_have);
        may_have
    }

    /// The suitable nodes by partition. A node of unknown partitions is in all of them.
    pub(crate) fn pools(&self, nodes: &[InventoryNode]) -> Vec<Vec<u32>> {
        let pools = self.names.iter();
        pools
            .map(|line| line.nodes(nodes).map(|(number, _)| number).collect())
            .collect()
    }
}
