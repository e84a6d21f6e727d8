//! System calls that fail: a run and a publication end with a documented code, and the next one does the whole work.

use std::process::{Command, Output};

use super::{Site, count, sending, told};
use crate::promises::scene::{assert_same, lake_hash};

/// Faults of each command; `GRIDTALLY_FAULT_ROUNDS` raises it.
const ROUNDS: usize = 12;

/// System calls that are failed, with the error each gives.
const FAULTS: [&str; 9] = [
    "write:error=ENOSPC",
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

/// Whether system calls can be failed here.
fn can_inject() -> bool {
    let probe = ["-qq", "-o", "/dev/null", "-e", "inject=fsync:error=EIO", "true"];
    Command::new("strace")
        .args(probe)
        .output()
        .is_ok_and(|output| output.status.success())
}

/// A command whose `nth` call of some kind fails, once.
fn faulty(site: &Site, words: &[&str], fault: &str, nth: usize) -> Output {
    let calls = fault.split(':').next().unwrap();
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={calls}")]);
    command.args(["-e", &format!("inject={fault}:when={nth}")]);
    command.arg(env!("CARGO_BIN_EXE_gridtally")).args(words);
    command.current_dir(site.path(".")).output().unwrap()
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
    let undisturbed = lake_hash(&site.path("undisturbed"));
    let mut failed = 0;
    for round in 0..count("GRIDTALLY_FAULT_ROUNDS", ROUNDS) {
        let (fault, nth) = fault_of(round);
        for pipeline in ["q.toml", "p.toml"] {
            let output = faulty(&site, &["run", pipeline], fault, nth);
            let code = output.status.code();
            assert!(
                code.is_some_and(|code| DOCUMENTED.contains(&code)),
                "run, {fault} {nth}: {code:?}: {}",
                told(&output)
            );
            failed += usize::from(code != Some(0));
        }
        let (receiver, spool) = (format!("r{round}"), format!("spool-{round}"));
        let words = sending(&receiver, &spool);
        let output = faulty(&site, &words, fault, nth);
        let code = output.status.code();
        assert!(
            code.is_some_and(|code| DOCUMENTED.contains(&code)),
            "sending, {fault} {nth}: {code:?}: {}",
            told(&output)
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
        assert_same(&undisturbed, &lake_hash(&site.path("lake")), &format!("{fault} {nth}"));
    }
    site.settled();
    eprintln!("{failed} commands failed");
}
