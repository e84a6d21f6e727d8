//! Dated listings: from which day on which shares hold.

use gridtally::time::instant::instant_text_s;

use super::{DAY_S, DumpJob, HEAD, LABS, NO_DECAY, Scene, at, day, fairshare, listing};

/// A listing on each of these days, and a job of ann on every day from 2026-03-01 to 2026-03-06.
fn scene(listings: &[(&str, &str)]) -> Scene {
    let begin = at("2026-03-01T00:00:00");
    let jobs = (0_i64..6).zip(1_u32..).map(|(nth, id)| {
        let start = instant_text_s(begin + nth * DAY_S).unwrap();
        DumpJob::new(id, "lab", "ann", start.trim_end_matches('Z'), 3_600, 1)
    });
    let scene = Scene::of_jobs(&jobs.collect::<Vec<_>>());
    std::fs::remove_file(scene.path("shares.txt")).unwrap();
    for (date, rows) in listings {
        scene.write(&format!("shares-{date}.txt"), &listing("oak", rows));
    }
    scene
}

fn dated(keys: &str) -> String {
    let head = HEAD.replace("as_of = \"2026-01-01\"", "as_of = \"path\"");
    format!("{head}{}", fairshare("oak", keys))
}

const WARNING: &str =
    "fairshare of oak: the first listing of associations is of 2026-03-03T00:00:00Z; its shares are assumed before";

#[test]
fn shares_change_in_the_middle_and_those_before_the_first_listing_are_assumed() {
    let more = LABS.replace("lab|root|||30", "lab|root|||90");
    let scene = scene(&[("2026-03-03", LABS), ("2026-03-05", &more)]);
    let messages = scene.run_messages(&dated(NO_DECAY));
    assert!(messages.iter().any(|message| message == WARNING), "{messages:#?}");
    let shares = |date: &str| scene.row(date, "lab").unwrap().share_n;
    let expected = [("01", 30), ("02", 30), ("03", 30), ("04", 30), ("05", 90), ("06", 90)];
    for (of, share_n) in expected {
        assert_eq!(shares(&format!("2026-03-{of}")), Some(share_n), "2026-03-{of}");
    }
    let norm = |date: &str| scene.row(date, "lab").unwrap().norm_shares_e9;
    assert_eq!(
        (norm("2026-03-04"), norm("2026-03-05")),
        (Some(750_000_000), Some(900_000_000))
    );
    // A report uses the listing of its instant.
    let at = |at: &str| scene.done(&["report", "sshare", "lake", "--parsable", "--at", at]).0;
    assert!(at("2026-03-04T23:59:59Z").contains(" lab||30|0.750000|"));
    assert!(at("2026-03-05T00:00:00Z").contains(" lab||90|0.900000|"));
}

#[test]
fn no_warning_where_the_first_listing_is_older_than_the_first_job() {
    let scene = scene(&[("2026-02-28", LABS)]);
    let messages = scene.run_messages(&dated(NO_DECAY));
    assert!(
        !messages.iter().any(|message| message.contains("assumed")),
        "{messages:#?}"
    );
}

#[test]
fn an_association_that_leaves_the_listing_keeps_its_usage_and_loses_its_shares() {
    let without_ann: String = LABS
        .lines()
        .filter(|line| !line.contains("ann"))
        .fold(String::new(), |text, line| text + line + "\n");
    let scene = scene(&[("2026-02-01", LABS), ("2026-03-04", &without_ann)]);
    scene.run(&dated(NO_DECAY));
    let listed = scene.row("2026-03-03", "lab/ann").unwrap();
    assert!(listed.is_listed && listed.factor_e9.is_some());
    assert_eq!(scene.own_s("2026-03-03", "lab/ann"), Some(3 * 3_600));
    let unlisted = scene.row("2026-03-04", "lab/ann").unwrap();
    assert!(!unlisted.is_listed && unlisted.factor_e9.is_none() && unlisted.share_n.is_none());
    assert_eq!(scene.own_s("2026-03-04", "lab/ann"), Some(4 * 3_600));
    assert_eq!(
        scene.row("2026-03-04", "lab/ann/gpu"),
        None,
        "without usage there is no row"
    );
    let rows = scene.rows("lake", "oak");
    let lab = rows
        .iter()
        .find(|row| row.day == day("2026-03-06") && row.name() == "lab")
        .unwrap();
    assert_eq!(lab.usage_e6, 6 * 3_600 * super::E6, "it still counts for its account");
}

