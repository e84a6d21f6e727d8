//! The lake as it was.

use std::time::Duration;

use gridtally::store::Store;
use gridtally::store::snapshots::{SnapshotName, names, snapshots};

use super::{JOBS, Nights, pipeline};
use crate::support::python::python;

/// Jobs by three datasets of views.
const COUNT: &str = r#"
import duckdb, sys
for script in sys.argv[1:]:
    con = duckdb.connect()
    con.execute(open(script).read())
    one = lambda query: con.execute(query).fetchone()[0]
    print(one("SELECT sum(job_n) FROM usage"), one("SELECT count(*) FROM records"),
          one("SELECT sum(row_n) FROM ledger WHERE outcome = 'accepted'"), one("SELECT count(*) FROM runs"),
          one("SELECT count(*) FROM history"), one("SELECT count(DISTINCT vo) FROM usage WHERE site = 'OAK' AND vo = 'vo1'"))
"#;

#[test]
fn each_command_reads_the_lake_as_it_was() {
    let nights = Nights::new();
    for nth in 0..3 {
        nights.night(nth);
    }
    let rows = nights.snapshots();
    assert_eq!(rows.len(), 3, "{rows:?}");
    let run_id = rows[1][2].clone();
    for (moment, n) in [
        ("1", 1),
        ("2", 2),
        ("latest", 3),
        (run_id.as_str(), 2),
        ("2099-01-01", 3),
        ("2099-01-01T00:00", 3),
    ] {
        let as_of = ["--as-of", moment];
        assert_eq!(nights.jobs(&as_of), n * JOBS, "{moment}");
        let sound = nights.done(&[&["verify", "lake"], as_of.as_slice()].concat());
        assert!(sound.contains(&format!("{} records", n * JOBS)), "{moment}: {sound}");
        let cell = ["explain", "lake", "usage/site=OAK/vo=vo1/allocation_year=2026"];
        let cell = nights.done(&[cell.as_slice(), &as_of].concat());
        assert!(
            cell.contains(&format!("View batch: {} jobs", n * JOBS / 4)),
            "{moment}: {cell}"
        );
    }
    let scripts: Vec<String> = ["1", "2", "3"]
        .iter()
        .map(|number| {
            let script = nights.path(&format!("{number}.sql"));
            std::fs::write(&script, nights.done(&["sql", "lake", "--as-of", number])).unwrap();
            script.to_str().unwrap().to_owned()
        })
        .collect();
    let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
    let counted = python(COUNT, &scripts);
    let lines = (1..=3).map(|n| format!("{jobs} {jobs} {jobs} {n} 0 1\n", jobs = n * JOBS));
    let expected = lines.collect::<Vec<String>>().concat();
    assert_eq!(counted, expected);
    // Another path of the lake, and what it was before there was a snapshot.
    assert!(
        nights
            .refused(&["report", "egi", "lake", "--as-of", "2020-01-01"], 66)
            .contains("the first one kept is snapshot 1")
    );
    assert!(
        nights
            .refused(&["report", "egi", "lake", "--as-of", "unknown-tag"], 66)
            .contains("no snapshot is unknown-tag")
    );
    let receiver = [
        "report",
        "apel",
        "lake",
        "--message",
        "sync",
        "--receiver",
        "r",
        "--diff",
        "--as-of",
        "1",
    ];
    assert!(nights.refused(&receiver, 2).contains("exclude one another"));
}

