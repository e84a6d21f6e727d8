//! Entries made into awards; and every contradiction, by its line.

use gridtally::award::{AwardLedger, AwardLimit, AwardUser};
use gridtally::diagnostics::Problems;
use gridtally::reference::allocation::AllocationTable;
use gridtally::time::Day;

const HEAD: &str =
    "kind,award,account,user,policy,amount,valid_from,valid_to,unit,site,cluster,parent,to_account,author,reason\n";

pub(super) fn day(text: &str) -> Day {
    gridtally::time::month::day_of(text.parse().unwrap())
}

pub(super) fn read(text: &str) -> Result<AwardLedger, String> {
    let mut problems = Problems::default();
    let table = AllocationTable::read(text.as_bytes(), "awards.csv", &mut problems);
    let ledger = AwardLedger::of(&table, "awards.csv", &mut problems);
    problems.finish().map(|_| ledger).map_err(|why| why.to_string())
}

fn ledger(rows: &[&str]) -> AwardLedger {
    read(&format!("{HEAD}{}\n", rows.join("\n"))).unwrap()
}

fn mistakes(rows: &[&str]) -> String {
    read(&format!("{HEAD}{}\n", rows.join("\n"))).unwrap_err()
}

const ONE_E9: i128 = 1_000_000_000;

#[test]
fn a_table_with_the_old_columns_alone_holds_awards() {
    let old = "account,policy,amount,valid_from,valid_to\nkelp,oak,1000,2024-04-01,2025-04-01\nkelp,oak,0.5,2024-04-01,2025-04-01\n";
    let ledger = read(old).unwrap();
    assert_eq!(ledger.awards.len(), 1, "rows of the same days add up");
    let award = &ledger.awards[0];
    assert_eq!(award.amount_e9(day("2024-04-01")), 1_000_500_000_000);
    assert_eq!((award.limit, award.level), (AwardLimit::Average, 0));
    assert_eq!(award.id, "kelp oak 2024-04-01");
}

#[test]
fn entries_take_effect_on_their_day() {
    let ledger = ledger(&[
        "award,A,kelp,,oak,1000,2024-04-01,2025-04-01,,,,,,,",
        "award,B,alga,,oak,10,2024-04-01,2025-04-01,,,,,,,",
        "supplement,A,kelp,,oak,200,2024-06-01,,,,,,,,",
        "transfer,,kelp,,oak,300.000000001,2024-07-01,,,,,,alga,,",
        "adjustment,B,alga,,oak,-10,2024-08-01,,,,,,,E. Office,granted by mistake",
        "extension,A,kelp,,oak,,2025-03-01,2025-05-01,,,,,,,",
        "expiry,B,alga,,oak,,2024-12-01,,,,,,,,",
    ]);
    let [a, b] = ledger.awards.as_slice() else {
        panic!("{ledger:?}")
    };
    let amounts = |award: &gridtally::award::Award| {
        ["2024-03-31", "2024-05-31", "2024-06-01", "2024-07-01", "2024-08-01"].map(|on| award.amount_e9(day(on)))
    };
    assert_eq!(
        amounts(a),
        [0, 1000 * ONE_E9, 1200 * ONE_E9, 899_999_999_999, 899_999_999_999]
    );
    assert_eq!(
        amounts(b),
        [0, 10 * ONE_E9, 10 * ONE_E9, 310_000_000_001, 300_000_000_001]
    );
    assert_eq!(a.until(day("2025-02-28")), Some(day("2025-04-01")));
    assert_eq!(a.until(day("2025-03-01")), Some(day("2025-05-01")));
    assert!(a.is_good_on(day("2025-04-30")) && !a.is_good_on(day("2025-05-01")));
    assert!(b.is_good_on(day("2024-11-30")) && !b.is_good_on(day("2024-12-01")));
    assert_eq!(b.changes[1].counterpart.as_deref(), Some("kelp"));
    assert_eq!(b.changes[2].author.as_deref(), Some("E. Office"));
    // What is moved is neither made nor lost.
    let all = |on: &str| ledger.awards.iter().map(|award| award.amount_e9(day(on))).sum::<i128>();
    assert_eq!(all("2024-06-30"), all("2024-07-01"));
}

