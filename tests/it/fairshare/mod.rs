//! Fair share: the rows FS and SL of the acceptance tables, listings of real Slurm clusters, and what holds for any tree.

mod acceptance;
mod bad_trees;
mod companion;
mod daemon_runs;
mod decay;
mod listings;
mod priority;
mod properties;
mod real_decay;
mod real_priority;
mod real_scores;
mod recovery;
mod shares;

use gridtally::fairshare::{
    AssociationId, AssociationKey, AssociationScore, AssociationTree, FairshareMethod, ParentlessAccounts, RawShares,
    TreeRow, TreeUsage,
};

/// One billing unit for one second, in the unit of usage.
const UNIT_E6: i128 = 1_000_000;

/// A row of an account.
fn account(name: &str, parent: Option<&str>, shares: u32) -> TreeRow {
    TreeRow {
        key: AssociationKey::account(name),
        parent_account: parent.map(str::to_owned),
        shares: RawShares::Number(shares),
    }
}

/// A row of a user.
fn user(account: &str, user: &str, shares: RawShares) -> TreeRow {
    TreeRow {
        key: AssociationKey::user(account, user),
        parent_account: None,
        shares,
    }
}

fn tree(rows: &[TreeRow]) -> AssociationTree {
    AssociationTree::of_rows(rows, ParentlessAccounts::OnlyRoot).expect("a tree")
}

fn id(tree: &AssociationTree, account: &str, user: &str) -> AssociationId {
    let key = if user.is_empty() {
        AssociationKey::account(account)
    } else {
        AssociationKey::user(account, user)
    };
    tree.find(&key).unwrap_or_else(|| panic!("{key} is not in the tree"))
}

/// Usage of users in whole billing seconds.
fn usage(tree: &AssociationTree, of_users: &[(&str, &str, i128)]) -> TreeUsage {
    let mut usage = TreeUsage::none(tree);
    for (account, user, billing_s) in of_users {
        usage.add(id(tree, account, user), billing_s * UNIT_E6).unwrap();
    }
    usage
}

fn score(
    method: FairshareMethod,
    tree: &AssociationTree,
    usage: &TreeUsage,
    account: &str,
    user: &str,
) -> AssociationScore {
    let scores = method.scores(tree, usage).unwrap();
    *scores.get(id(tree, account, user).index()).unwrap()
}

/// Whether two numbers are equal up to a tolerance.
#[track_caller]
fn assert_near(is: f64, expected: f64, tolerance: f64) {
    assert!(
        (is - expected).abs() <= tolerance,
        "{is} is not {expected} within {tolerance}"
    );
}

#[track_caller]
fn assert_all_near(are: &[f64], expected: &[f64]) {
    assert_eq!(are.len(), expected.len(), "{are:?} {expected:?}");
    for (is, expected) in are.iter().zip(expected) {
        assert_near(*is, *expected, 1e-9);
    }
}

/// The rank of a factor of Fair Tree among so many users.
fn rank(factor: Option<f64>, user_n: f64) -> u32 {
    let rank = factor.unwrap() * user_n;
    assert_near(rank, rank.round(), 1e-9);
    format!("{rank:.0}").parse().unwrap()
}

/// A number as a double.
#[expect(clippy::cast_precision_loss, reason = "usage of tests is below 2^53")]
fn real_of(number: i128) -> f64 {
    number as f64
}
