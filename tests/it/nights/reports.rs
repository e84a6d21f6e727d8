//! The report of a run: what it read against what the lake holds, dry runs, failures, and names nobody has.

use std::fs;

use serde_json::json;

use super::{Nights, bad_rows, jobs};

#[test]
fn a_run_states_what_it_read_and_what_the_lake_holds_apart() {
    let nights = Nights::new("", "max_rejected = 3");
    nights.write("dumps/a.txt", &jobs(1, 7));
    nights.run(&[]);
    nights.write("dumps/b.txt", &(jobs(20, 4) + &bad_rows(100, 1)));
    let (code, reported, report) = nights.run(&[]);
    assert_eq!(code, 0, "{reported}");
    assert!(
        reported.contains("this run read 1 of 2 input files, 5 rows: 4 accepted, 1 rejected"),
        "{reported}"
    );
    assert!(reported.contains("the lake holds 12 rows:"), "{reported}");
    assert_eq!(report["read_outcomes"], json!({ "accepted": 4, "rejected": 1 }));
    assert_eq!(report["outcomes"], json!({ "accepted": 11, "rejected": 1 }));
    let (_, reported, _) = nights.run(&[]);
    assert!(
        reported.contains("this run read 0 of 2 input files, the others are known"),
        "{reported}"
    );
}

#[test]
fn a_dry_run_makes_nothing() {
    let nights = Nights::new("", "");
    nights.write("dumps/a.txt", &jobs(1, 7));
    let (code, reported, report) = nights.run(&["--dry-run"]);
    assert_eq!((code, &report["status"]), (0, &json!("dry_run")), "{reported}");
    assert_eq!(report["outcomes"], json!({ "accepted": 7 }));
    assert!(report["output"].as_str().unwrap().ends_with("/lake"), "{report}");
    assert!(reported.contains("the lake would hold 7 rows"), "{reported}");
    let here = || {
        let names = fs::read_dir(nights.folder()).unwrap();
        let mut names: Vec<_> = names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(here(), ["dumps", "p.toml"]);
    let (code, _, _) = nights.run(&["--dry-run", "--out", "other/folder"]);
    assert_eq!((code, here()), (0, vec!["dumps".to_owned(), "p.toml".to_owned()]));
    // An empty folder stays empty, and a broken limit is reported as by a run.
    fs::create_dir(nights.folder().join("lake")).unwrap();
    nights.write("dumps/b.txt", "no header\n");
    let (code, reported, _) = nights.run(&["--dry-run"]);
    assert_eq!(code, 65, "{reported}");
    assert_eq!(fs::read_dir(nights.folder().join("lake")).unwrap().count(), 0);
}

#[test]
fn a_run_that_fails_prints_its_report_too() {
    let nights = Nights::new("", "");
    nights.write("dumps/a.txt", "no header\n");
    let (code, reported, report) = nights.run(&[]);
    assert_eq!((code, &report["status"]), (65, &json!("failed")), "{reported}");
    assert_eq!(report["error"]["exit_code"], 65);
    assert!(
        reported.contains(report["error"]["message"].as_str().unwrap()),
        "{reported}"
    );
    assert_eq!(report["pipeline"], "oak");
    assert_eq!(report["refused"][0]["path"], "dumps/a.txt");
    fs::remove_dir_all(nights.folder().join("dumps")).unwrap();
    let (code, _, report) = nights.run(&[]);
    assert_eq!((code, &report["error"]["exit_code"]), (66, &json!(66)), "{report}");
    nights.write("p.toml", "[pipeline]\nnme = \"x\"\n");
    let (code, _, report) = nights.run(&[]);
    assert_eq!((code, &report["status"]), (78, &json!("failed")));
    assert!(
        report["error"]["message"]
            .as_str()
            .unwrap()
            .contains("p.toml:2: unknown key \"nme\"")
    );
}

#[test]
fn a_report_for_programs_is_printed_where_there_is_no_lake_too() {
    let nights = Nights::new("", "");
    for words in [
        &["verify", "lake"][..],
        &["summaries", "lake"],
        &["replay", "lake", "--export", "repairs"],
    ] {
        let output = nights.gridtally(&[words, &["--report", "json"]].concat());
        let (line, reported) = (
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        );
        assert_eq!(
            (output.status.code(), line.lines().count()),
            (Some(66), 1),
            "{words:?}: {line}{reported}"
        );
        let report: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            (&report["output"], &report["status"]),
            (&json!("lake"), &json!("failed"))
        );
        assert_eq!(report["error"]["exit_code"], 66);
        assert!(
            reported.contains(report["error"]["message"].as_str().unwrap()),
            "{reported}"
        );
        // For people there is nothing to print.
        let output = nights.gridtally(words);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(66), 0));
    }
}

