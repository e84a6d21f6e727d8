//! Decay and resets, with numbers that can be checked by hand.

use gridtally::fairshare::{
    CalculationTimes, ChainedDecay, DecaySteps, HalfLife, UsageDecay, UsageReset, UsageRule, UsageSegment,
};
use gridtally::time::instant::parse_instant_s;
use gridtally::time::{SecondSpan, Zone};

use super::assert_near;

const ONE_E9: i128 = 1_000_000_000;
const DAY_S: i64 = 86_400;

fn segment(start_s: i64, end_s: i64) -> UsageSegment {
    UsageSegment {
        span: SecondSpan { start_s, end_s },
        rate_e9: ONE_E9,
        factor_e9: ONE_E9,
    }
}

fn float(number: i128) -> f64 {
    number.to_string().parse().unwrap()
}

#[test]
fn fs_16_after_one_two_and_three_half_lives_a_half_a_quarter_and_an_eighth_are_left() {
    let week = HalfLife::SEVEN_DAYS;
    assert_eq!(week.seconds(), 7 * DAY_S);
    let continuous = UsageDecay::continuous(week);
    let halving = UsageDecay::HalvingSteps(week);
    for (days, of_continuous, of_halving) in [(7, 0.5, 1.0), (14, 0.25, 0.5), (21, 0.125, 0.25), (0, 1.0, 1.0)] {
        assert_near(continuous.weight_of_age(days * DAY_S).unwrap(), of_continuous, 1e-15);
        assert_near(halving.weight_of_age(days * DAY_S).unwrap(), of_halving, 1e-15);
    }
    assert_near(halving.weight_of_age(7 * DAY_S + 1).unwrap(), 0.5, 0.0);
    // A second of work, seen later.
    for (decay, days, expected) in [
        (continuous, 7, 0.5),
        (continuous, 21, 0.125),
        (halving, 7, 1.0),
        (halving, 14, 0.5),
        (halving, 21, 0.25),
        (halving, 70, 1.0 / 512.0),
    ] {
        let rule = UsageRule::of_decay(decay);
        let at_s = 1_000_000_000;
        let job = segment(at_s - days * DAY_S, at_s - days * DAY_S + 1);
        let usage = float(rule.usage_e6(&job, at_s).unwrap()) / 1e6;
        assert_near(usage, expected, 1e-6);
    }
}

#[test]
fn fs_16_halving_steps_cut_a_long_job_at_every_half_life() {
    let rule = UsageRule::of_decay(UsageDecay::HalvingSteps(HalfLife::of_seconds(100).unwrap()));
    // 60 seconds in full, 100 at a half, 100 at a quarter, 40 at an eighth.
    let usage = rule.usage_e6(&segment(700, 1000), 1060).unwrap();
    assert_eq!(
        usage,
        (40 * 1_000_000) + (100 * 500_000) + (100 * 250_000) + (60 * 125_000)
    );
    assert_eq!(rule.usage_e6(&segment(700, 1000), 1000).unwrap(), 175_000_000);
    assert_eq!(rule.aged_e6(5, 0, 1).unwrap(), None, "it cannot be chained");
    assert_eq!(UsageDecay::HalvingSteps(HalfLife::SEVEN_DAYS).chained(), None);
}

#[test]
fn fs_16_slurm_s_factor_is_a_first_order_form_of_the_half_life() {
    for (half_life_s, left) in [(1800, 0.500_007), (604_800, 0.500_073)] {
        let steps = DecaySteps::new(HalfLife::of_seconds(half_life_s).unwrap(), 300, 0).unwrap();
        let remaining = ChainedDecay::Steps(steps).remaining(0, i64::from(half_life_s));
        assert_near(remaining, left, 1e-6);
        assert_near(
            remaining,
            (1.0 - 0.693 / f64::from(half_life_s)).powf(f64::from(half_life_s)),
            1e-9,
        );
    }
    assert_eq!(HalfLife::of_seconds(0), None);
    assert_eq!(DecaySteps::new(HalfLife::SEVEN_DAYS, 0, 0), None);
}