#[test]
fn cc_23_downtime_is_not_compensated_and_an_extension_takes_nothing_away() {
    let rows = ["award,A,kelp,,oak,365,2025-04-01,2026-04-01,,,,,,,"];
    let plain = ledger(&rows);
    let extended = ledger(&[rows[0], "extension,A,kelp,,oak,,2026-03-01,2026-05-01,,,,,,,"]);
    let target = |ledger: &AwardLedger, on: &str| ledger.awards[0].target_e9(day(on)).unwrap();
    // One a day, every day: a week in which nothing ran is a week of target as any other.
    assert_eq!(target(&plain, "2025-04-01"), ONE_E9);
    assert_eq!(target(&plain, "2025-04-14") - target(&plain, "2025-04-07"), 7 * ONE_E9);
    assert_eq!(target(&plain, "2026-04-30"), 365 * ONE_E9, "nothing after its end");
    // The month of the extension goes on at the same rate; the days before are as they were.
    assert_eq!(target(&extended, "2026-03-31"), 365 * ONE_E9);
    assert_eq!(target(&extended, "2026-04-30"), 395 * ONE_E9);
}

#[test]
fn cc_24_storage_is_a_maximum_and_compute_an_average() {
    let ledger = ledger(&[
        "award,,kelp,,storage,10,2024-04-01,2025-04-01,TB,,,,,,",
        "award,,kelp,,oak,10,2024-04-01,2025-04-01,,,,,,,",
    ]);
    let limits: Vec<AwardLimit> = ledger.awards.iter().map(|award| award.limit).collect();
    assert_eq!(limits, [AwardLimit::Maximum, AwardLimit::Average]);
    assert_eq!(
        ledger.awards[0].target_e9(day("2024-05-01")),
        None,
        "a maximum has no average to meet"
    );
    let reported = mistakes(&["award,,kelp,,storage,10,2024-04-01,2025-04-01,,,,,,,"]);
    assert!(reported.contains("awards.csv:2: unit is missing"), "{reported}");
}

#[test]
fn every_contradiction_is_reported_with_its_line_at_once() {
    let reported = mistakes(&[
        "award,A,kelp,,oak,1000,2024-04-01,2025-04-01,,,,,,,",        // 2
        "award,,kelp,,oak,5,2024-06-01,2025-06-01,,,,,,,",            // 3 overlaps
        "award,A,alga,,oak,5,2024-04-01,2025-04-01,,,,,,,",           // 4 named as another
        "transfer,A,kelp,,oak,1000.000000001,2024-05-01,,,,,,moss,,", // 5 more than there is
        "transfer,A,kelp,,oak,1,2024-05-01,,,,,,alge,,",              // 6 unknown account
        "extension,,moss,,oak,,2024-05-01,2026-01-01,,,,,,,",         // 7 of nothing
        "extension,A,kelp,,oak,,2024-05-01,2025-04-01,,,,,,,",        // 8 to where it ends
        "adjustment,A,kelp,,oak,-1,2024-05-01,,,,,,,,why not",        // 9 nobody signs
        "adjustment,A,kelp,,oak,-1,2024-05-01,,,,,,,E. Office,",      // 10 no reason
        "suplement,A,kelp,,oak,1,2024-05-01,,,,,,,,",                 // 11 no such kind
        "supplement,A,kelp,,oak,1,2025-04-01,,,,,,,,",                // 12 after its end
        "supplement,B,kelp,,oak,1,2024-05-01,,,,,,,,",                // 13 no such award
        "expiry,A,kelp,,oak,1,2024-05-01,,,,,,,,",                    // 14 with an amount
        "award,P,fern,,oak,1,2024-04-01,2025-04-01,,,,Q,,,",          // 15 circle
        "award,Q,lily,,oak,1,2024-04-01,2025-04-01,,,,P,,,",          // 16 circle
        "award,R,reed,,oak,1,2024-04-01,2025-04-01,,,,S,,,",          // 17 unknown parent
        "award,T,rush,,elm,1,2024-04-01,2025-04-01,,,,A,,,",          // 18 other policy
        "award,U,sage,,oak,1,2024-04-01,2025-05-01,,,,A,,,",          // 19 other days
        "supplement,A,kelp,,oak,1,2024-05-01,,core_year,,,,,,",       // 20 other unit
        "award,,kelp,,oak,5,2024-13-01,2025-06-01,,,,,,,",            // 21 no such day
    ]);
    for (line, why) in [
        (3, "overlaps the allocation of line 2"),
        (
            5,
            "takes 1000.000000001 of the award of line 2, which has 1000 on 2024-05-01",
        ),
        (4, "the award of line 2 is also named \"A\""),
        (6, "no award of the account \"alge\""),
        (7, "extends nothing: no award of the account \"moss\""),
        (8, "extends nothing: the award of line 2 ends on 2025-04-01"),
        (9, "author is missing"),
        (10, "reason is missing"),
        (11, "kind: \"suplement\" is not one of"),
        (12, "ended on 2025-04-01"),
        (13, "there is no award \"B\""),
        (14, "amount: an expiry has none"),
        (15, "in a circle"),
        (16, "in a circle"),
        (17, "parent: there is no award \"S\""),
        (18, "parent: \"A\" counts under oak"),
        (19, "do not include those of this award"),
        (20, "is in core_year"),
        (21, "is not a day"),
    ] {
        let at = format!("awards.csv:{line}: ");
        let found = reported.lines().find(|text| text.contains(&at));
        assert!(
            found.is_some_and(|text| text.contains(why)),
            "line {line}, {why}: {reported}"
        );
    }
}