#[test]
fn a_state_that_is_not_kept_is_never_replaced_by_another() {
    let nights = Nights::new();
    for nth in 0..3 {
        nights.night(nth);
        std::thread::sleep(Duration::from_millis(1100));
    }
    let rows = nights.snapshots();
    let times: Vec<&str> = rows.iter().map(|row| row[1].as_str()).collect();
    for (n, time) in (1..).zip(&times) {
        assert_eq!(nights.jobs(&["--as-of", time]), n * JOBS);
    }
    nights.done(&["tag", "lake", "first", "--as-of", "1"]);
    nights.done(&["gc", "lake", "--keep", "nights=0"]);
    assert_eq!(nights.jobs(&["--as-of", times[0]]), JOBS);
    assert_eq!(nights.jobs(&["--as-of", times[2]]), 3 * JOBS);
    let why = nights.refused(&["report", "egi", "lake", "--as-of", times[1]], 66);
    assert!(
        why.contains("last one kept before is snapshot 1") && why.contains("first after it snapshot 3"),
        "{why}"
    );
    // Runs that make no snapshot any more.
    nights.write("p.toml", &pipeline(""));
    nights.night(3);
    assert_eq!(nights.snapshots().len(), 2);
    let why = nights.refused(&["report", "egi", "lake", "--as-of", "latest"], 66);
    assert!(why.contains("not kept"), "{why}");
    assert_eq!(nights.jobs(&["--as-of", "first"]), JOBS);
    assert_eq!(nights.jobs(&[]), 4 * JOBS);
    assert!(nights.refused(&["gc", "lake"], 2).contains("--keep"));
    nights.done(&["verify", "lake"]);
}

/// A file of a snapshot that is gone is named as it is kept, with the number of the snapshot: where it was published is another one.
#[test]
fn a_file_of_a_snapshot_that_is_gone_is_named_as_it_is_kept() {
    let nights = Nights::new();
    nights.night(0);
    nights.done(&["tag", "lake", "billed"]);
    nights.night(1);
    let store = Store::open_existing(nights.path("lake").to_str().unwrap()).unwrap();
    let all = snapshots(&store, &names(&store).unwrap()).unwrap();
    let file = all[0].manifest.dataset("usage").next().unwrap().clone();
    let kept: Vec<_> = nights
        .files("lake/.gridtally/kept/usage")
        .into_iter()
        .filter(|path| path.to_str().unwrap().contains(&file.blake3))
        .collect();
    std::fs::remove_file(&kept[0]).unwrap();
    for args in [
        ["verify", "-q", "lake", "--as-of", "billed"].as_slice(),
        ["diff", "lake", "billed", "latest"].as_slice(),
    ] {
        let why = nights.refused(args, 65);
        assert!(
            why.contains("snapshot 1") && why.contains(".gridtally/kept/usage/") && why.contains(&file.blake3),
            "{args:?}: {why}"
        );
    }
}

/// A clock that was ahead once: a time names no state that may be another one, and numbers do.
#[test]
fn times_that_are_not_in_order_name_no_state() {
    let nights = Nights::new();
    for nth in 0..3 {
        nights.night(nth);
    }
    set_clock_of(&nights, 2);
    let day = nights.snapshots()[2][1][..10].to_owned();
    let why = nights.refused(&["report", "egi", "lake", "--as-of", &day], 66);
    assert!(
        why.contains("a clock went back: snapshot 2 of") && why.contains("--as-of 3"),
        "{why}"
    );
    assert_eq!(nights.jobs(&["--as-of", "3"]), 3 * JOBS);
    assert_eq!(nights.jobs(&["--as-of", "2099-01-01"]), 3 * JOBS);
    let listed = super::reported(&nights.output(&["snapshots", "lake"]));
    assert!(listed.contains("a clock went back: snapshot 2 of"), "{listed}");
    // A run after one whose clock is ahead.
    nights.arrive(3);
    let quiet = super::reported(&nights.output(&["run", "p.toml"]));
    assert!(!quiet.contains("still to come"), "{quiet}");
    set_clock_of(&nights, 4);
    nights.arrive(4);
    let warned = super::reported(&nights.output(&["run", "p.toml"]));
    assert!(
        warned.contains("snapshot 4 of") && warned.contains("is of a time that is still to come"),
        "{warned}"
    );
}

/// As if the clock of the run that made a snapshot had been ahead by 20 days: its name has the time.
fn set_clock_of(nights: &Nights, number: u64) {
    const AHEAD_MS: i64 = 20 * 86_400_000;
    let store = Store::open_existing(nights.path("lake").to_str().unwrap()).unwrap();
    let made = names(&store).unwrap();
    let made = made.iter().find(|name| name.number == number).unwrap();
    let ahead = SnapshotName {
        made_ms: made.made_ms + AHEAD_MS,
        ..made.clone()
    };
    let lake = nights.path("lake");
    std::fs::rename(lake.join(made.path()), lake.join(ahead.path())).unwrap();
}
