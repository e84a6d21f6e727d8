//! Shares from purchases: FS-01, FS-08 and FS-09 through the whole program, and what sacctmgr would read.

mod errors;
mod granted;
mod load;
mod real;
mod sacctmgr;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::sample::{repository, run};

/// The lake of the golden case with its tables, or with other files.
struct Site {
    dir: TempDir,
}

impl Site {
    /// The site of the golden case, before its pipeline has run.
    fn files() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let case = repository("tests/golden/shares-purchases");
        for folder in ["january", "july"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
            for entry in fs::read_dir(case.join(folder)).unwrap() {
                let entry = entry.unwrap();
                fs::copy(entry.path(), dir.path().join(folder).join(entry.file_name())).unwrap();
            }
        }
        for file in ["pipeline.toml", "owners.csv", "tres.csv", "limits.csv"] {
            fs::copy(case.join(file), dir.path().join(file)).unwrap();
        }
        Self { dir }
    }

    /// The same with its lake.
    fn new() -> Self {
        let site = Self::files();
        site.make();
        site
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.path().join(file), text).unwrap();
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).unwrap()
    }

    fn make(&self) {
        run(Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .args(["run", "pipeline.toml"])
            .current_dir(self.path()));
    }

    fn command(&self, options: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command.args([
            "report",
            "shares",
            "lake",
            "--owners",
            "owners.csv",
            "--core-tres",
            "tres.csv",
        ]);
        command.args(options.split_whitespace()).current_dir(self.path());
        command
    }

    /// What a report prints.
    fn report(&self, options: &str) -> String {
        run(&mut self.command(options))
    }

    /// A report and what it prints to people.
    fn output(&self, options: &str) -> Output {
        self.command(options).output().unwrap()
    }

    /// What is printed to people.
    fn stderr(&self, options: &str) -> String {
        String::from_utf8(self.output(options).stderr).unwrap()
    }

    /// The rows of a report by account.
    fn accounts(&self, options: &str) -> BTreeMap<String, Vec<String>> {
        let text = self.report(&format!("{options} --format csv"));
        let rows = text.lines().skip(1).map(|line| {
            let cells: Vec<String> = line.split(',').map(str::to_owned).collect();
            (cells[0].clone(), cells)
        });
        rows.collect()
    }
}

/// The options of the golden case.
const USUAL: &str = "--public shared --requeue serial_requeue --except staff --on 2026-08-01";
