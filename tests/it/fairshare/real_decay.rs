//! Usage of a real cluster, read every 20 seconds: half-life 30 minutes, one calculation a minute.

use std::collections::BTreeMap;
use std::path::Path;

use gridtally::fairshare::{ChainedDecay, DecaySteps, HalfLife, UsageDecay, UsageRule, UsageSegment};
use gridtally::time::SecondSpan;

use super::assert_near;
use super::listings::{assoc_mgr, decimal_e6};
use crate::support::collect::shared;

const VARIANTS: &str = "data/slurm/24.11-fairshare-variants";
const ONE_E9: i128 = 1_000_000_000;

/// An instant of calculation: 41 seconds after job 331 began.
const ANCHOR_S: i64 = 1_795_227_345;

/// What two decimals of two listings can hide.
const DIGITS_E6: i128 = 11_000;

fn steps() -> DecaySteps {
    DecaySteps::new(HalfLife::of_seconds(1800).unwrap(), 60, ANCHOR_S).unwrap()
}

fn rule() -> UsageRule {
    UsageRule::of_decay(UsageDecay::steps(steps()))
}

fn usage_of(path: &Path) -> BTreeMap<(String, String), i128> {
    assoc_mgr(path).printed_e6
}

fn of(usage: &BTreeMap<(String, String), i128>, account: &str, user: &str) -> i128 {
    usage[&(account.to_owned(), user.to_owned())]
}

/// A job that is still running.
fn running(start_s: i64, rate_e9: i128) -> UsageSegment {
    UsageSegment {
        span: SecondSpan {
            start_s,
            end_s: i64::MAX,
        },
        rate_e9,
        factor_e9: ONE_E9,
    }
}

#[track_caller]
fn assert_near_e6(is: i128, expected: i128) {
    assert!((is - expected).abs() <= DIGITS_E6, "{is} is not {expected}");
}

#[test]
fn fs_16_one_cycle_of_a_real_cluster_decays_idle_users_and_adds_a_running_job() {
    let Some(folder) = shared("one_cycle_of_a_real_cluster", VARIANTS) else {
        return;
    };
    let before = usage_of(&folder.join("1-fairtree/assoc_mgr.txt"));
    let after = usage_of(&folder.join("2-fairtree-tied-accounts-share0/assoc_mgr.txt"));
    let (from_s, to_s) = (1_795_227_374, 1_795_227_439);
    let rule = rule();
    let aged = |account, user| rule.aged_e6(of(&before, account, user), from_s, to_s).unwrap().unwrap();
    assert_near(
        ChainedDecay::Steps(steps()).remaining(from_s, to_s),
        (1.0 - 0.693_f64 / 1800.0).powi(60),
        1e-12,
    );
    for (account, user) in [
        ("genomics", "alice"),
        ("atlas", "alice"),
        ("atlas", "bob"),
        ("cms", "carol"),
        ("cms", "dave"),
    ] {
        assert_near_e6(aged(account, user), of(&after, account, user));
    }
    // (3474.01 + 16 * 60) * f^60
    let job = running(1_795_227_304, 16 * ONE_E9);
    let added = rule.added_e6(&job, from_s, to_s).unwrap();
    assert_near_e6(aged("chem", "frank") + added, decimal_e6("4332.74"));
    assert_near_e6(aged("chem", "frank") + added, of(&after, "chem", "frank"));
}

#[test]
fn running_jobs_are_added_at_every_calculation_and_only_there() {
    let Some(folder) = shared("running_jobs_are_added_at_every_calculation_and_only_there", VARIANTS) else {
        return;
    };
    let at = |second: i64| usage_of(&folder.join(format!("decay-snapshots/{second}.assoc")));
    let rule = rule();
    let times = [
        1_795_227_314,
        1_795_227_334,
        1_795_227_354,
        1_795_227_374,
        1_795_227_394,
        1_795_227_414,
        1_795_227_434,
    ];
    // Job 331 of frank: 16 CPUs without weights. Job 321 of erin: one CPU and half a GB, 1 + 0.25 / 2.
    let jobs = [
        ("chem", "frank", running(1_795_227_304, 16 * ONE_E9)),
        ("genomics", "erin", running(1_795_227_000, 1_125_000_000)),
    ];
    for (account, user, job) in jobs {
        let first = at(times[0]);
        for pair in times.windows(2) {
            let ([from_s, to_s], (from, to)) = ([pair[0], pair[1]], (at(pair[0]), at(pair[1])));
            let aged = rule.aged_e6(of(&from, account, user), from_s, to_s).unwrap().unwrap();
            assert_near_e6(
                aged + rule.added_e6(&job, from_s, to_s).unwrap(),
                of(&to, account, user),
            );
            // In one step from the first listing: its last digit decays with it.
            let aged = rule
                .aged_e6(of(&first, account, user), times[0], to_s)
                .unwrap()
                .unwrap();
            assert_near_e6(
                aged + rule.added_e6(&job, times[0], to_s).unwrap(),
                of(&to, account, user),
            );
        }
    }
}

#[test]
fn between_listings_usage_of_idle_users_stays_or_decays_by_one_calculation() {
    let Some(folder) = shared("between_listings_usage_of_idle_users_stays", VARIANTS) else {
        return;
    };
    let mut times: Vec<i64> = std::fs::read_dir(folder.join("decay-snapshots"))
        .unwrap()
        .filter_map(|entry| {
            entry
                .unwrap()
                .file_name()
                .to_str()?
                .strip_suffix(".assoc")?
                .parse()
                .ok()
        })
        .collect();
    times.sort_unstable();
    // Later the daemon was started again several times, which shifts the calculations, and before no user was idle.
    times.retain(|second| (1_795_226_913..=1_795_227_434).contains(second));
    assert!(times.len() > 20, "{times:?}");
    let usage: Vec<_> = times
        .iter()
        .map(|second| usage_of(&folder.join(format!("decay-snapshots/{second}.assoc"))))
        .collect();
    let rule = rule();
    let (mut decayed, mut idle) = (0, 0);
    for (times, usage) in times.windows(2).zip(usage.windows(2)) {
        for ((account, user), before_e6) in &usage[0] {
            if user.is_empty() || *before_e6 == 0 {
                continue;
            }
            let aged_e6 = rule.aged_e6(*before_e6, times[0], times[1]).unwrap().unwrap();
            let after_e6 = of(&usage[1], account, user);
            // Jobs only add, and alice never ran a job in genomics.
            assert!(after_e6 >= aged_e6 - DIGITS_E6, "{account}/{user} at {}", times[1]);
            if account == "genomics" && user == "alice" {
                assert_near_e6(aged_e6, after_e6);
            }
            idle += usize::from((after_e6 - aged_e6).abs() <= DIGITS_E6);
            decayed += usize::from(aged_e6 != *before_e6);
        }
    }
    assert!(idle > 100 && decayed > 50, "{idle} idle, {decayed} decayed");
}
