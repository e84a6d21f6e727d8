//! FS-10 to FS-23: FASRC's page, with its own numbers.

use gridtally::fairshare::two_term::TwoTermPriority;
use gridtally::fairshare::{
    AssociationScore, AssociationTree, ChainedDecay, FairshareAlgorithm, FairshareMethod, FairshareRegime, HalfLife,
    RawShares, TreeUsage, UsageDecay, UsageRule, UsageSegment,
};
use gridtally::time::SecondSpan;

use super::{UNIT_E6, account, assert_near, id, score, tree, usage, user};

const DAY_S: i64 = 86_400;

/// The five users of `test_lab` with their usage, as the page prints them.
const USERS: [(&str, &str, i128); 5] = [
    ("test_lab", "user1", 8_202_875),
    ("test_lab", "user2", 248_820),
    ("test_lab", "user3", 163_318),
    ("test_lab", "user4", 18_901_027),
    ("test_lab", "user5", 18_050_039),
];

/// `test_lab`, and all other labs as one.
fn fasrc() -> (AssociationTree, TreeUsage) {
    let mut rows = vec![
        account("root", None, 1),
        account("test_lab", Some("root"), 244),
        account("others", Some("root"), 179_017 - 244),
        user("others", "everyone", RawShares::Parent),
    ];
    rows.extend(USERS.map(|(account, name, _)| user(account, name, RawShares::Parent)));
    let tree = tree(&rows);
    let mut of_users = USERS.to_vec();
    of_users.push(("others", "everyone", 79_626_000_000));
    let usage = usage(&tree, &of_users);
    (tree, usage)
}

fn classic() -> FairshareMethod {
    FairshareMethod::new(FairshareAlgorithm::Classic)
}

fn of(account: &str, user: &str) -> AssociationScore {
    let (tree, usage) = fasrc();
    score(classic(), &tree, &usage, account, user)
}

#[test]
fn fs_10_users_with_parent_for_shares_have_the_columns_of_their_account() {
    let lab = of("test_lab", "");
    for (account, user, usage_s) in USERS {
        let user = of(account, user);
        assert_eq!(user.usage_e6, usage_s * UNIT_E6);
        assert_eq!(
            (user.norm_shares, user.effective_usage, user.factor),
            (lab.norm_shares, lab.effective_usage, lab.factor)
        );
    }
    assert_eq!(
        format!("{:.6} {:.6}", lab.norm_shares, lab.effective_usage),
        "0.001363 0.000572"
    );
}

#[test]
fn fs_11_norm_shares_are_the_account_over_all_accounts() {
    assert_near(of("test_lab", "").norm_shares, 244.0 / 179_017.0, 1e-15);
    assert_near(
        of("test_lab", "").norm_shares + of("others", "").norm_shares,
        1.0,
        1e-15,
    );
}

#[test]
fn fs_12_usage_of_an_account_is_exactly_the_sum_of_its_users() {
    // The page prints 45 566 082, three more: every user's number is truncated (FS-I6).
    let sum: i128 = USERS.iter().map(|(_, _, usage_s)| usage_s).sum();
    assert_eq!(of("test_lab", "").usage_e6, sum * UNIT_E6);
    assert!((0..=5).contains(&(45_566_082 - sum)));
}

#[test]
fn fs_13_effective_usage_of_an_account_under_root_is_its_part_of_the_cluster() {
    let (lab, root) = (of("test_lab", ""), of("root", ""));
    assert_near(
        lab.effective_usage,
        45_566_079.0 / (79_626_000_000.0 + 45_566_079.0),
        1e-15,
    );
    assert_eq!(root.usage_e6, (79_626_000_000 + 45_566_079) * UNIT_E6);
}

#[test]
fn fs_14_a_factor_is_two_to_the_negative_usage_over_shares() {
    let regime = |usage: f64, shares: f64| 2_f64.powf(-usage / shares);
    // The printed columns give .747599; only the unrounded ratio gives the printed factor (FS-I7).
    let printed = regime(0.000_572, 0.001_363);
    assert_near(printed, 0.747_599, 5e-7);
    assert!((0.747_330..=0.747_869).contains(&0.747_627));
    let lab = of("test_lab", "");
    assert!((0.747_330..=0.747_869).contains(&lab.factor.unwrap()));
    assert_near(regime(0.419_609_4, 1.0), 0.747_627, 5e-7);
    assert_near(lab.factor.unwrap(), regime(lab.effective_usage, lab.norm_shares), 1e-12);
    // f = .75 is a usage of .415 of the share; a usage of a half is .7071 (FS-I4).
    assert_near(regime(1.0, 2.0), std::f64::consts::FRAC_1_SQRT_2, 1e-15);
    assert_near(-0.75_f64.log2(), 0.415, 5e-4);
    assert_near(regime(2.0, 1.0), 0.25, 0.0);
}

