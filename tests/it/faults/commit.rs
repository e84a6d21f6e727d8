//! Runs that end within their commit or right after it: what they and the commands after them report is what the lake is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use gridtally::store::Store;
use tempfile::TempDir;

use super::shim::{Call, Fault, calls, library, load};
use super::{Files, copy, hash, run_of, words};
use crate::snapshots::{Nights, pipeline};

const JOURNAL: &str = ".gridtally/journal.json";

/// A pipeline, its lake, and a dump that is not in it yet.
struct Scenario {
    before: TempDir,
    /// What a whole run calls.
    calls: Vec<Call>,
}

impl Scenario {
    fn new() -> Self {
        let before = tempfile::tempdir().unwrap();
        let source = Nights::new();
        source.write("p.toml", &pipeline("keep = { nights = 30, months = 24 }\n"));
        source.arrive(0);
        done(&source.path(""), &["run", "p.toml"]);
        source.arrive(40);
        copy(&source.path("."), &before.path().join("base"));
        let mut scenario = Self {
            before,
            calls: Vec::new(),
        };
        let (here, output) = scenario.run(Fault::Count, 0);
        assert!(output.status.success(), "{}", words(&output));
        scenario.calls = calls(&here);
        scenario
    }

    /// A copy of the folder in which a run has come upon a fault.
    fn run(&self, fault: Fault, number: usize) -> (PathBuf, Output) {
        let here = self.before.path().join("here");
        drop(fs::remove_dir_all(&here));
        copy(&self.before.path().join("base"), &here);
        let mut command = run_of(&here, &["run", "p.toml", "--threads", "2"]);
        load(&mut command, &here, fault, number);
        let output = command.output().unwrap();
        (here, output)
    }

    /// The calls that move a file of a dataset to its place.
    fn moves(&self) -> Vec<usize> {
        let is_move = |call: &&Call| call.name == "rename" && call.path.ends_with(".parquet");
        let published = self.calls.iter().filter(|call| !call.path.contains("/.gridtally/"));
        published.filter(is_move).map(|call| call.number).collect()
    }
}

fn done(here: &Path, args: &[&str]) {
    let output = run_of(here, args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", words(&output));
}

/// All files of a lake but its lock.
fn all(lake: &Path) -> Files {
    let store = Store::open_existing(lake.to_str().unwrap()).unwrap();
    let entries = store.list("").unwrap().into_iter().map(|entry| entry.path);
    let files = entries.filter(|path| path != ".gridtally/lock");
    files.map(|path| (path.clone(), hash(&store, &path))).collect()
}

#[test]
fn a_commit_that_was_cut_off_is_left_to_the_next_run() {
    if library().is_none() {
        return;
    }
    let scenario = Scenario::new();
    let moves = scenario.moves();
    assert!(moves.len() > 3, "{moves:?}");
    let (here, _) = scenario.run(Fault::Kill, moves[1]);
    let lake = here.join("lake");
    assert!(lake.join(JOURNAL).exists());
    let before = all(&lake);
    for args in [
        ["run", "p.toml", "--dry-run"].as_slice(),
        &["plan", "p.toml", "--shards", "2"],
        &["status", "lake"],
        &["verify", "lake"],
    ] {
        let output = run_of(&here, args).output().unwrap();
        assert_eq!(output.status.code(), Some(75), "{args:?}: {}", words(&output));
        let last = words(&output);
        let last = last.trim_end().lines().last().unwrap();
        assert!(last.contains("was cut off while it wrote"), "{args:?}: {last}");
        assert!(all(&lake) == before, "{args:?} changed the lake");
    }

    // What else is wrong is damage, and the commit is named with it.
    let journal = fs::read_to_string(lake.join(JOURNAL)).unwrap();
    let is_untouched =
        |path: &&String| path.starts_with("records/") && !journal.contains(&format!("\"to\": \"{path}\""));
    let untouched = lake.join(before.keys().find(is_untouched).unwrap());
    let whole = fs::read(&untouched).unwrap();
    fs::write(&untouched, "PAR1").unwrap();
    let output = run_of(&here, &["verify", "lake"]).output().unwrap();
    assert_eq!(output.status.code(), Some(65), "{}", words(&output));
    assert!(words(&output).contains(JOURNAL), "{}", words(&output));
    fs::write(&untouched, whole).unwrap();

    // So it is where what was staged is lost: no run can finish it.
    let staged = all(&lake).into_keys().find(|path| path.contains("/staging/")).unwrap();
    let away = here.join("staged");
    fs::rename(lake.join(&staged), &away).unwrap();
    let output = run_of(&here, &["verify", "lake"]).output().unwrap();
    assert_eq!(output.status.code(), Some(65), "{}", words(&output));
    fs::rename(away, lake.join(&staged)).unwrap();

    done(&here, &["run", "p.toml"]);
    assert!(!lake.join(JOURNAL).exists());
    done(&here, &["verify", "lake"]);
    done(&here, &["run", "p.toml", "--dry-run"]);
}

#[test]
fn a_run_without_threads_reports_what_became_of_its_commit() {
    if library().is_none() {
        return;
    }
    let scenario = Scenario::new();
    let manifest = fs::read(scenario.before.path().join("base/lake/manifest.json")).unwrap();
    let journal: Vec<usize> = scenario
        .calls
        .iter()
        .filter(|call| call.path.ends_with(JOURNAL))
        .map(|call| call.number)
        .collect();
    let (begun, over) = (journal[0], journal[journal.len() - 1]);
    let moves = scenario.moves();
    let mut ended_n = 0;
    for number in [0, begun, moves[0], moves[1], over, over + 1] {
        let (here, output) = scenario.run(Fault::Threads, number);
        let what = format!("after {number} calls, commit {begun} to {over}: {}", words(&output));
        if output.status.success() {
            continue;
        }
        assert_eq!(output.status.code(), Some(71), "{what}");
        ended_n += 1;
        let lake = here.join("lake");
        let expected = if lake.join(JOURNAL).exists() {
            "the commit has begun and is not done"
        } else if fs::read(lake.join("manifest.json")).unwrap() == manifest {
            "nothing was"
        } else {
            "the commit was made"
        };
        assert!(what.contains(expected), "{expected}: {what}");
        done(&here, &["run", "p.toml"]);
    }
    assert!(ended_n > 0, "no run was short of threads");
}
