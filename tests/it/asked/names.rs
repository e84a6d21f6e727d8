//! Names that nobody has are errors with the nearest name, in every report and command.

use std::fs;

use super::Asked;

/// Everything that takes `--site` or `--vo` of a lake.
const COMMANDS: [&[&str]; 13] = [
    &["report", "egi", "lake"],
    &["report", "wlcg", "lake"],
    &["report", "osg", "lake"],
    &["report", "sreport", "lake"],
    &["report", "apel", "lake", "--message", "job-v0.3"],
    &[
        "report",
        "apel",
        "lake",
        "--message",
        "sync",
        "--receiver",
        "egi",
        "--diff",
    ],
    &["report", "gracc", "lake"],
    &["report", "focus", "lake"],
    &["report", "completeness", "lake"],
    &["report", "site", "lake", "--out", "page"],
    &["work", "lake", "--as", "native"],
    &["reconcile", "lake", "lake"],
    &["reconcile", "lake", "sums.msg"],
];

fn who(words: &[&str]) -> &'static str {
    if words[0] == "reconcile" {
        "both accounts have"
    } else {
        "the lake has"
    }
}

#[test]
fn a_site_or_vo_nobody_has_is_an_error_in_every_command() {
    let asked = Asked::new("month");
    for words in COMMANDS {
        let reported = asked.refused(2, &[words, &["--site", "OAKK"]].concat());
        let expected = format!("{} no site called \"OAKK\", did you mean \"OAK\"?", who(words));
        assert!(reported.contains(&expected), "{words:?}: {reported}");
        let reported = asked.refused(2, &[words, &["--vo", "firm"]].concat());
        let expected = format!("{} no VO called \"firm\", did you mean \"firn\"?", who(words));
        assert!(reported.contains(&expected), "{words:?}: {reported}");
        assert!(!asked.path("page").exists());
        // Letters count in sites, their case does not in VOs.
        let (_, _, reported) = asked.run(&[words, &["--site", "OAK", "--vo", "BIRCH"]].concat());
        assert!(!reported.contains("called"), "{words:?}: {reported}");
        let _ = fs::remove_dir_all(asked.path("page"));
    }
}

#[test]
fn a_site_or_vo_that_one_account_has_is_known_to_both() {
    let asked = Asked::new("month");
    asked.write(
        "more.msg",
        "APEL-summary-job-message: v0.2\nSite: ASH\nMonth: 10\nYear: 2026\nVO: moss\nSubmitHost: ce\n\
         InfrastructureType: grid\nServiceLevelType: HEPSPEC\nServiceLevel: 10\nNodeCount: 1\nProcessors: 1\n\
         EarliestEndTime: 1790900000\nLatestEndTime: 1790900000\nWallDuration: 7200\nCpuDuration: 3600\nNumberOfJobs: 2\n%%\n",
    );
    let words = [
        "reconcile",
        "lake",
        "more.msg",
        "--format",
        "csv",
        "--site",
        "ASH",
        "--vo",
        "Moss",
    ];
    let (code, csv, reported) = asked.run(&words);
    assert_eq!((code, csv.lines().count()), (0, 2), "{reported}{csv}");
    // A month in which there is nothing of it does not make it unknown.
    let (code, csv, reported) = asked.run(&[&words[..], &["--to", "2026-09"]].concat());
    assert_eq!((code, csv.lines().count()), (0, 1), "{reported}{csv}");
}

/// A shell completes the path of a file, with the lake before it.
#[test]
fn a_cell_is_found_by_its_path_in_the_lake_and_with_the_lake_before_it() {
    let asked = Asked::new("month");
    for cell in [
        "usage/site=OAK/vo=Birch/allocation_year=2026",
        "charges/site=OAK/vo=Birch/allocation_year=2026",
    ] {
        let (code, inside, reported) = asked.run(&["explain", "lake", cell]);
        assert_eq!(code, 0, "{reported}");
        let before = format!("lake/{cell}");
        let found = asked.run(&["explain", "lake/", &before]);
        assert_eq!((found.0, found.1), (0, inside), "{}", found.2);
    }
}

#[test]
fn cells_months_and_tables_know_their_sites() {
    let asked = Asked::new("month");
    let reported = asked.refused(
        66,
        &["explain", "lake", "usage/site=OAKK/vo=Birch/allocation_year=2026"],
    );
    assert!(
        reported.contains("did you mean \"usage/site=OAK/vo=Birch/allocation_year=2026\"?"),
        "{reported}"
    );
    let reported = asked.refused(
        66,
        &["explain", "lake", "charges/site=OAK/vo=Brich/allocation_year=2026"],
    );
    assert!(
        reported.contains("did you mean \"charges/site=OAK/vo=Birch/allocation_year=2026\"?"),
        "{reported}"
    );
    let lock = |site: &'static str| {
        [
            "publication",
            "lock",
            "lake",
            "--month",
            "2026-10",
            "--reason",
            "r",
            "--author",
            "a",
            "--site",
            site,
        ]
    };
    let reported = asked.refused(2, &lock("OAKK"));
    assert!(
        reported.contains("the lake has no site called \"OAKK\", did you mean \"OAK\"?"),
        "{reported}"
    );
    let locks = |lines: usize| {
        let (_, csv, reported) = asked.run(&["publication", "locks", "lake", "--format", "csv"]);
        assert_eq!(csv.lines().count(), 1 + lines, "{reported}{csv}");
    };
    locks(0);
    let (code, _, reported) = asked.run(&[&lock("OAK")[..], &["--site", "ELM"]].concat());
    assert_eq!(code, 0, "{reported}");
    locks(2);
    asked.write(
        "types.csv",
        "site,cluster,node_type,node_n,physical_cpu_n,logical_cpu_n,benchmark,value_per_core,valid_from,valid_to\n\
         OAK,oak,a,2,2,8,hs06,10,2026-01-01,\n",
    );
    let reported = asked.refused(2, &["capacity", "types.csv", "--site", "OAKK"]);
    assert!(
        reported.contains("the table has no site called \"OAKK\", did you mean \"OAK\"?"),
        "{reported}"
    );
}

#[test]
fn a_receiver_nobody_has_sent_to_is_named_in_addition_to_those_the_book_has() {
    let asked = Asked::new("month");
    let send = |receiver: &str, how: &[&str]| {
        let words = [
            "report",
            "apel",
            "lake",
            "--message",
            "summary-v0.2",
            "--receiver",
            receiver,
        ];
        let (code, _, reported) = asked.run(&[&words[..], how].concat());
        assert_eq!(code, 0, "{reported}");
        reported
    };
    assert!(!send("apel", &["--out", "outgoing"]).contains("nothing was sent"));
    let reported = send("apell", &["--diff"]);
    // The last line: a line before a table is overlooked.
    let last = reported.lines().last().unwrap_or_default();
    let note = "nothing was sent to a receiver called \"apell\" before, did you mean \"apel\"?; the book has apel";
    assert!(last.ends_with(note), "{reported}");
    assert!(!send("apel", &["--diff"]).contains("nothing was sent"));
}