#[test]
fn fs_15_five_regimes_of_usage_against_shares() {
    let cases = [
        (0.0, FairshareRegime::Unused, "unused"),
        (0.1, FairshareRegime::UnderUsed, "under-used"),
        (0.25, FairshareRegime::Average, "average"),
        (0.5, FairshareRegime::OverUsed, "over-used"),
        (25.0, FairshareRegime::Exhausted, "exhausted"),
    ];
    for (usage, regime, word) in cases {
        assert_eq!(FairshareRegime::of_usage(usage, 0.25), Some(regime), "{usage}");
        assert_eq!(regime.as_str(), word);
    }
    // At six decimals, as sshare prints a factor.
    for (factor, regime) in [
        (1.0, FairshareRegime::Unused),
        (0.999_999_6, FairshareRegime::Unused),
        (0.999_999_4, FairshareRegime::UnderUsed),
        (0.500_000_4, FairshareRegime::Average),
        (0.500_000_6, FairshareRegime::UnderUsed),
        (0.499_999_4, FairshareRegime::OverUsed),
        (0.000_000_6, FairshareRegime::OverUsed),
        (0.000_000_4, FairshareRegime::Exhausted),
        (0.0, FairshareRegime::Exhausted),
    ] {
        assert_eq!(FairshareRegime::of_factor(factor), Some(regime), "{factor}");
    }
    assert_eq!(FairshareRegime::of_usage(0.0, 0.0), Some(FairshareRegime::Exhausted));
    for nonsense in [-0.1, 1.1, f64::NAN] {
        assert_eq!(FairshareRegime::of_factor(nonsense), None);
    }
}

#[test]
fn fs_17_fairshare_priority_is_twenty_million_times_the_factor() {
    for (factor, expected) in [(1.0, 20_000_000), (0.5, 10_000_000), (0.747_627, 14_952_540), (0.0, 0)] {
        assert_eq!(TwoTermPriority::FASRC.score(factor, 0).unwrap().fairshare, expected);
    }
    assert!(TwoTermPriority::FASRC.score(1.5, 0).is_err());
}

#[test]
fn fs_18_age_priority_grows_for_seven_days_and_then_stays() {
    let cases = [
        (DAY_S * 7 / 2, 5_000_000),
        (7 * DAY_S, 10_000_000),
        (9 * DAY_S, 10_000_000),
        (-5, 0),
    ];
    for (waiting_s, expected) in cases {
        assert_eq!(TwoTermPriority::FASRC.score(0.3, waiting_s).unwrap().age, expected);
    }
}

#[test]
fn fs_19_a_factor_of_zero_after_seven_days_equals_a_factor_of_a_half_just_submitted() {
    let total = |factor, waiting_s| TwoTermPriority::FASRC.score(factor, waiting_s).unwrap().total;
    assert_eq!(total(0.0, 7 * DAY_S), 10_000_000);
    assert_eq!(total(0.5, 0), 10_000_000);
}

#[test]
fn fs_20_the_priority_is_the_sum_of_both_terms() {
    let of = TwoTermPriority::FASRC.score(0.747_627, DAY_S * 7 / 2).unwrap();
    assert_eq!(of.total, 19_952_540);
    assert_eq!(of.total, of.fairshare + of.age);
}

#[test]
fn fs_21_over_use_never_stops_at_a_limit_and_idle_time_banks_credit() {
    let (tree, _) = fasrc();
    let mut last = 1.0;
    for usage_s in [0_i128, 1_000_000, 100_000_000, 200_000_000, 1_000_000_000] {
        let usage = usage(
            &tree,
            &[("test_lab", "user1", usage_s), ("others", "everyone", 79_626_000_000)],
        );
        let factor = score(classic(), &tree, &usage, "test_lab", "").factor.unwrap();
        assert!(
            factor > 0.0 && (factor < last || usage_s == 0),
            "{usage_s}: {factor} after {last}"
        );
        last = factor;
    }
    let decay = ChainedDecay::Continuous(HalfLife::SEVEN_DAYS);
    assert_near(decay.remaining(0, 21 * DAY_S), 0.125, 1e-15);
}

