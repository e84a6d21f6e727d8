//! Shares of a day: owners, what cores count for, and the machine -> shares per account.

use std::collections::{BTreeMap, BTreeSet};

use super::super::lake::Lake;
use super::associations::{self, AccountsOfDay, ListedAssociation};
use super::cluster::ShareCluster;
use super::dated::{Dated, end_of_day_ms};
use super::grants::{Grants, some_of};
use super::machine::Machine;
use crate::diagnostics::{Problems, must_be_known};
use crate::error::{Error, Kind, Result};
use crate::fairshare::RawShares;
use crate::fairshare::shares::{
    AccountShares, NodeOwnership, ShareBasis, ShareNode, SharePartition, SharePartitionKind, ShareProblem,
};
use crate::reference::cpu_tres::CpuTresTable;
use crate::reference::node_owner::{NodeOwner, NodeOwnerTable};
use crate::reference::node_type::day_text;
use crate::time::{Day, DaySpan, Zone};

/// 10^-6.
const E6: i128 = 1_000_000;
/// The largest number of shares; the next one means `parent` in Slurm.
const LARGEST: i128 = 2_147_483_646;

/// How shares are granted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareRule {
    /// Partitions whose nodes are the gratis share.
    pub public: BTreeSet<String>,
    /// Partitions of others' nodes that grant nothing.
    pub requeue: BTreeSet<String>,
    /// Accounts that are left as they are, with all that is in them.
    pub except: BTreeSet<String>,
    /// Whole shares of one CPU TRES.
    pub shares_per_tres: u32,
}

/// The tables people write, with the names of their files.
#[derive(Clone, Debug)]
pub struct ShareTables {
    /// Who owns what.
    pub owners: NodeOwnerTable,
    /// Its file.
    pub owners_file: String,
    /// What a core counts for.
    pub tres: CpuTresTable,
    /// Its file.
    pub tres_file: String,
}

/// All that shares are made of.
#[derive(Debug)]
pub struct ShareSources {
    /// The cluster.
    pub cluster: ShareCluster,
    /// The rule.
    pub rule: ShareRule,
    /// The tables.
    pub tables: ShareTables,
    pub(super) zone: Zone,
    pub(super) machine: Machine,
    pub(super) associations: Dated<ListedAssociation>,
}

/// What one account is granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedAccount {
    /// Its name.
    pub account: String,
    /// The account above it.
    pub parent: Option<String>,
    /// Its shares, with those of all accounts in it.
    pub shares: AccountShares,
    /// All of them in CPU TRES, 10^-6.
    pub total_e6: i128,
    /// As a whole number.
    pub whole: u32,
    /// What the listing has; `None` where it does not state it.
    pub listed: Option<RawShares>,
}

/// The shares of a day.
#[derive(Clone, Debug)]
pub struct DayShares {
    /// The day.
    pub day: Day,
    /// The accounts that are granted shares, parents first.
    pub accounts: Vec<GrantedAccount>,
    /// Accounts that are left as they are.
    pub left: BTreeSet<String>,
    /// The listing of associations.
    pub listing: AccountsOfDay,
    /// What people have to know of it.
    pub notes: Vec<String>,
}

impl ShareSources {
    /// Reads the listings of a lake.
    ///
    /// # Errors
    /// [`Kind::Usage`] for partitions that no listing has; [`Kind::Io`] when the lake cannot be read.
    pub fn read(lake: &Lake, cluster: ShareCluster, rule: ShareRule, tables: ShareTables) -> Result<Self> {
        let machine = Machine::read(lake, &cluster)?;
        let known = machine.partition_names();
        for partition in rule.public.iter().chain(&rule.requeue) {
            must_be_known("the cluster has", "partition", partition, &known)?;
        }
        if let Some(both) = rule.public.intersection(&rule.requeue).next() {
            let message = format!("partition {both} is either public or a requeue partition, not both");
            return Err(Error::new(Kind::Usage, message));
        }
        Ok(Self {
            associations: associations::read(lake, &cluster)?,
            zone: lake.zone()?,
            cluster,
            rule,
            tables,
            machine,
        })
    }

