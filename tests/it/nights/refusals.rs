//! Rows and files that are refused: named with their reasons, and more than the pipeline allows publishes nothing.

use super::{HEADER, Nights, bad_rows, jobs};

#[test]
fn a_file_of_which_nothing_was_read_fails_the_run() {
    let nights = Nights::new("", "");
    nights.write("dumps/a.txt", &jobs(1, 3));
    nights.write("dumps/b.txt", "7 oak COMPLETED without any header\n");
    let (code, reported, _) = nights.run(&[]);
    assert_eq!(code, 65, "{reported}");
    for word in [
        "nothing was published",
        "dumps/b.txt: nothing was read, 1 of 1 rows refused",
        "unreadable_file",
        "must name its columns",
        "max_unread",
        "Dump these files again",
    ] {
        assert!(reported.contains(word), "{word}: {reported}");
    }
    assert!(!nights.folder().join("lake/usage").exists());
    // With the limit set, the run publishes without the file, and still reports it.
    for (head, keys) in [
        ("max_unread = 1", ""),
        ("", "max_unread = 1"),
        ("max_rejected = 0.25\nmax_unread = 0.5", ""),
        ("max_rejected = 1.0", ""),
    ] {
        let keys = if head.contains("max_rejected") {
            keys.to_owned()
        } else {
            format!("{keys}\nmax_rejected = 1")
        };
        let lenient = Nights::new(head, &keys);
        lenient.write("dumps/a.txt", &jobs(1, 3));
        lenient.write("dumps/b.txt", "7 oak COMPLETED without any header\n");
        let (code, reported, report) = lenient.run(&[]);
        assert_eq!(code, 0, "{head}: {reported}");
        assert!(
            reported.contains("warning: dumps/b.txt: nothing was read"),
            "{reported}"
        );
        assert_eq!(report["refused"][0]["path"], "dumps/b.txt");
        assert_eq!(report["refused"][0]["is_unread"], true);
        assert_eq!(report["refused"][0]["reasons"][0]["reason"], "unreadable_file");
        let detail = report["refused"][0]["reasons"][0]["first"]["detail"].as_str().unwrap();
        assert!(detail.contains("must name its columns"), "{detail}");
    }
}

#[test]
fn more_than_a_twentieth_of_a_source_fails_the_run() {
    let nights = |head: &str, keys: &str, good: u32, bad: u32| {
        let nights = Nights::new(head, keys);
        nights.write("dumps/a.txt", &(jobs(1, good) + &bad_rows(1000, bad)));
        nights.run(&[])
    };
    let (code, reported, report) = nights("", "", 95, 5);
    assert_eq!(code, 0, "{reported}");
    assert!(reported.contains("dumps/a.txt: 5 of 100 rows refused"), "{reported}");
    assert!(
        reported.contains("5 bad_time, first in line 97: End: \"yesterday\""),
        "{reported}"
    );
    assert!(reported.contains("1000|oak|u|a|COMPLETED"), "the raw text: {reported}");
    let reason = &report["refused"][0]["reasons"][0];
    assert_eq!((&reason["row_n"], &reason["first"]["line"]), (&5.into(), &97.into()));
    assert!(reason["first"]["raw"].as_str().unwrap().chars().count() <= 123);
    let (code, reported, _) = nights("", "", 94, 6);
    assert_eq!(code, 65, "{reported}");
    for word in [
        "source oak: 6 of 100 rows were refused",
        "5 %",
        "nothing was published",
        "bad_time, first in line 96",
    ] {
        assert!(reported.contains(word), "{word}: {reported}");
    }
    for (head, keys) in [
        ("max_rejected = 6", ""),
        ("", "max_rejected = 0.06"),
        ("max_rejected = 1.0", ""),
    ] {
        assert_eq!(nights(head, keys, 94, 6).0, 0, "{head}{keys}");
    }
    // A limit of the pipeline that is stricter holds for the whole, not for each source.
    assert_eq!(nights("max_rejected = 0.01", "", 98, 2).0, 65);
    assert_eq!(nights("max_rejected = 0.01", "max_rejected = 0.5", 98, 2).0, 65);
}

#[test]
fn what_the_lake_holds_does_not_fail_later_nights() {
    let nights = Nights::new("", "max_rejected = 10\nmax_unread = 1");
    nights.write("dumps/a.txt", &(jobs(1, 3) + &bad_rows(100, 5)));
    nights.write("dumps/b.txt", &(HEADER.to_owned() + &bad_rows(200, 2)));
    assert_eq!(nights.run(&[]).0, 0);
    let strict = std::fs::read_to_string(nights.folder().join("p.toml")).unwrap();
    let strict = strict.replace("max_rejected = 10\nmax_unread = 1", "");
    nights.write("p.toml", &strict);
    let (code, reported, _) = nights.run(&[]);
    assert_eq!(code, 0, "nothing new: {reported}");
    nights.write("dumps/c.txt", &jobs(50, 4));
    let (code, reported, report) = nights.run(&[]);
    assert_eq!(code, 0, "a good night: {reported}");
    assert_eq!(report["refused"].as_array().unwrap().len(), 0, "{report}");
    // Other settings read everything again; nothing that is refused is new.
    nights.write("p.toml", &strict.replace("value = \"v\"", "value = \"w\""));
    let (code, reported, _) = nights.run(&[]);
    assert_eq!(code, 0, "built again: {reported}");
    // The same bytes on another night are another night without jobs.
    nights.write("dumps/d.txt", &(HEADER.to_owned() + &bad_rows(200, 2)));
    let (code, reported, _) = nights.run(&[]);
    assert_eq!(code, 65, "{reported}");
    assert!(reported.contains("dumps/d.txt: nothing was read"), "{reported}");
}