/// Slurm's loop, calculation by calculation.
fn looped(half_life_s: f64, period: i64, anchor: i64, job: &UsageSegment, at_s: i64) -> f64 {
    let factor = 1.0 - 0.693 / half_life_s;
    let piece =
        |seconds: i64| f64::from(i32::try_from(seconds).unwrap()) * factor.powi(i32::try_from(seconds).unwrap());
    let (mut usage, mut last) = (0.0, anchor - period);
    for second in anchor..=at_s {
        let SecondSpan { start_s, end_s } = job.span;
        if (second - anchor) % period == 0 {
            usage *= factor.powi(i32::try_from(period).unwrap());
            if start_s < second && second <= end_s {
                usage += piece(second - last.max(start_s));
            }
            last = second;
        } else if second == end_s {
            usage += piece(end_s - last.max(start_s));
        }
    }
    usage
}

#[test]
fn slurm_s_steps_in_closed_form_are_slurm_s_loop() {
    let anchor = 1000;
    for (start_s, end_s) in [
        (1010, 1250),
        (1010, 1030),
        (1060, 1120),
        (1000, 1001),
        (1059, 1061),
        (1119, 1300),
        (1010, 5000),
        (1120, 1120),
    ] {
        for period in [1_u32, 7, 60] {
            let steps = DecaySteps::new(HalfLife::of_seconds(300).unwrap(), period, anchor).unwrap();
            let rule = UsageRule::of_decay(UsageDecay::steps(steps));
            let job = segment(start_s, end_s);
            assert_eq!(rule.usage_e6(&segment(end_s, start_s), 9999).unwrap(), 0, "no seconds");
            for at_s in [1000, 1029, 1030, 1060, 1061, 1120, 1179, 1180, 1240, 1300, 1500] {
                let expected = looped(300.0, i64::from(period), anchor, &job, at_s);
                let usage = float(rule.usage_e6(&job, at_s).unwrap()) / 1e6;
                assert_near(usage, expected, 1e-6 + expected * 1e-9);
            }
        }
    }
}

#[test]
fn usage_without_decay_is_exact_and_a_usage_factor_scales_it() {
    let rule = UsageRule::of_decay(UsageDecay::NONE);
    let mut job = segment(100, 160);
    assert_eq!(rule.usage_e6(&job, 1000).unwrap(), 60_000_000);
    assert_eq!(rule.usage_e6(&job, 130).unwrap(), 30_000_000);
    assert_eq!(rule.usage_e6(&job, 100).unwrap(), 0);
    job.factor_e9 = 2 * ONE_E9;
    assert_eq!(rule.usage_e6(&job, 1000).unwrap(), 120_000_000);
    job.factor_e9 = 0;
    assert_eq!(rule.usage_e6(&job, 1000).unwrap(), 0, "a factor of 0 is free");
    // Ties go to the even digit, once per contribution: 0.5 and 1.5 of 10^-6.
    job.factor_e9 = ONE_E9;
    job.span = SecondSpan { start_s: 0, end_s: 1 };
    job.rate_e9 = 500;
    assert_eq!(rule.usage_e6(&job, 10).unwrap(), 0);
    job.rate_e9 = 1500;
    assert_eq!(rule.usage_e6(&job, 10).unwrap(), 2);
    job.rate_e9 = i128::MAX;
    assert_eq!(
        rule.usage_e6(&job, 10).unwrap_err().kind(),
        gridtally::error::Kind::Data
    );
}

fn resets(reset: UsageReset, zone: &str, at: &str) -> Option<i64> {
    reset.last_s(&Zone::named(zone).unwrap(), parse_instant_s(at).unwrap())
}

