//! Where use will end, and how wrong a method would have been.

use std::collections::BTreeMap;

use gridtally::award::projection::{ProjectionMethod, UseOfDays};
use gridtally::time::Day;

use super::ledger::day;

const YEAR: (&str, &str) = ("2025-04-01", "2026-04-01");
const WINDOW: i32 = 28;

fn of(used: &BTreeMap<Day, i128>) -> UseOfDays<'_> {
    UseOfDays {
        from: day(YEAR.0),
        until: day(YEAR.1),
        used,
        is_by_day: true,
    }
}

fn every_day(from: &str, days: i32, used: i128) -> BTreeMap<Day, i128> {
    (0..days).map(|nth| (day(from) + nth, used)).collect()
}

#[test]
fn cc_18_a_projection_keeps_the_throughput_to_date() {
    let used = BTreeMap::from([(day("2025-05-01"), 50)]);
    // 73 of 365 days went by.
    let on = day("2025-06-12");
    assert_eq!(on + 1 - day(YEAR.0), 73);
    assert_eq!(
        of(&used).projected(ProjectionMethod::ConstantRate, on, WINDOW, None),
        Some(250)
    );
}

#[test]
fn cc_20_what_is_over_has_no_projection() {
    let used = every_day(YEAR.0, 365, 1);
    for method in [ProjectionMethod::ConstantRate, ProjectionMethod::RecentWindow] {
        let projected = |on: &str| of(&used).projected(method, day(on), WINDOW, None);
        assert_eq!(projected("2026-03-30"), Some(365));
        assert_eq!(projected("2026-03-31"), None, "the last day");
        assert_eq!(projected("2027-01-01"), None);
        assert_eq!(projected("2025-03-31"), None, "before it begins");
    }
}

#[test]
fn cc_23_days_on_which_nothing_ran_are_days_of_a_projection() {
    let mut used = every_day(YEAR.0, 73, 1);
    for nth in 10..17 {
        used.remove(&(day(YEAR.0) + nth));
    }
    // 66 in 73 days, and not in 66.
    assert_eq!(
        of(&used).projected(ProjectionMethod::ConstantRate, day("2025-06-12"), WINDOW, None),
        Some(330)
    );
}

#[test]
fn the_recent_window_sees_the_last_days_only() {
    let mut used = every_day(YEAR.0, 45, 1);
    used.extend(every_day("2025-05-16", 28, 10));
    let on = day("2025-06-12");
    let projected = |method| of(&used).projected(method, on, WINDOW, None);
    assert_eq!(projected(ProjectionMethod::RecentWindow), Some(45 + 280 + 292 * 10));
    assert_eq!(projected(ProjectionMethod::ConstantRate), Some((45 + 280) * 5));
    let by_month = UseOfDays {
        is_by_day: false,
        ..of(&used)
    };
    assert_eq!(
        by_month.projected(ProjectionMethod::RecentWindow, on, WINDOW, None),
        None,
        "days are not known"
    );
    // Days left at each rate, of 100 that are left.
    let left = |method| of(&used).days_left(method, on, WINDOW, 100);
    assert_eq!(left(ProjectionMethod::RecentWindow), Some(10));
    assert_eq!(left(ProjectionMethod::ConstantRate), Some(22), "100 x 73 / 325 = 22.46");
    assert_eq!(
        of(&used).days_left(ProjectionMethod::ConstantRate, on, WINDOW, -5),
        Some(0),
        "nothing is left"
    );
    let none = BTreeMap::new();
    assert_eq!(
        of(&none).days_left(ProjectionMethod::ConstantRate, on, WINDOW, 5),
        None,
        "at no rate it lasts"
    );
}

#[test]
fn jobs_to_their_limits_need_jobs_somebody_states() {
    let used = every_day(YEAR.0, 30, 1);
    let projected =
        |in_flight| of(&used).projected(ProjectionMethod::JobsToLimits, day("2025-04-30"), WINDOW, in_flight);
    assert_eq!(projected(None), None);
    assert_eq!(projected(Some(12)), Some(42));
}

#[test]
fn a_back_test_is_what_a_method_would_have_projected_month_by_month() {
    // One a day in the first half, three a day in the second.
    let mut used = every_day(YEAR.0, 183, 1);
    used.extend(every_day("2025-10-01", 182, 3));
    let all = 183 + 546;
    let tests = of(&used).back_test(day("2026-06-01"), WINDOW);
    assert_eq!(tests.len(), 22, "two methods, the ends of April to February");
    assert!(tests.iter().all(|test| test.actual == all));
    let error = |method: ProjectionMethod, month: &str| {
        let test = tests
            .iter()
            .find(|test| test.method == method && test.month.to_string() == month);
        test.unwrap().error()
    };
    assert_eq!(error(ProjectionMethod::ConstantRate, "2025-04"), 365 - all);
    assert_eq!(error(ProjectionMethod::RecentWindow, "2025-04"), 365 - all);
    // 276 in 214 days are 470.7 in 365, against three a day for the rest.
    assert_eq!(error(ProjectionMethod::ConstantRate, "2025-10"), 471 - all);
    assert_eq!(error(ProjectionMethod::RecentWindow, "2025-10"), 0);
    // While the year goes on, months are held against what is known.
    let known = of(&used).back_test(day("2025-12-31"), WINDOW);
    assert!(
        known
            .iter()
            .all(|test| test.actual == 183 + 92 * 3 && test.month < "2025-12".parse().unwrap())
    );
    assert!(!known.is_empty());
}
