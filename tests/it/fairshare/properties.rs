//! What holds for any tree, any jobs and any decay.

use gridtally::fairshare::{
    AssociationTree, CalculationTimes, ChainedDecay, DecaySteps, FairshareAlgorithm, FairshareMethod, HalfLife,
    RawShares, TieRule, TreeRow, TreeUsage, UsageDecay, UsageReset, UsageRule, UsageSegment,
};
use gridtally::time::{SecondSpan, Zone};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{account, tree, user};

const METHODS: [FairshareAlgorithm; 4] = [
    FairshareAlgorithm::FairTree { ties: TieRule::AsCode },
    FairshareAlgorithm::FairTree {
        ties: TieRule::AsDocumented,
    },
    FairshareAlgorithm::Classic,
    FairshareAlgorithm::DepthOblivious,
];

/// Shares, and none of its own for 0.
fn shares(number: u32) -> RawShares {
    match number {
        0 => RawShares::Parent,
        number => RawShares::Number(number - 1),
    }
}

/// Accounts each under an earlier one, and users in them.
fn any_rows() -> impl Strategy<Value = Vec<TreeRow>> {
    let accounts = vec((any::<prop::sample::Index>(), 0_u32..60), 1..8);
    let users = vec((any::<prop::sample::Index>(), 0_u32..60), 1..12);
    (accounts, users).prop_map(|(accounts, users)| {
        let mut names = vec!["root".to_owned()];
        let mut rows = vec![account("root", None, 1)];
        for (number, (parent, of)) in accounts.into_iter().enumerate() {
            let name = format!("a{number}");
            let mut row = account(&name, Some(names[parent.index(names.len())].as_str()), 1);
            row.shares = shares(of);
            rows.push(row);
            names.push(name);
        }
        for (number, (of_account, of)) in users.into_iter().enumerate() {
            let name = &names[of_account.index(names.len())];
            rows.push(user(name, &format!("u{number}"), shares(of)));
        }
        rows
    })
}

/// A tree with usage of its users.
pub(super) fn any_used_tree() -> impl Strategy<Value = (Vec<TreeRow>, AssociationTree, TreeUsage)> {
    (any_rows(), vec(0_i128..5_000, 12)).prop_map(|(rows, amounts)| {
        let tree = tree(&rows);
        let mut usage = TreeUsage::none(&tree);
        let users = tree.iter().filter(|(_, association)| association.key.is_user());
        for ((id, _), amount) in users.zip(amounts) {
            usage.add(id, amount.saturating_sub(500).max(0) * 1_000_000).unwrap();
        }
        (rows, tree, usage)
    })
}

fn any_decay() -> impl Strategy<Value = ChainedDecay> {
    let half_life = || (1_u32..2_000_000).prop_map(|seconds| HalfLife::of_seconds(seconds).unwrap());
    prop_oneof![
        Just(ChainedDecay::None),
        half_life().prop_map(ChainedDecay::Continuous),
        (half_life(), 1_u32..2000, -500_i64..500)
            .prop_map(|(half_life, period_s, anchor_s)| DecaySteps::new(half_life, period_s, anchor_s).unwrap())
            .prop_map(ChainedDecay::Steps),
    ]
}

fn any_job() -> impl Strategy<Value = UsageSegment> {
    (0_i64..2_000_000, 0_i64..500_000, 0_i128..100_000_000_000, 0_i128..3).prop_map(
        |(start_s, length_s, rate_e9, factor)| UsageSegment {
            span: SecondSpan {
                start_s,
                end_s: start_s + length_s,
            },
            rate_e9,
            factor_e9: factor * 500_000_000,
        },
    )
}

fn any_rule() -> impl Strategy<Value = UsageRule> {
    let resets = prop::sample::select(vec![UsageReset::None, UsageReset::Daily, UsageReset::Weekly]);
    // Calculations of which one comes after midnight, and some that are not known.
    let calculations = prop::sample::select(vec![
        None,
        CalculationTimes::new(420, 100),
        CalculationTimes::new(86_000, 7),
    ]);
    (any_decay(), resets, calculations).prop_map(|(decay, reset, calculations)| UsageRule {
        decay: UsageDecay::Chained(decay),
        reset,
        zone: Zone::utc(),
        calculations,
        runs: None,
    })
}

