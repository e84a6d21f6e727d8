//! The scores of real clusters, column by column.

use std::path::Path;

use gridtally::fairshare::{
    Association, AssociationScore, FairshareAlgorithm, FairshareMethod, LevelFairshare, ListedUsage, RawShares, TieRule,
};

use super::listings::{AssocMgr, SshareRow, assoc_mgr, sshare};
use super::{assert_near, id, rank, score};
use crate::support::collect::shared;

const VARIANTS: &str = "data/slurm/24.11-fairshare-variants";

/// Half of the last digit that is printed, and a little for the two decimals of usage in the listing it is computed from.
const DIGITS: f64 = 1.2e-6;

fn classic() -> FairshareMethod {
    FairshareMethod::new(FairshareAlgorithm::Classic)
}

fn depth_oblivious() -> FairshareMethod {
    FairshareMethod::new(FairshareAlgorithm::DepthOblivious)
}

/// Half of the last digit of usage that the listing prints, relative to an amount.
fn usage_digits(usage_e6: i128) -> f64 {
    0.0051 * 1e6 / usage_e6.to_string().parse::<f64>().unwrap()
}

/// Every column of every row of `sshare -l`, in its order.
fn assert_as_listed(listing: &AssocMgr, rows: &[SshareRow], method: FairshareMethod) {
    let scores = method.scores(&listing.tree, &listing.usage).unwrap();
    assert_eq!(scores.len(), rows.len());
    for (((_, association), score), row) in listing.tree.iter().zip(&scores).zip(rows) {
        let of = format!("{}/{}", row.account, row.user);
        assert_eq!(association.key.account, row.account, "{of}");
        assert_eq!(association.key.user.as_deref().unwrap_or_default(), row.user, "{of}");
        assert_eq!(association.depth, row.depth, "{of}");
        assert_shares(association, score, row);
        assert_usage(score, row);
        let parent_e6 = association
            .parent
            .and_then(|parent| scores.get(parent.index()))
            .map_or(score.usage_e6, |parent| parent.usage_e6);
        assert_near(
            score.effective_usage,
            row.number("EffectvUsage").unwrap(),
            DIGITS + usage_digits(parent_e6.max(1)),
        );
        assert_level(score, row, parent_e6);
        match (score.factor, row.number("FairShare")) {
            (Some(factor), Some(printed)) => assert_near(factor, printed, 6e-6),
            (factor, printed) => assert_eq!(factor, printed, "{of}"),
        }
    }
}

fn assert_shares(association: &Association, score: &AssociationScore, row: &SshareRow) {
    match (association.shares, row.text("RawShares")) {
        (RawShares::Parent, printed) => assert_eq!(printed, Some("parent")),
        (RawShares::Number(_), None) => assert!(association.parent.is_none(), "only the root prints no shares"),
        (RawShares::Number(number), Some(printed)) => assert_eq!(number.to_string(), printed),
    }
    assert_near(score.norm_shares, row.number("NormShares").unwrap(), 5.1e-7);
}

fn assert_usage(score: &AssociationScore, row: &SshareRow) {
    // It prints whole billing seconds, truncated; the sum of rounded users is off by their last digits.
    let printed: i128 = row.text("RawUsage").unwrap().parse().unwrap();
    let between = printed * 1_000_000 - 50_000..=printed * 1_000_000 + 1_050_000;
    assert!(between.contains(&score.usage_e6), "{}: {}", row.account, score.usage_e6);
    if let Some(printed) = row.number("NormUsage") {
        assert_near(score.norm_usage, printed, DIGITS);
    }
}

fn assert_level(score: &AssociationScore, row: &SshareRow, parent_e6: i128) {
    match (score.level_fs, row.text("LevelFS")) {
        (LevelFairshare::Blank, printed) => assert_eq!(printed, None, "{}/{}", row.account, row.user),
        (LevelFairshare::Infinite, printed) => assert_eq!(printed, Some("inf")),
        (LevelFairshare::Finite(level_fs), printed) => {
            let printed: f64 = printed.unwrap().parse().unwrap();
            let relative = usage_digits(score.usage_e6.max(1)) + usage_digits(parent_e6.max(1));
            assert_near(level_fs, printed, 1e-6 + printed * relative);
        }
    }
}

