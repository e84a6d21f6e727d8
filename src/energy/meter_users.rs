//! Which clusters used the meters of nodes, and when: a meter of a node that two clusters have would count for both.
//!
//! In: the jobs of a site and month that count by meters. Out: the first node of a site, in the order of names, whose meter jobs of two
//! clusters used at the same time, in whatever months their records are. Times of one cluster that overlap or adjoin are one, and what
//! does not fit the budget of memory is in a temporary file.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::job_load::RunSpan;
use crate::error::Result;
use crate::numbers::index;
use crate::runtime::column::ColumnBudget;
use crate::runtime::column_value::{ByteFields, ColumnValue};
use crate::runtime::sorter::{SortedValues, Sorter};

/// Memory for the times of a site and month: 32 768 of them.
const BUDGET: ColumnBudget = ColumnBudget(1 << 20);

/// Jobs of a view and cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct MeterUser {
    view: Option<String>,
    cluster: Option<String>,
}

impl MeterUser {
    fn name(&self) -> &str {
        // Fallback: a job without a cluster has an empty name.
        self.cluster.as_deref().unwrap_or_default()
    }
}

/// Some time in which jobs of a user used the meter of a node; nodes and users are numbers. The order is that of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct MeterUse {
    node: u32,
    from_ms: i64,
    until_ms: i64,
    user: u32,
}

impl ColumnValue for MeterUse {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.node.to_le_bytes());
        bytes.extend_from_slice(&self.from_ms.to_le_bytes());
        bytes.extend_from_slice(&self.until_ms.to_le_bytes());
        bytes.extend_from_slice(&self.user.to_le_bytes());
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        Self {
            node: bytes.number32(),
            from_ms: bytes.signed(),
            until_ms: bytes.signed(),
            user: bytes.number32(),
        }
    }
}

/// A node whose meter jobs of two clusters used at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedMeter {
    /// The node, as the table names it.
    pub node: String,
    /// Both clusters; empty is a job without one.
    pub clusters: [String; 2],
}

/// Takes the jobs of a site and month.
#[derive(Debug)]
pub(super) struct MeterUsers<'a> {
    nodes: HashMap<&'a str, u32>,
    users: Vec<MeterUser>,
    /// The last time of each node and user, which the next job may prolong.
    open: HashMap<[u32; 2], RunSpan>,
    closed: Sorter<MeterUse>,
}

impl<'a> MeterUsers<'a> {
    /// Nobody yet.
    pub(super) fn new() -> Self {
        Self {
            nodes: HashMap::new(),
            users: Vec::new(),
            open: HashMap::new(),
            closed: Sorter::new(BUDGET),
        }
    }

    /// Adds a job of a view and cluster that used the meter of a node.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be made or written.
    pub(super) fn add(&mut self, node: &'a str, view: Option<&str>, cluster: Option<&str>, run: RunSpan) -> Result<()> {
        let number = next_number(self.nodes.len());
        let node = *self.nodes.entry(node).or_insert(number);
        let is_same = |user: &MeterUser| user.view.as_deref() == view && user.cluster.as_deref() == cluster;
        let user = self.users.iter().position(is_same).map_or_else(
            || {
                self.users.push(MeterUser {
                    view: view.map(str::to_owned),
                    cluster: cluster.map(str::to_owned),
                });
                next_number(self.users.len() - 1)
            },
            next_number,
        );
        let open = self.open.entry([node, user]).or_insert(run);
        if run.from_ms <= open.until_ms && run.until_ms >= open.from_ms {
            open.from_ms = open.from_ms.min(run.from_ms);
            open.until_ms = open.until_ms.max(run.until_ms);
            return Ok(());
        }
        let RunSpan { from_ms, until_ms } = std::mem::replace(open, run);
        self.closed.push(MeterUse {
            node,
            from_ms,
            until_ms,
            user,
        })
    }

