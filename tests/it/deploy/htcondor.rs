//! The files of `HTCondor`, read by its own library.

use std::path::PathBuf;
use std::sync::OnceLock;

use super::site::{Site, deployed, executable, words_of};
use super::{final_codes, numbers, skipped};
use crate::support::environment::Environment;
use gridtally::error::Kind;

const SUBMIT: &str = "htcondor/gridtally.sub";
const DAG: &str = "htcondor/gridtally.dag";

/// The settings of a submit file, and whether a job that ends with each of the codes is held.
const READ_SUBMIT: &str = "
import json, sys
import classad2, htcondor2
submit = htcondor2.Submit(open(sys.argv[1]).read())
hold = classad2.ExprTree(submit['on_exit_hold'])
reason = classad2.ExprTree(submit['on_exit_hold_reason'])
def held(code):
    return [hold.eval(job := classad2.ClassAd({'ExitCode': code, 'ExitBySignal': False})), reason.eval(job)]
killed = hold.eval(classad2.ClassAd({'ExitSignal': 9, 'ExitBySignal': True}))
print(json.dumps({'settings': dict(submit), 'held': {code: held(code) for code in json.loads(sys.argv[2])}, 'killed': killed}))
";

/// Reads a DAG as `condor_submit_dag` does.
const READ_DAG: &str = "
import sys
import htcondor2
print(htcondor2.Submit.from_dag(sys.argv[1])['arguments'])
";

/// The environment with the checkers of several of these files; the reason where it cannot be made.
pub(super) fn tools() -> Result<PathBuf, String> {
    static TOOLS: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let made = TOOLS.get_or_init(|| {
        let environment = Environment {
            name: "deploy-tools-venv",
            requirements: include_str!("tools.txt").to_owned(),
            is_complete: true,
        };
        environment.programs()
    });
    made.clone()
}

#[test]
fn htcondor_holds_a_job_that_another_try_does_not_cure() {
    let programs = match tools() {
        Ok(programs) => programs,
        Err(why) => return skipped("htcondor_holds_a_job_that_another_try_does_not_cure", &why),
    };
    let site = Site::new();
    let file = site.place(SUBMIT, "gridtally.sub");
    let codes: Vec<u8> = std::iter::once(0)
        .chain(Kind::ALL.iter().map(|(kind, _)| kind.exit_code()))
        .collect();
    let mut python = site.command(programs.join("python"));
    python.args(["-c", READ_SUBMIT]).arg(file).arg(format!("{codes:?}"));
    let output = python.output().unwrap();
    let read: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", words_of(&output)));
    for code in codes {
        let held = &read["held"][code.to_string()];
        assert_eq!(held[0], final_codes().contains(&code), "{code}");
        assert!(
            held[1]
                .as_str()
                .unwrap()
                .starts_with(&format!("gridtally ended with {code},")),
            "{held}"
        );
    }
    assert_eq!(read["killed"], false);
    let settings = &read["settings"];
    assert_eq!(
        settings["on_exit_remove"], "false",
        "a job with a time of day stays in the queue"
    );
    assert_eq!(settings["cron_hour"], "3");
    // What the job is, it does.
    let arguments = settings["arguments"].as_str().unwrap().split(' ');
    let ran = site
        .command(settings["executable"].as_str().unwrap())
        .args(arguments)
        .output()
        .unwrap();
    assert!(ran.status.success() && site.has_lake(), "{}", words_of(&ran));
}

#[test]
fn dagman_reads_the_dag() {
    let programs = match tools() {
        Ok(programs) => programs,
        Err(why) => return skipped("dagman_reads_the_dag", &why),
    };
    let site = Site::new();
    // The library looks for the program that would run the DAG.
    executable(&site.path("bin/condor_dagman"), "#!/bin/sh\n");
    let read = |text: &str| {
        std::fs::write(site.path("gridtally.dag"), text).unwrap();
        let _ = std::fs::remove_file(site.path("gridtally.dag.condor.sub"));
        site.command(programs.join("python"))
            .args(["-c", READ_DAG, "gridtally.dag"])
            .output()
            .unwrap()
    };
    let text = site.placed(&deployed(DAG));
    let accepted = read(&text);
    assert!(accepted.status.success(), "{}", words_of(&accepted));
    for (written, wrong) in [("\nJOB  run", "\nJOBS run"), ("\nRETRY run 3", "\nRETRYING run 3")] {
        assert!(text.contains(written), "{written:?}");
        assert!(!read(&text.replace(written, wrong)).status.success(), "{wrong}");
    }
    // The nodes in their order, by hand.
    for (_, words) in text.lines().filter_map(|line| line.split_once("command=\"")) {
        let words = words.strip_suffix('"').unwrap().split(' ');
        let ran = site
            .command(env!("CARGO_BIN_EXE_gridtally"))
            .args(words)
            .output()
            .unwrap();
        assert!(ran.status.success(), "{}", words_of(&ran));
    }
}

#[test]
fn the_submit_file_states_what_exit_codes_mean() {
    let text = deployed(SUBMIT);
    let (_, rest) = text.split_once("member(ExitCode, {").unwrap();
    assert_eq!(numbers(rest.split_once('}').unwrap().0), final_codes());
    assert!(deployed(DAG).contains(&format!("\nRETRY run 3 UNLESS-EXIT {}\n", Kind::Data.exit_code())));
}