#[test]
fn nights_without_rows_are_named() {
    let nights = Nights::new("", "");
    nights.write("dumps/a.txt", &jobs(1, 3));
    nights.write("dumps/b.txt", "");
    nights.write("dumps/c.txt", HEADER);
    // Two such dumps in one file hold no message either.
    nights.write("dumps/d.txt", &format!("{HEADER}{HEADER}"));
    let (code, reported, report) = nights.run(&[]);
    assert_eq!(code, 0, "{reported}");
    assert!(
        reported.contains("warning: dumps/b.txt is empty (0 bytes)"),
        "{reported}"
    );
    assert!(reported.contains("warning: dumps/c.txt holds no row"), "{reported}");
    assert!(!reported.contains("dumps/d.txt: nothing was read"), "{reported}");
    assert_eq!(report["empty"][0]["path"], "dumps/b.txt");
    // The next empty night has the same bytes.
    nights.write("dumps/e.txt", "");
    let (code, reported, report) = nights.run(&[]);
    assert_eq!(
        (code, &report["empty"][0]["path"]),
        (0, &"dumps/e.txt".into()),
        "{reported}"
    );
    assert!(reported.contains("warning: dumps/e.txt is empty"), "{reported}");
}

#[test]
fn a_dump_of_the_tools_errors_alone_fails_the_run() {
    let error = "sacct: error: slurm_persist_conn_open_without_init: failed to open persistent connection\n";
    for text in [error.to_owned(), format!("{HEADER}{error}"), format!("{error}{error}")] {
        let nights = Nights::new("", "");
        nights.write("dumps/a.txt", &jobs(1, 3));
        nights.write("dumps/b.txt", &text);
        let (code, reported, _) = nights.run(&[]);
        assert_eq!(code, 65, "{reported}");
        assert!(reported.contains("dumps/b.txt: nothing was read"), "{reported}");
        assert!(reported.contains("failed to open persistent connection"), "{reported}");
    }
    // Next to rows they are a warning.
    let nights = Nights::new("", "");
    nights.write("dumps/a.txt", &format!("{error}{}", jobs(1, 3)));
    let (code, reported, _) = nights.run(&[]);
    assert_eq!(code, 0, "{reported}");
    assert!(
        reported.contains("warning: dumps/a.txt: rows may be missing"),
        "{reported}"
    );
}

#[test]
fn a_dump_without_cores_is_a_warning() {
    let nights = Nights::new("", "");
    nights.write("dumps/a.txt", &jobs(1, 3));
    let (code, reported, _) = nights.run(&[]);
    assert_eq!(code, 0, "{reported}");
    assert!(!reported.contains("cores of no job"), "{reported}");
    let without = jobs(11, 4)
        .replace("|cpu=1,node=1|", "|node=1|")
        .replace("|3600|1|", "|3600||");
    nights.write("dumps/b.txt", &without);
    let (code, reported, report) = nights.run(&[]);
    assert_eq!(code, 0, "{reported}");
    let warning = "that state the cores of no job: 1, the first is dumps/b.txt; jobs that ran, and whose core hours are unknown: 4";
    assert!(reported.contains(warning), "{reported}");
    assert_eq!(report["warning_n"], 1, "{report}");
}

#[test]
fn withheld_names_are_not_in_the_reasons() {
    let privacy = "[privacy]\nuser = \"drop\"\njob_name = \"drop\"";
    let nights = Nights::new("", &format!("max_rejected = 1.0\n{privacy}"));
    nights.write(
        "dumps/a.txt",
        &(jobs(1, 3) + &bad_rows(100, 5).replace("|u|", "|Ada Clarke|")),
    );
    nights.write("dumps/b.txt", "sacct: error: Invalid user Ada Clarke\n");
    let (code, reported, report) = nights.run(&[]);
    assert_eq!(code, 0, "{reported}");
    assert!(reported.contains("first in line 5"), "{reported}");
    assert!(!format!("{reported}{report}").contains("Ada"), "{reported}{report}");
}

#[test]
fn rows_the_pipeline_is_configured_to_reject_are_no_surprise() {
    let normalise = "[normalise]\nbenchmarks = \"b.csv\"\nmissing = \"reject\"";
    let nights = Nights::new("", normalise);
    nights.write(
        "b.csv",
        "site,cluster,benchmark,value_per_core,valid_from,valid_to\nOAK,elm,hs06,10,2020-01-01,\n",
    );
    nights.write("dumps/a.txt", &jobs(1, 3));
    let (code, reported, report) = nights.run(&[]);
    assert_eq!(code, 0, "{reported}");
    assert!(reported.contains("dumps/a.txt: 3 of 3 rows refused"), "{reported}");
    assert_eq!(report["refused"][0]["is_unread"], false);
}
