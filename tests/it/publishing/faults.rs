//! System calls that fail: a run and a publication end with a documented code, and the next one does the whole work.

use std::process::{Command, Output};

use super::{Site, count, reported, sending};
use crate::promises::scene::{assert_same, lake_hash};
use crate::support::injection::can_inject;

/// Faults of each command; `GRIDTALLY_FAULT_ROUNDS` raises it.
const ROUNDS: usize = 12;

/// System calls that are failed, with the error each gives. Not `write`: the threads of an object store wake each other by
/// writing into an event descriptor, which never fails on a real kernel; full disks have tests of their own.
const FAULTS: [&str; 8] = [
    "openat:error=EMFILE",
    "rename,renameat,renameat2:error=EIO",
    "fsync,fdatasync:error=EIO",
    "pwrite64:error=EIO",
    "mkdir,mkdirat:error=EACCES",
    "unlink,unlinkat:error=EPERM",
    "read,pread64:error=EIO",
    "statx,newfstatat:error=EIO",
];

/// Exit codes that are documented.
const DOCUMENTED: [i32; 8] = [0, 64, 65, 66, 70, 73, 74, 78];

/// A command whose `nth` call of some kind fails, once.
fn faulty(site: &Site, words: &[&str], fault: &str, nth: usize) -> Output {
    let calls = fault.split(':').next().unwrap();
    // A command that hangs ends with 124, which is not a documented code.
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "120", "strace"]);
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={calls}")]);
    command.args(["-e", &format!("inject={fault}:when={nth}")]);
    command.arg(env!("CARGO_BIN_EXE_gridtally")).args(words);
    command.current_dir(site.path(".")).output().unwrap()
}

/// Whether a command ended with a documented code, or the system could not even load it.
fn is_documented(output: &Output) -> bool {
    let is_loaded = !reported(output).contains("error while loading shared libraries");
    !is_loaded || output.status.code().is_some_and(|code| DOCUMENTED.contains(&code))
}

/// Whether a published file depends on what was sent.
fn is_of_publications(path: &str) -> bool {
    path.starts_with("publication") || ["gridtally.sql", "manifest.json"].contains(&path)
}

/// Which fault comes in a round, and at which call.
fn fault_of(round: usize) -> (&'static str, usize) {
    (FAULTS[round % FAULTS.len()], 1 + round / FAULTS.len() * 3 + round % 3)
}

#[test]
fn a_failed_system_call_of_a_run_or_a_publication_loses_nothing() {
    if !can_inject() {
        eprintln!("SKIPPED a_failed_system_call_of_a_run_or_a_publication_loses_nothing: strace cannot inject here");
        return;
    }
    let site = Site::new();
    site.done(&sending("alone", "alone"));
    let expected: Vec<String> = site.spooled("alone").into_iter().map(|(text, _)| text).collect();
    site.done(&["run", "p.toml", "--out", "undisturbed"]);
    let mut undisturbed = lake_hash(&site.path("undisturbed"));
    undisturbed.retain(|path, _| !is_of_publications(path));
    let mut failed = 0;
    for round in 0..count("GRIDTALLY_FAULT_ROUNDS", ROUNDS) {
        let (fault, nth) = fault_of(round);
        for pipeline in ["q.toml", "p.toml"] {
            let output = faulty(&site, &["run", pipeline], fault, nth);
            let code = output.status.code();
            assert!(
                is_documented(&output),
                "run, {fault} {nth}: {code:?}: {}",
                reported(&output)
            );
            failed += usize::from(code != Some(0));
        }
        let (receiver, spool) = (format!("r{round}"), format!("spool-{round}"));
        let words = sending(&receiver, &spool);
        let output = faulty(&site, &words, fault, nth);
        let code = output.status.code();
        assert!(
            is_documented(&output),
            "sending, {fault} {nth}: {code:?}: {}",
            reported(&output)
        );
        failed += usize::from(code != Some(0));
        site.done(&["run", "p.toml"]);
        site.done(&words);
        let sent: Vec<String> = site.spooled(&spool).into_iter().map(|(text, _)| text).collect();
        assert!(
            sent == expected,
            "{fault} {nth}: {} messages of {}",
            sent.len(),
            expected.len()
        );
        let mut lake = lake_hash(&site.path("lake"));
        // A lake that sent nothing has no books of it, no views of them, and another manifest.
        lake.retain(|path, _| !is_of_publications(path));
        assert_same(&undisturbed, &lake, &format!("{fault} {nth}"));
        site.done(&["verify", "lake"]);
    }
    site.settled();
    eprintln!("{failed} commands failed");
}