#[test]
fn a_listing_of_every_night_changes_only_the_days_from_its_instant_on() {
    let begin = at("2026-01-30T00:00:00");
    let jobs: Vec<DumpJob> = (0_i64..4)
        .zip(1_u32..)
        .map(|(nth, id)| {
            let start = instant_text_s(begin + nth * DAY_S).unwrap();
            DumpJob::new(id, "lab", "ann", start.trim_end_matches('Z'), 3_600, 1)
        })
        .collect();
    let scene = Scene::of_jobs(&jobs);
    std::fs::remove_file(scene.path("shares.txt")).unwrap();
    let pipeline = dated("half_life = \"1-00:00:00\"");
    let list = |date: &str, share_n: &str| {
        let rows = LABS.replace("lab|root|||30", &format!("lab|root|||{share_n}"));
        scene.write(&format!("shares-{date}.txt"), &listing("oak", &rows));
    };
    let months_written = || {
        let report = scene.run(&pipeline);
        let own = report.written.iter().filter(|path| path.starts_with("fairshare/"));
        own.map(|path| path.split("month=").nth(1).unwrap()[..7].to_owned())
            .collect::<Vec<String>>()
    };
    let is_as_in_one_go = |lake: &str| {
        scene.run_into(&pipeline, lake, None);
        assert!(scene.bytes("lake") == scene.bytes(lake), "{lake}");
    };
    list("2026-01-01", "30");
    assert_eq!(months_written(), ["2026-01", "2026-02"]);
    // One of the second month: the first is not touched.
    list("2026-02-02", "31");
    assert_eq!(months_written(), ["2026-02"]);
    let share = |date: &str| scene.row(date, "lab").unwrap().share_n;
    assert_eq!((share("2026-02-01"), share("2026-02-02")), (Some(30), Some(31)));
    is_as_in_one_go("later");
    // Between two others, with other shares.
    list("2026-01-31", "32");
    assert_eq!(months_written(), ["2026-01", "2026-02"]);
    assert_eq!((share("2026-01-30"), share("2026-02-01")), (Some(30), Some(32)));
    is_as_in_one_go("between");
    // After the last job: its last day is made again, and is as it was.
    let before = scene.bytes("lake");
    list("2026-03-01", "33");
    scene.run(&pipeline);
    assert!(scene.bytes("lake") == before);
    // The first one also holds before its instant, so all is made again; February comes out the same.
    list("2026-01-01", "34");
    assert_eq!(months_written(), ["2026-01"]);
    assert_eq!(share("2026-01-30"), Some(34));
    is_as_in_one_go("first");
    // A listing that was deleted stays in force: the lake has it, and nothing else is of its instant.
    std::fs::remove_file(scene.path("shares-2026-02-02.txt")).unwrap();
    scene.run(&pipeline);
    assert_eq!(scene.row("2026-02-02", "lab").unwrap().share_n, Some(31));
}