#[test]
fn a_site_nobody_has_is_an_error_in_every_report() {
    let nights = Nights::new("", "");
    nights.write("dumps/a.txt", &jobs(1, 7));
    assert_eq!(nights.run(&[]).0, 0);
    let reports = [
        "egi",
        "wlcg",
        "osg",
        "sreport",
        "completeness",
        "apel",
        "gracc",
        "focus",
        "overhead",
        "site",
    ];
    let commands = reports.map(|name| vec!["report", name, "lake"]);
    let own = [("apel", vec!["--message", "sync"]), ("site", vec!["--out", "page"])];
    for mut command in commands.into_iter().chain([vec!["work", "lake", "--as", "native"]]) {
        for (name, more) in &own {
            if command[1] == *name {
                command.extend(more);
            }
        }
        command.extend(["--site", "OAKK"]);
        let output = nights.gridtally(&command);
        let reported = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{command:?}: {reported}");
        assert!(
            reported.contains("the lake has no site called \"OAKK\", did you mean \"OAK\"?"),
            "{command:?}: {reported}"
        );
    }
    assert!(!nights.folder().join("page").exists());
}

#[test]
fn check_and_run_report_a_missing_zone_as_one_and_the_same_error() {
    let nights = Nights::new("", "");
    nights.write("dumps/a.txt", &jobs(1, 7));
    let text = fs::read_to_string(nights.folder().join("p.toml")).unwrap();
    let zoneless = text.replace("timezone = \"UTC\"\n", "");
    nights.write("p.toml", &zoneless);
    let check = nights.gridtally(&["check", "p.toml"]);
    let run = nights.gridtally(&["run", "p.toml"]);
    let stated = String::from_utf8(check.stderr).unwrap();
    assert_eq!(
        (check.status.code(), run.status.code()),
        (Some(78), Some(78)),
        "{stated}"
    );
    // The line of the source is stated as well.
    let of_source = stated.strip_prefix("gridtally: p.toml:5: ");
    let of_run = String::from_utf8(run.stderr).unwrap();
    assert_eq!(of_source, of_run.strip_prefix("gridtally: "), "{stated}");
    assert_eq!(stated.lines().count(), 1, "{stated}");
    assert!(
        stated.contains("set `timezone` of the source") && stated.contains("dumps/a.txt"),
        "{stated}"
    );
    // Every file is inspected, whatever the first one contains.
    let zoned = jobs(1, 7).replace(":00|", ":00+0000|");
    nights.write("dumps/a.txt", &zoned);
    nights.write("dumps/b.txt", &jobs(20, 2));
    nights.write("dumps/c.txt", &jobs(30, 2));
    let check = nights.gridtally(&["check", "p.toml"]);
    let stated = String::from_utf8(check.stderr).unwrap();
    assert_eq!(check.status.code(), Some(78), "{stated}");
    assert!(
        stated.contains("set `timezone` of the source")
            && stated.contains("dumps/b.txt")
            && stated.contains("it is so in 1 more files of the source oak"),
        "{stated}"
    );
    for more in ["dumps/b.txt", "dumps/c.txt"] {
        fs::remove_file(nights.folder().join(more)).unwrap();
    }
    // Times with an offset need none.
    let check = nights.gridtally(&["check", "p.toml"]);
    let stated = String::from_utf8(check.stderr).unwrap();
    assert_eq!((check.status.code(), stated.as_str()), (Some(0), ""));
    assert_eq!(nights.gridtally(&["run", "p.toml"]).status.code(), Some(0));
}

#[test]
fn a_file_that_became_a_part_of_what_it_was_is_named_once() {
    let nights = Nights::new("", "");
    let states = |dumps: &[(&str, String)]| {
        for (path, text) in dumps {
            nights.write(path, text);
        }
        let (code, reported, report) = nights.run(&[]);
        assert_eq!(code, 0, "{reported}");
        let is_stated = reported.contains("none of them new");
        assert_eq!(is_stated, report.get("shrunk").is_some(), "{reported}");
        (is_stated, reported, report)
    };
    let (a, b) = ("dumps/a.txt", "dumps/b.txt");
    assert!(!states(&[(a, jobs(1, 10))]).0);
    let (_, reported, report) = states(&[(a, jobs(1, 4))]);
    assert!(
        reported.contains(
            "  dumps/a.txt has 4 rows, none of them new, and had 10: those that are no longer in it still count (6)"
        ),
        "{reported}"
    );
    assert_eq!(
        report["shrunk"],
        json!([{ "source": "oak", "path": a, "rows_read_n": 4, "former_rows_read_n": 10, "kept_n": 6 }])
    );
    assert!(!report["warnings"].to_string().contains("none of them new"), "{report}");
    assert!(!states(&[]).0);
    for (what, dumps) in [
        ("other jobs", vec![(a, jobs(50, 2))]),
        ("a log that was rotated", vec![(b, jobs(50, 2)), (a, jobs(60, 1))]),
        ("a window, first", vec![(a, jobs(100, 10))]),
        ("a window that moved", vec![(a, jobs(108, 4))]),
        ("more rows", vec![(a, jobs(100, 20))]),
    ] {
        assert!(!states(&dumps).0, "{what}");
    }
}