fn assert_variant(folder: &Path, method: FairshareMethod) {
    let listing = assoc_mgr(&folder.join("assoc_mgr.txt"));
    assert_as_listed(&listing, &sshare(&folder.join("sshare_l_P.txt")), method);
}

#[test]
fn fair_tree_as_three_real_clusters_list_it() {
    let Some(folder) = shared("fair_tree_as_three_real_clusters_list_it", VARIANTS) else {
        return;
    };
    for variant in ["1-fairtree", "2-fairtree-tied-accounts-share0", "7-fairtree-quiet"] {
        assert_variant(&folder.join(variant), FairshareMethod::fair_tree());
    }
}

#[test]
fn fair_tree_of_22_05_as_listed() {
    let Some(folder) = shared("fair_tree_of_22_05_as_listed", "data/slurm/22.05") else {
        return;
    };
    let listing = assoc_mgr(&folder.join("scontrol_assoc_mgr.txt"));
    assert_as_listed(
        &listing,
        &sshare(&folder.join("sshare_l_P.txt")),
        FairshareMethod::fair_tree(),
    );
}

#[test]
fn classic_and_depth_oblivious_as_quiet_clusters_list_them() {
    let Some(folder) = shared("classic_and_depth_oblivious_as_quiet_clusters_list_them", VARIANTS) else {
        return;
    };
    assert_variant(&folder.join("5-classic-quiet"), classic());
    assert_variant(&folder.join("6-depth-oblivious-quiet"), depth_oblivious());
}

/// Between the quiet variants no job ran, so that all usage shrank by one factor and its parts are the same: the usage of
/// one of them under the algorithm of another is what the other one printed, but for `RawUsage`.
#[test]
fn a_what_if_between_quiet_variants_is_what_the_other_one_lists() {
    let Some(folder) = shared("a_what_if_between_quiet_variants_is_what_the_other_one_lists", VARIANTS) else {
        return;
    };
    let variants = [
        ("5-classic-quiet", classic()),
        ("6-depth-oblivious-quiet", depth_oblivious()),
        ("7-fairtree-quiet", FairshareMethod::fair_tree()),
    ];
    for (from, _) in variants {
        let listing = assoc_mgr(&folder.join(from).join("assoc_mgr.txt"));
        for (to, method) in variants {
            let rows = sshare(&folder.join(to).join("sshare_l_P.txt"));
            let scores = method.scores(&listing.tree, &listing.usage).unwrap();
            for (((_, association), score), row) in listing.tree.iter().zip(&scores).zip(&rows) {
                assert_shares(association, score, row);
                let parent_e6 = association
                    .parent
                    .and_then(|parent| scores.get(parent.index()))
                    .map_or(score.usage_e6, |parent| parent.usage_e6);
                let digits = DIGITS + usage_digits(parent_e6.max(1));
                assert_near(score.effective_usage, row.number("EffectvUsage").unwrap(), digits);
                if let Some(printed) = row.number("NormUsage") {
                    assert_near(score.norm_usage, printed, digits);
                }
                assert_level(score, row, parent_e6);
                match (score.factor, row.number("FairShare")) {
                    // Usage aged by seconds between the two listings, which the classic formula takes into its exponent.
                    (Some(factor), Some(printed)) => assert_near(factor, printed, 2e-5),
                    (factor, printed) => assert_eq!(factor, printed, "{from} to {to}"),
                }
            }
        }
    }
}

