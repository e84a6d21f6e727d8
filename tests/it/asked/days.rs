//! Days where months are taken, as far as what is known has them.

use super::Asked;

/// Reports with days, the column that counts, and the value of a job of a day in it.
const BY_DAY: [(&[&str], &str, f64); 7] = [
    (&["report", "egi", "lake"], "number_of_jobs", 1.0),
    (&["report", "wlcg", "lake"], "number_of_jobs", 1.0),
    (&["report", "osg", "lake"], "jobs", 1.0),
    (&["report", "gracc", "lake"], "Njobs", 1.0),
    (&["report", "focus", "lake", "--currency", "EUR"], "x_JobCount", 1.0),
    (
        &["report", "sreport", "lake", "--time", "seconds", "--tres", "cpu"],
        "Used",
        3600.0,
    ),
    (&["work", "lake", "--as", "native"], "job_n", 1.0),
];

/// What takes whole months alone, and why.
const BY_MONTH: [(&[&str], &str); 7] = [
    (
        &["report", "apel", "lake", "--message", "summary-v0.2"],
        "replace what the server has",
    ),
    (
        &[
            "report",
            "apel",
            "lake",
            "--message",
            "job-v0.3",
            "--receiver",
            "egi",
            "--diff",
        ],
        "a receiver holds months as a whole",
    ),
    (
        &["report", "gracc", "lake", "--receiver", "gracc", "--diff"],
        "a receiver holds months as a whole",
    ),
    (
        &["report", "site", "lake", "--out", "page"],
        "a page is made of the months",
    ),
    (&["reconcile", "lake", "lake"], "accounts are compared by month"),
    (&["work", "lake", "--as", "apel"], "of a month"),
    (&["run", "p.toml"], "a run replaces the records of a month as a whole"),
];

#[test]
fn days_are_taken_where_the_grain_allows() {
    let asked = Asked::new("day");
    for (words, column, of_a_day) in BY_DAY {
        let sum = |more: &[&str]| asked.sum(&[words, &["--site", "OAK"], more].concat(), column) / of_a_day;
        let windows: [(&[&str], f64); 6] = [
            (&[], 10.0),
            (&["--from", "2026-10-03", "--to", "2026-10-05"], 3.0),
            (&["--from", "2026-10-03", "--to", "2026-10"], 8.0),
            (&["--from", "2026-10", "--to", "2026-10-01"], 1.0),
            (&["--from", "2026-10-10"], 1.0),
            (&["--to", "2026-09-30"], 0.0),
        ];
        for (window, jobs) in windows {
            let found = sum(window);
            assert!((found - jobs).abs() < 1e-9, "{words:?} {window:?}: {found}, not {jobs}");
        }
    }
    // Single jobs go into messages day by day as well.
    let message = |more: &[&str]| {
        let words = ["report", "apel", "lake", "--site", "OAK", "--message", "job-v0.3"];
        let (code, text, reported) = asked.run(&[&words, more].concat());
        assert_eq!(code, 0, "{reported}");
        text.matches("EndTime:").count()
    };
    assert_eq!(message(&["--from", "2026-10-03", "--to", "2026-10-05"]), 3);
    assert_eq!(message(&[]), 10);
}

#[test]
fn what_is_known_of_months_alone_is_not_cut() {
    let asked = Asked::new("month");
    let window = ["--from", "2026-10-03", "--to", "2026-10-05"];
    for (words, why) in BY_MONTH {
        let reported = asked.refused(2, &[words, &window].concat());
        assert!(
            reported.contains("from 2026-10-03 to 2026-10-05 is not made of whole months") && reported.contains(why),
            "{words:?}: {reported}"
        );
        // Days that are whole months are months.
        let (code, _, reported) = asked.run(&[words, &["--from", "2026-11-01", "--to", "2026-11-30"]].concat());
        assert!(code != 2 || !reported.contains("whole months"), "{words:?}: {reported}");
    }
    // Received summaries are of a month, and so are charges without a grain of days.
    for words in [
        &["report", "egi", "lake"][..],
        &["report", "osg", "lake"],
        &["work", "lake", "--as", "native"],
    ] {
        let reported = asked.refused(2, &[words, &window].concat());
        assert!(
            reported.contains("the summaries of ELM are known of 2026-10 as a whole"),
            "{words:?}: {reported}"
        );
    }
    let reported = asked.refused(2, &[&["report", "focus", "lake"][..], &window].concat());
    assert!(
        reported.contains("grain = \"day\"") && reported.contains("are known of 2026-10 as a whole"),
        "{reported}"
    );
    asked.write("sites.csv", "site,federation\nOAK,F\n");
    asked.write("pledges.csv", "federation,vo,pledge_year,power\nF,birch,2026,100\n");
    let pledged = [
        "report",
        "wlcg",
        "lake",
        "--sites",
        "sites.csv",
        "--pledges",
        "pledges.csv",
    ];
    let reported = asked.refused(2, &[&pledged[..], &window].concat());
    assert!(reported.contains("a pledge is the power promised"), "{reported}");
}

#[test]
fn a_window_states_which_days_it_has() {
    let asked = Asked::new("day");
    let egi = ["report", "egi", "lake", "--site", "OAK"];
    let (_, _, reported) = asked.run(&[&egi[..], &["--from", "2026-10-03", "--to", "2026-10-05"]].concat());
    assert!(
        reported.contains("from 2026-10-03 to 2026-10-05: months at the ends are cut to these days (UTC)"),
        "{reported}"
    );
    let (_, _, reported) = asked.run(&[&egi[..], &["--from", "2026-10"]].concat());
    assert!(!reported.contains("are cut"), "{reported}");
    for wrong in [
        &["--from", "2026-10-32"][..],
        &["--from", "2026-1"],
        &["--to", "20261001"],
        &["--from", "2026-10-05", "--to", "2026-10-04"],
        &["--from", "2026-10-05", "--to", "2026-09"],
    ] {
        asked.refused(2, &[&egi[..], wrong].concat());
    }
}

#[test]
fn completeness_looks_at_the_days_requested() {
    let asked = Asked::new("month");
    let row = |day: u32, n: u32| {
        format!(
            "{}|oak|u|a|COMPLETED|2026-10-{day:02}T00:00:00|2026-10-{day:02}T00:00:00|2026-10-{day:02}T01:00:00|3600|1|\
             cpu=1,node=1|00:10:00\n",
            day * 100 + n
        )
    };
    let days = (1..=25).filter(|day| ![14, 15].contains(day));
    let rows: String = days.flat_map(|day| (0..4).map(move |n| row(day, n))).collect();
    let head = std::fs::read_to_string(asked.path("jobs.txt")).unwrap();
    asked.write("jobs.txt", &format!("{}\n{rows}", head.lines().next().unwrap()));
    assert_eq!(asked.run(&["run", "p.toml"]).0, 0);
    let found = |window: &[&str]| {
        let words = ["report", "completeness", "lake", "--site", "OAK", "--format", "csv"];
        let (code, csv, reported) = asked.run(&[&words[..], window].concat());
        assert_eq!(code, 0, "{reported}");
        csv.lines()
            .filter(|line| line.contains(",gap,2026-10-14,2026-10-15,"))
            .count()
    };
    assert_eq!(found(&[]), 1);
    assert_eq!(found(&["--from", "2026-10-15", "--to", "2026-10-15"]), 1);
    assert_eq!(found(&["--to", "2026-10-13"]), 0);
    assert_eq!(found(&["--from", "2026-10-16"]), 0);
}