    /// All who used a meter.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub(super) fn finish(mut self) -> Result<MeterUses> {
        for ([node, user], RunSpan { from_ms, until_ms }) in self.open {
            self.closed.push(MeterUse {
                node,
                from_ms,
                until_ms,
                user,
            })?;
        }
        let mut nodes = vec![String::new(); self.nodes.len()];
        for (name, number) in self.nodes {
            if let Some(node) = nodes.get_mut(index(number)) {
                name.clone_into(node);
            }
        }
        Ok(MeterUses {
            nodes,
            users: self.users,
            uses: self.closed.finish()?,
        })
    }
}

/// A place in a list as its number.
fn next_number(place: usize) -> u32 {
    // Fallback: never taken, no table has so many nodes, and no site so many clusters.
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// Who used the meters of nodes in a site and month, and when.
#[derive(Debug)]
pub struct MeterUses {
    /// By their number.
    nodes: Vec<String>,
    /// By their number.
    users: Vec<MeterUser>,
    uses: SortedValues<MeterUse>,
}

impl MeterUses {
    /// Whether nobody did.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.users.is_empty()
    }

    /// The clusters that did.
    pub fn clusters(&self) -> impl Iterator<Item = Option<&str>> {
        self.users.iter().map(|user| user.cluster.as_deref())
    }

    /// The first node, in the order of names, whose meter jobs of two clusters used at the same time, in these months of one site.
    /// Views describe the same hours and are never added up.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the temporary file cannot be made or written.
    pub fn shared(months: Vec<Self>) -> Result<Option<SharedMeter>> {
        let users: BTreeSet<MeterUser> = months.iter().flat_map(|month| month.users.iter().cloned()).collect();
        let views = users.iter().map(|user| &user.view);
        if views.is_sorted_by(|one, other| one < other) {
            // No view has two clusters.
            return Ok(None);
        }
        let users: Vec<MeterUser> = users.into_iter().collect();
        let of_user: BTreeMap<&MeterUser, u32> = users.iter().zip(0..).collect();
        let nodes: BTreeSet<String> = months.iter().flat_map(|month| month.nodes.iter().cloned()).collect();
        let of_node: BTreeMap<&str, u32> = nodes.iter().map(String::as_str).zip(0..).collect();
        let mut sorter = Sorter::new(BUDGET);
        for month in months {
            for of in month.uses {
                let node = (month.nodes.get(index(of.node))).and_then(|name| of_node.get(name.as_str()));
                let user = (month.users.get(index(of.user))).and_then(|user| of_user.get(user));
                if let Some((&node, &user)) = node.zip(user) {
                    sorter.push(MeterUse { node, user, ..of })?;
                }
            }
        }
        let Some((node, clusters)) = first_shared(sorter.finish()?, &users) else {
            return Ok(None);
        };
        let mut clusters = clusters.map(str::to_owned);
        clusters.sort();
        // Fallback: never taken, every number is of a node.
        let node = nodes.into_iter().nth(index(node)).unwrap_or_default();
        Ok(Some(SharedMeter { node, clusters }))
    }
}

/// The first node that jobs of two clusters of a view used at the same time, and both clusters.
fn first_shared(sorted: SortedValues<MeterUse>, users: &[MeterUser]) -> Option<(u32, [&str; 2])> {
    let mut last_node = None;
    // When each user was on this node until.
    let mut until: Vec<Option<i64>> = vec![None; users.len()];
    for of in sorted {
        if last_node != Some(of.node) {
            last_node = Some(of.node);
            until.fill(None);
        }
        let own = users.get(index(of.user))?;
        let mut others = users.iter().zip(&until);
        let other = others.find(|(other, until_ms)| {
            other.view == own.view && *other != own && until_ms.is_some_and(|until_ms| until_ms > of.from_ms)
        });
        if let Some((other, _)) = other {
            return Some((of.node, [own.name(), other.name()]));
        }
        let until_ms = until.get_mut(index(of.user))?;
        *until_ms = (*until_ms).max(Some(of.until_ms));
    }
    None
}
