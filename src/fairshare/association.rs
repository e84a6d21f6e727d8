//! What one association is called, and what it is granted.

use std::fmt;

/// What names an association: an account, or a user in an account, or such a user in one partition.
///
/// The order is the one of `sshare` among the children of an account: users before accounts, each by name, byte by byte;
/// of one user the association without a partition is first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AssociationKey {
    /// The account.
    pub account: String,
    /// The user, if it is not the account itself.
    pub user: Option<String>,
    /// The partition the user's association is for, if it is for one only.
    pub partition: Option<String>,
}

impl AssociationKey {
    /// An account.
    #[must_use]
    pub fn account(account: impl Into<String>) -> Self {
        Self {
            account: account.into(),
            user: None,
            partition: None,
        }
    }

    /// A user in an account, in any partition.
    #[must_use]
    pub fn user(account: impl Into<String>, user: impl Into<String>) -> Self {
        Self {
            user: Some(user.into()),
            ..Self::account(account)
        }
    }

    /// A user in an account, in one partition.
    #[must_use]
    pub fn in_partition(account: impl Into<String>, user: impl Into<String>, partition: impl Into<String>) -> Self {
        Self {
            partition: Some(partition.into()),
            ..Self::user(account, user)
        }
    }

    /// Whether it is a user's, not an account's.
    #[must_use]
    pub fn is_user(&self) -> bool {
        self.user.is_some()
    }

    /// Users before accounts, then by name.
    fn order(&self) -> (bool, Option<&str>, Option<&str>, &str) {
        (
            self.user.is_none(),
            self.user.as_deref(),
            self.partition.as_deref(),
            &self.account,
        )
    }
}

impl Ord for AssociationKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for AssociationKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for AssociationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.user {
            None => write!(f, "account {}", self.account)?,
            Some(user) => write!(f, "user {user} of account {}", self.account)?,
        }
        match &self.partition {
            None => Ok(()),
            Some(partition) => write!(f, " in partition {partition}"),
        }
    }
}

/// The shares of an association (`Fairshare` of sacctmgr, `RawShares` of sshare).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RawShares {
    /// Its own number, relative to its siblings. A number is no unit of anything until it is divided by their sum.
    Number(u32),
    /// `parent`: it has no shares of its own and stands for the account it is in.
    Parent,
}

impl RawShares {
    /// Its own number, if it has one.
    #[must_use]
    pub fn number(self) -> Option<u32> {
        match self {
            Self::Number(number) => Some(number),
            Self::Parent => None,
        }
    }
}

/// One row of a listing of associations, as a tree is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeRow {
    /// What it is called.
    pub key: AssociationKey,
    /// Of an account the account above it, where the listing states one. Of a user nothing: a user belongs to its
    /// account.
    pub parent_account: Option<String>,
    /// Its shares.
    pub shares: RawShares,
}
