//! A run ended by a signal reports the state left behind, and the report is true.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::support::notes::assert_notes_alone;
use super::support::sample;

/// Longer than anything here takes: what comes to this has failed.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A web server of one file that never ends; a run that reads it waits.
pub(crate) struct Stalled {
    url: String,
    pub(crate) asked: Receiver<TcpStream>,
}

impl Stalled {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/jobs.txt", listener.local_addr().unwrap());
        let (ask, asked) = channel();
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.unwrap();
                let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
                let first = lines.next().unwrap().unwrap();
                while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                let head = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nConnection: close\r\n\
                            Last-Modified: Tue, 01 Sep 2026 00:00:00 GMT\r\n\r\n";
                if first.starts_with("GET ") {
                    drop(ask.send(connection));
                } else {
                    drop(connection.write_all(head.as_bytes()));
                }
            }
        });
        Self { url, asked }
    }

    pub(crate) fn pipeline(&self) -> String {
        format!(
            "[pipeline]\nname = \"stalled\"\noutput = \"lake\"\n[[source]]\nname = \"oak\"\nformat = \"sacct\"\n\
             site = \"OAK\"\ntimezone = \"UTC\"\npaths = [\"{}\"]\n",
            self.url
        )
    }
}

/// The command, which signals end as in a terminal: tests that a shell runs in the background inherit that SIGINT is
/// ignored.
pub(crate) fn gridtally(args: &[&str], folder: &Path) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,TERM", env!("CARGO_BIN_EXE_gridtally")]);
    command.args(args).current_dir(folder);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap();
    assert!(sent.success(), "{name}");
}

fn output_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).map(|entries| entries.map(|entry| entry.unwrap().file_name()).collect());
    let mut names: Vec<String> = entries
        .unwrap_or_else(|_| Vec::new())
        .into_iter()
        .map(|name| name.into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_run_that_waits_is_ended_and_states_that_the_lake_is_as_before() {
    let stalled = Stalled::start();
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let here = tempfile::tempdir().unwrap();
        fs::write(here.path().join("stalled.toml"), stalled.pipeline()).unwrap();
        let run = gridtally(&["run", "stalled.toml", "--report", "json"], here.path())
            .spawn()
            .unwrap();
        let _kept_open = stalled.asked.recv_timeout(PATIENCE).unwrap();
        signal(&run, name);
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", output_text(&output));
        let expected = format!("ended by SIG{name}: nothing was published, the lake is as before\n");
        assert!(output_text(&output).ends_with(&expected), "{}", output_text(&output));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["status"], "failed");
        assert_eq!(report["error"]["exit_code"], code);
        assert_eq!(report["pipeline"], "stalled");
        assert_eq!(names(&here.path().join("lake")), [".gridtally"]);
        assert_eq!(names(&here.path().join("lake/.gridtally")), ["lock"]);
    }
}

#[test]
fn a_dry_run_that_is_ended_leaves_no_temporary_folder() {
    let stalled = Stalled::start();
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("stalled.toml"), stalled.pipeline()).unwrap();
    let temporary = here.path().join("temporary");
    fs::create_dir(&temporary).unwrap();
    let mut run = gridtally(&["run", "stalled.toml", "--dry-run"], here.path());
    let run = run.env("TMPDIR", &temporary).spawn().unwrap();
    let _kept_open = stalled.asked.recv_timeout(PATIENCE).unwrap();
    assert_eq!(names(&temporary).len(), 1);
    signal(&run, "TERM");
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{}", output_text(&output));
    assert!(names(&temporary).is_empty(), "{:?}", names(&temporary));
}

#[test]
fn a_signal_that_was_ignored_from_the_start_stays_so() {
    let stalled = Stalled::start();
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("stalled.toml"), stalled.pipeline()).unwrap();
    let mut shell = Command::new("sh");
    let script = "trap '' INT; exec \"$0\" run stalled.toml";
    shell
        .args(["-c", script, env!("CARGO_BIN_EXE_gridtally")])
        .current_dir(here.path());
    let run = shell.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let _kept_open = stalled.asked.recv_timeout(PATIENCE).unwrap();
    signal(&run, "INT");
    signal(&run, "TERM");
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{}", output_text(&output));
}

#[test]
fn what_is_stated_to_stand_stands_whenever_the_signal_comes() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    // Everything is published again when the two alternate.
    let sample = sample::pipeline();
    let grain = "grain = \"month\"";
    assert!(sample.contains(grain));
    fs::write(here.join("0.toml"), &sample).unwrap();
    let other = sample.replace(grain, "grain = \"day\"");
    fs::write(here.join("1.toml"), other).unwrap();
    let run = |nth: usize| {
        gridtally(&["run", &format!("{nth}.toml"), "--out", "lake"], here)
            .spawn()
            .unwrap()
    };
    let began = Instant::now();
    let first = run(0).wait_with_output().unwrap();
    assert!(first.status.success(), "{}", output_text(&first));
    let whole = began.elapsed();
    let lake = here.join("lake");
    let (manifest, journal) = (lake.join("manifest.json"), lake.join(".gridtally/journal.json"));
    let mut stated = std::collections::BTreeMap::<&str, u32>::new();
    for nth in 1..=12_u32 {
        let before = fs::read(&manifest).unwrap();
        let was_cut = journal.exists();
        let mut run = run(usize::try_from(nth % 2).unwrap());
        if nth % 3 == 0 {
            // The narrow place: as soon as the commit begins.
            while !journal.exists() && run.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_micros(200));
            }
        } else {
            std::thread::sleep(whole * nth / 12);
        }
        if run.try_wait().unwrap().is_none() {
            signal(&run, "TERM");
        }
        let output = run.wait_with_output().unwrap();
        let words = output_text(&output);
        let after = fs::read(&manifest).unwrap();
        let machinery = names(&lake.join(".gridtally"));
        match output.status.code() {
            Some(0) => *stated.entry("done").or_default() += 1,
            Some(143) if words.contains("the lake is as before") => {
                assert!(was_cut || after == before, "{words}");
                assert_notes_alone(machinery.clone(), &words);
                *stated.entry("as before").or_default() += 1;
            }
            Some(143) if words.contains("the commit was made") => {
                assert_ne!(after, before, "{words}");
                assert_notes_alone(machinery.clone(), &words);
                *stated.entry("made").or_default() += 1;
            }
            Some(143) if words.contains("the next run finishes it") => *stated.entry("cut").or_default() += 1,
            Some(143) if words.contains("nothing was written") => *stated.entry("nothing").or_default() += 1,
            code => panic!("{code:?}: {words}"),
        }
    }
    eprintln!("stated: {stated:?}");
    assert!(stated.get("as before").is_some_and(|n| *n > 0), "{stated:?}");
    let last = run(0).wait_with_output().unwrap();
    assert!(last.status.success(), "{}", output_text(&last));
    let sound = gridtally(&["verify", "lake"], here).output().unwrap();
    assert!(sound.status.success(), "{}", String::from_utf8_lossy(&sound.stdout));
}
