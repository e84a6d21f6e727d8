//! What schedulers and monitoring systems read of runs: summaries, exit codes, metrics, lineage events, status.

mod apart;
mod lineage;
mod lineage_settings;
mod lock;
mod memory;
mod status;
mod summary;
mod textfile;
mod trace;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const HEAD: &str = "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU\n";

/// A job that began on a day of October 2026 at midnight.
fn job(id: u32, day: u32) -> String {
    format!(
        "{id}|oak|ann|bio|COMPLETED|2026-10-{day:02}T00:00:00|2026-10-{day:02}T00:00:00|2026-10-{day:02}T01:00:00|3600|1|\
         cpu=1,node=1|00:10:00\n"
    )
}

/// A folder with a pipeline of one source, and its dumps.
struct Scene {
    here: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Self {
            here: tempfile::tempdir().unwrap(),
        };
        scene.pipeline("paths = [\"dump*.txt\"]\n");
        scene.dump("dump1.txt", &[job(1, 30)]);
        scene
    }

    fn pipeline(&self, source: &str) {
        let text = format!(
            "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n[[source]]\nname = \"oak\"\nformat = \"sacct\"\nsite = \"OAK\"\n\
             timezone = \"UTC\"\n{source}"
        );
        fs::write(self.here.path().join("oak.toml"), text).unwrap();
    }

    fn dump(&self, name: &str, rows: &[String]) {
        fs::write(self.here.path().join(name), HEAD.to_owned() + &rows.concat()).unwrap();
    }

    fn path(&self) -> &Path {
        self.here.path()
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command.current_dir(self.path()).args(words);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with("OPENLINEAGE") || name == "TRACEPARENT" {
                command.env_remove(name);
            }
        }
        command
    }

    fn gridtally(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The last line of stdout as JSON.
fn last_line(output: &Output) -> Value {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let line = text
        .lines()
        .last()
        .unwrap_or_else(|| panic!("no line: {}", stderr(output)));
    assert!(text.ends_with('\n'));
    serde_json::from_str(line).unwrap()
}
