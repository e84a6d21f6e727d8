//! Selections of a part of a lake: days, and unknown names.

mod days;
mod idle_options;
mod names;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::policy::{CHARGE_CORES, CORES};

/// Ten days with a job of an hour each, a summary of the month of another site, charges and benchmarks.
struct Asked {
    here: TempDir,
}

impl Asked {
    /// With a grain of usage and charges.
    fn new(grain: &str) -> Self {
        let asked = Self {
            here: tempfile::tempdir().unwrap(),
        };
        let row = |day: u32| {
            format!(
                "{day}|oak|u|a|COMPLETED|2026-10-{day:02}T00:00:00|2026-10-{day:02}T00:00:00|2026-10-{day:02}T01:00:00|\
                 3600|1|cpu=1,node=1|00:10:00\n"
            )
        };
        let rows: String = (1..=10).map(row).collect();
        asked.write(
            "jobs.txt",
            &format!(
                "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU\n{rows}"
            ),
        );
        asked.write(
            "sums.msg",
            "APEL-summary-job-message: v0.2\nSite: ELM\nMonth: 10\nYear: 2026\nVO: firn\nSubmitHost: ce\n\
             InfrastructureType: grid\nServiceLevelType: HEPSPEC\nServiceLevel: 10\nNodeCount: 1\nProcessors: 1\n\
             EarliestEndTime: 1790900000\nLatestEndTime: 1790900000\nWallDuration: 7200\nCpuDuration: 3600\nNumberOfJobs: 2\n%%\n",
        );
        asked.write(
            "benchmarks.csv",
            "site,benchmark,value_per_core,valid_from,valid_to\nOAK,hs06,10,2020-01-01,\n",
        );
        asked.write("cores.toml", CORES);
        asked.write(
            "p.toml",
            &format!(
                "[pipeline]\nname = \"p\"\noutput = \"lake\"\ngrain = \"{grain}\"\noverlap = \"jobs\"\n\
                 [[source]]\nname = \"oak\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\nsite = \"OAK\"\ntimezone = \"UTC\"\n\
                 vo = {{ value = \"Birch\" }}\n\
                 [[source]]\nname = \"elm\"\nformat = \"apel\"\npaths = [\"sums.msg\"]\n\
                 [normalise]\nbenchmarks = \"benchmarks.csv\"\nmissing = \"null\"\n\
                 {CHARGE_CORES}"
            ),
        );
        let (code, _, reported) = asked.run(&["run", "p.toml"]);
        assert_eq!(code, 0, "{reported}");
        asked
    }

    fn folder(&self) -> &Path {
        self.here.path()
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.path(path), text).unwrap();
    }

    /// Exit code, standard output, standard error.
    fn run(&self, words: &[&str]) -> (i32, String, String) {
        let output: Output = Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .args(words)
            .current_dir(self.folder())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    /// The sum of a column of a report in CSV.
    fn sum(&self, words: &[&str], column: &str) -> f64 {
        let (code, csv, reported) = self.run(&[words, &["--format", "csv"]].concat());
        assert_eq!(code, 0, "{words:?}: {reported}");
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let header = reader.headers().unwrap().clone();
        let at = header.iter().position(|name| name == column);
        let at = at.unwrap_or_else(|| panic!("{words:?} has no column {column}: {header:?}"));
        reader
            .records()
            .map(|row| row.unwrap()[at].parse::<f64>().unwrap())
            .sum()
    }

    /// The message of a command that is refused with this exit code.
    fn refused(&self, code: i32, words: &[&str]) -> String {
        let (found, out, reported) = self.run(words);
        assert_eq!((found, out.as_str()), (code, ""), "{words:?}: {reported}");
        reported
    }
}
