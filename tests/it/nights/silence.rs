//! Nights that did not come.

use std::collections::BTreeMap;

use gridtally::report::completeness::{EndedOnDay, history};
use gridtally::report::lake::{Lake, Selection};
use gridtally::time::month::day_of;

use super::{HEADER, Nights};

/// Four jobs a day that end at `hour`, of so many days from 2026-10-01 on.
fn days(days: u32, hour: u32) -> String {
    let row = |(day, n): (u32, u32)| {
        let (id, day) = (day * 10 + n, day);
        format!(
            "{id}|oak|u|a|COMPLETED|2026-10-{day:02}T00:00:00|2026-10-{day:02}T00:00:00|2026-10-{day:02}T{hour:02}:00:00|\
             {}|1|cpu=1,node=1|00:10:00\n",
            hour * 3600
        )
    };
    let rows = (1..=days).flat_map(|day| (0..4).map(move |n| (day, n))).map(row);
    format!("{HEADER}{}", rows.collect::<String>())
}

#[test]
fn silence_at_the_end_is_found_where_jobs_are_expected() {
    let nights = Nights::new("", "");
    nights.write("dumps/a.txt", &days(20, 1));
    assert_eq!(nights.run(&[]).0, 0);
    let found = |more: &[&str]| {
        let command = ["report", "completeness", "lake", "--format", "csv", "--strict"];
        let output = nights.gridtally(&[&command, more].concat());
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(found(&[]).0, Some(0));
    assert_eq!(found(&["--until", "2026-10-20"]).0, Some(0));
    let (code, reported) = found(&["--until", "2026-10-21"]);
    assert_eq!(code, Some(65), "{reported}");
    assert!(
        reported.contains("OAK,oak,silent,2026-10-21,2026-10-21,1,4,0,jobs"),
        "{reported}"
    );
    let (code, reported) = found(&["--until", "today"]);
    assert_eq!(code, Some(65), "{reported}");
    assert!(reported.contains("OAK,oak,silent,2026-10-21,"), "{reported}");
    assert_eq!(
        nights
            .gridtally(&["report", "completeness", "lake", "--until", "soon"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn days_are_those_of_the_lake() {
    let nights = Nights::new("calendar_timezone = \"Pacific/Auckland\"", "");
    // At 20:00 UTC it is the next day there.
    nights.write("dumps/a.txt", &days(20, 20));
    assert_eq!(nights.run(&[]).0, 0);
    let output = nights.gridtally(&[
        "report",
        "completeness",
        "lake",
        "--format",
        "csv",
        "--until",
        "2026-10-22",
    ]);
    let reported = String::from_utf8(output.stdout).unwrap();
    assert!(reported.contains("OAK,oak,silent,2026-10-22,2026-10-22"), "{reported}");
}

#[test]
fn the_summary_of_a_run_describes_days_that_are_missing() {
    let nights = Nights::new("", "");
    let rows: Vec<String> = days(25, 1).lines().map(|line| format!("{line}\n")).collect();
    let gap = rows
        .iter()
        .filter(|row| !["-10-14T", "-10-15T"].iter().any(|day| row.contains(day)));
    nights.write("dumps/a.txt", &gap.map(String::as_str).collect::<String>());
    let (code, reported, report) = nights.run(&[]);
    assert_eq!(code, 0, "{reported}");
    assert!(
        reported.contains("warning: OAK oak: gap from 2026-10-14 to 2026-10-15: 0 jobs a day, usual are 4"),
        "{reported}"
    );
    assert_eq!(report["incomplete"][0]["finding"], "gap");
    assert_eq!(report["incomplete"][0]["to"], "2026-10-15");
    // A run without new files reports it, too.
    let (_, reported, _) = nights.run(&[]);
    assert!(reported.contains("gap from 2026-10-14"), "{reported}");
}

#[test]
fn jobs_that_end_on_days_far_from_each_other_in_turn_are_all_counted() {
    let nights = Nights::new("", "");
    let mut expected: BTreeMap<i32, EndedOnDay> = BTreeMap::new();
    let mut dump = HEADER.to_owned();
    for n in 0..60 {
        // Two days with as many between them as are remembered, days next to each other, and every day once more.
        let day = [2, 18, 3, 17, 19, n % 30 + 1][n % 6];
        let hours = (day - 1) * 24 + 1;
        let row = format!(
            "{n}|oak|u|a|COMPLETED|2026-10-01T00:00:00|2026-10-01T00:00:00|2026-10-{day:02}T01:00:00|{}|2|cpu=2,node=1|00:10:00\n",
            hours * 3600
        );
        dump.push_str(&row);
        let of = day_of(format!("2026-10-{day:02}").parse().unwrap());
        let sums = expected.entry(of).or_default();
        sums.job_n += 1;
        sums.core_s += i64::try_from(hours * 3600 * 2).unwrap();
    }
    nights.write("dumps/a.txt", &dump);
    assert_eq!(nights.run(&[]).0, 0);
    let lake = Lake::open(nights.folder().join("lake").to_str().unwrap()).unwrap();
    let found = history(&lake, &Selection::default()).unwrap();
    assert_eq!(found.into_values().collect::<Vec<_>>(), [expected]);
}
