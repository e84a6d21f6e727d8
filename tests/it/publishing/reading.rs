//! Reports concurrently with runs: each is of one state of the lake.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gridtally::store::{LakeLock, StatePart, Store};

use super::{Site, count, dump, reported};

/// What is read of a lake: all kinds of files, and texts that depend on them.
const READERS: [&[&str]; 6] = [
    &[
        "report",
        "apel",
        "lake",
        "--message",
        "job-v0.4",
        "--leave-out",
        "--users",
        "keep",
    ],
    &["report", "gracc", "lake"],
    &["report", "egi", "lake", "--format", "csv"],
    &["explain", "lake", "10001", "--format", "json"],
    &["reconcile", "lake", "lake", "--format", "csv"],
    &["rejects", "lake", "--format", "csv"],
];

/// Each text is one of those that the states of a lake give.
#[test]
fn what_is_read_in_addition_to_runs_is_of_one_state() {
    let site = Site::new();
    // Two states that differ in many files.
    fs::create_dir(site.path("more")).unwrap();
    for month in 1..=super::MONTHS {
        let other = dump(month, 0..40)
            .replace("|3600|2|cpu=2,", "|3600|4|cpu=4,")
            .replace("|vo", "|other");
        site.write(&format!("more/{month}.txt"), &other);
    }
    let both = |name: &str| {
        let text = fs::read_to_string(site.path(&format!("{name}.toml"))).unwrap();
        site.write("r.toml", &text.replace("paths = [\"dumps\"]", "paths = [\"more\"]"));
    };
    both("p");
    let texts = || READERS.map(|words| site.done(words));
    let mut states: Vec<BTreeSet<String>> = texts().into_iter().map(|text| BTreeSet::from([text])).collect();
    site.done(&["run", "r.toml"]);
    for (of, text) in states.iter_mut().zip(texts()) {
        of.insert(text);
    }
    site.done(&["run", "p.toml"]);
    for (of, text) in states.iter_mut().zip(texts()) {
        of.insert(text);
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let runs = scope.spawn(|| {
            let mut n = 0;
            while !is_over.load(Ordering::Relaxed) {
                let pipeline = ["r.toml", "p.toml"][n % 2];
                site.done(&["run", pipeline]);
                n += 1;
            }
            n
        });
        let (mut sound, mut read) = (0, 0);
        for turn in 0..count("GRIDTALLY_READS", 24) {
            let nth = turn % (READERS.len() + 1);
            let Some(words) = READERS.get(nth) else {
                let output = site.command(&["verify", "lake"]).output().unwrap();
                assert!(
                    matches!(output.status.code(), Some(0 | 75)),
                    "{}{}",
                    reported(&output),
                    String::from_utf8_lossy(&output.stdout)
                );
                sound += 1;
                continue;
            };
            let output = site.command(words).output().unwrap();
            if output.status.code() == Some(75) {
                continue;
            }
            assert!(output.status.success(), "{words:?}: {}", reported(&output));
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(
                states[nth].contains(&text),
                "{words:?} gives a text of no state:\n{text}"
            );
            read += 1;
        }
        is_over.store(true, Ordering::Relaxed);
        let runs = runs.join().unwrap();
        eprintln!("{read} reports and {sound} verifications during {runs} runs");
        assert!(read > 0 && runs > 1);
    });
}

#[test]
fn a_reader_waits_for_a_commit_and_refuses_one_that_was_cut_off() {
    let site = Site::new();
    let journal = site.path("lake/.gridtally/journal.json");
    let egi = READERS[2];
    let before = site.done(egi);
    // Somebody commits, and is done a moment later.
    let store = Store::open(site.path("lake").to_str().unwrap()).unwrap();
    let lock = LakeLock::take(&store, Duration::ZERO).unwrap();
    fs::write(&journal, "{}").unwrap();
    assert_eq!(store.state(StatePart::Published).unwrap(), None);
    let text = std::thread::scope(|scope| {
        let reader = scope.spawn(|| site.done(egi));
        std::thread::sleep(Duration::from_millis(700));
        assert!(!reader.is_finished(), "it waits");
        fs::remove_file(&journal).unwrap();
        reader.join().unwrap()
    });
    assert_eq!(text, before);
    drop(lock);
    // Nobody is there to be done.
    fs::write(&journal, "{}").unwrap();
    for words in READERS {
        let output = site.command(words).output().unwrap();
        assert_eq!(output.status.code(), Some(75), "{words:?}: {}", reported(&output));
        assert!(
            reported(&output).contains("was cut off while it wrote"),
            "{}",
            reported(&output)
        );
        assert!(output.stdout.is_empty());
    }
}
