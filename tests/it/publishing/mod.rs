//! Publishing to receivers: kills, several at once, and what others read meanwhile.

mod faults;
mod killed;
mod reading;
mod together;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::support::notes::assert_notes_alone;

/// Months of the lake, from January 2026.
const MONTHS: u32 = 3;

/// A folder with a pipeline of dumps, and what is sent of its lake.
struct Site(TempDir);

impl Site {
    /// A site whose lake is made.
    fn new() -> Self {
        let site = Self(tempfile::tempdir().unwrap());
        for month in 1..=MONTHS {
            site.write(&format!("dumps/{month}.txt"), &dump(month, 0..40));
        }
        for (name, grain) in [("p", "month"), ("q", "day")] {
            site.write(
                &format!("{name}.toml"),
                &format!(
                    "[pipeline]\nname = \"oak\"\noutput = \"lake\"\ngrain = \"{grain}\"\n[[source]]\nname = \"oak\"\n\
                     format = \"sacct\"\npaths = [\"dumps\"]\nsite = \"OAK\"\ntimezone = \"UTC\"\nvo = {{ column = \"account\" }}\n\
                     acceptance = \"salvage\"\n[normalise]\nbenchmarks = \"benchmarks.csv\"\nmissing = \"null\"\n"
                ),
            );
        }
        site.write("benchmarks.csv", BENCHMARKS);
        site.done(&["run", "p.toml"]);
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.path(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command.args(args).current_dir(self.0.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command that must succeed.
    fn done(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", reported(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Messages of a spool, sorted by content: each with its path.
    fn spooled(&self, spool: &str) -> Vec<(String, PathBuf)> {
        let mut found = Vec::new();
        for path in files(&self.path(spool)) {
            found.push((fs::read_to_string(&path).unwrap(), path));
        }
        found.sort();
        found
    }

    /// Rows of the book by receiver.
    fn booked(&self) -> BTreeMap<String, Vec<String>> {
        let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let list = self.done(&["publication", "list", "lake", "--format", "csv"]);
        for line in list.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            rows.entry(cells[1].to_owned()).or_default().push(cells[2..].join(","));
        }
        rows
    }

    /// Nothing is left of what was cut off, and the lake is sound.
    fn settled(&self) {
        let machinery = files(&self.path("lake/.gridtally")).into_iter();
        let names = machinery.map(|file| file.file_name().unwrap().to_str().unwrap().to_owned());
        assert_notes_alone(names, "after what was cut off");
        self.done(&["verify", "lake"]);
    }
}

const BENCHMARKS: &str = "site,benchmark,value_per_core,valid_from,valid_to\nOAK,hs06,10,2020-01-01,\n";

/// What is sent: jobs to a spool, so that most of it is messages.
fn sending<'a>(receiver: &'a str, spool: &'a str) -> Vec<&'a str> {
    let mut args = vec!["report", "apel", "lake", "--message", "job-v0.4", "--message", "sync"];
    args.extend([
        "--batch",
        "9",
        "--layout",
        "spool",
        "--leave-out",
        "--receiver",
        receiver,
        "--out",
        spool,
    ]);
    args
}

/// A dump of short jobs of one month.
fn dump(month: u32, ids: std::ops::Range<u32>) -> String {
    let mut text =
        "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU\n".to_owned();
    for id in ids {
        let (day, job) = (id % 27 + 1, month * 10_000 + id);
        let _ = writeln!(
            text,
            "{job}|oak|u{u}|vo{vo}|COMPLETED|2026-{month:02}-{day:02}T00:00:00|2026-{month:02}-{day:02}T00:00:00|\
             2026-{month:02}-{day:02}T01:00:00|3600|2|cpu=2,node=1|00:50:00",
            u = id % 5,
            vo = id % 3,
        );
    }
    text
}

/// Every file below a folder, none where there is no folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn reported(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A number that the environment may raise.
fn count(variable: &str, usual: usize) -> usize {
    std::env::var(variable).map_or(usual, |text| text.parse().unwrap())
}

/// Numbers that look random, the same each time.
struct Dice(u64);

impl Dice {
    /// A part of a thousand.
    fn permille(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.0 >> 33) % 1000).unwrap()
    }
}
