//! Shares of accounts from what the site and its owners bought, as FASRC grants them: the sum of a gratis, a lab and a
//! communal part, in CPU TRES (cores times the weight of their type).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::time::{Day, DaySpan};

/// A node of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareNode {
    /// Its name.
    pub node: String,
    /// Its CPU TRES, 10^-6: cores times the weight of a core.
    pub cpu_tres_e6: i128,
    /// The days it is there.
    pub days: DaySpan,
}

/// What a partition is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharePartitionKind {
    /// For everyone: its nodes are the gratis share.
    Public,
    /// For everyone, and its jobs may be stopped: its nodes are others' and grant nothing.
    Requeue,
    /// For its owners.
    Owned,
}

/// A partition with its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharePartition {
    /// Its name.
    pub partition: String,
    /// What it is for.
    pub kind: SharePartitionKind,
    /// Its nodes.
    pub nodes: Vec<String>,
}

/// A purchase: an account owns a node, alone or with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeOwnership {
    /// The node.
    pub node: String,
    /// The account.
    pub account: String,
    /// Its part of the node relative to the other owners of the day; at their discretion. Above zero.
    pub weight: u32,
    /// The days it owns it.
    pub days: DaySpan,
}

/// The shares of an account, 10^-6 CPU TRES.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccountShares {
    /// An equal part of the public partitions.
    pub gratis_e6: i128,
    /// The nodes it owns alone.
    pub lab_e6: i128,
    /// Its parts of nodes it owns with others.
    pub communal_e6: i128,
}

impl AccountShares {
    /// All three.
    #[must_use]
    pub fn total_e6(self) -> i128 {
        self.gratis_e6 + self.lab_e6 + self.communal_e6
    }
}

/// The shares of a day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrantedShares {
    /// By account.
    pub accounts: BTreeMap<String, AccountShares>,
    /// What of the public partitions does not divide evenly: less than 10^-6 per account.
    pub gratis_rest_e6: i128,
}

/// A mistake in what shares are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShareProblem {
    /// A node is listed twice on the day.
    NodeTwice(String),
    /// A partition has a node that is not listed at all.
    UnlistedNode {
        /// The partition.
        partition: String,
        /// The node.
        node: String,
    },
    /// A purchase is of a node that is not listed at all.
    UnlistedOwnedNode {
        /// The row of the purchase, from 0.
        row: usize,
        /// The node.
        node: String,
    },
    /// A purchase is of an account that is not on the cluster.
    UnlistedOwner {
        /// The row of the purchase, from 0.
        row: usize,
        /// The account.
        account: String,
    },
    /// An account owns the same node by two rows of the same day.
    OwnedTwice {
        /// The later row, from 0.
        row: usize,
        /// The node.
        node: String,
    },
    /// A part of zero.
    NoPart {
        /// The row of the purchase, from 0.
        row: usize,
    },
    /// There are public nodes and no account to divide them among.
    NoAccounts,
    /// A sum does not fit.
    TooLarge,
}

impl fmt::Display for ShareProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NodeTwice(node) => write!(f, "node {node} is listed twice for the same day"),
            Self::UnlistedNode { partition, node } => {
                write!(f, "node {node} of partition {partition} is not listed")
            }
            Self::UnlistedOwnedNode { node, .. } => write!(f, "owned node {node} is not listed"),
            Self::UnlistedOwner { account, .. } => write!(f, "account {account} that owns a node is not listed"),
            Self::OwnedTwice { node, .. } => write!(f, "an account owns node {node} twice on the same day"),
            Self::NoPart { .. } => f.write_str("an owner has no part of a node: its weight is 0"),
            Self::NoAccounts => f.write_str("there are public nodes and no account to divide them among"),
            Self::TooLarge => f.write_str("shares are too large to add up"),
        }
    }
}

impl std::error::Error for ShareProblem {}

/// Who has what, as the listings of a site state it.
#[derive(Clone, Copy, Debug)]
pub struct ShareBasis<'a> {
    /// The nodes.
    pub nodes: &'a [ShareNode],
    /// The partitions.
    pub partitions: &'a [SharePartition],
    /// The purchases.
    pub ownerships: &'a [NodeOwnership],
    /// The accounts of the cluster.
    pub accounts: &'a BTreeSet<String>,
}

