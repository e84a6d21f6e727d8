//! What is wrong with rows that should be a tree of associations.

use std::fmt;

use super::association::AssociationKey;

/// A mistake in the rows of a tree. Rows are counted from 0 in the order they were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeProblem {
    /// An account is above itself.
    Cycle {
        /// The first row of the cycle.
        row: usize,
        /// The accounts of the cycle, from that row upwards.
        accounts: Vec<String>,
    },
    /// The account above an account is not in the listing.
    UnlistedParent {
        /// The row that names it.
        row: usize,
        /// The account of the row.
        account: String,
        /// The account that is not listed.
        parent: String,
    },
    /// The account of a user is not in the listing.
    UnlistedAccount {
        /// The row of the user.
        row: usize,
        /// The association of the row.
        key: AssociationKey,
    },
    /// An association is listed a second time.
    ListedTwice {
        /// The later row.
        row: usize,
        /// The row that listed it first.
        first_row: usize,
        /// The association.
        key: AssociationKey,
    },
    /// A second account has no parent, and that is not allowed.
    AnotherRoot {
        /// The row of the second account.
        row: usize,
        /// The row of the first.
        first_row: usize,
        /// The second account.
        account: String,
    },
    /// A user's row names an account above it that is not its own account.
    ParentOfUser {
        /// The row.
        row: usize,
        /// The association of the row.
        key: AssociationKey,
        /// The account it names.
        parent: String,
    },
    /// A row names a partition and no user.
    PartitionOfAccount {
        /// The row.
        row: usize,
        /// The association of the row.
        key: AssociationKey,
    },
    /// There is no account without a parent, so nothing is the root.
    NoRoot,
}

impl TreeProblem {
    /// The row it is about, from 0; none where it is about all of them.
    #[must_use]
    pub fn row(&self) -> Option<usize> {
        match self {
            Self::Cycle { row, .. }
            | Self::UnlistedParent { row, .. }
            | Self::UnlistedAccount { row, .. }
            | Self::ListedTwice { row, .. }
            | Self::AnotherRoot { row, .. }
            | Self::ParentOfUser { row, .. }
            | Self::PartitionOfAccount { row, .. } => Some(*row),
            Self::NoRoot => None,
        }
    }
}

impl fmt::Display for TreeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycle { accounts, .. } => {
                write!(f, "accounts are above themselves: {}", accounts.join(" under "))
            }
            Self::UnlistedParent { account, parent, .. } => {
                write!(f, "account {parent} above account {account} is not listed")
            }
            Self::UnlistedAccount { key, .. } => write!(f, "the account of {key} is not listed"),
            Self::ListedTwice { key, .. } => write!(f, "{key} is listed twice"),
            Self::AnotherRoot { account, .. } => {
                write!(
                    f,
                    "account {account} has no parent, and another account is the root already"
                )
            }
            Self::ParentOfUser { key, parent, .. } => {
                write!(
                    f,
                    "{key} names account {parent} as its parent, which is not its account"
                )
            }
            Self::PartitionOfAccount { key, .. } => write!(f, "{key} has no user: only users have partitions"),
            Self::NoRoot => f.write_str("there is no account without a parent, hence no root"),
        }
    }
}

impl std::error::Error for TreeProblem {}
