//! A run whose n-th write, fsync, rename, link or close fails, for every n: the lake is the one before or the one after, the
//! code and the message are right, and the next run is clean.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use gridtally::audit::verify::verify;
use gridtally::store::Store;
use tempfile::TempDir;

use super::shim::{Call, Fault, calls, library, load};
use super::{Files, as_now, as_of_newest, copy, files_with_rows, run_of, words};
use crate::promises::scene::assert_same;
use crate::snapshots::{Nights, pipeline};

/// So many calls of a run fail in each way, one after the other; where `GRIDTALLY_FAULT_STRIDE` is set, one of so many calls
/// does, and with 1 every call.
const SAMPLES: usize = 9;

/// What a lake was before a run, and shall be after it.
struct Scenario {
    /// The pipeline, its dumps, and the lake before the run.
    before: TempDir,
    old: Files,
    new: Files,
    calls: Vec<Call>,
}

/// What happened to the runs of a sweep.
#[derive(Debug, Default)]
struct Sweep {
    faults: usize,
    /// Runs that ended well all the same.
    unharmed: usize,
    /// Runs that failed and left the lake as it was.
    as_before: usize,
    /// Runs that failed after their commit.
    as_after: usize,
}

impl Scenario {
    /// A run over the dump of another night, after so many nights.
    fn after(nights: usize) -> Self {
        let keep = "keep = { nights = 30, months = 24, tags = \"all\" }\ndelta_log = \"on\"\n";
        let before = tempfile::tempdir().unwrap();
        let source = Nights::new();
        source.write("p.toml", &pipeline(keep));
        for nth in 0..nights {
            source.arrive(nth * 9);
            assert!(
                run_of(&source.path(""), &["run", "p.toml"])
                    .output()
                    .unwrap()
                    .status
                    .success()
            );
        }
        source.arrive(nights * 9);
        copy(&source.path("."), &before.path().join("base"));
        let mut scenario = Self {
            old: now(&before.path().join("base")),
            before,
            new: Files::new(),
            calls: Vec::new(),
        };
        let (here, output) = scenario.run(Fault::Count, 0);
        assert!(output.status.success(), "{}", words(&output));
        scenario.new = now(&here);
        scenario.calls = calls(&here);
        assert_ne!(scenario.old, scenario.new);
        scenario
    }

    /// A copy of the folder in which a run has come upon a fault.
    fn run(&self, fault: Fault, number: usize) -> (PathBuf, Output) {
        let here = self.before.path().join("here");
        drop(fs::remove_dir_all(&here));
        copy(&self.before.path().join("base"), &here);
        fs::create_dir(here.join("tmp")).unwrap();
        let mut command = run_of(&here, &["run", "p.toml", "--threads", "1"]);
        command.env("TMPDIR", here.join("tmp"));
        load(&mut command, &here, fault, number);
        let output = command.output().unwrap();
        (here, output)
    }

    /// Fails one call, and looks at everything afterwards.
    fn fail(&self, fault: Fault, number: usize, sweep: &mut Sweep) {
        let (here, output) = self.run(fault, number);
        let failed: Vec<Call> = calls(&here).into_iter().filter(|call| call.has_failed).collect();
        let Some(first) = failed.first() else {
            // Calls of other threads come in another order: this run had fewer.
            assert!(output.status.success(), "{}", words(&output));
            return;
        };
        sweep.faults += 1;
        let what = format!(
            "{fault:?} {} of {}: {} {}\n{}",
            first.number,
            self.calls.len(),
            first.name,
            first.path,
            words(&output)
        );
        let lake = here.join("lake");
        let is_committing = lake.join(".gridtally/journal.json").exists();
        let found = now(&here);
        if !is_committing {
            assert!(found == self.old || found == self.new, "neither lake: {what}");
        }
        let kept = newest(&here);
        assert!(kept == self.old || kept == self.new, "neither snapshot: {what}");
        if output.status.success() {
            sweep.unharmed += 1;
            assert_same(&self.new, &found, &what);
        } else {
            if fault != Fault::Kill {
                assert_eq!(output.status.code(), Some(74), "{what}");
                let said = words(&output);
                assert!(
                    failed.iter().any(|call| is_named(call, &said)),
                    "no file is named: {what}"
                );
            }
            if found == self.old && !is_committing {
                sweep.as_before += 1;
            } else {
                sweep.as_after += 1;
            }
        }
        let next = run_of(&here, &["run", "p.toml"]).output().unwrap();
        assert!(next.status.success(), "{}\n{what}", words(&next));
        assert_same(&self.new, &now(&here), &what);
        assert_same(&self.new, &newest(&here), &what);
        for left in ["staging", "journal.json"] {
            assert!(!lake.join(".gridtally").join(left).exists(), "{left} is left: {what}");
        }
        assert_eq!(logged(&here), of_lake(&here, files_with_rows), "the Delta logs: {what}");
        let findings = verify(lake.to_str().unwrap()).unwrap().findings;
        assert!(findings.is_empty(), "{findings:#?}\n{what}");
    }

