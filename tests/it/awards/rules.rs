//! Period rules: the shipped ones hold, parts add up, and no rule makes hours.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use gridtally::award::PeriodRule;
use gridtally::award::apply::{PeriodState, RuleAward, RuleGrant, RuleOutcome, apply};
use gridtally::award::rule_use::RuleUse;
use gridtally::award::unit::AwardMeasure;
use gridtally::diagnostics::Problems;
use gridtally::time::Day;
use proptest::prelude::*;

use super::ledger::day;

fn shipped() -> Vec<PeriodRule> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/period-rules");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let mut problems = Problems::default();
    let rules = files
        .iter()
        .filter_map(|file| PeriodRule::load(file, &file.display().to_string(), &mut problems))
        .collect();
    problems.finish().unwrap();
    rules
}

#[test]
fn examples_of_every_shipped_period_rule_hold() {
    let rules = shipped();
    let ids: Vec<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
    for id in [
        "alcc-reductions",
        "archer2-halves",
        "athena-tranches",
        "borrowing-ahead",
        "carry-over-decaying",
        "carry-over-limited",
        "marcc-quarters",
        "nersc-reductions",
        "waldur-decay",
    ] {
        assert!(ids.contains(&id), "{id}: {ids:?}");
    }
    for rule in &rules {
        assert!(!rule.examples.is_empty(), "{}", rule.id);
        for verdict in rule.test().unwrap() {
            assert!(verdict.failures.is_empty(), "{}: {verdict:#?}", rule.id);
        }
    }
}

#[test]
fn policy_test_runs_policies_and_period_rules_and_fails_with_either() {
    let gridtally = |folder: &Path, args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command.current_dir(folder).args(args).output().unwrap()
    };
    // With no file named: all that are shipped.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = gridtally(root, &["policy", "test"]);
    assert!(all.status.success(), "{all:?}");
    let text = String::from_utf8(all.stdout).unwrap();
    for id in ["archer2-halves 2 ", "waldur-decay 2025", "archer2 "] {
        assert!(text.lines().any(|line| line.starts_with(id)), "{id}");
    }
    // A wrong example is an error with its steps.
    let folder = tempfile::tempdir().unwrap();
    let rule = std::fs::read_to_string(root.join("pipelines/period-rules/archer2-halves.toml")).unwrap();
    let wrong = rule.replace("1.lost = 3000", "1.lost = 2999");
    assert_ne!(rule, wrong);
    std::fs::write(folder.path().join("r.toml"), wrong).unwrap();
    let failed = gridtally(folder.path(), &["policy", "test", "r.toml"]);
    assert_eq!(failed.status.code(), Some(65));
    let text = String::from_utf8(failed.stdout).unwrap();
    assert!(
        text.contains("1.lost should be 2999, but is 3000") && text.contains("2025-09-30: 3000 lost"),
        "{text}"
    );
}

#[test]
fn mistakes_of_a_rule_file_are_reported_at_once() {
    let mut problems = Problems::default();
    let text = "id = \"x\"\nversion = \"1\"\ntitle = \"t\"\n[periods]\nparts = 2\nmonths = 3\ndigits = 10\n[carry]\nmode = \"limted\"\n\
                [[reduction]]\non = \"02-29\"\nused_at_most_percent = 5\nloses_percent = 5\n[[example]]\nname = \"e\"\namount = 1\n\
                from = \"2025-01-01\"\nuntil = \"2025-01-01\"\non = \"2025-01-01\"\nexpect = { availble = 1 }\n";
    assert!(PeriodRule::parse("r.toml", text, &mut problems).is_none());
    let reported = problems.finish().unwrap_err().to_string();
    for why in [
        "has no source",
        "parts or months, not both",
        "digits are at most 9",
        "mode = \"limted\" is not one of",
        "on = \"02-29\" is not a month and day of every year",
        "there is no value \"availble\", did you mean \"available\"?",
        "until is not after from",
    ] {
        assert!(reported.contains(why), "{why}: {reported}");
    }
}

