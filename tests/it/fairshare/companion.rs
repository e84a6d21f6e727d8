//! SL-08 to SL-10: worked examples of Slurm's own documentation.

use std::num::NonZeroU16;

use gridtally::fairshare::{
    AssociationTree, FairshareAlgorithm, FairshareMethod, LevelFairshare, RawShares, TieRule, TreeUsage,
};

use super::{account, assert_near, rank, score, tree, usage, user};

/// A40(B30, C10) and D60(E25, F35), in percent of the cluster; 30 % are used by somebody without shares.
fn hierarchy() -> (AssociationTree, TreeUsage) {
    let one = RawShares::Number(1);
    let tree = tree(&[
        account("root", None, 1),
        account("a", Some("root"), 40),
        account("b", Some("a"), 30),
        account("c", Some("a"), 10),
        account("d", Some("root"), 60),
        account("e", Some("d"), 25),
        account("f", Some("d"), 35),
        user("root", "rest", RawShares::Number(0)),
        user("b", "u1", one),
        user("c", "u2", one),
        user("c", "u3", one),
        user("e", "u4", one),
        user("f", "u5", one),
    ]);
    let usage = usage(
        &tree,
        &[
            ("root", "rest", 300),
            ("b", "u1", 200),
            ("c", "u2", 250),
            ("e", "u4", 250),
        ],
    );
    (tree, usage)
}

#[test]
fn sl_08_classic_effective_usage_and_factors_of_a_hierarchy() {
    let (tree, usage) = hierarchy();
    let classic = FairshareMethod::new(FairshareAlgorithm::Classic);
    let expected = [
        ("b", "", 0.3875),
        ("c", "", 0.3),
        ("e", "", 0.25),
        ("f", "", 0.25 * 35.0 / 60.0),
        ("b", "u1", 0.3875),
        ("c", "u2", 0.275),
        ("c", "u3", 0.15),
        ("e", "u4", 0.25),
        ("f", "u5", 0.25 * 35.0 / 60.0),
    ];
    for (account, user, effective) in expected {
        let of = score(classic, &tree, &usage, account, user);
        assert_near(of.effective_usage, effective, 1e-12);
    }
    let factors = [
        ("b", "u1", 0.408_479),
        ("c", "u2", 0.022_097),
        ("c", "u3", 0.125),
        ("e", "u4", 0.5),
        ("f", "u5", 0.749_154),
    ];
    for (account, user, factor) in factors {
        let of = score(classic, &tree, &usage, account, user);
        assert_near(of.factor.unwrap(), factor, 5e-7);
        assert_eq!(of.level_fs, LevelFairshare::Blank);
    }
    let root = score(classic, &tree, &usage, "root", "");
    assert_eq!(
        (root.norm_shares, root.effective_usage, root.factor),
        (1.0, 1.0, Some(0.5))
    );
    // Without shares the factor is 0.
    assert_eq!(score(classic, &tree, &usage, "root", "rest").factor, Some(0.0));
}

#[test]
fn sl_09_a_dampening_factor_divides_the_exponent() {
    let (tree, usage) = hierarchy();
    for dampening in [1, 2, 5, 100] {
        let method = FairshareMethod {
            dampening_factor: NonZeroU16::new(dampening).unwrap(),
            ..FairshareMethod::new(FairshareAlgorithm::Classic)
        };
        let of = score(method, &tree, &usage, "c", "u2");
        let exponent = 0.275 / 0.05 / f64::from(dampening);
        assert_near(of.factor.unwrap(), 2_f64.powf(-exponent), 1e-12);
        let fair_tree = FairshareMethod {
            dampening_factor: NonZeroU16::new(dampening).unwrap(),
            ..FairshareMethod::fair_tree()
        };
        assert_eq!(
            fair_tree.scores(&tree, &usage).unwrap(),
            FairshareMethod::fair_tree().scores(&tree, &usage).unwrap()
        );
    }
}