    fn sweep(&self, fault: Fault, is_meant: impl Fn(&Call) -> bool) {
        let meant: Vec<&Call> = self.calls.iter().filter(|call| is_meant(call)).collect();
        let sampled = meant.len().div_ceil(SAMPLES);
        let stride = std::env::var("GRIDTALLY_FAULT_STRIDE").map_or(sampled, |text| text.parse().unwrap());
        let mut sweep = Sweep::default();
        for call in meant.iter().skip(stride / 2).step_by(stride) {
            self.fail(fault, call.number, &mut sweep);
        }
        eprintln!("{fault:?}, every {stride}th of {} calls: {sweep:?}", meant.len());
        assert!(sweep.faults > 0);
    }

    fn sweep_all(&self) {
        self.sweep(Fault::Once, |_| true);
        self.sweep(Fault::Full, |_| true);
        self.sweep(Fault::Torn, |call| call.name == "close");
        self.sweep(Fault::Kill, |_| true);
    }
}

/// Whether an error names the file of a call that failed: by its path, or where it was written under another name first, by
/// what it was to be.
fn is_named(call: &Call, said: &str) -> bool {
    let name = Path::new(&call.path).file_name().unwrap().to_str().unwrap();
    let meant = ["manifest.json", "seal.json", ".gridtally/journal.json"];
    let is_meant = name.starts_with("put-") && meant.iter().any(|path| said.contains(&format!("path {path}")));
    is_meant || said.contains(name.split('#').next().unwrap())
}

fn now(here: &Path) -> Files {
    of_lake(here, as_now)
}

fn newest(here: &Path) -> Files {
    of_lake(here, as_of_newest)
}

/// The files that the Delta logs of a lake name after their last versions.
fn logged(here: &Path) -> Files {
    let mut files = Files::new();
    let store = Store::open_existing(here.join("lake").to_str().unwrap()).unwrap();
    for version in store.list(".gridtally/kept").unwrap() {
        let Some((root, _)) = version.path.split_once("_delta_log/") else {
            continue;
        };
        let text = store.get(&version.path).unwrap().unwrap();
        for line in std::str::from_utf8(&text).unwrap().lines() {
            let action: serde_json::Value = serde_json::from_str(line).unwrap();
            let path = |pointer: &str| {
                Some(format!(
                    "{root}{}",
                    action.pointer(pointer)?.as_str()?.replace("%25", "%")
                ))
            };
            if let Some(path) = path("/add/path") {
                assert_eq!(files.insert(path.clone(), String::new()), None, "{path} is added twice");
            }
            if let Some(path) = path("/remove/path") {
                assert!(files.remove(&path).is_some(), "{path} is removed and was not there");
            }
        }
    }
    files
}

fn of_lake(here: &Path, look: impl Fn(&Store) -> Files) -> Files {
    let lake = here.join("lake");
    if !lake.exists() {
        return Files::new();
    }
    look(&Store::open_existing(lake.to_str().unwrap()).unwrap())
}

#[test]
fn a_first_run_survives_every_failing_call() {
    if library().is_some() {
        Scenario::after(0).sweep_all();
    }
}

#[test]
fn an_update_survives_every_failing_call() {
    if library().is_some() {
        Scenario::after(2).sweep_all();
    }
}
