//! Snapshots of a lake: what it was after each run, for reports, queries and comparisons.

mod along;
mod as_of;
mod delta;
mod difference;
mod policy;
mod readers;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Jobs of a night.
pub(crate) const JOBS: usize = 20;

/// A folder with a pipeline, and dumps of nights that arrive one after the other.
pub(crate) struct Nights(TempDir);

impl Nights {
    /// A lake that keeps its snapshots, and no dump yet.
    pub(crate) fn new() -> Self {
        let nights = Self(tempfile::tempdir().unwrap());
        nights.write(
            "p.toml",
            &pipeline("keep = { nights = 30, months = 24, tags = \"all\" }\n"),
        );
        fs::create_dir(nights.path("dumps")).unwrap();
        nights
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// The dump of a night, and a run.
    fn night(&self, nth: usize) {
        self.arrive(nth);
        self.done(&["run", "p.toml"]);
    }

    /// The dump of a night: a job an hour, of four accounts, from day `nth` of the year on.
    pub(crate) fn arrive(&self, nth: usize) {
        let mut text =
            "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU\n".to_owned();
        let (month, day) = (nth / 28 + 1, nth % 28 + 1);
        for job in 0..JOBS {
            let _ = writeln!(
                text,
                "{id}|oak|u|vo{vo}|COMPLETED|2026-{month:02}-{day:02}T{job:02}:00:00|2026-{month:02}-{day:02}T{job:02}:00:00|\
                 2026-{month:02}-{day:02}T{job:02}:30:00|1800|2|cpu=2,node=1|00:50:00",
                id = nth * 1000 + job,
                vo = job % 4,
            );
        }
        self.write(&format!("dumps/{nth:03}.txt"), &text);
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command.args(args).current_dir(self.0.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// What a command prints that must succeed.
    fn done(&self, args: &[&str]) -> String {
        let output = self.output(args);
        assert!(output.status.success(), "{args:?}: {}", reported(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a command reports that must fail with this code.
    fn refused(&self, args: &[&str], code: i32) -> String {
        let output = self.output(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", reported(&output));
        reported(&output)
    }

    /// The cells of `gridtally snapshots`, a row for each.
    fn snapshots(&self) -> Vec<Vec<String>> {
        let list = self.done(&["snapshots", "lake", "--format", "csv"]);
        let rows = list.lines().skip(1);
        rows.map(|row| row.split(',').map(str::to_owned).collect()).collect()
    }

    /// Every file below a folder, sorted, but for the hashes of inputs: they are kept once these are old enough to be known by
    /// their times.
    fn files(&self, folder: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.path(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("input_hashes.json") {
                    found.push(path);
                }
            }
        }
        found.sort();
        found
    }

    /// Jobs of the lake as it was, by EGI's report.
    fn jobs(&self, as_of: &[&str]) -> usize {
        let table = self.done(&[&["report", "egi", "lake", "--format", "csv"], as_of].concat());
        let rows = table.lines().skip(1);
        rows.map(|row| row.split(',').nth(3).unwrap().parse::<usize>().unwrap())
            .sum()
    }
}

pub(crate) fn pipeline(keep: &str) -> String {
    format!(
        "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n{keep}[[source]]\nname = \"oak\"\nformat = \"sacct\"\npaths = [\"dumps\"]\n\
         site = \"OAK\"\ntimezone = \"UTC\"\nvo = {{ column = \"account\" }}\n"
    )
}

fn reported(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
