//! A folder with dumps, a pipeline, and programs that stand for those of a batch system.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const HEADER: &str = "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU\n";

/// A folder with dumps and a pipeline of them.
pub(super) struct Site {
    here: TempDir,
}

impl Site {
    /// So many dumps, a day each.
    pub(super) fn new(dump_n: u32) -> Self {
        let site = Self {
            here: tempfile::tempdir().unwrap(),
        };
        for dump in 0..dump_n {
            let row = |n: u32| {
                let id = dump * 1000 + n;
                let day = 1 + dump % 28;
                format!(
                    "{id}|oak|u{}|a|COMPLETED|2026-03-{day:02}T00:00:00|2026-03-{day:02}T00:00:00|2026-03-{day:02}T01:00:00|3600|1|\
                     cpu=1,node=1|00:10:00\n",
                    id % 9
                )
            };
            let rows: String = (0..300 + dump).map(row).collect();
            site.write(&format!("dumps/{dump:03}.txt"), &format!("{HEADER}{rows}"));
        }
        site.write(
            "zoo.toml",
            "[pipeline]\nname = \"the zoo\"\noutput = \"lake\"\n[[source]]\nname = \"oak\"\nformat = \"sacct\"\npaths = [\"dumps\"]\n\
             site = \"OAK\"\ntimezone = \"UTC\"\nvo = { value = \"v\" }\n",
        );
        site
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.here.path()).unwrap().join(path)
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.here.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|why| panic!("{path}: {why}"))
    }

    /// A program of the batch system: a shell script in `bin`.
    pub(super) fn program(&self, name: &str, script: &str) {
        let path = format!("bin/{name}");
        self.write(&path, &format!("#!/bin/sh\n{script}\n"));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(self.path(&path), mode).unwrap();
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        command.args(args).current_dir(self.path("")).env("PATH", path);
        command
    }

    pub(super) fn gridtally(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// What a command prints that ends well.
    pub(super) fn sound(&self, args: &[&str]) -> String {
        let output = self.gridtally(args);
        let people = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {}\n{people}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }

    /// The exit code of a command that does not, and what it states.
    pub(super) fn refused(&self, args: &[&str]) -> (i32, String) {
        let output = self.gridtally(args);
        let people = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap(), people)
    }

    pub(super) fn lake(&self, lake: &str) -> std::collections::BTreeMap<String, String> {
        crate::promises::scene::lake_hash(Path::new(&self.path(lake)))
    }
}