impl ShareBasis<'_> {
    /// The shares of a day. A node of several public partitions counts once. A node that is owned and in a public
    /// partition counts for both, as the page states the two sums.
    ///
    /// # Errors
    /// Every mistake.
    pub fn shares(&self, day: Day) -> Result<GrantedShares, Vec<ShareProblem>> {
        let mut problems = Vec::new();
        let nodes = self.nodes_of_day(day, &mut problems);
        let owners = self.owners_of_day(day, &mut problems);
        let public = self.public_nodes(&mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut granted = GrantedShares {
            accounts: self
                .accounts
                .iter()
                .map(|account| (account.clone(), AccountShares::default()))
                .collect(),
            gratis_rest_e6: 0,
        };
        self.grant(&nodes, &owners, &public, &mut granted)
            .map_err(|problem| vec![problem])?;
        Ok(granted)
    }

    fn grant(
        &self,
        nodes: &BTreeMap<&str, i128>,
        owners: &BTreeMap<&str, BTreeMap<&str, u32>>,
        public: &BTreeSet<&str>,
        granted: &mut GrantedShares,
    ) -> Result<(), ShareProblem> {
        let of_public = public.iter().filter_map(|node| nodes.get(node).copied());
        let public_e6 = sum(of_public)?;
        let account_n = i128::try_from(self.accounts.len()).map_err(|_| ShareProblem::TooLarge)?;
        if account_n > 0 {
            granted.gratis_rest_e6 = public_e6.rem_euclid(account_n);
            for shares in granted.accounts.values_mut() {
                shares.gratis_e6 = public_e6.div_euclid(account_n);
            }
        } else if public_e6 > 0 {
            return Err(ShareProblem::NoAccounts);
        }
        for (node, parts) in owners {
            let Some(whole_e6) = nodes.get(node).copied() else {
                continue;
            };
            let weights = sum(parts.values().map(|weight| i128::from(*weight)))?;
            let mut before = 0;
            for (account, weight) in parts {
                // Cut at whole 10^-6 from the left, so that the parts of a node add up to the node.
                let cut = |weight: i128| whole_e6.checked_mul(weight).ok_or(ShareProblem::TooLarge);
                let until = before + i128::from(*weight);
                let part_e6 = cut(until)?.div_euclid(weights) - cut(before)?.div_euclid(weights);
                before = until;
                let Some(shares) = granted.accounts.get_mut(*account) else {
                    continue;
                };
                let of_kind = if parts.len() == 1 {
                    &mut shares.lab_e6
                } else {
                    &mut shares.communal_e6
                };
                *of_kind = of_kind.checked_add(part_e6).ok_or(ShareProblem::TooLarge)?;
            }
        }
        Ok(())
    }

    fn nodes_of_day(&self, day: Day, problems: &mut Vec<ShareProblem>) -> BTreeMap<&str, i128> {
        let mut nodes = BTreeMap::new();
        for of_node in self.nodes.iter().filter(|node| node.days.has(day)) {
            if nodes.insert(of_node.node.as_str(), of_node.cpu_tres_e6).is_some() {
                problems.push(ShareProblem::NodeTwice(of_node.node.clone()));
            }
        }
        nodes
    }

    fn owners_of_day(&self, day: Day, problems: &mut Vec<ShareProblem>) -> BTreeMap<&str, BTreeMap<&str, u32>> {
        let known = self.known_nodes();
        let mut owners: BTreeMap<&str, BTreeMap<&str, u32>> = BTreeMap::new();
        for (row, of_row) in self.ownerships.iter().enumerate() {
            let node = of_row.node.clone();
            if !known.contains(of_row.node.as_str()) {
                problems.push(ShareProblem::UnlistedOwnedNode { row, node });
            } else if !self.accounts.contains(&of_row.account) {
                let account = of_row.account.clone();
                problems.push(ShareProblem::UnlistedOwner { row, account });
            } else if of_row.weight == 0 {
                problems.push(ShareProblem::NoPart { row });
            } else if of_row.days.has(day) {
                let parts = owners.entry(&of_row.node).or_default();
                if parts.insert(&of_row.account, of_row.weight).is_some() {
                    problems.push(ShareProblem::OwnedTwice { row, node });
                }
            }
        }
        owners
    }

    /// The nodes of public partitions, each once.
    fn public_nodes(&self, problems: &mut Vec<ShareProblem>) -> BTreeSet<&str> {
        let known = self.known_nodes();
        let mut public = BTreeSet::new();
        for partition in self.partitions {
            for node in &partition.nodes {
                if !known.contains(node.as_str()) {
                    problems.push(ShareProblem::UnlistedNode {
                        partition: partition.partition.clone(),
                        node: node.clone(),
                    });
                } else if partition.kind == SharePartitionKind::Public {
                    public.insert(node.as_str());
                }
            }
        }
        public
    }

    /// The nodes that are listed for any day.
    fn known_nodes(&self) -> BTreeSet<&str> {
        self.nodes.iter().map(|node| node.node.as_str()).collect()
    }
}

fn sum(amounts: impl Iterator<Item = i128>) -> Result<i128, ShareProblem> {
    let mut amounts = amounts;
    amounts.try_fold(0_i128, |sum, amount| {
        sum.checked_add(amount).ok_or(ShareProblem::TooLarge)
    })
}
