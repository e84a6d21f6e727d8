//! When a factor is back at a threshold.

use gridtally::fairshare::recovery::{FairshareState, flat_recovery_days};
use gridtally::fairshare::{
    AssociationTree, ChainedDecay, DecaySteps, FairshareAlgorithm, FairshareMethod, HalfLife, RawShares, TreeUsage,
};

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
