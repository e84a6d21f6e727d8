//! What looks incomplete: worked days.

use gridtally::report::completeness::{CompletenessFinding, CompletenessHistory, Days, EndedOnDay, SiteCe, find};
use gridtally::report::lake::Selection;
use gridtally::time::{DaySpan, Month};

fn day(text: &str) -> i32 {
    gridtally::time::month::day_of(text.parse().unwrap())
}

const USUAL: EndedOnDay = EndedOnDay {
    job_n: 10,
    core_s: 36_000,
};

fn ce(name: &str) -> SiteCe {
    SiteCe {
        site: "S".to_owned(),
        ce: name.to_owned(),
    }
}

/// Ten jobs and 36 000 core seconds on every day of a range, but for some.
fn days(from: &str, to: &str, without: &[&str]) -> Days {
    let without: Vec<i32> = without.iter().map(|text| day(text)).collect();
    (day(from)..=day(to))
        .filter(|day| !without.contains(day))
        .map(|day| (day, USUAL))
        .collect()
}

fn found(history: &[(&str, Days)]) -> Vec<(String, CompletenessFinding, i32, i32, i64, i64)> {
    let history: CompletenessHistory = (history.iter()).map(|(name, days)| (ce(name), days.clone())).collect();
    find(&history, &Selection::default(), None)
        .into_iter()
        .map(|one| (one.ce, one.finding, one.from, one.to, one.usual, one.observed))
        .collect()
}

#[test]
fn gaps_silence_early_ends_and_shifts_are_found_where_they_are() {
    let whole = ("whole", days("2026-01-01", "2026-03-31", &[]));
    assert_eq!(found(std::slice::from_ref(&whole)), []);
    let gap = ("gap", days("2026-01-01", "2026-03-31", &["2026-02-10"]));
    let early = (
        "early",
        days("2026-01-01", "2026-03-31", &["2026-01-29", "2026-01-30", "2026-01-31"]),
    );
    let silent = ("silent", days("2026-01-01", "2026-03-20", &[]));
    let mut shifted = days("2026-01-01", "2026-03-31", &[]);
    for (day_of, sums) in &mut shifted {
        if *day_of >= day("2026-03-01") {
            sums.core_s *= 4;
        }
    }
    let all = found(&[whole, gap, early, silent, ("shift", shifted)]);
    let expected = [
        (
            "early",
            CompletenessFinding::MonthEndsEarly,
            "2026-01-29",
            "2026-01-31",
            10,
            0,
        ),
        ("gap", CompletenessFinding::Gap, "2026-02-10", "2026-02-10", 10, 0),
        (
            "shift",
            CompletenessFinding::LevelShift,
            "2026-03-01",
            "2026-03-01",
            10,
            40,
        ),
        ("silent", CompletenessFinding::Silent, "2026-03-21", "2026-03-31", 10, 0),
    ];
    let expected = expected
        .map(|(ce, finding, from, to, usual, observed)| (ce.to_owned(), finding, day(from), day(to), usual, observed));
    assert_eq!(all, expected);
}

#[test]
fn a_ce_that_hardly_ever_runs_is_not_missed() {
    let weekly: Days = (0..12).map(|week| (day("2026-01-05") + 7 * week, USUAL)).collect();
    let whole = ("whole", days("2026-01-01", "2026-03-31", &[]));
    assert_eq!(found(&[whole.clone(), ("weekly", weekly)]), []);
    // One or two jobs a day: a day without any is not a surprise.
    let mut thin = days("2026-01-01", "2026-03-31", &["2026-02-10"]);
    for sums in thin.values_mut() {
        sums.job_n = 1;
    }
    assert_eq!(found(&[whole.clone(), ("thin", thin)]), []);
    // Only the requested months.
    let gap = days("2026-01-01", "2026-03-31", &["2026-02-10"]);
    let history = CompletenessHistory::from([(ce("gap"), gap)]);
    let march = Selection {
        days: DaySpan::of_months(Month::new(2026, 3), None),
        ..Selection::default()
    };
    assert_eq!(find(&history, &march, None), []);
    assert_eq!(find(&history, &Selection::default(), None).len(), 1);
}

/// One missing day of a site of few jobs is no surprise, half a year is.
#[test]
fn a_silence_longer_than_ever_is_found_however_few_jobs_are_usual() {
    let thin = |from: &str, to: &str| {
        let mut thin = days(from, to, &["2026-02-10"]);
        for sums in thin.values_mut() {
            sums.job_n = 2;
        }
        CompletenessHistory::from([(ce("thin"), thin)])
    };
    let known = thin("2026-01-01", "2026-03-31");
    let found = |history: &CompletenessHistory, until: &str| {
        let found = find(history, &Selection::default(), Some(day(until)));
        found
            .into_iter()
            .map(|one| (one.finding, one.from, one.to))
            .collect::<Vec<_>>()
    };
    assert_eq!(found(&known, "2026-04-01"), []);
    assert_eq!(found(&known, "2026-04-04"), [], "twice the longest pause");
    for until in ["2026-04-05", "2026-09-30"] {
        let expected = [(CompletenessFinding::Silent, day("2026-04-01"), day(until))];
        assert_eq!(found(&known, until), expected);
    }
    // A few days are no measure of how long pauses get.
    assert_eq!(found(&thin("2026-03-25", "2026-03-31"), "2026-09-30"), []);
    // Others may report while it does not: a site of few jobs is missed only where jobs are expected.
    assert_eq!(find(&known, &Selection::default(), None), []);
}
