//! When a factor is back at a threshold.

use gridtally::fairshare::recovery::{FairshareState, ShareRecovery, flat_recovery_days, hundredths_of_days};
use gridtally::fairshare::{
    AssociationTree, ChainedDecay, DecaySteps, FairshareAlgorithm, FairshareMethod, HalfLife, RawShares, TreeUsage,
    UsageDecay,
};
use proptest::prelude::*;

use super::properties::any_used_tree;
use super::{account, assert_near, id, score, tree, usage, user};

fn classic() -> FairshareMethod {
    FairshareMethod::new(FairshareAlgorithm::Classic)
}

/// Two labs with equal shares; ann used three times as much as bob.
fn labs() -> (AssociationTree, TreeUsage) {
    let tree = tree(&[
        account("root", None, 1),
        account("a", Some("root"), 50),
        account("b", Some("root"), 50),
        user("a", "ann", RawShares::Parent),
        user("b", "bob", RawShares::Parent),
    ]);
    let usage = usage(&tree, &[("a", "ann", 3_000_000), ("b", "bob", 1_000_000)]);
    (tree, usage)
}

fn days(method: FairshareMethod, decay: ChainedDecay, user: [&str; 2], threshold: f64) -> Option<f64> {
    let (tree, usage) = labs();
    let state = FairshareState {
        tree: &tree,
        usage: &usage,
        method: &method,
        decay,
        at_s: 0,
    };
    state.recovery_days(id(&tree, user[0], user[1]), threshold).unwrap()
}

#[test]
fn an_idle_association_is_back_at_a_half_when_its_usage_is_that_of_the_others() {
    let continuous = ChainedDecay::Continuous(HalfLife::SEVEN_DAYS);
    // 3 to 1 becomes 1 to 1 after log2(3) half-lives.
    let expected = 7.0 * 3_f64.log2();
    for of in [["a", "ann"], ["a", ""]] {
        assert_near(days(classic(), continuous, of, 0.5).unwrap(), expected, 1e-6);
    }
    let flat = flat_recovery_days(3_000_000_000_000, 1_000_000_000_000, 0.5, 0.5, continuous, 0);
    assert_near(flat.unwrap(), expected, 1e-9);
    assert_eq!(days(classic(), continuous, ["b", "bob"], 0.5), Some(0.0));
    // All of it would have to be gone.
    assert_eq!(days(classic(), continuous, ["a", "ann"], 1.0), None);
    assert_eq!(flat_recovery_days(3, 1, 0.5, 1.0, continuous, 0), None);
    assert_eq!(days(classic(), continuous, ["a", "ann"], 1.1), None);
    assert_eq!(days(classic(), ChainedDecay::None, ["a", "ann"], 0.5), None);
    assert_eq!(flat_recovery_days(0, 1, 0.5, 1.0, continuous, 0), Some(0.0));
    assert_eq!(flat_recovery_days(3, 1, 0.0, 0.5, continuous, 0), None);
}

#[test]
fn under_steps_it_recovers_at_the_first_calculation_that_is_low_enough() {
    let steps = DecaySteps::new(HalfLife::SEVEN_DAYS, 300, -100).unwrap();
    let decay = ChainedDecay::Steps(steps);
    let found = days(classic(), decay, ["a", "ann"], 0.5).unwrap();
    let second = (found * 86_400.0).round().to_string().parse::<i64>().unwrap();
    assert_eq!((second + 100) % 300, 0, "{second} is an instant of calculation");
    let (tree, before) = labs();
    let factor_at = |second: i64| {
        let left = decay.remaining(0, second);
        let mut usage = TreeUsage::none(&tree);
        let left_e6: i128 = (3e12 * left).round().to_string().parse().unwrap();
        usage.add(id(&tree, "a", "ann"), left_e6).unwrap();
        usage.add(id(&tree, "b", "bob"), 1_000_000_000_000).unwrap();
        score(classic(), &tree, &usage, "a", "ann").factor.unwrap()
    };
    assert!(factor_at(second) >= 0.5 && factor_at(second - 1) < 0.5);
    assert!(score(classic(), &tree, &before, "a", "ann").factor.unwrap() < 0.5);
    assert_near(found, 7.0 * 3_f64.log2(), 0.01);
}

#[test]
fn under_fair_tree_it_recovers_when_it_overtakes() {
    let continuous = ChainedDecay::Continuous(HalfLife::SEVEN_DAYS);
    let fair_tree = FairshareMethod::fair_tree();
    // Two users: bob has 1, ann a half, until both accounts are equal.
    let found = days(fair_tree, continuous, ["a", "ann"], 1.0).unwrap();
    assert_near(found, 7.0 * 3_f64.log2(), 1e-5);
    assert_eq!(days(fair_tree, continuous, ["a", "ann"], 0.5), Some(0.0));
}