#[test]
fn a_supplement_is_spread_over_what_is_to_come() {
    let rules = shipped();
    let rule = rules.iter().find(|rule| rule.id == "archer2-halves").unwrap();
    let award = RuleAward {
        from: day("2025-04-01"),
        until: day("2026-04-01"),
        grants: vec![
            RuleGrant {
                day: day("2025-04-01"),
                amount_e9: 1000 * ONE_E9,
            },
            RuleGrant {
                day: day("2025-11-01"),
                amount_e9: 100 * ONE_E9,
            },
        ],
    };
    let granted = |on: &str| {
        let outcome = apply(rule, &award, &RuleUse::in_units(&BTreeMap::new()), day(on)).unwrap();
        outcome
            .periods
            .iter()
            .map(|period| period.granted_e9 / ONE_E9)
            .collect::<Vec<_>>()
    };
    assert_eq!(granted("2025-10-31"), [500, 500]);
    assert_eq!(granted("2025-11-01"), [500, 600]);
}

/// An award of 1000 of a year, with entries that come later.
fn changed(later: &[(&str, i128)]) -> RuleAward {
    let grants = std::iter::once(&("2026-01-01", 1000)).chain(later);
    RuleAward {
        from: day("2026-01-01"),
        until: day("2027-01-01"),
        grants: grants
            .map(|(on, amount)| RuleGrant {
                day: day(on),
                amount_e9: amount * ONE_E9,
            })
            .collect(),
    }
}

#[test]
fn a_reduction_is_of_what_was_granted_by_its_day() {
    let rules = shipped();
    let rule = rules.iter().find(|rule| rule.id == "nersc-reductions").unwrap();
    let used = BTreeMap::from([(day("2026-05-10"), 100 * ONE_E9)]);
    let reduced_and_left = |later: &[(&str, i128)], on: &str| {
        let outcome = apply(rule, &changed(later), &RuleUse::in_units(&used), day(on)).unwrap();
        let reduced = outcome.sum(|period| period.reduced_e9);
        [reduced / ONE_E9, outcome.available_now_e9() / ONE_E9]
    };
    // A fifth of what was not used on the first of May.
    for later in [[("2026-06-01", 1000)], [("2026-06-01", -700)]] {
        assert_eq!(reduced_and_left(&later, "2026-05-31"), [200, 700]);
    }
    assert_eq!(reduced_and_left(&[("2026-06-01", 1000)], "2026-06-01"), [200, 1700]);
    assert_eq!(reduced_and_left(&[("2026-06-01", -700)], "2026-06-01"), [200, 0]);
    // Entries of the day itself were there.
    assert_eq!(reduced_and_left(&[("2026-05-01", 1000)], "2026-06-01"), [400, 1500]);
}

#[test]
fn what_is_used_ahead_is_limited_by_what_the_next_period_had_by_then() {
    let rules = shipped();
    let rule = rules.iter().find(|rule| rule.id == "borrowing-ahead").unwrap();
    let used = BTreeMap::from([(day("2026-02-01"), 500 * ONE_E9)]);
    let ahead = |on: &str| {
        let award = changed(&[("2026-04-01", 300)]);
        let outcome = apply(rule, &award, &RuleUse::in_units(&used), day(on)).unwrap();
        outcome.periods[0].borrowed_e9 / ONE_E9
    };
    // Half of the 250 that the second quarter had while the first one lasted; a supplement of 100 came later.
    assert_eq!([ahead("2026-03-31"), ahead("2026-04-01")], [125, 125]);
}