#[test]
fn fs_22_a_user_of_several_accounts_is_charged_per_job() {
    let tree = tree(&[
        account("root", None, 1),
        account("a", Some("root"), 1),
        account("b", Some("root"), 1),
        user("a", "alice", RawShares::Parent),
        user("b", "alice", RawShares::Parent),
    ]);
    let of_a = tree.of_job("a", "alice", "cpu").unwrap();
    let of_b = tree.of_job("b", "alice", "cpu").unwrap();
    assert_ne!(of_a, of_b);
    let mut usage = TreeUsage::none(&tree);
    usage.add(of_a, 7).unwrap();
    let totals = usage.totals_e6(&tree).unwrap();
    assert_eq!(totals[id(&tree, "a", "").index()], 7);
    assert_eq!(totals[id(&tree, "b", "").index()], 0);
    assert_eq!(tree.user_n(), 2);
}

#[test]
fn fs_23_a_history_of_days_is_chained_and_equals_each_day_computed_from_the_jobs() {
    let rule = UsageRule::of_decay(UsageDecay::continuous(HalfLife::SEVEN_DAYS));
    let jobs: Vec<UsageSegment> = (0..40)
        .map(|number: i64| UsageSegment {
            span: SecondSpan {
                start_s: number * 31_337,
                end_s: number * 31_337 + 1000 * (number % 90 + 1),
            },
            rate_e9: i128::from(number % 7 + 1) * 1_250_000_000,
            factor_e9: 1_000_000_000,
        })
        .collect();
    let mut chained_e6 = 0;
    for day in 1..30_i64 {
        let (from_s, to_s) = ((day - 1) * DAY_S, day * DAY_S);
        chained_e6 = rule.aged_e6(chained_e6, from_s, to_s).unwrap().unwrap();
        chained_e6 += jobs
            .iter()
            .map(|job| rule.added_e6(job, from_s, to_s).unwrap())
            .sum::<i128>();
        let direct_e6: i128 = jobs.iter().map(|job| rule.usage_e6(job, to_s).unwrap()).sum();
        let rounded_n = i128::from(day) * 41;
        assert!(
            (chained_e6 - direct_e6).abs() <= rounded_n,
            "day {day}: {chained_e6} {direct_e6}"
        );
        assert!(day < 2 || chained_e6 > 0);
    }
}

/// The seed states no formula: what decays is Slurm's usage, and the same work counts less the longer ago it was.
#[test]
fn cc_26_of_equal_work_the_older_leaves_the_higher_priority() {
    let tree = tree(&[
        account("root", None, 1),
        account("early", Some("root"), 1),
        account("late", Some("root"), 1),
        user("early", "ann", RawShares::Number(1)),
        user("late", "bob", RawShares::Number(1)),
    ]);
    let at_s = 28 * DAY_S;
    let work = |day: i64| UsageSegment {
        span: SecondSpan {
            start_s: day * DAY_S,
            end_s: (day + 1) * DAY_S,
        },
        rate_e9: 4_000_000_000,
        factor_e9: 1_000_000_000,
    };
    let priorities = |decay: UsageDecay| {
        let rule = UsageRule::of_decay(decay);
        let mut usage = TreeUsage::none(&tree);
        for (account, user, day) in [("early", "ann", 0), ("late", "bob", 27)] {
            let usage_e6 = rule.usage_e6(&work(day), at_s).unwrap();
            usage.add(id(&tree, account, user), usage_e6).unwrap();
        }
        [("early", "ann"), ("late", "bob")].map(|(account, user)| {
            let factor = score(classic(), &tree, &usage, account, user).factor.unwrap();
            TwoTermPriority::FASRC.score(factor, 0).unwrap().total
        })
    };
    let [early, late] = priorities(UsageDecay::continuous(HalfLife::SEVEN_DAYS));
    assert!(early > 10_000_000 && late < 10_000_000, "{early} {late}");
    // Without decay both have used their share.
    assert_eq!(priorities(UsageDecay::NONE), [10_000_000, 10_000_000]);
}
