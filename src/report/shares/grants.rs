//! Which nodes grant shares on a day, how many, and to whom; and what is wrong with what the tables state of them.

use std::collections::{BTreeMap, BTreeSet};

use super::associations::AccountsOfDay;
use super::day::ShareSources;
use super::machine::MachineOfDay;
use crate::diagnostics::{Problems, did_you_mean};
use crate::fairshare::shares::NodeOwnership;
use crate::fairshare::tree::ROOT_ACCOUNT;
use crate::reference::node_owner::{NodeOwner, OwnedTarget, whole_of_parts};
use crate::time::{Day, DaySpan};

/// Names that a remark lists.
const LISTED: usize = 8;

/// Which nodes grant shares, and to whom.
pub(super) struct Grants<'a> {
    /// Rows of owners by node.
    pub(super) owners: BTreeMap<String, Vec<&'a NodeOwner>>,
    /// Nodes of public partitions.
    pub(super) public: BTreeSet<String>,
}

impl ShareSources {
    /// The rows of owners by node, and the nodes of public partitions.
    pub(super) fn grants<'a>(
        &'a self,
        machine: &MachineOfDay,
        listing: &AccountsOfDay,
        left: &BTreeSet<String>,
        day: Day,
        problems: &mut Problems,
    ) -> Grants<'a> {
        let file = &self.tables.owners_file;
        let known_nodes = self.machine.node_names();
        let mut owners: BTreeMap<String, Vec<&NodeOwner>> = BTreeMap::new();
        for row in self.owners_on(day) {
            let account = row.account.as_str();
            if !listing.accounts.contains_key(account) {
                let hint = did_you_mean(account, listing.accounts.keys().map(String::as_str));
                problems.mistake(file, row.line, format!("account \"{account}\" is not in Slurm{hint}"));
            } else if account == ROOT_ACCOUNT || left.contains(account) {
                let why = "is left as it is, and cannot own nodes";
                problems.mistake(file, row.line, format!("account \"{account}\" {why}"));
            }
            let nodes = match &row.target {
                OwnedTarget::Nodes(nodes) => nodes,
                OwnedTarget::Partition(partition) => {
                    let Some(nodes) = machine.partitions.get(partition) else {
                        let hint = did_you_mean(partition, machine.partitions.keys().map(String::as_str));
                        problems.mistake(
                            file,
                            row.line,
                            format!("no listing has a partition \"{partition}\"{hint}"),
                        );
                        continue;
                    };
                    nodes
                }
            };
            let is_unknown = |node: &&String| !known_nodes.contains(node.as_str());
            let unknown: Vec<&str> = nodes.iter().filter(is_unknown).map(String::as_str).collect();
            if let Some(first) = unknown.first() {
                let hint = did_you_mean(first, known_nodes.iter().copied());
                problems.mistake(
                    file,
                    row.line,
                    format!("no listing has the nodes {}{hint}", some_of(&unknown)),
                );
            }
            for node in nodes {
                owners.entry(node.clone()).or_default().push(row);
            }
        }
        let of_public = self
            .rule
            .public
            .iter()
            .filter_map(|partition| machine.partitions.get(partition));
        Grants {
            owners,
            public: of_public.flatten().cloned().collect(),
        }
    }

    /// CPU TRES of the nodes that grant something and are there, 10^-6.
    pub(super) fn tres(
        &self,
        machine: &MachineOfDay,
        grants: &Grants<'_>,
        day: Day,
        problems: &mut Problems,
    ) -> BTreeMap<String, i128> {
        let mut tres_e6 = BTreeMap::new();
        let mut without_tres: BTreeMap<Vec<&str>, Vec<&str>> = BTreeMap::new();
        let mut without_cores = Vec::new();
        let names: BTreeSet<&String> = grants.public.iter().chain(grants.owners.keys()).collect();
        for node in names.into_iter().filter_map(|name| machine.nodes.get_key_value(name)) {
            let (name, listed) = node;
            let features = listed.features();
            let of_core_e6 = self.tables.tres.of_core_e6(name, &features, day);
            match (of_core_e6, listed.cores()) {
                (None, _) => without_tres.entry(features).or_default().push(name),
                (_, None) => without_cores.push(name.as_str()),
                (Some(of_core_e6), Some(core_n)) => {
                    tres_e6.insert(name.clone(), of_core_e6 * i128::from(core_n));
                }
            }
        }
        for (features, nodes) in without_tres {
            let features = if features.is_empty() {
                "no features".to_owned()
            } else {
                format!("features {}", features.join(","))
            };
            let message = format!("no row has the TRES of nodes with {features}: {}", some_of(&nodes));
            problems.mistake(&self.tables.tres_file, 0, message);
        }
        if !without_cores.is_empty() {
            let message = format!("does not state the cores of {}", some_of(&without_cores));
            problems.mistake("the listing of nodes", 0, message);
        }
        tres_e6
    }

    /// Who owns each node, with whole weights.
    pub(super) fn ownerships(&self, grants: &Grants<'_>, problems: &mut Problems) -> Vec<NodeOwnership> {
        let mut ownerships = Vec::new();
        let mut reported = BTreeSet::new();
        for (node, rows) in &grants.owners {
            match whole_of_parts(&format!("node {node}"), rows) {
                Ok(weights) => ownerships.extend(rows.iter().zip(weights).map(|(row, weight)| NodeOwnership {
                    node: node.clone(),
                    account: row.account.clone(),
                    weight,
                    days: DaySpan::default(),
                })),
                Err((line, why)) => {
                    let lines: Vec<usize> = rows.iter().map(|row| row.line).collect();
                    if reported.insert(lines) {
                        problems.mistake(&self.tables.owners_file, line, why);
                    }
                }
            }
        }
        ownerships
    }

    /// States what grants nothing, and what counts twice.
    pub(super) fn remark(&self, machine: &MachineOfDay, grants: &Grants<'_>, day_name: &str, notes: &mut Vec<String>) {
        if self.rule.public.is_empty() {
            notes.push("no partition is public (--public): nothing is granted gratis".to_owned());
        }
        let owned_partitions = self.tables.owners.rows.iter().filter_map(|row| match &row.target {
            OwnedTarget::Partition(partition) => Some(partition.as_str()),
            OwnedTarget::Nodes(_) => None,
        });
        let owned_partitions: BTreeSet<&str> = owned_partitions.collect();
        let is_silent = |(name, nodes): &(&String, &BTreeSet<String>)| {
            let is_named = self.rule.public.contains(*name) || self.rule.requeue.contains(*name);
            let is_owned =
                owned_partitions.contains(name.as_str()) || nodes.iter().all(|node| grants.owners.contains_key(node));
            !is_named && !is_owned
        };
        let silent: Vec<&str> = machine
            .partitions
            .iter()
            .filter(is_silent)
            .map(|(name, _)| name.as_str())
            .collect();
        if !silent.is_empty() {
            notes.push(format!(
                "neither public, requeue nor owned, so that they grant nothing: {}",
                some_of(&silent)
            ));
        }
        let is_gone = |node: &&String| !machine.nodes.contains_key(*node);
        let gone: Vec<&str> = grants.owners.keys().filter(is_gone).map(String::as_str).collect();
        if !gone.is_empty() {
            notes.push(format!(
                "owned and not listed for {day_name}, so that they grant nothing: {}",
                some_of(&gone)
            ));
        }
        let both = grants.public.iter().filter(|node| grants.owners.contains_key(*node));
        let both: Vec<&str> = both.map(String::as_str).collect();
        if !both.is_empty() {
            notes.push(format!(
                "public and owned, so that they count for both: {}",
                some_of(&both)
            ));
        }
        let named = grants
            .public
            .iter()
            .chain(grants.owners.keys())
            .collect::<BTreeSet<_>>();
        let of_cpus = named.into_iter().filter_map(|node| machine.nodes.get_key_value(node));
        let of_cpus = of_cpus.filter(|(_, node)| node.has_cpus_alone()).count();
        if of_cpus > 0 {
            notes.push(format!(
                "of {of_cpus} nodes the listing states CPUs and no cores: their CPUs count as cores"
            ));
        }
    }
}

/// The first names of a list, and how many more there are.
pub(super) fn some_of(names: &[&str]) -> String {
    let first: Vec<&str> = names.iter().copied().take(LISTED).collect();
    match names.get(LISTED..).map_or(0, <[_]>::len) {
        0 => first.join(", "),
        more => format!("{} and {more} others", first.join(", ")),
    }
}
