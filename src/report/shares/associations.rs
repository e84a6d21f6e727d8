//! Accounts and users of a cluster on a day, with all that the listing states of them.

use std::collections::BTreeMap;

use arrow_array::{Array, RecordBatch};

use super::super::lake::Lake;
use super::cluster::ShareCluster;
use super::dated::{Dated, assumption};
use crate::error::{Error, Kind, Result};
use crate::fairshare::{AssociationKey, AssociationTree, RawShares, TreeRow};
use crate::schema::batch::{flag, int, number, text, word};

/// Mistakes that an error lists.
const LISTED_PROBLEMS: usize = 10;

/// An association as a listing has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedAssociation {
    /// What it is called.
    pub key: AssociationKey,
    /// Of an account the account above it, where it is stated.
    pub(super) parent: Option<String>,
    /// Its shares, where they are stated.
    pub shares: Option<RawShares>,
    /// Its other fields by the names of the dataset; those that are not stated are missing.
    pub(super) fields: BTreeMap<&'static str, String>,
    line: Option<i64>,
}

/// Fields that are kept as printed.
const FIELDS: [&str; 8] = [
    "default_account",
    "default_qos",
    "qos",
    "description",
    "organization",
    "grp_tres",
    "grp_tres_mins",
    "limits",
];

/// Accounts and users of a day.
#[derive(Clone, Debug)]
pub struct AccountsOfDay {
    /// The accounts as a tree, without users.
    pub(super) tree: AssociationTree,
    /// Accounts by name.
    pub(super) accounts: BTreeMap<String, ListedAssociation>,
    /// Users by account, in the order of `sshare`.
    pub(super) users: BTreeMap<String, Vec<ListedAssociation>>,
    /// What was assumed.
    pub(super) note: Option<String>,
}

/// All listings of associations of a cluster.
///
/// # Errors
/// [`Kind::Io`] when the lake cannot be read; [`Kind::Data`] for impossible shares.
pub(super) fn read(lake: &Lake, cluster: &ShareCluster) -> Result<Dated<ListedAssociation>> {
    Dated::read(lake, "association", cluster, listed)
}

impl AccountsOfDay {
    /// Those of an instant, the end of a day.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when there is no listing; [`Kind::Data`] when it is no tree.
    pub(super) fn at(
        listings: &Dated<ListedAssociation>,
        cluster: &ShareCluster,
        ms: i64,
        day_text: &str,
    ) -> Result<Self> {
        let chosen = listings.at(ms).ok_or_else(|| {
            let message = format!(
                "the lake has no listing of associations of cluster {}: add an [[inventory]] of sacctmgr dump, or of sacctmgr \
                 show associations with ParentName",
                cluster.cluster
            );
            Error::new(Kind::NoInput, message)
        })?;
        let (mut rows, mut listed) = (Vec::new(), Vec::new());
        let mut users: BTreeMap<String, Vec<ListedAssociation>> = BTreeMap::new();
        for row in chosen.rows {
            if row.key.is_user() {
                users.entry(row.key.account.clone()).or_default().push(row.clone());
                continue;
            }
            rows.push(TreeRow {
                key: row.key.clone(),
                parent_account: row.parent.clone(),
                // The shape of the tree does not depend on shares.
                shares: row.shares.unwrap_or(RawShares::Parent),
            });
            listed.push(row);
        }
        for of_account in users.values_mut() {
            of_account.sort_by(|one, other| one.key.cmp(&other.key));
        }
        let tree = AssociationTree::of_rows(&rows, cluster.parentless).map_err(|problems| {
            let lines = problems.iter().take(LISTED_PROBLEMS).map(|problem| {
                let line = problem.row().and_then(|row| listed.get(row)).and_then(|row| row.line);
                line.map_or_else(|| problem.to_string(), |line| format!("{problem} (line {line})"))
            });
            let lines: Vec<String> = lines.collect();
            let message = format!(
                "the listing of associations is not a tree: {}. Listings without parents are a tree where [[fairshare]] has \
                 accounts_without_parent = \"under-root\"; several listings need as_of, and of those of one instant --inventory chooses",
                lines.join("; ")
            );
            Error::new(Kind::Data, message)
        })?;
        let accounts = listed.into_iter().map(|row| (row.key.account.clone(), row.clone()));
        Ok(Self {
            tree,
            accounts: accounts.collect(),
            users,
            note: assumption("associations", chosen.is_from_ms, day_text),
        })
    }
}

fn listed(batch: &RecordBatch) -> Result<Vec<ListedAssociation>> {
    let (accounts, users) = (text(batch, "account")?, text(batch, "user")?);
    let (partitions, parents) = (text(batch, "partition")?, text(batch, "parent_account")?);
    let (share_n, is_parent) = (int(batch, "share_n")?, flag(batch, "is_parent_share")?);
    let lines = int(batch, "line")?;
    let mut columns = Vec::new();
    for name in FIELDS {
        columns.push((name, text(batch, name)?));
    }
    let mut rows = Vec::new();
    for row in 0..batch.num_rows() {
        let owned = |column, row| word(column, row).map(str::to_owned);
        let key = AssociationKey {
            account: accounts.value(row).to_owned(),
            user: owned(users, row),
            partition: owned(partitions, row),
        };
        let is_of_parent = is_parent.is_valid(row) && is_parent.value(row);
        let shares = match number(share_n, row) {
            Some(shares) => Some(RawShares::Number(u32::try_from(shares).map_err(|_| {
                Error::new(Kind::Data, format!("{key} has impossible shares in its listing"))
            })?)),
            None if is_of_parent => Some(RawShares::Parent),
            None => None,
        };
        let fields = columns
            .iter()
            .filter_map(|(name, column)| Some((*name, owned(column, row)?)));
        rows.push(ListedAssociation {
            parent: owned(parents, row).filter(|_| !key.is_user()),
            shares,
            fields: fields.collect(),
            line: number(lines, row),
            key,
        });
    }
    Ok(rows)
}
