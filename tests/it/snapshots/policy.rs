//! Which snapshots are made, and which are kept.

use std::collections::BTreeSet;

use gridtally::lake::retention::{KeepReason, retained};
use gridtally::store::snapshots::{KeepPolicy, SnapshotName};
use gridtally::time::Zone;
use gridtally::time::instant::parse_instant_s;

use super::{JOBS, Nights, pipeline};
use crate::support::notes::assert_notes_alone;

#[test]
fn without_a_policy_nothing_is_kept() {
    let nights = Nights::new();
    nights.write("p.toml", &pipeline(""));
    nights.night(0);
    nights.night(1);
    let machinery = nights.files("lake/.gridtally").into_iter();
    let names = machinery.map(|file| file.file_name().unwrap().to_str().unwrap().to_owned());
    assert_notes_alone(names, "without a policy");
    assert_eq!(nights.snapshots(), [] as [Vec<String>; 0]);
    assert!(
        nights
            .refused(&["sql", "lake", "--as-of", "latest"], 66)
            .contains("no snapshots")
    );
    // A policy is a change, and what it keeps begins with it.
    nights.write("p.toml", &pipeline("keep = { nights = 1, months = 1 }\n"));
    nights.done(&["run", "p.toml"]);
    assert_eq!(nights.snapshots().len(), 1);
    assert_eq!(nights.jobs(&["--as-of", "latest"]), 2 * JOBS);
    nights.done(&["verify", "lake"]);
}

#[test]
fn a_run_without_new_records_makes_no_snapshot() {
    let nights = Nights::new();
    nights.night(0);
    let (files, rows) = (nights.files("lake"), nights.snapshots());
    nights.done(&["run", "p.toml"]);
    assert_eq!((nights.files("lake"), nights.snapshots()), (files, rows));
}

#[test]
fn names_that_snapshots_hold_are_warned_of_when_they_are_withheld() {
    let nights = Nights::new();
    let keep = "keep = { nights = 30, months = 24, tags = \"all\" }\n";
    let privacy = format!("{}[privacy]\nuser = \"drop\"\n", pipeline(keep));
    nights.night(0);
    nights.done(&["tag", "lake", "billed"]);
    nights.write("p.toml", &privacy);
    let warned = nights.done(&["run", "p.toml"]);
    let warning = "warning: the lake keeps 1 snapshots, 1 tags on them, from before these names were withheld";
    assert!(warned.contains(warning), "{warned}");
    // Nothing more is withheld than before.
    let quiet = nights.done(&["run", "p.toml"]);
    assert!(!quiet.contains("snapshots"), "{quiet}");
    assert_eq!(nights.files("lake/.gridtally/kept/records").len(), 2);
    nights.done(&["tag", "lake", "billed", "--remove"]);
    nights.done(&["gc", "lake", "--keep", "nights=1,months=0"]);
    assert_eq!(nights.snapshots().len(), 1);
    assert_eq!(nights.files("lake/.gridtally/kept/records").len(), 1);
}

#[test]
fn mistakes_of_a_policy_are_reported_with_their_lines() {
    let nights = Nights::new();
    for (keep, why) in [
        ("keep = { nights = 30 }\n", "keep has no months"),
        ("keep = { nights = -1, months = 1 }\n", "nights = -1"),
        ("keep = { nights = \"30\", months = 1 }\n", "not a whole number"),
        ("keep = { nights = 1, months = 1, tags = \"some\" }\n", "is not one of"),
        ("keep = { nights = 1, months = 1, years = 3 }\n", "years"),
    ] {
        nights.write("p.toml", &pipeline(keep));
        let stated = nights.refused(&["check", "p.toml"], 78);
        assert!(stated.contains(why) && stated.contains("p.toml:4"), "{keep}: {stated}");
    }
    nights.refused(&["gc", "lake", "--keep", "weeks=3"], 2);
}

#[test]
fn days_and_months_are_those_of_the_zone_of_the_lake() {
    use KeepReason::{Month, Newest, Night, Tag};
    let snapshot = |number: u64, at: &str| SnapshotName {
        number,
        made_ms: parse_instant_s(at).unwrap() * 1000,
        blake3: "0".repeat(64),
    };
    let names = [
        snapshot(1, "2026-03-30T21:00:00Z"),
        // 31 March in Zurich.
        snapshot(2, "2026-03-30T22:30:00Z"),
        snapshot(3, "2026-03-31T21:00:00Z"),
        // 1 April in Zurich.
        snapshot(4, "2026-03-31T22:30:00Z"),
        snapshot(5, "2026-04-20T10:00:00Z"),
        snapshot(6, "2026-04-20T11:00:00Z"),
    ];
    let policy: KeepPolicy = "nights=2,months=2".parse().unwrap();
    let kept = |zone: &str| -> Vec<(u64, Vec<KeepReason>)> {
        let tagged = BTreeSet::from([names[1].clone()]);
        let retention = retained(&names, &tagged, policy, &Zone::named(zone).unwrap());
        let kept = retention.into_iter().filter(|(_, reasons)| !reasons.is_empty());
        kept.map(|(name, reasons)| (name.number, reasons.into_iter().collect()))
            .collect()
    };
    assert_eq!(
        kept("Europe/Zurich"),
        [
            (2, vec![Tag]),
            (3, vec![Month]),
            (4, vec![Night]),
            (6, vec![Newest, Night, Month])
        ]
    );
    assert_eq!(
        kept("UTC"),
        [(2, vec![Tag]), (4, vec![Night, Month]), (6, vec![Newest, Night, Month])]
    );
}

#[test]
fn tags_outlive_the_policy_and_dry_runs_change_nothing() {
    let nights = Nights::new();
    for nth in 0..4 {
        nights.night(nth);
    }
    nights.done(&["tag", "lake", "billed", "--as-of", "2"]);
    assert!(
        nights
            .refused(&["tag", "lake", "billed"], 2)
            .contains("snapshot 2 has the tag")
    );
    assert!(nights.refused(&["tag", "lake", "2026-05"], 2).contains("name of a tag"));
    let files = nights.files("lake");
    let dry = nights.done(&["gc", "lake", "--keep", "nights=1", "--dry-run", "--format", "csv"]);
    let kept: Vec<&str> = dry.lines().skip(1).map(|row| row.rsplit(',').next().unwrap()).collect();
    assert_eq!(kept, ["would be removed", "tag", "would be removed", "newest night"]);
    assert_eq!(nights.files("lake"), files);
    nights.done(&["gc", "lake", "--keep", "nights=1"]);
    let numbers: Vec<String> = nights.snapshots().into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(numbers, ["2", "4"]);
    assert_eq!(nights.jobs(&["--as-of", "billed"]), 2 * JOBS);
    nights.done(&["verify", "lake"]);
    // By the policy of the pipeline: the last of the day is the newest.
    nights.done(&["tag", "lake", "billed", "--remove"]);
    nights.done(&["gc", "lake"]);
    assert_eq!(nights.snapshots().len(), 1);
    let kept = nights.files("lake/.gridtally/kept").len();
    assert_eq!(kept.to_string(), nights.snapshots()[0][4]);
    nights.done(&["verify", "lake"]);
    nights.night(4);
    assert_eq!(nights.jobs(&["--as-of", "latest"]), 5 * JOBS);
}
