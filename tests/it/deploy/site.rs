//! A site in a temporary folder: a pipeline, its dumps, and the files of `pipelines/deploy` with its places in them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::sample::repository;

/// Places of an installed gridtally, each with the folder of the site that stands for it.
const PLACES: [(&str, &str); 7] = [
    ("/etc/gridtally", "etc"),
    // The longer one first.
    ("/var/lib/gridtally/dumps", "dumps"),
    ("/var/lib/gridtally", "lakes"),
    ("/var/log/gridtally", "log"),
    ("/var/cache/gridtally", "cache"),
    ("/var/lib/prometheus/node-exporter", "metrics"),
    ("/usr/bin/gridtally", "bin/gridtally"),
];

const JOBS: &str = "\
JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU
7|oak|u|a|COMPLETED|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-30T01:00:00|3600|1|cpu=1,node=1|00:10:00
";

pub(super) struct Site {
    here: tempfile::TempDir,
}

impl Site {
    /// A site with the pipeline `etc/site.toml` and one dump.
    pub(super) fn new() -> Self {
        let site = Self {
            here: tempfile::tempdir().unwrap(),
        };
        for folder in ["etc", "dumps", "lakes", "log", "cache", "metrics", "bin"] {
            fs::create_dir(site.path(folder)).unwrap();
        }
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_gridtally"), site.path("bin/gridtally")).unwrap();
        let pipeline = "[pipeline]\nname = \"site\"\noutput = \"elsewhere\"\n[[source]]\nname = \"slurm\"\nformat = \"sacct\"\n\
                        paths = [\"../dumps/sacct-*.txt*\"]\nsite = \"SITE\"\ntimezone = \"UTC\"\nvo = { column = \"account\" }\n";
        fs::write(site.path("etc/site.toml"), pipeline).unwrap();
        site.dump("sacct-1.txt", JOBS);
        site
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.here.path().join(name)
    }

    pub(super) fn text(&self, name: &str) -> String {
        let path = self.path(name);
        fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    pub(super) fn dump(&self, name: &str, text: &str) {
        fs::write(self.path("dumps").join(name), text).unwrap();
    }

    /// A dump of which nothing can be read: the next run ends with 65.
    pub(super) fn broken_dump(&self) {
        self.dump("sacct-2.txt", "broken\n");
    }

    /// A text with the folders of this site in place of those of an installed gridtally.
    pub(super) fn placed(&self, text: &str) -> String {
        let mut placed = text.to_owned();
        for (place, folder) in PLACES {
            placed = placed.replace(place, &self.path(folder).display().to_string());
        }
        assert_ne!(placed, text, "the text names no place of gridtally");
        placed
    }

    /// A file of `pipelines/deploy`, placed at `name` in the site.
    pub(super) fn place(&self, file: &str, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, self.placed(&deployed(file))).unwrap();
        path
    }

    /// A program of the site, `bin/NAME`, as a shell script.
    pub(super) fn program(&self, name: &str, script: &str) {
        executable(&self.path("bin").join(name), &format!("#!/bin/sh\n{script}\n"));
    }

    /// A command that finds the programs of the site first, and nothing of the environment that lineage is read from.
    pub(super) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        command.current_dir(self.here.path()).env("PATH", path);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if ["OPENLINEAGE", "AIRFLOW", "DAGSTER", "PYTHON", "TRACEPARENT", "SLURM"]
                .iter()
                .any(|head| name.starts_with(head))
            {
                command.env_remove(name);
            }
        }
        command
    }

    /// Whether the lake was published.
    pub(super) fn has_lake(&self) -> bool {
        self.path("lakes/site/manifest.json").is_file()
    }
}

/// An executable file.
pub(super) fn executable(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The text of a file of `pipelines/deploy`.
pub(super) fn deployed(file: &str) -> String {
    let path = repository("pipelines/deploy").join(file);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Both outputs of a process.
pub(super) fn words_of(output: &Output) -> String {
    format!(
        "{}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