/// The closed form of one association.
fn to_shares(method: FairshareMethod, decay: ChainedDecay, of: [&str; 2]) -> Option<ShareRecovery> {
    let (tree, usage) = labs();
    ShareRecovery::of(
        &score(method, &tree, &usage, of[0], of[1]),
        &method,
        UsageDecay::Chained(decay),
        0,
    )
}

#[test]
fn usage_is_no_longer_above_shares_when_a_classic_factor_is_a_half() {
    let continuous = ChainedDecay::Continuous(HalfLife::SEVEN_DAYS);
    let steps = ChainedDecay::Steps(DecaySteps::new(HalfLife::SEVEN_DAYS, 300, -100).unwrap());
    for decay in [continuous, steps] {
        for of in [["a", "ann"], ["a", ""]] {
            let flat = flat_recovery_days(3_000_000_000_000, 1_000_000_000_000, 0.5, 0.5, decay, 0).unwrap();
            let Some(ShareRecovery::WhenIdle(found)) = to_shares(classic(), decay, of) else {
                panic!("{of:?}");
            };
            assert_near(found, flat, 1e-9);
            assert_near(found, days(classic(), decay, of, 0.5).unwrap(), 1e-6);
        }
        assert_eq!(to_shares(classic(), decay, ["b", "bob"]), Some(ShareRecovery::Above));
    }
    // Of two equal accounts 3 of 4 parts become 1 of 2, whatever the rank of the users in them.
    let fair_tree = FairshareMethod::fair_tree();
    let Some(ShareRecovery::WhenIdle(found)) = to_shares(fair_tree, continuous, ["a", ""]) else {
        panic!("an account of Fair Tree recovers");
    };
    assert_near(found, 7.0 * 3_f64.log2(), 1e-9);
    assert_eq!(
        to_shares(classic(), ChainedDecay::None, ["a", ""]),
        Some(ShareRecovery::Never)
    );
    let oblivious = FairshareMethod::new(FairshareAlgorithm::DepthOblivious);
    assert_eq!(to_shares(oblivious, continuous, ["a", ""]), None);
    let halving = UsageDecay::HalvingSteps(HalfLife::SEVEN_DAYS);
    let (tree, usage) = labs();
    let of_a = score(classic(), &tree, &usage, "a", "");
    assert_eq!(ShareRecovery::of(&of_a, &classic(), halving, 0), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A simulation in hundredths of a day: what is idle shrinks, the scores of the complete tree are computed again, and usage
    /// is no longer above shares in the hundredth that the closed form names and not in the one before.
    #[test]
    fn the_closed_form_of_recovery_is_the_hundredth_of_a_day_that_a_simulation_finds(
        (_, tree, usage) in any_used_tree(),
        half_life_day in 1_u32..40,
    ) {
        let half_life = HalfLife::of_seconds(half_life_day * 86_400).unwrap();
        let decay = ChainedDecay::Continuous(half_life);
        for method in [classic(), FairshareMethod::fair_tree()] {
            let scores = method.scores(&tree, &usage).unwrap();
            // The root is granted nothing.
            for of in scores.iter().skip(1) {
                // The simulation is of usage in its own unit: what is nearly at its shares is not decided by it.
                let excess = |left: f64| {
                    let mut idle = TreeUsage::none(&tree);
                    for (id, _) in tree.iter() {
                        let own = usage.own_e6(id).unwrap();
                        let factor = if tree.is_within(id, of.id) { left } else { 1.0 };
                        let left_e6: i128 = (super::real_of(own) * factor).round().to_string().parse().unwrap();
                        idle.add(id, left_e6).unwrap();
                    }
                    let score = method.scores(&tree, &idle).unwrap()[of.id.index()];
                    score.effective_usage - score.norm_shares
                };
                let left_after = |hundredths: i128| (-(super::real_of(hundredths) / 100.0) / f64::from(half_life_day)).exp2();
                match ShareRecovery::of(of, &method, UsageDecay::Chained(decay), 0).unwrap() {
                    ShareRecovery::Above => prop_assert!(excess(1.0) <= 1e-6),
                    // A millionth: with nothing at all there are no parts of usage.
                    ShareRecovery::Never => prop_assert!(excess(1e-6) >= -1e-9, "{of:?}"),
                    ShareRecovery::WhenIdle(days) => {
                        let found = hundredths_of_days(days).unwrap();
                        prop_assert!(excess(left_after(found)) <= 1e-7, "{of:?} {days}");
                        prop_assert!(found == 0 || excess(left_after(found - 1)) >= -1e-7, "{of:?} {days}");
                    }
                }
            }
        }
    }
}