fn float(number: i128) -> f64 {
    number.to_string().parse().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn decay_composes(decay in any_decay(), mut at in [0_i64..3_000_000, 0_i64..3_000_000, 0_i64..3_000_000]) {
        at.sort_unstable();
        let at_once = decay.remaining(at[0], at[2]);
        let in_steps = decay.remaining(at[0], at[1]) * decay.remaining(at[1], at[2]);
        prop_assert!((at_once - in_steps).abs() <= 1e-9 * at_once + 1e-300);
        prop_assert!((0.0..=1.0).contains(&at_once));
    }

    #[test]
    fn usage_aged_plus_what_was_added_is_usage(rule in any_rule(), job in any_job(), mut at in [0_i64..3_000_000, 0_i64..3_000_000]) {
        at.sort_unstable();
        let before = rule.usage_e6(&job, at[0]).unwrap();
        let aged = rule.aged_e6(before, at[0], at[1]).unwrap().unwrap();
        let chained = aged + rule.added_e6(&job, at[0], at[1]).unwrap();
        let direct = rule.usage_e6(&job, at[1]).unwrap();
        prop_assert!((chained - direct).abs() <= 3 + direct / 1_000_000_000, "{} {}", chained, direct);
    }

    #[test]
    fn usage_is_never_more_than_was_run_and_decays(rule in any_rule(), job in any_job(), at_s in 0_i64..3_000_000) {
        let run = SecondSpan { start_s: i64::MIN, end_s: at_s }.within(job.span);
        let seconds = if run.is_empty() { 0 } else { run.length_s() };
        let most = float(job.rate_e9 * job.factor_e9) * float(i128::from(seconds)) / 1e12;
        let usage = rule.usage_e6(&job, at_s).unwrap();
        prop_assert!(usage >= 0 && float(usage) <= most * (1.0 + 1e-9) + 1.0, "{} of {}", usage, most);
        let after_s = job.span.end_s.max(at_s);
        let later = rule.usage_e6(&job, after_s + 100_000).unwrap();
        let latest = rule.usage_e6(&job, after_s + 900_000).unwrap();
        prop_assert!(latest <= later);
    }

    #[test]
    fn a_split_job_is_used_as_one_without_steps(job in any_job(), at_s in 0_i64..3_000_000, cut in 0_i64..500_000, half_life_s in 1_u32..2_000_000) {
        let half_life = HalfLife::of_seconds(half_life_s).unwrap();
        let cut_s = (job.span.start_s + cut).min(job.span.end_s);
        let first = UsageSegment { span: SecondSpan { end_s: cut_s, ..job.span }, ..job };
        let second = UsageSegment { span: SecondSpan { start_s: cut_s, ..job.span }, ..job };
        for decay in [UsageDecay::NONE, UsageDecay::continuous(half_life), UsageDecay::HalvingSteps(half_life)] {
            let rule = UsageRule::of_decay(decay);
            let parts = rule.usage_e6(&first, at_s).unwrap() + rule.usage_e6(&second, at_s).unwrap();
            let whole = rule.usage_e6(&job, at_s).unwrap();
            prop_assert!((parts - whole).abs() <= 2 + whole / 1_000_000_000, "{} {}", parts, whole);
        }
    }

    #[test]
    fn the_order_of_jobs_does_not_matter(rule in any_rule(), jobs in vec(any_job(), 0..20), at_s in 0_i64..3_000_000) {
        let tree = tree(&[account("root", None, 1), user("root", "ann", RawShares::Number(1))]);
        let (ann, _) = tree.iter().next_back().unwrap();
        let total = |jobs: &[UsageSegment]| {
            let mut usage = TreeUsage::none(&tree);
            for job in jobs {
                usage.add(ann, rule.usage_e6(job, at_s).unwrap()).unwrap();
            }
            usage
        };
        let mut reversed = jobs.clone();
        reversed.reverse();
        prop_assert_eq!(total(&jobs), total(&reversed));
    }

    #[test]
    fn the_order_of_rows_does_not_matter((mut rows, first, _) in any_used_tree()) {
        rows.reverse();
        let names = |tree: &AssociationTree| tree.iter().map(|(_, of)| of.key.clone()).collect::<Vec<_>>();
        prop_assert_eq!(names(&tree(&rows)), names(&first));
    }

    #[test]
    fn usage_of_children_adds_up_to_their_account((_, tree, usage) in any_used_tree()) {
        let totals = usage.totals_e6(&tree).unwrap();
        for (id, association) in tree.iter() {
            let children: i128 = association.children.iter().map(|child| totals[child.index()]).sum();
            prop_assert_eq!(totals[id.index()], usage.own_e6(id).unwrap() + children);
        }
    }

    #[test]
    fn scores_are_in_their_limits_and_scaled_shares_change_nothing((rows, used, usage) in any_used_tree(), scale in 2_u32..1000) {
        for algorithm in METHODS {
            let method = FairshareMethod::new(algorithm);
            let scores = method.scores(&used, &usage).unwrap();
            for score in &scores {
                prop_assert!((0.0..=1.0).contains(&score.norm_shares), "{:?}", score);
                prop_assert!((0.0..=1.0).contains(&score.norm_usage), "{:?}", score);
                prop_assert!(score.effective_usage >= 0.0, "{:?}", score);
                prop_assert!(score.factor.is_none_or(|factor| (0.0..=1.0).contains(&factor)), "{:?}", score);
            }
            let mut scaled = rows.clone();
            for row in &mut scaled {
                if let RawShares::Number(number) = &mut row.shares {
                    *number *= scale;
                }
            }
            prop_assert_eq!(&method.scores(&tree(&scaled), &usage).unwrap(), &scores);
        }
    }

    #[test]
    fn fair_tree_ranks_every_user_once_or_ties_it((_, tree, usage) in any_used_tree()) {
        let scores = FairshareMethod::fair_tree().scores(&tree, &usage).unwrap();
        let mut factors = Vec::new();
        for ((_, association), score) in tree.iter().zip(&scores) {
            prop_assert_eq!(score.factor.is_some(), association.key.is_user());
            factors.extend(score.factor);
        }
        factors.sort_by(f64::total_cmp);
        // A rank is never above the number of users from it downwards, and the best one is 1.
        let user_n = float(i128::try_from(factors.len()).unwrap());
        for (below, factor) in factors.iter().enumerate() {
            prop_assert!(*factor * user_n + 1e-9 >= float(i128::try_from(below).unwrap()) + 1.0);
        }
        prop_assert!(factors.last().is_none_or(|best| (best - 1.0).abs() < 1e-12));
    }

    #[test]
    fn whoever_stays_idle_recovers((_, tree, usage) in any_used_tree(), left in 0_i128..100) {
        for algorithm in [FairshareAlgorithm::Classic, FairshareAlgorithm::FairTree { ties: TieRule::AsCode }] {
            let method = FairshareMethod::new(algorithm);
            let before = method.scores(&tree, &usage).unwrap();
            for (idle, association) in tree.iter().filter(|(_, association)| association.key.is_user()) {
                // Whoever has no shares has nothing to recover; parents are scored with their accounts.
                if association.shares.number().is_none_or(|number| number == 0) {
                    continue;
                }
                let mut after = TreeUsage::none(&tree);
                for (id, _) in tree.iter() {
                    let own = usage.own_e6(id).unwrap();
                    after.add(id, if id == idle { own * left / 100 } else { own }).unwrap();
                }
                let after = method.scores(&tree, &after).unwrap();
                let factor = |scores: &[gridtally::fairshare::AssociationScore]| scores[idle.index()].factor.unwrap();
                prop_assert!(factor(&after) >= factor(&before) - 1e-12, "{} {:?}", association.key, algorithm);
            }
        }
    }
}