#[test]
fn resets_are_at_local_midnight_of_sundays_and_first_days() {
    let zurich = "Europe/Zurich";
    let cases = [
        (UsageReset::Daily, "2026-10-25T12:00:00Z", "2026-10-24T22:00:00Z"),
        (UsageReset::Daily, "2026-10-26T12:00:00Z", "2026-10-25T23:00:00Z"),
        (UsageReset::Daily, "2026-10-24T22:00:00Z", "2026-10-24T22:00:00Z"),
        (UsageReset::Daily, "2026-10-24T21:59:59Z", "2026-10-23T22:00:00Z"),
        (UsageReset::Weekly, "2026-11-24T12:00:00Z", "2026-11-21T23:00:00Z"),
        (UsageReset::Weekly, "2026-11-22T12:00:00Z", "2026-11-21T23:00:00Z"),
        (UsageReset::Weekly, "2026-11-21T12:00:00Z", "2026-11-14T23:00:00Z"),
        (UsageReset::Monthly, "2026-11-24T12:00:00Z", "2026-10-31T23:00:00Z"),
        (UsageReset::Quarterly, "2026-11-24T12:00:00Z", "2026-09-30T22:00:00Z"),
        (UsageReset::Quarterly, "2026-12-31T22:59:59Z", "2026-09-30T22:00:00Z"),
        (UsageReset::Yearly, "2026-11-24T12:00:00Z", "2025-12-31T23:00:00Z"),
    ];
    for (reset, at, last) in cases {
        assert_eq!(resets(reset, zurich, at), parse_instant_s(last), "{reset:?} {at}");
    }
    assert_eq!(resets(UsageReset::None, zurich, "2026-11-24T12:00:00Z"), None);
    for (word, reset) in UsageReset::WORDS {
        assert_eq!(word.to_ascii_lowercase(), format!("{reset:?}").to_ascii_lowercase());
    }
}

#[test]
fn a_reset_sets_usage_to_zero_and_cuts_jobs_across_it() {
    let midnight_s = parse_instant_s("2026-11-01T00:00:00Z").unwrap();
    let mut rule = UsageRule {
        decay: UsageDecay::NONE,
        reset: UsageReset::Monthly,
        zone: Zone::utc(),
        calculations: None,
        runs: None,
    };
    let job = segment(midnight_s - 50, midnight_s + 70);
    assert_eq!(rule.usage_e6(&job, midnight_s - 1).unwrap(), 49_000_000);
    assert_eq!(rule.usage_e6(&job, midnight_s).unwrap(), 0);
    assert_eq!(rule.usage_e6(&job, midnight_s + 30).unwrap(), 30_000_000);
    assert_eq!(rule.aged_e6(7, midnight_s - 1, midnight_s).unwrap(), Some(0));
    assert_eq!(rule.aged_e6(7, midnight_s + 1, midnight_s + 2).unwrap(), Some(7));
    // Slurm resets at the first calculation after midnight, and counts the complete period of a running job then.
    let steps = DecaySteps::new(HalfLife::SEVEN_DAYS, 60, midnight_s - 20).unwrap();
    rule.decay = UsageDecay::steps(steps);
    assert!(rule.usage_e6(&job, midnight_s + 39).unwrap() > 29_000_000);
    let at_reset = rule.usage_e6(&job, midnight_s + 40).unwrap();
    assert_near(float(at_reset) / 1e6, 60.0, 0.01);
    assert_eq!(rule.aged_e6(7, midnight_s - 1, midnight_s + 39).unwrap(), Some(7));
    assert_eq!(rule.aged_e6(7, midnight_s - 1, midnight_s + 40).unwrap(), Some(0));
    // The same without decay where the calculations are known, exactly: at 20 seconds before midnight, at 40 after it, and so on.
    rule.decay = UsageDecay::NONE;
    rule.calculations = CalculationTimes::new(60, midnight_s - 20);
    for (at_s, seconds) in [
        (-21, 0),
        (-20, 30),
        (0, 30),
        (39, 30),
        (40, 60),
        (69, 60),
        (70, 90),
        (1000, 90),
    ] {
        let usage_e6 = rule.usage_e6(&job, midnight_s + at_s).unwrap();
        assert_eq!(usage_e6, seconds * 1_000_000, "{at_s} s after midnight");
    }
    assert_eq!(rule.aged_e6(7, midnight_s - 1, midnight_s + 39).unwrap(), Some(7));
    assert_eq!(rule.aged_e6(7, midnight_s - 1, midnight_s + 40).unwrap(), Some(0));
}