#[test]
fn a_listing_of_qos_that_states_the_same_changes_no_day() {
    let scene = scene(&[("2026-02-01", LABS)]);
    let head = HEAD.replace("\"shares*.txt\"", "\"shares*.txt\", \"qos*.txt\"");
    let pipeline =
        format!("{head}{}", fairshare("oak", NO_DECAY)).replace("as_of = \"2026-01-01\"", "as_of = \"path\"");
    let qos = |date: &str, factor: &str| {
        let text = format!("Name|Priority|UsageFactor\nnormal|0|{factor}\n");
        scene.write(&format!("qos-{date}.txt"), &text);
    };
    let is_written = || {
        let report = scene.run(&pipeline);
        report.written.iter().any(|path| path.starts_with("fairshare/"))
    };
    qos("2026-02-01", "2.000000");
    assert!(is_written());
    assert_eq!(scene.own_s("2026-03-01", "lab/ann"), Some(2 * 3_600));
    qos("2026-03-02", "2.000000");
    assert!(!is_written(), "another listing with the same factor");
    qos("2026-03-03", "3.000000");
    assert!(is_written());
    assert_eq!(scene.own_s("2026-03-01", "lab/ann"), Some(3 * 3_600));
}

/// The daemon starts again: listings of an instant follow its calculations, and no day of the dataset does.
#[test]
fn another_start_of_the_daemon_changes_no_day_and_what_is_listed_while_jobs_run() {
    let scene = Scene::of_jobs(&[
        DumpJob::new(1, "inst", "cid", "2026-03-01T00:00:00", 36_000, 2),
        DumpJob::new(2, "lab", "ann", "2026-03-01T10:00:00", 36_000, 4),
    ]);
    let pipeline = format!(
        "{HEAD}[[inventory]]\nname = \"config\"\npaths = [\"config*.txt\"]\nsite = \"A\"\ntimezone = \"UTC\"\n{}",
        fairshare("oak", "algorithm = \"classic\"")
    );
    let config = |name: &str, started: &str| {
        let text = format!(
            "Configuration data as of 2026-03-02T00:00:00\nBOOT_TIME = {started}\nClusterName = oak\n\
             PriorityCalcPeriod = 00:30:00\nPriorityDecayHalfLife = 1-00:00:00\n"
        );
        scene.write(name, &text);
    };
    let usage = |at: &str| {
        let command = [
            "report",
            "sshare",
            "lake",
            "--users",
            "--long",
            "--parsable",
            "--at",
            at,
        ];
        let (text, _) = scene.done(&command);
        let of = |name: &str| {
            let line = text.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
            let cells: Vec<&str> = line.split('|').collect();
            (cells[4].parse::<i64>().unwrap(), cells[5].to_owned())
        };
        [of("lab||"), of("lab|ann|")]
    };
    config("config.txt", "2026-03-01T09:45:00");
    scene.run(&pipeline);
    let before = scene.bytes("lake");
    // Calculations at 10:15 and 10:45: at 10:50 the user has 45 minutes of 4, less what decayed, and the account is listed with
    // the part of usage of 10:15.
    let [(of_lab, lab_part), (of_ann, ann_part)] = usage("2026-03-01T10:50:00Z");
    assert_eq!(of_lab, of_ann);
    assert!((10_500..=10_800).contains(&of_ann), "{of_ann}");
    assert_ne!(lab_part, ann_part);
    let part_of = |text: &str| text.parse::<f64>().unwrap();
    let of_36_000_s = 72_000.0 * 0.87;
    assert!(
        (part_of(&lab_part) - 3600.0 / (of_36_000_s + 3600.0)).abs() < 0.01,
        "{lab_part}"
    );
    assert!(
        (part_of(&ann_part) - 10_650.0 / (of_36_000_s + 10_650.0)).abs() < 0.01,
        "{ann_part}"
    );
    // Started again at 10:40: calculations then, and at 11:10.
    config("config-later.txt", "2026-03-01T10:40:00");
    let report = scene.run(&pipeline);
    assert!(!report.written.iter().any(|path| path.starts_with("fairshare/")));
    assert!(scene.bytes("lake") == before);
    let [(_, lab_part), (of_ann, ann_part)] = usage("2026-03-01T10:50:00Z");
    assert!((9_400..=9_600).contains(&of_ann), "40 minutes: {of_ann}");
    assert_ne!(lab_part, ann_part);
    // Before that start the other one counts.
    assert_eq!(usage("2026-03-01T10:20:00Z")[1].0 / 100, 35);
}