/// A third of an hour a day, which no decimal is: the days of a period are added up before they become hours.
#[test]
fn use_becomes_units_once_its_days_were_added_up() {
    let rules = shipped();
    let rule = rules.iter().find(|rule| rule.id == "archer2-halves").unwrap();
    let (from, until) = (day("2025-04-01"), day("2026-04-01"));
    let award = RuleAward {
        from,
        until,
        grants: vec![RuleGrant {
            day: from,
            amount_e9: 1000 * ONE_E9,
        }],
    };
    let core_ms: BTreeMap<Day, i128> = (from..until).map(|day| (day, 1_200_000)).collect();
    let measure = AwardMeasure::of(Some("raw_core_hour"), "core_hour", 365 * 86_400).unwrap();
    let used = RuleUse {
        by_day: &core_ms,
        measure: Some(&measure),
    };
    let in_hours = |core_ms: i128| measure.in_units_e9(core_ms).unwrap();
    let on = day("2025-04-03");
    let outcome = apply(rule, &award, &used, on).unwrap();
    assert_eq!(outcome.available_now_e9(), 499 * ONE_E9);
    let outcome = apply(rule, &award, &used, until - 1).unwrap();
    let whole: i128 = core_ms.values().sum();
    assert_eq!(outcome.sum(|period| period.used_e9), in_hours(whole));
    assert_eq!(outcome.periods[0].used_e9, in_hours(183 * 1_200_000));
}

const ONE_E9: i128 = 1_000_000_000;

/// What was granted ends as use, as loss, as a reduction, or is still there; what was used ahead is paid once.
fn closes(award: &RuleAward, outcome: &RuleOutcome, on: Day) {
    let granted: i128 = award
        .grants
        .iter()
        .filter(|grant| grant.day <= on)
        .map(|grant| grant.amount_e9)
        .sum();
    assert_eq!(
        outcome.sum(|period| period.granted_e9),
        granted,
        "parts add up to the award"
    );
    let mut carried = 0;
    let mut ahead = 0;
    for period in &outcome.periods {
        let is_over = period.until <= on + 1;
        if period.from <= on {
            assert_eq!(period.carried_in_e9, carried, "what is carried arrives once");
            assert_eq!(period.used_ahead_e9, ahead, "what is used ahead is paid once");
        }
        let sum = period.granted_e9 + period.carried_in_e9 - period.used_ahead_e9 - period.reduced_e9;
        assert_eq!(period.available_e9, sum);
        let own = period.used_e9.min(period.available_e9);
        let left = if is_over {
            period.carried_out_e9 + period.lost_e9
        } else {
            period.remaining_e9
        };
        assert_eq!(own + left, period.available_e9, "{period:?}");
        assert_eq!(period.used_e9 - own, period.over_e9);
        for part in [
            period.available_e9,
            period.reduced_e9,
            period.carried_out_e9,
            period.lost_e9,
            period.remaining_e9,
            period.over_e9 - period.borrowed_e9,
        ] {
            assert!(part >= 0, "{period:?}");
        }
        (carried, ahead) = (period.carried_out_e9, period.borrowed_e9);
    }
    // No rule makes hours: what may be used is never more than what was granted.
    let spendable = outcome.sum(|period: &PeriodState| {
        period.used_e9 - period.over_e9 + period.borrowed_e9 + period.remaining_e9 + period.lost_e9 + period.reduced_e9
    });
    assert!(
        spendable <= granted + outcome.sum(|period| period.borrowed_e9),
        "{spendable} of {granted}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn parts_add_up_to_the_award_and_no_rule_makes_hours(
        amount in 0_i128..10_i128.pow(24),
        begin in 19_000_i32..21_000,
        length in 1_i32..800,
        used in proptest::collection::vec((0_i32..800, 0_i128..10_i128.pow(23)), 0..12),
        // Some on the day on which the award ends, and later.
        more in proptest::collection::vec((0_i32..800, 0_i128..10_i128.pow(22)), 0..3),
        asked in 0_i32..900,
    ) {
        let mut grants = vec![RuleGrant { day: begin, amount_e9: amount }];
        grants.extend(more.iter().map(|(day, amount_e9)| RuleGrant {
            day: begin + day,
            amount_e9: *amount_e9,
        }));
        grants.sort_by_key(|grant| grant.day);
        let award = RuleAward { from: begin, until: begin + length, grants };
        let mut by_day: BTreeMap<Day, i128> = BTreeMap::new();
        for (day, amount) in used {
            *by_day.entry(begin + day).or_default() += amount;
        }
        for rule in shipped() {
            let outcome = apply(&rule, &award, &RuleUse::in_units(&by_day), begin + asked).unwrap();
            closes(&award, &outcome, begin + asked);
        }
    }
}