    /// The shares of a day, as the listings up to its end have the machine.
    ///
    /// # Errors
    /// [`Kind::Config`] with every mistake of the tables by line; [`Kind::Data`] when a listing is missing or is no tree.
    pub fn on(&self, day: Day) -> Result<DayShares> {
        let day_name = day_text(Some(day), "");
        let ms = end_of_day_ms(day, &self.zone);
        let machine = self.machine.at(ms, &day_name)?;
        let listing = AccountsOfDay::at(&self.associations, &self.cluster, ms, &day_name)?;
        for account in &self.rule.except {
            let known = listing.accounts.keys().cloned().collect();
            must_be_known("the listing of associations has", "account", account, &known)?;
        }
        let left = self.left(&listing, day);
        let mut notes = machine.notes.clone();
        notes.extend(listing.note.clone());
        let mut problems = Problems::default();
        let grants = self.grants(&machine, &listing, &left, day, &mut problems);
        let tres_e6 = self.tres(&machine, &grants, day, &mut problems);
        let ownerships = self.ownerships(&grants, &mut problems);
        problems.finish()?;
        let receivers = gratis_receivers(&listing, &left);
        let own = engine(&tres_e6, &ownerships, &grants, &receivers, &mut notes)?;
        self.remark(&machine, &grants, &day_name, &mut notes);
        let accounts = self.summed(&listing, &left, own)?;
        let nothing: Vec<&str> = accounts
            .iter()
            .filter(|of| of.whole == 0)
            .map(|of| of.account.as_str())
            .collect();
        if !nothing.is_empty() {
            notes.push(format!(
                "granted nothing, so that their shares are 0: {}",
                some_of(&nothing)
            ));
        }
        Ok(DayShares {
            day,
            accounts,
            left,
            listing,
            notes,
        })
    }

    /// The rows of owners that count on a day.
    pub(super) fn owners_on(&self, day: Day) -> impl Iterator<Item = &NodeOwner> {
        let is_here = |row: &&NodeOwner| {
            row.cluster
                .as_ref()
                .is_none_or(|cluster| *cluster == self.cluster.cluster)
        };
        self.tables
            .owners
            .rows
            .iter()
            .filter(is_here)
            .filter(move |row| row.is_good_on(day))
    }

    /// The accounts that are left as they are: those that were named, what is in them, and accounts of which nothing else is
    /// in and which own nothing.
    fn left(&self, listing: &AccountsOfDay, day: Day) -> BTreeSet<String> {
        let owners: BTreeSet<&str> = self.owners_on(day).map(|row| row.account.as_str()).collect();
        let mut left = self.rule.except.clone();
        for (_, association) in listing.tree.iter() {
            let above = association.parent.and_then(|id| listing.tree.get(id));
            if above.is_some_and(|above| left.contains(&above.key.account)) {
                left.insert(association.key.account.clone());
            }
        }
        for (_, association) in listing.tree.iter().rev() {
            let mut inside = association
                .children
                .iter()
                .filter_map(|id| listing.tree.get(*id))
                .peekable();
            let name = association.key.account.as_str();
            if inside.peek().is_some() && !owners.contains(name) && inside.all(|of| left.contains(&of.key.account)) {
                left.insert(name.to_owned());
            }
        }
        left
    }

    /// Adds what is in accounts to those above them, and rounds each once.
    fn summed(
        &self,
        listing: &AccountsOfDay,
        left: &BTreeSet<String>,
        own: BTreeMap<String, AccountShares>,
    ) -> Result<Vec<GrantedAccount>> {
        let mut all = own;
        let mut accounts = Vec::new();
        for (id, association) in listing.tree.iter().rev() {
            let account = association.key.account.clone();
            if id == listing.tree.root() || left.contains(&account) {
                continue;
            }
            // Fallback: an account that nothing was granted to has no entry, which is a share of zero.
            let shares = all.get(&account).copied().unwrap_or_default();
            let parent = association.parent.and_then(|id| listing.tree.get(id));
            let parent = parent.map(|parent| parent.key.account.clone());
            if let Some(parent) = &parent {
                let above = all.entry(parent.clone()).or_default();
                *above = plus(*above, shares)?;
            }
            let total_e6 = total_e6(shares)?;
            accounts.push(GrantedAccount {
                whole: self.whole(&account, total_e6)?,
                listed: listing.accounts.get(&account).and_then(|row| row.shares),
                account,
                parent,
                shares,
                total_e6,
            });
        }
        accounts.reverse();
        Ok(accounts)
    }