#[test]
fn sl_10_fair_tree_ranks_users_by_level_and_ties_share_a_rank() {
    let one = RawShares::Number(1);
    let tree = tree(&[
        account("root", None, 1),
        account("under", Some("root"), 50),
        account("over", Some("root"), 50),
        user("under", "ann", one),
        user("under", "bea", one),
        user("under", "cid", one),
        user("over", "dan", one),
        user("over", "eve", RawShares::Number(3)),
        user("over", "fay", RawShares::Parent),
    ]);
    let usage = usage(
        &tree,
        &[
            ("under", "ann", 64),
            ("under", "bea", 64),
            ("over", "dan", 112),
            ("over", "eve", 336),
            ("over", "fay", 448),
        ],
    );
    let fair_tree = FairshareMethod::fair_tree();
    let of = |account: &str, user: &str| score(fair_tree, &tree, &usage, account, user);
    // Half of the shares, an eighth of the usage.
    assert_eq!(of("under", "").level_fs, LevelFairshare::Finite(4.0));
    assert_eq!(of("under", "").factor, None);
    assert_eq!(of("under", "cid").level_fs, LevelFairshare::Infinite);
    assert_eq!(of("over", "fay").level_fs, LevelFairshare::Blank);
    assert_near(of("over", "fay").norm_shares, 0.5, 0.0);
    let sixths = |account: &str, user: &str| rank(of(account, user).factor, 6.0);
    // cid used nothing; ann and bea are tied; fay has no shares of its own and is first in its account; dan and eve have
    // the same shares for their usage.
    assert_eq!(sixths("under", "cid"), 6);
    assert_eq!((sixths("under", "ann"), sixths("under", "bea")), (5, 5));
    assert_eq!(sixths("over", "fay"), 3);
    assert_eq!((sixths("over", "dan"), sixths("over", "eve")), (2, 2));
}

#[test]
fn sl_10_the_first_user_of_a_tied_account_has_the_rank_of_the_last_one_before_it() {
    let one = RawShares::Number(1);
    let tree = tree(&[
        account("root", None, 1),
        account("a", Some("root"), 0),
        account("b", Some("root"), 0),
        user("a", "low", one),
        user("a", "top", RawShares::Number(9)),
        user("b", "low", one),
        user("b", "top", RawShares::Number(4)),
    ]);
    let each = [("a", "low", 10), ("a", "top", 10), ("b", "low", 10), ("b", "top", 10)];
    let usage = usage(&tree, &each);
    let quarters = |ties: TieRule| {
        let method = FairshareMethod::new(FairshareAlgorithm::FairTree { ties });
        each.map(|(account, user, _)| rank(score(method, &tree, &usage, account, user).factor, 4.0))
    };
    assert_eq!(quarters(TieRule::AsCode), [3, 4, 1, 3]);
    // Merged, they are ranked by their level alone: 1.8, 1.6, 0.4, 0.2.
    assert_eq!(quarters(TieRule::AsDocumented), [1, 4, 2, 3]);
}

#[test]
fn accounts_with_parent_for_shares_leave_their_place_to_what_is_in_them() {
    let one = RawShares::Number(1);
    let mut inner = account("inner", Some("lab"), 1);
    inner.shares = RawShares::Parent;
    let tree = tree(&[
        account("root", None, 1),
        account("lab", Some("root"), 30),
        account("other", Some("root"), 70),
        inner,
        user("lab", "ann", one),
        user("inner", "bea", RawShares::Number(3)),
        user("other", "cid", one),
    ]);
    let usage = usage(
        &tree,
        &[("lab", "ann", 60), ("inner", "bea", 40), ("other", "cid", 100)],
    );
    let fair_tree = FairshareMethod::fair_tree();
    let bea = score(fair_tree, &tree, &usage, "inner", "bea");
    // Its level is the one of lab: 1 + 3 shares, 100 of usage.
    assert_near(bea.norm_shares, 0.75, 1e-15);
    assert_near(bea.effective_usage, 0.4, 1e-15);
    let inner = score(fair_tree, &tree, &usage, "inner", "");
    assert_eq!((inner.level_fs, inner.norm_shares), (LevelFairshare::Blank, 0.3));
    let classic = FairshareMethod::new(FairshareAlgorithm::Classic);
    let bea = score(classic, &tree, &usage, "inner", "bea");
    assert_near(bea.norm_shares, 0.3 * 0.75, 1e-15);
    assert_near(bea.effective_usage, 0.2 + (0.5 - 0.2) * 0.75, 1e-15);
}
