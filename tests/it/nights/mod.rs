//! Reports and handling of inputs that could not be read.

mod beside;
mod foreign_forms;
mod lost_parts;
mod places;
mod refusals;
mod reports;
mod shut;
mod silence;
mod words;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// Columns of the dumps.
const HEADER: &str = "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU\n";

/// A folder with dumps and a pipeline of them.
struct Nights {
    here: TempDir,
}

impl Nights {
    /// A pipeline whose source `oak` reads the dumps; with more keys of `[pipeline]`, and of the source.
    fn new(head: &str, keys: &str) -> Self {
        let nights = Self {
            here: tempfile::tempdir().unwrap(),
        };
        nights.write(
            "p.toml",
            &format!(
                "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n{head}\n[[source]]\nname = \"oak\"\nformat = \"sacct\"\n\
                 paths = [\"dumps\"]\nsite = \"OAK\"\ntimezone = \"UTC\"\nvo = {{ value = \"v\" }}\n{keys}\n"
            ),
        );
        nights
    }

    fn folder(&self) -> &Path {
        self.here.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn gridtally(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .args(args)
            .current_dir(self.folder())
            .output()
            .unwrap()
    }

    /// Runs the pipeline: exit code, what it prints for people, and its report.
    fn run(&self, args: &[&str]) -> (i32, String, Value) {
        let output = self.gridtally(&[&["run", "p.toml", "--report", "json"], args].concat());
        let people = String::from_utf8(output.stderr).unwrap();
        let line = String::from_utf8(output.stdout).unwrap();
        let report = serde_json::from_str(&line).unwrap_or(Value::Null);
        (output.status.code().unwrap(), people, report)
    }
}

/// A dump of jobs that ran; the first has the number `from`.
fn jobs(from: u32, n: u32) -> String {
    let row = |id: u32| {
        format!(
            "{id}|oak|u|a|COMPLETED|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-30T01:00:00|3600|1|cpu=1,node=1|00:10:00\n"
        )
    };
    format!("{HEADER}{}", (from..from + n).map(row).collect::<String>())
}

/// Rows whose end is not a time.
fn bad_rows(from: u32, n: u32) -> String {
    let rows = jobs(from, n).replace("2026-10-30T01:00:00", "yesterday");
    rows.strip_prefix(HEADER).unwrap().to_owned()
}
