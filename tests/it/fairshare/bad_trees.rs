//! Rows that are no tree, and what is reported of them.

use gridtally::fairshare::{AssociationKey, AssociationTree, ParentlessAccounts, RawShares, TreeProblem, TreeRow};

use super::{account, id, tree, user};

const ONE: RawShares = RawShares::Number(1);

fn problems(rows: &[TreeRow]) -> Vec<TreeProblem> {
    AssociationTree::of_rows(rows, ParentlessAccounts::OnlyRoot).unwrap_err()
}

#[test]
fn a_cycle_is_reported_once_with_its_first_row() {
    let rows = [
        account("root", None, 1),
        account("c", Some("b"), 1),
        account("a", Some("c"), 1),
        account("b", Some("a"), 1),
        account("under", Some("b"), 1),
    ];
    let expected = TreeProblem::Cycle {
        row: 1,
        accounts: ["c", "b", "a"].map(str::to_owned).to_vec(),
    };
    assert_eq!(problems(&rows).first(), Some(&expected));
    assert_eq!(problems(&rows).len(), 1);
    assert_eq!(expected.to_string(), "accounts are above themselves: c under b under a");
    let itself = [account("root", None, 1), account("a", Some("a"), 1)];
    assert!(matches!(
        problems(&itself).as_slice(),
        [TreeProblem::Cycle { row: 1, .. }]
    ));
}

#[test]
fn every_mistake_is_reported_with_its_row() {
    let rows = [
        account("root", None, 1),
        account("a", Some("gone"), 1),
        user("nowhere", "alice", ONE),
        account("b", Some("root"), 1),
        account("b", Some("root"), 2),
        account("other", None, 1),
        TreeRow {
            parent_account: Some("root".to_owned()),
            ..user("b", "alice", ONE)
        },
        TreeRow {
            key: AssociationKey {
                partition: Some("cpu".to_owned()),
                ..AssociationKey::account("b")
            },
            ..account("b", Some("root"), 1)
        },
    ];
    let found = problems(&rows);
    let at: Vec<Option<usize>> = found.iter().map(TreeProblem::row).collect();
    assert_eq!(at, [1, 2, 4, 5, 6, 7].map(Some), "{found:?}");
    assert!(matches!(&found[0], TreeProblem::UnlistedParent { parent, .. } if parent == "gone"));
    assert!(matches!(&found[1], TreeProblem::UnlistedAccount { key, .. } if key.account == "nowhere"));
    assert!(matches!(found[2], TreeProblem::ListedTwice { first_row: 3, .. }));
    assert!(matches!(found[3], TreeProblem::AnotherRoot { first_row: 0, .. }));
    assert!(matches!(found[4], TreeProblem::ParentOfUser { .. }));
    assert!(matches!(found[5], TreeProblem::PartitionOfAccount { .. }));
    for problem in &found {
        assert!(!problem.to_string().is_empty());
    }
}

#[test]
fn no_rows_have_no_root() {
    assert_eq!(problems(&[]), [TreeProblem::NoRoot]);
}

#[test]
fn accounts_without_a_parent_hang_under_root_only_where_that_is_stated() {
    let rows = [
        account("lab", None, 3),
        account("other", None, 1),
        user("lab", "alice", ONE),
    ];
    assert!(matches!(
        problems(&rows).as_slice(),
        [TreeProblem::AnotherRoot { row: 1, .. }]
    ));
    let flat = AssociationTree::of_rows(&rows, ParentlessAccounts::UnderRoot).unwrap();
    let names: Vec<String> = flat.iter().map(|(_, of)| of.key.to_string()).collect();
    assert_eq!(
        names,
        [
            "account root",
            "account lab",
            "user alice of account lab",
            "account other"
        ]
    );
    assert_eq!(flat.get(flat.root()).unwrap().row, None);
    // A root that is listed is used, wherever it is.
    let listed = [account("lab", None, 3), account("root", None, 7)];
    let flat = AssociationTree::of_rows(&listed, ParentlessAccounts::UnderRoot).unwrap();
    assert_eq!(flat.get(flat.root()).unwrap().row, Some(1));
    assert_eq!(flat.len(), 2);
}

#[test]
fn users_come_before_accounts_and_both_by_name_whatever_the_order_of_rows() {
    let of_partition = TreeRow {
        key: AssociationKey::in_partition("a", "zoe", "cpu"),
        ..user("a", "zoe", ONE)
    };
    let mut rows = vec![
        user("a", "zoe", ONE),
        account("b", Some("a"), 1),
        of_partition,
        account("a", Some("root"), 1),
        user("b", "amy", ONE),
        account("root", None, 1),
        user("root", "root", ONE),
        user("a", "bob", ONE),
    ];
    let order = |rows: &[TreeRow]| -> Vec<String> { tree(rows).iter().map(|(_, of)| of.key.to_string()).collect() };
    let expected = [
        "account root",
        "user root of account root",
        "account a",
        "user bob of account a",
        "user zoe of account a",
        "user zoe of account a in partition cpu",
        "account b",
        "user amy of account b",
    ];
    assert_eq!(order(&rows), expected);
    rows.reverse();
    assert_eq!(order(&rows), expected);
    let tree = tree(&rows);
    assert_eq!(
        tree.of_job("a", "zoe", "cpu"),
        tree.find(&AssociationKey::in_partition("a", "zoe", "cpu"))
    );
    assert_eq!(tree.of_job("a", "zoe", "gpu"), Some(id(&tree, "a", "zoe")));
    assert_eq!(tree.of_job("b", "zoe", "gpu"), None);
}

#[test]
fn a_deep_tree_needs_no_stack() {
    let mut rows = vec![account("root", None, 1), account("a0", Some("root"), 1)];
    for depth in 1..50_000_u32 {
        rows.push(account(&format!("a{depth}"), Some(&format!("a{}", depth - 1)), 1));
    }
    rows.push(user("a49999", "deep", ONE));
    let tree = tree(&rows);
    let user = id(&tree, "a49999", "deep");
    assert_eq!(tree.get(user).unwrap().depth, 50_001);
    let mut usage = gridtally::fairshare::TreeUsage::none(&tree);
    usage.add(user, 5).unwrap();
    let scores = gridtally::fairshare::FairshareMethod::fair_tree()
        .scores(&tree, &usage)
        .unwrap();
    assert_eq!(scores[user.index()].factor, Some(1.0));
}
