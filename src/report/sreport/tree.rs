//! The tree of accounts, by the last listing of associations that states the account above each, and who is in them, by the
//! newest listing of each cluster.

use std::collections::{BTreeMap, BTreeSet};

use super::gathered::SreportWho;
use crate::error::Result;
use crate::numbers::Extent;
use crate::report::lake::Lake;
use crate::schema::batch::{number, text, time, word, word_or_empty};

/// The account at the top of every cluster.
const ROOT: &str = "root";

/// A user in an account.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AssociationMember {
    pub(super) account: String,
    pub(super) user: String,
}

/// The associations of one cluster, from its listings.
#[derive(Clone, Debug, Default)]
struct AssociationCluster {
    as_of_ms: Option<i64>,
    /// By account. One that was deleted is where it was: usage stays in the accounts above it.
    parents: BTreeMap<String, DatedParent>,
    /// One for each association: a user may have several in an account, each in a partition.
    members: Vec<AssociationMember>,
}

impl AssociationCluster {
    /// Forgets the users of an earlier listing.
    fn begin(&mut self, as_of_ms: Option<i64>) {
        if as_of_ms > self.as_of_ms {
            self.members.clear();
            self.as_of_ms = as_of_ms;
        }
    }

    /// Takes the account above another, unless a later listing states it.
    fn place(&mut self, account: &str, as_of_ms: Option<i64>, parent: &str) {
        let stated = DatedParent {
            as_of_ms,
            account: parent.to_owned(),
        };
        match self.parents.get_mut(account) {
            Some(known) if known.as_of_ms > as_of_ms => {}
            Some(known) => *known = stated,
            None => {
                self.parents.insert(account.to_owned(), stated);
            }
        }
    }
}

/// The account above another, and the instant of the listing that states it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DatedParent {
    as_of_ms: Option<i64>,
    account: String,
}

/// The trees of all clusters.
#[derive(Clone, Debug, Default)]
pub(super) struct Trees(BTreeMap<String, AssociationCluster>);

impl Trees {
    pub(super) fn read(lake: &Lake) -> Result<Self> {
        let mut clusters: BTreeMap<String, AssociationCluster> = BTreeMap::new();
        for file in lake.manifest.dataset("association") {
            for batch in lake.batches(&file.path, None)? {
                let batch = batch?;
                let (cluster, account) = (text(&batch, "cluster")?, text(&batch, "account")?);
                let (user, parent) = (text(&batch, "user")?, text(&batch, "parent_account")?);
                let as_of = time(&batch, "as_of_utc")?;
                for row in 0..batch.num_rows() {
                    let Some(account) = word(account, row) else { continue };
                    let known = clusters.entry(word_or_empty(cluster, row).to_owned()).or_default();
                    let as_of_ms = number(as_of, row);
                    known.begin(as_of_ms);
                    match (word(user, row), word(parent, row)) {
                        (Some(user), _) if as_of_ms == known.as_of_ms => {
                            known.members.push(AssociationMember {
                                account: account.to_owned(),
                                user: user.to_owned(),
                            });
                        }
                        (None, Some(parent)) => known.place(account, as_of_ms, parent),
                        _ => {}
                    }
                }
            }
        }
        Ok(Self(clusters))
    }

    /// An account and those above it, from below.
    pub(super) fn line<'t>(&'t self, cluster: &str, account: &'t str) -> Vec<&'t str> {
        let parents = self.0.get(cluster).map(|known| &known.parents);
        let mut line = Vec::new();
        let mut at = Some(account);
        // A cycle is not a tree.
        while let Some(account) = at.filter(|account| !line.contains(account)) {
            line.push(account);
            at = parents
                .and_then(|parents| parents.get(account))
                .map(|parent| parent.account.as_str());
        }
        line
    }

    /// The associations of users of a cluster; `None` where none are listed.
    pub(super) fn members(&self, cluster: &str) -> Option<&[AssociationMember]> {
        let members = self.0.get(cluster).map(|known| known.members.as_slice());
        members.filter(|members| !members.is_empty())
    }

    /// The note about accounts whose place in the tree is unknown.
    pub(super) fn notes<'k>(&self, used: impl Iterator<Item = &'k SreportWho>) -> Vec<String> {
        let mut lost: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for SreportWho { cluster, account, .. } in used {
            let is_placed = account == ROOT
                || self
                    .0
                    .get(cluster)
                    .is_some_and(|known| known.parents.contains_key(account));
            if !account.is_empty() && !is_placed {
                lost.entry(cluster).or_default().insert(account);
            }
        }
        let note = |(cluster, accounts): (&str, BTreeSet<&str>)| {
            let known = self.0.get(cluster);
            let why = if known.is_some_and(|known| known.parents.is_empty()) {
                "the listing of associations names no parents and so does not state"
            } else {
                "no listing of associations states"
            };
            let names: Vec<&str> = accounts.iter().take(3).copied().collect();
            let more = accounts.len().less(names.len());
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            format!(
                "cluster {cluster:?}: {why} the account above {}{more}: a line of an account is without those below it. \
                 List them with `{}` or `sacctmgr dump` under [[inventory]]; of a deleted account only a listing from before \
                 states it",
                names.join(", "),
                crate::sources::inventory::ASSOC_COMMAND,
            )
        };
        lost.into_iter().map(note).collect()
    }
}