    /// To the nearest, halves up, and at least 1 where something is granted: Slurm gives 0 shares no priority at all.
    fn whole(&self, account: &str, total_e6: i128) -> Result<u32> {
        let scaled = total_e6
            .checked_mul(i128::from(self.rule.shares_per_tres))
            .ok_or_else(too_large)?;
        let nearest = (scaled + E6 / 2).div_euclid(E6);
        let whole = if total_e6 > 0 { nearest.max(1) } else { nearest };
        u32::try_from(whole).ok().filter(|_| whole <= LARGEST).ok_or_else(|| {
            let message = format!("account {account} is granted {whole} shares, Slurm takes at most {LARGEST}");
            Error::new(Kind::Data, message)
        })
    }
}

/// What each account is granted itself.
fn engine(
    tres_e6: &BTreeMap<String, i128>,
    ownerships: &[NodeOwnership],
    grants: &Grants<'_>,
    receivers: &BTreeSet<String>,
    remarks: &mut Vec<String>,
) -> Result<BTreeMap<String, AccountShares>> {
    let nodes: Vec<ShareNode> = (tres_e6.iter())
        .map(|(node, cpu_tres_e6)| ShareNode {
            node: node.clone(),
            cpu_tres_e6: *cpu_tres_e6,
            days: DaySpan::default(),
        })
        .collect();
    let public = SharePartition {
        partition: "public".to_owned(),
        kind: SharePartitionKind::Public,
        nodes: grants.public.iter().cloned().collect(),
    };
    let gratis = ShareBasis {
        nodes: &nodes,
        partitions: std::slice::from_ref(&public),
        ownerships: &[],
        accounts: receivers,
    };
    let gratis = gratis.shares(0).map_err(|problems| refused(&problems))?;
    if gratis.gratis_rest_e6 > 0 {
        let rest = crate::reference::decimal::text(gratis.gratis_rest_e6, 6);
        remarks.push(format!(
            "{rest} CPU TRES of public nodes do not divide evenly and are not granted"
        ));
    }
    let owners = ownerships.iter().map(|row| row.account.clone()).collect();
    // Nodes that are gone grant nothing.
    let there = ownerships.iter().filter(|row| tres_e6.contains_key(&row.node)).cloned();
    let owned = ShareBasis {
        nodes: &nodes,
        partitions: &[],
        ownerships: &there.collect::<Vec<_>>(),
        accounts: &owners,
    };
    let owned = owned.shares(0).map_err(|problems| refused(&problems))?;
    let mut own = gratis.accounts;
    for (account, shares) in owned.accounts {
        let of_account = own.entry(account).or_default();
        (of_account.lab_e6, of_account.communal_e6) = (shares.lab_e6, shares.communal_e6);
    }
    Ok(own)
}

/// Who is granted a gratis share: the accounts that no account is in.
fn gratis_receivers(listing: &AccountsOfDay, left: &BTreeSet<String>) -> BTreeSet<String> {
    let accounts = listing.tree.iter().filter(|(id, association)| {
        *id != listing.tree.root() && association.children.is_empty() && !left.contains(&association.key.account)
    });
    accounts
        .map(|(_, association)| association.key.account.clone())
        .collect()
}

fn plus(one: AccountShares, other: AccountShares) -> Result<AccountShares> {
    let add = |one: i128, other: i128| one.checked_add(other).ok_or_else(too_large);
    Ok(AccountShares {
        gratis_e6: add(one.gratis_e6, other.gratis_e6)?,
        lab_e6: add(one.lab_e6, other.lab_e6)?,
        communal_e6: add(one.communal_e6, other.communal_e6)?,
    })
}

fn total_e6(shares: AccountShares) -> Result<i128> {
    let owned = shares.lab_e6.checked_add(shares.communal_e6);
    owned
        .and_then(|owned| owned.checked_add(shares.gratis_e6))
        .ok_or_else(too_large)
}

fn too_large() -> Error {
    Error::new(Kind::Data, "shares are too large to add up")
}

fn refused(problems: &[ShareProblem]) -> Error {
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Error::new(Kind::Data, texts.join("; "))
}