#[test]
fn rows_of_one_award_state_one_parent_and_one_rule_in_any_order() {
    const COLUMNS: &str =
        "award,account,policy,amount,valid_from,valid_to,parent,period_rule,project,coldfront_attribute\n";
    let lab = "P,lab,oak,9,2024-04-01,2025-04-01,,,,\n";
    let plain = ",kelp,oak,1,2024-04-01,2025-04-01,,,,\n";
    let stated = ",kelp,oak,2,2024-04-01,2025-04-01,P,halves,Kelp,7\n";
    for rows in [[plain, stated], [stated, plain]] {
        let ledger = read(&format!("{COLUMNS}{lab}{}", rows.concat())).unwrap();
        let [_, kelp] = ledger.awards.as_slice() else {
            panic!("{ledger:?}")
        };
        assert_eq!((kelp.parent, kelp.level), (Some(0), 1));
        assert_eq!(kelp.period_rule.as_deref(), Some("halves"));
        assert_eq!(
            (kelp.project.as_deref(), kelp.coldfront_attribute),
            (Some("Kelp"), Some(7))
        );
    }
    for (other, column) in [
        (",kelp,oak,1,2024-04-01,2025-04-01,Q,,,\n", "parent"),
        (",kelp,oak,1,2024-04-01,2025-04-01,,quarters,,\n", "period_rule"),
        (",kelp,oak,1,2024-04-01,2025-04-01,,,Alga,\n", "project"),
        (",kelp,oak,1,2024-04-01,2025-04-01,,,,8\n", "coldfront_attribute"),
    ] {
        let reported = read(&format!("{COLUMNS}{lab}{stated}{other}")).unwrap_err();
        let expected = format!("awards.csv:4: {column} is another than that of the award of line 3");
        assert!(reported.contains(&expected), "{reported}");
    }
}

#[test]
fn an_extension_does_not_run_into_the_next_award() {
    let reported = mistakes(&[
        "award,A,kelp,,oak,1,2024-04-01,2025-04-01,,,,,,,",
        "award,B,kelp,,oak,1,2025-04-01,2026-04-01,,,,,,,",
        "extension,A,kelp,,oak,,2025-01-01,2025-05-01,,,,,,,",
    ]);
    assert!(reported.contains("would run into that of line 3"), "{reported}");
}

#[test]
fn use_counts_once_at_each_level_of_a_hierarchy() {
    let ledger = ledger(&[
        "award,lab,ice,,oak,100,2024-04-01,2025-04-01,,,,,,,",
        "award,group,firn,,oak,40,2024-04-01,2025-04-01,,,,lab,,,",
        "award,,firn,ada,oak,10,2024-05-01,2025-04-01,,,,,,,",
        "award,,firn,,elm,10,2024-04-01,2025-04-01,,,,,,,",
    ]);
    let levels: Vec<usize> = ledger.awards.iter().map(|award| award.level).collect();
    assert_eq!(levels, [0, 1, 2, 0]);
    let counting = |account: &str, submitter: Option<&str>, on: &str| {
        let user = AwardUser {
            site: "ALP",
            cluster: Some("glacier"),
            account,
            submitter,
            day: day(on),
        };
        ledger.counting(user, |award| award.policy == "oak")
    };
    assert_eq!(counting("firn", Some("ada"), "2024-06-01"), [2, 1, 0]);
    assert_eq!(
        counting("firn", Some("ada"), "2024-04-01"),
        [1, 0],
        "before her part begins"
    );
    assert_eq!(counting("firn", Some("bo"), "2024-06-01"), [1, 0]);
    assert_eq!(counting("firn", None, "2024-06-01"), [1, 0], "nobody has no part");
    assert_eq!(counting("ice", None, "2024-06-01"), [0]);
    assert_eq!(counting("ice", None, "2025-04-01"), Vec::<usize>::new());
    assert_eq!(counting("moss", None, "2024-06-01"), Vec::<usize>::new());
}