#[test]
fn sl_10_tied_accounts_of_a_real_cluster_are_not_merged() {
    let Some(folder) = shared("sl_10_tied_accounts_of_a_real_cluster_are_not_merged", VARIANTS) else {
        return;
    };
    let listing = assoc_mgr(&folder.join("2-fairtree-tied-accounts-share0/assoc_mgr.txt"));
    let merged = FairshareMethod::new(FairshareAlgorithm::FairTree {
        ties: TieRule::AsDocumented,
    });
    let ninths = |method: FairshareMethod| {
        [("atlas", "bob"), ("atlas", "alice"), ("cms", "dave"), ("cms", "carol")]
            .map(|(account, user)| rank(score(method, &listing.tree, &listing.usage, account, user).factor, 9.0))
    };
    assert_eq!(ninths(FairshareMethod::fair_tree()), [7, 6, 6, 4]);
    assert_eq!(ninths(merged), [5, 4, 7, 6]);
}

/// While a job ran, accounts were listed as they were at the start of the cycle, and users as they are; depth-oblivious also
/// with siblings of the cycle before. From the cluster's own usage at these instants every column is as it printed it.
#[test]
fn rows_of_accounts_lag_one_cycle_behind_users_while_jobs_run() {
    let Some(folder) = shared("rows_of_accounts_lag_one_cycle_behind_users_while_jobs_run", VARIANTS) else {
        return;
    };
    let snapshot = |name: &str| assoc_mgr(&folder.join(format!("decay-snapshots/{name}.assoc"))).usage;
    let cases = [
        ("3-classic", snapshot("1795227674"), snapshot("1795227614"), classic()),
        (
            "4-depth-oblivious",
            snapshot("1795227734"),
            assoc_mgr(&folder.join("3-classic/assoc_mgr.txt")).usage,
            depth_oblivious(),
        ),
    ];
    for (variant, before, earlier, method) in cases {
        let now = assoc_mgr(&folder.join(variant).join("assoc_mgr.txt"));
        let usage = ListedUsage {
            calculated: now.usage.clone(),
            now: now.usage,
            before,
            earlier,
        };
        let scores = method.listed_scores(&now.tree, &usage).unwrap();
        let rows = sshare(&folder.join(variant).join("sshare_l_P.txt"));
        assert_eq!(scores.len(), rows.len());
        for (score, row) in scores.iter().zip(&rows).skip(1) {
            let of = format!("{variant} {}/{}", row.account, row.user);
            let near = |is: f64, column: &str, tolerance: f64| {
                let printed = row.number(column).unwrap();
                assert!(
                    (is - printed).abs() <= tolerance,
                    "{of} {column}: {is} is not {printed}"
                );
            };
            near(score.norm_shares, "NormShares", 5.1e-7);
            near(score.norm_usage, "NormUsage", DIGITS);
            // A waiting job of erin had been computed before alice was listed: of both users of that account the order is the
            // other one.
            let is_of_waiting = variant == "4-depth-oblivious" && row.account == "genomics" && !row.user.is_empty();
            let (of_usage, of_factor) = if is_of_waiting { (2.6e-5, 6e-4) } else { (DIGITS, 6e-6) };
            near(score.effective_usage, "EffectvUsage", of_usage);
            near(score.factor.unwrap(), "FairShare", of_factor);
        }
        // Of one instant it would not be what was printed.
        let of_now = method.scores(&now.tree, &usage.now).unwrap();
        let differing = of_now.iter().zip(&rows).filter(|(score, row)| {
            let printed = row.number("FairShare").unwrap();
            (score.factor.unwrap() - printed).abs() > 1e-3
        });
        assert!(differing.count() >= 8, "{variant}");
    }
}

#[test]
fn a_real_tree_has_every_association_where_sshare_lists_it() {
    let Some(folder) = shared("a_real_tree_has_every_association_where_sshare_lists_it", VARIANTS) else {
        return;
    };
    let listing = assoc_mgr(&folder.join("1-fairtree/assoc_mgr.txt"));
    let tree = &listing.tree;
    assert_eq!(tree.user_n(), 9);
    assert_eq!(tree.of_job("cms", "dave", "cpu"), Some(id(tree, "cms", "dave")));
    assert_eq!(tree.of_job("cms", "alice", "cpu"), None);
    assert!(tree.is_within(id(tree, "cms", "dave"), id(tree, "physics", "")));
    assert!(!tree.is_within(id(tree, "cms", "dave"), id(tree, "bio", "")));
}
